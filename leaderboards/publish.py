"""A board's files: the CSV for tables, the JSON twin with full precision and provenance, and the scores."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.models.pricing import PriceTable
from harness.records import JobPaths, strict_json, write_atomically
from leaderboards.normalised import DEFINITION
from leaderboards.rating import Board
from leaderboards.rating_notes import rating_notes, task_notes
from leaderboards.results import Results, budget_text
from leaderboards.scores import scores_text

SCHEMA_VERSION = 1
COLUMNS = (
    "rank", "rank_low", "rank_high", "model", "elo", "elo_low", "elo_high", "n_tasks", "n_trials", "win_rate",
    "valid_rate", "mean_normalised_score", "position_score", "cost_usd", "tokens", "hours", "set",
    "feedback_policy", "budget", "spec_hash", "date",
)  # fmt: skip
ELO_DECIMALS = 1
_FORMATS = {
    **dict.fromkeys(("elo", "elo_low", "elo_high"), f".{ELO_DECIMALS}f"),
    "win_rate": ".4f",
    "valid_rate": ".4f",
    "mean_normalised_score": ".4f",
    "position_score": ".4f",
    "hours": ".4f",
}
_PACKAGES = ("mle-smith", "numpy", "pandas", "scipy")


def write_board(board: Board, out: Path, *, prices: PriceTable) -> tuple[Path, Path, Path]:
    """Write ``board-<name>.csv``, ``board-<name>.json`` and ``scores-<name>.csv``.

    Returns:
        The three paths.
    """
    csv_path, json_path = out / f"board-{board.name}.csv", out / f"board-{board.name}.json"
    scores_path = out / scores_name(board)
    write_atomically(csv_path, csv_text(board))
    write_atomically(json_path, strict_json(json_document(board, prices)) + "\n")
    write_atomically(scores_path, scores_text(board.results.scores_frame()))
    return csv_path, json_path, scores_path


def scores_name(board: Board) -> str:
    """The file of scores from which the board's ratings follow."""
    return f"scores-{board.name}.csv"


def csv_text(board: Board) -> str:
    """The board as CSV; an empty field is a number that does not exist or is not known."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in board.rows:
        cells = {**asdict(row), **_conditions(board)}
        writer.writerow({column: _cell(column, cells[column]) for column in COLUMNS})
    return stream.getvalue()


def json_document(board: Board, prices: PriceTable) -> dict[str, Any]:
    """Everything about a board: rows in full precision, method, tasks, trials left out, and provenance."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": board.name,
        "sets": list(board.results.task_sets),
        "modalities": list(board.results.modalities),
        **_conditions(board),
        "rows": [asdict(row) for row in board.rows],
        "scores": scores_name(board),
        "method": {
            "rating": dict(board.ratings.method),
            "win_rate": "mean over tasks of the share of opponents beaten, ties half; 95% t interval",
            "borda": "opponents beaten, ties half, summed over tasks",
            "mean_rank": "mean over tasks of the rank among the models there, ties share the average",
            "mean_normalised_score": DEFINITION,
            "position_score": "HumanRank, mean over the tasks with a human leaderboard, invalid = 0",
            "cost_usd": "sum over counted trials; null when any of them is unpriced",
        },
        "tasks": _tasks(board),
        "trials": {
            "found": len(board.results.sources),
            "counted": len(board.results.counted().sources),
            "left_out": board.results.left_out(),
            "left_out_because": "infrastructure failures say nothing about a model",
        },
        "findings": [asdict(finding) for finding in board.findings],
        "notes": [
            *rating_notes(board.ratings),
            *task_notes(board.ratings.comparisons, clustered=True),
            *_price_notes(board),
        ],
        "provenance": {
            "jobs": [{"job": job.name, "git_commit": _git_commit(job)} for job in board.results.jobs],
            "versions": {name: _version(name) for name in _PACKAGES},
            "prices": {"table": prices.version, "overrides": sorted(prices.overrides)},
        },
    }


def _price_notes(board: Board) -> list[str]:
    models = ", ".join(board.unpriced)
    return [f"unpriced: {models}; their cost is unknown, and not 0"] if models else []


def _conditions(board: Board) -> dict[str, str]:
    """What all rows share; comparable trials have one value of each."""
    record = board.results.counted().records[0]
    return {
        "set": board.name,
        "feedback_policy": record.feedback.value,
        "budget": budget_text(record.budget),
        "spec_hash": record.spec_hash,
    }


def _tasks(board: Board) -> list[dict[str, Any]]:
    counted: Results = board.results.counted()
    first = {(r.task_set, r.task): r for r in reversed(counted.records)}
    models = counted.trials.groupby("task")["model"].nunique()
    return [
        {
            "set": r.task_set,
            "task": r.task,
            "hash": r.task_hash,
            "modality": r.modality,
            "objective": r.objective,
            "metric": r.metric,
            "higher_is_better": r.higher_is_better,
            "n_models": int(models[f"{r.task_set}/{r.task}"]),
            "anchors": asdict(board.anchors[f"{r.task_set}/{r.task}"]),
        }
        for _, r in sorted(first.items())
    ]


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == "cost_usd":
        return repr(float(f"{value:.8g}"))
    return format(value, _FORMATS.get(column, ""))


def _git_commit(job: Path) -> str | None:
    """The commit that the job's lock names, if there is a lock and it names one."""
    path = JobPaths(job).lock
    if not path.is_file():
        return None
    try:
        commit = json.loads(path.read_text(encoding="utf-8")).get("git_commit")
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path}: not a JSON object; run the job again to write a new lock") from error
    return commit if isinstance(commit, str) else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
