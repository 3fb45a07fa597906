"""What a job's boards and their agreement can and cannot show, in plain sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from leaderboards.board import COMBINED
from leaderboards.rating import Board
from reports.agreement import agreement_document, is_part_whole
from reports.agreement.evidence import Evidence, gather
from reports.agreement.rated import Options, RatedSet
from reports.agreement.reliability import Length, lengths
from reports.templating import count
from stats.agreement.pair import Agreement, agree
from stats.comparisons import Comparisons
from stats.sandwich import contrast_intervals


@dataclass(frozen=True)
class SetsAgreement:
    """Agreement between the boards of a job.

    Attributes:
        pairs: of two task sets; then of combined with each, which holds their tasks.
        evidence: on the pairs of two task sets.
        document: all of it as strict JSON data.
    """

    pairs: tuple[Agreement, ...]
    evidence: tuple[Evidence, ...]
    document: dict[str, Any]


def elo_of(board: Board) -> dict[str, float]:
    """Elo by model, for the models that have one."""
    return {row.model: row.elo for row in board.rows if row.elo is not None}


def lengths_of(boards: Sequence[Board]) -> dict[str, Length]:
    """How reliably the tasks of each set order the models."""
    sets = [board for board in boards if board.name != COMBINED]
    return lengths({b.name: Comparisons.from_scores(b.results.scores_frame()) for b in sets})


def agreement_of_boards(
    boards: Sequence[Board], found: Mapping[str, Length], *, replicates: int, seed: int
) -> SetsAgreement | None:
    """The agreement of the boards of task sets and the combined one; ``None`` with fewer than two boards.

    Args:
        boards: of task sets, and the combined one.
        found: what `lengths_of` returns.
        replicates, seed: of the resampling of tasks.
    """
    if len(boards) < 2:
        return None
    prior = boards[0].ratings.fitted.prior
    options = Options(replicates=replicates, seed=seed, prior=prior)
    rated = [
        RatedSet.from_comparisons(b.name, Comparisons.from_scores(b.results.scores_frame()), prior)
        for b in boards
    ]
    evidence, wholes = [], []
    for a, b in combinations(rated, 2):
        if is_part_whole(a.name, b.name):
            wholes.append(agree(a.ratings, b.ratings, a.name, b.name, part_whole=True))
        else:
            evidence.append(gather(a, b, options))
    pairs = (*(e.agreement for e in evidence), *wholes)
    document = agreement_document(
        pairs, {s.name: s.ratings for s in rated}, {s.name: s.unrated for s in rated},
        evidence=evidence, lengths=found,
    )  # fmt: skip
    return SetsAgreement(pairs, tuple(evidence), document)


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
