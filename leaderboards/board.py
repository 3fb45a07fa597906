"""Which boards some jobs give, and building them: one per task set, combined, and one per modality."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.models.pricing import PriceTable
from leaderboards.comparability import ComparabilityError, check_comparable
from leaderboards.publish import write_board
from leaderboards.rating import Board, make_board
from leaderboards.results import Results, load_results

log = logging.getLogger(__name__)

COMBINED = "combined"


@dataclass(frozen=True)
class WrittenBoard:
    """A board and its three files."""

    board: Board
    csv: Path
    json: Path
    scores: Path


def build_boards(
    jobs: Sequence[Path],
    out: Path,
    *,
    seed: int = 0,
    prices: PriceTable | None = None,
) -> list[WrittenBoard]:
    """Build and write the board of every task set, of all sets combined, and of every modality.

    The same trials give the same bytes. A board whose models never met, not even through others, is left out
    with a warning.

    Args:
        jobs: job folders.
        out: where ``board-<name>.csv``, ``board-<name>.json`` and ``scores-<name>.csv`` go.
        seed: of the simulated critical values behind the rank intervals.
        prices: of model calls; by default the published table.

    Raises:
        InputError: a job cannot be read or holds no trial that counts.
        ComparabilityError: trials that must not be pooled, by name.
    """
    results = load_results(jobs)
    if not results.counted().sources:
        raise InputError(
            f"{', '.join(str(job) for job in jobs)}: every trial ended by an infrastructure failure "
            f"({results.left_out()}); run `mlesmith run` again to repeat them"
        )
    findings = [finding for finding in check_comparable(results) if finding.severity == "error"]
    if any(finding.code != "disjoint-models" for finding in findings):
        raise ComparabilityError(findings)
    table = prices or PriceTable()
    written = []
    for name, part in board_selections(results).items():
        try:
            board = make_board(name, part, seed=seed, prices=table)
        except ComparabilityError as error:
            log.warning("board %s is left out: %s", name, error)
            continue
        written.append(WrittenBoard(board, *write_board(board, out, prices=table)))
    if not written:
        raise ComparabilityError(findings)
    return written


def board_selections(results: Results) -> dict[str, Results]:
    """The trials of each board by its name; boards without a counted trial are not there.

    Raises:
        InputError: two boards would have the same name.
    """
    named = [(_slug(name), results.select(task_set=name)) for name in results.task_sets]
    if len(results.task_sets) > 1:
        named.append((COMBINED, results))
    named += [(f"modality-{_slug(m)}", results.select(modality=m)) for m in results.modalities]
    names = [name for name, _ in named]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"two boards would be named {', '.join(repeated)}; rename the task set (`set` in task.toml) or "
            "give fewer jobs"
        )
    return {name: part for name, part in named if part.counted().sources}


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"
