"""How fine the score is: its standard error on these rows, and how many values it takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import SEED, Bench

_HALVES = 24
_STEPS = 25
_FEW_ROWS = 30
_RARE_ROWS = 10
_BY_CLASS = ("macro_f1", "balanced_accuracy")
_FIX = "hold out more test rows, or use a finer metric"


def check(bench: Bench) -> Iterator[Finding]:
    """At most one finding: the strongest reason why good and better cannot be told apart."""
    told = _coarse(bench) or _uncertain(bench) or _few(bench)
    if told:
        yield finding("coarse_metric", told, _FIX)


def _uncertain(bench: Bench) -> str:
    """The spread over random halves of the rows is the standard error on all of them."""
    gap = min((bench.loss(floor["score"]) for floor in bench.case.exhibits["floors"]), default=0.0)
    if gap <= 0 or len(bench.oracle) < 4:
        return ""
    rng, rows, all_rows = np.random.default_rng(SEED + 6), len(bench.oracle), len(bench.case.answers)
    parts = [np.sort(rng.permutation(rows)[: rows // 2]) for _ in range(_HALVES)]
    skilled = changes.softened(bench.oracle, bench.columns, rng) if bench.flags else bench.worse
    scores = [
        score for score in bench.case.grader.score_parts(skilled, parts, bench.answers) if score is not None
    ]
    if len(scores) < _HALVES // 2:
        return ""
    error = float(np.std(scores, ddof=1)) * (rows / all_rows) ** 0.5
    if error <= bench.case.limits.metric.error_share * gap:
        return ""
    return (
        f"on {all_rows:,} test rows the score of partly wrong answers has a standard error of {error:.3g}, "
        f"and from the best uninformed submission to the answers it is {gap:.3g}"
    )


def _coarse(bench: Bench) -> str:
    """Answers more and more wrong should score differently, nearly each of them."""
    rng, rows = np.random.default_rng(SEED + 7), len(bench.oracle)
    few = bench.case.limits.metric.few_scores
    if rows < 4 * _STEPS:
        return ""
    shares = np.linspace(0.02, 0.8, _STEPS)
    frames = [changes.exchanged(bench.oracle, bench.columns, float(share), rng) for share in shares]
    scores = [result.finite for result in bench.many(frames) if result.finite is not None]
    distinct = len({round(score, 12) for score in scores})
    if len(scores) < _STEPS // 2 or distinct > few:
        return ""
    return (
        f"{len(scores)} submissions with 2% to 80% of {rows} rows exchanged get {distinct} different scores"
    )


def _few(bench: Bench) -> str:
    rows = len(bench.oracle)
    if rows < _FEW_ROWS:
        return f"there are {rows} test rows"
    if bench.known is not None and bench.known.name in _BY_CLASS and len(bench.columns) == 1:
        counts = bench.case.answers[bench.columns[0]].value_counts()
        if counts.iloc[-1] < _RARE_ROWS:
            return (
                f"class {counts.index[-1]!r} has {counts.iloc[-1]} test rows and counts as much as any other"
            )
    return ""
