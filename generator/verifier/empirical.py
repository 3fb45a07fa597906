"""Gate 5: uninformed submissions lie at the floor, and real baselines rise from it, with room left above."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects import Finding, finding
from generator.verifier import floor
from generator.verifier.case import Case
from generator.verifier.halving import difference
from generator.verifier.ladder import RUNGS, Rung, climb


def check(case: Case) -> Iterator[Finding]:
    """Findings from submissions of known skill. Leaves their scores in the case."""
    yield from floor.check(case)
    rungs = climb(case)
    scored = [rung for rung in rungs if rung.score is not None]
    if not scored:
        yield finding(
            "ladder_failed",
            "; ".join(f"{rung.name}: {rung.reason}" for rung in rungs),
            "say in description.txt, and show in the sample, what a submission looks like",
        )
        return
    case.say("comparing the baselines with the floor")
    yield from _check_separation(case, scored)
    yield from _check_headroom(case, scored)


def gain(case: Case, score: float) -> float:
    """The share of the way from the best uninformed score (0) to the score of the answers (1)."""
    bottom, top = case.scores[floor.best_floor(case)], case.scores["oracle"]
    return (score - bottom) / (top - bottom) if top != bottom else 0.0


def _check_separation(case: Case, scored: list[Rung]) -> Iterator[Finding]:
    """The best baseline beats the best uninformed submission by more than luck, and by enough to count."""
    best = max(scored, key=lambda rung: gain(case, rung.score or 0.0))
    name = floor.best_floor(case)
    assert best.submission is not None and best.score is not None
    lead = difference(case, best.submission, floor.uninformed(case)[name])
    won = gain(case, best.score)
    told = f"{name} scores {case.scores[name]:.5g}, the best baseline ({best.name}) {best.score:.5g}"
    if lead is not None:
        told += f", difference {lead.value:.4g} with standard error {lead.standard_error:.2g}"
    sure = lead is None or lead.z >= case.limits.separation
    if not sure or won < case.limits.smallest_gain:
        yield finding(
            "unlearnable",
            told,
            "choose a target that the features tell something about, or hold out more rows",
        )


def _check_headroom(case: Case, scored: list[Rung]) -> Iterator[Finding]:
    gains = {rung.name: gain(case, rung.score or 0.0) for rung in scored}
    best = max(gains, key=lambda name: gains[name])
    scores = {rung.name: rung.score for rung in scored}
    told = ", ".join(f"{name} {share:.1%} with {scores[name]:.6g}" for name, share in gains.items())
    evidence = f"of the way from floor to perfect: {told}"
    if gains.get(RUNGS[0], 0.0) >= case.limits.trivial_gain:
        yield finding(
            "trivial", evidence, "drop the column that gives the target away, or choose a harder target"
        )
    elif gains[best] >= case.limits.ceiling_gain:
        yield finding("ceiling", evidence, "choose a harder target, or a finer metric")
