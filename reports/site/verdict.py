"""What a job's boards and their agreement can and cannot show, in plain sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np

from leaderboards.board import COMBINED
from leaderboards.rating import Board
from reports.agreement import agreement_document, is_part_whole
from reports.templating import count
from stats.agreement.pair import LOCATION, Agreement, agree
from stats.agreement.sets import agree_sets
from stats.comparisons import Comparisons
from stats.sandwich import contrast_intervals

LEFT_OUT = 2
"""Lowest rated models left out to see what the rest says."""


@dataclass(frozen=True)
class SetsAgreement:
    """Agreement between the boards of a job.

    Attributes:
        pairs: of two task sets, with intervals over tasks; then of combined with each.
        by_models: the same task sets' pairs with intervals that take the models as the sample.
        document: all of it as strict JSON data.
    """

    pairs: tuple[Agreement, ...]
    by_models: tuple[Agreement, ...]
    document: dict[str, Any]


def elo_of(board: Board) -> dict[str, float]:
    """Elo by model, for the models that have one."""
    return {row.model: row.elo for row in board.rows if row.elo is not None}


def agreement_of_boards(boards: Sequence[Board], *, replicates: int, seed: int) -> SetsAgreement | None:
    """The agreement of the boards of task sets and the combined one; ``None`` with fewer than two boards."""
    if len(boards) < 2:
        return None
    tables = {board.name: elo_of(board) for board in boards}
    comparisons = {b.name: Comparisons.from_scores(b.results.scores_frame()) for b in boards}
    pairs, by_models = [], []
    for a, b in combinations(tables, 2):
        plain = agree(tables[a], tables[b], a, b, part_whole=is_part_whole(a, b))
        if is_part_whole(a, b):
            pairs.append(plain)
            continue
        by_models.append(plain)
        pairs.append(agree_sets(comparisons[a], comparisons[b], a, b, replicates=replicates, seed=seed))
    pairs.sort(key=lambda pair: COMBINED in (pair.a, pair.b))
    unrated = {b.name: [row.model for row in b.rows if row.elo is None] for b in boards}
    return SetsAgreement(tuple(pairs), tuple(by_models), agreement_document(pairs, tables, unrated))


def board_sentence(board: Board) -> str:
    """How many pairs of models the board's tasks tell apart."""
    scores = board.results.scores_frame()
    tasks = scores["task"].nunique()
    contrasts = contrast_intervals(Comparisons.from_scores(scores), board.ratings.fitted)
    upper = np.triu_indices(len(board.rows), 1)
    low, high = contrasts.low[upper], contrasts.high[upper]
    known = np.isfinite(low) & np.isfinite(high)
    apart = int(((low > 0) | (high < 0))[known].sum())
    unrated = sum(row.elo is None for row in board.rows)
    pairs = count(int(known.sum()), "pair")
    sentence = (
        f"On {board.name} ({count(tasks, 'task')}), {apart} of {pairs} of rated models "
        "differ by more than the choice of tasks explains (95% interval of the difference, each pair taken "
        "alone); the others cannot be told apart with these tasks."
    )
    if not known.any():
        sentence = f"On {board.name} ({count(tasks, 'task')}) no difference of two ratings has an interval."
    if unrated:
        sentence += f" {count(unrated, 'model')} {'has' if unrated == 1 else 'have'} no finite rating."
    return sentence


def agreement_sentences(
    tasks: Agreement, models: Agreement, first: Mapping[str, float], second: Mapping[str, float]
) -> list[str]:
    """What the agreement of two task sets shows and does not.

    Args:
        tasks: with intervals over tasks.
        models: the same sets, with intervals over models.
        first, second: Elo by model in the two sets.
    """
    a, b, n = tasks.a, tasks.b, tasks.n
    if not isfinite(tasks.pearson_r):
        return [f"{a} and {b}: {n} models are rated in both; their correlation is not defined."]
    line = f"{a} and {b}: over {n} models the ratings correlate with r = {tasks.pearson_r:.2f}"
    for agreement, others in ((tasks, "other tasks like these"), (models, "other models like these")):
        interval = agreement.intervals.get("pearson_r")
        if interval is not None and isfinite(interval.low):
            line += f"; with {others}, r may lie from {interval.low:.2f} to {interval.high:.2f}"
            if interval.failed:
                line += (
                    f", as {interval.replicates - interval.failed} of {interval.replicates} resamples tell"
                )
    said = [line + (" (95% intervals)." if ";" in line else ".")]
    if n - LEFT_OUT >= 4:
        kept = sorted(tasks.models, key=lambda m: first[m] + second[m])[LEFT_OUT:]
        rest = agree({m: first[m] for m in kept}, {m: second[m] for m in kept}, a, b)
        if isfinite(rest.pearson_r):
            said.append(
                f"Models of very different skill make a high correlation easy: without the {LEFT_OUT} lowest "
                f"rated, r = {rest.pearson_r:.2f} and Kendall's tau-b = {rest.kendall_tau_b:.2f}."
            )
    limits = tasks.bland_altman
    if limits is not None and isfinite(limits.sd):
        said.append(
            f"For 95% of such models, the rating on {a} minus that on {b} lies from {limits.loa_low:.0f} to "
            f"{limits.loa_high:.0f} points, as far as {n} models can tell."
        )
    if any(LOCATION in note for note in tasks.notes):
        said.append(
            "Both boards have the same mean rating by construction: nothing here shows which set is easier."
        )
    return said
