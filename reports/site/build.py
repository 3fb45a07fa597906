"""Building the site: boards, figures, the index and a page per trial from job folders alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from harness.errors import InputError
from harness.models.pricing import PriceTable
from harness.records import JobPaths, strict_json, write_atomically
from leaderboards.board import COMBINED, WrittenBoard, build_boards
from leaderboards.normalised import normalised_scores
from leaderboards.rating import Board
from leaderboards.results import Results, load_results
from reports.agreement.words import interval_caption, length_sentence, pair_sentences
from reports.site.headline import headline
from reports.site.pictures import Gallery, main_board
from reports.site.trialpages import Key, key_of, page_names, write_trial_pages
from reports.site.verdict import (
    SetsAgreement,
    agreement_of_boards,
    board_sentence,
    lengths_of,
)
from reports.style import short_names
from reports.tables import agreement_table, evidence_table
from reports.templating import render

MODALITY = "modality-"
"""How the names of modality boards begin."""


def build_site(
    jobs: Sequence[Path],
    out: Path,
    *,
    replicates: int = 1000,
    seed: int = 0,
    prices: PriceTable | None = None,
) -> Path:
    """Write the report of some jobs: a pure function of their trial folders.

    Args:
        jobs: job folders.
        out: where ``index.html``, ``trials/``, ``figures/``, ``boards/`` and the agreement files go; may be
            an older report, which is replaced.
        replicates, seed: of the bootstraps over tasks.
        prices: of model calls; by default the published table.

    Returns:
        The path of ``index.html``.

    Raises:
        InputError: a job cannot be read, its trials cannot share a board, or ``out`` is a job folder.
    """
    if JobPaths(out).config.exists():
        raise InputError(f"{out}: is a job folder; choose another folder for the report")
    written = build_boards(jobs, out / "boards", seed=seed, prices=prices)
    results = load_results(jobs)
    boards = [item.board for item in written if not item.board.name.startswith(MODALITY)]
    by_name = {board.name: board for board in boards}
    whole = main_board(boards)
    sets = [board for board in boards if board.name != COMBINED]
    lengths = lengths_of(boards)
    agreement = agreement_of_boards(boards, lengths, replicates=replicates, seed=seed)
    rated = [row.model for row in whole.rows]
    models = rated + sorted({record.model for record in results.records} - set(rated))
    names = page_names(results.sources)
    gallery = Gallery(out, models)
    page = render(
        "index.html",
        headline=headline(results, whole),
        boards=[_view(item) for item in written if item.board in boards],
        modality_boards=[_view(item) for item in written if item.board not in boards],
        findings=dict.fromkeys(f.evidence for board in boards for f in board.findings),
        verdict=[
            *(board_sentence(board) for board in sets),
            *(length_sentence(name, length) for name, length in lengths.items()),
        ],
        agreement=_agreement_view(agreement, by_name, gallery, out),
        tasks=_task_rows(results, whole, models, names),
        task_models=short_names(models),
        pictures={
            "ratings": gallery.ratings(boards),
            "reliability": gallery.reliability(lengths),
            "own_scale": gallery.own_scale(whole),
            "task_scale": gallery.task_scale(whole),
            "distributions": gallery.distributions(_tasks(results)),
            "resources": gallery.resources(whole),
            "heatmap": gallery.heatmap(whole),
        },
    )
    write_trial_pages(results.sources, names, out, prices or PriceTable())
    write_atomically(out / "index.html", page)
    return out / "index.html"


def _view(item: WrittenBoard) -> dict[str, Any]:
    """A board and its files, relative to the index."""
    folder, board = item.csv.parent.name, item.board
    of_modality = board.name.startswith(MODALITY)
    return {
        "board": board,
        "title": board.results.modalities[0] if of_modality else board.name,
        "csv": f"{folder}/{item.csv.name}",
        "json": f"{folder}/{item.json.name}",
        "has_positions": any(row.position_score is not None for row in board.rows),
        "unrated": sorted({row.status for row in board.rows if row.elo is None}),
    }


def _agreement_view(
    agreement: SetsAgreement | None, boards: Mapping[str, Board], gallery: Gallery, out: Path
) -> dict[str, Any] | None:
    if agreement is None:
        return None
    table = agreement_table(agreement.document, title="Agreement of the boards")
    write_atomically(out / "agreement.csv", table.csv())
    write_atomically(out / "agreement.json", strict_json(agreement.document) + "\n")
    pairs = []
    for evidence in agreement.evidence:
        pair = evidence.agreement
        document = next(p for p in agreement.document["pairs"] if (p["a"], p["b"]) == (pair.a, pair.b))
        pairs.append(
            {
                "pair": pair,
                "evidence": evidence_table(document, title="How sure, and what it rests on"),
                "sentences": pair_sentences(evidence, {}),
                "caption": interval_caption(evidence),
                "scatter": gallery.scatter(pair, boards),
                "bland_altman": gallery.bland_altman(pair, boards),
                "influence": gallery.influence(evidence),
            }
        )
    return {"table": table, "pairs": pairs, "document": agreement.document}


def _tasks(results: Results) -> pd.DataFrame:
    """One row per task."""
    columns = ["set", "task", "modality", "objective", "metric", "higher_is_better"]
    return results.trials[columns].drop_duplicates("task").reset_index(drop=True)


def _task_records(results: Results) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in _tasks(results).to_dict("records")]


def _task_rows(
    results: Results, whole: Board, models: Sequence[str], names: Mapping[Key, str]
) -> list[dict[str, Any]]:
    """The table of tasks and models: per cell the trials, with their score and place on the task's scale."""
    trials = whole.results.counted().trials
    scaled = dict(
        zip(
            zip(trials["task"], trials["model"], trials["attempt"], strict=True),
            normalised_scores(trials, whole.anchors),
            strict=True,
        )
    )
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for source in results.sources:
        record = source.record
        task = f"{record.task_set}/{record.task}"
        cells.setdefault((task, record.model), []).append(
            {
                "href": names[key_of(source)],
                "record": record,
                "scaled": scaled.get((task, record.model, record.attempt)),
            }
        )
    return [
        {**task, "cells": [cells.get((task["task"], model), []) for model in models]}
        for task in _task_records(results)
    ]
