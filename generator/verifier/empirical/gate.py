"""Gate 5: uninformed submissions lie at the floor, and real baselines rise from it, with room left above."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical import floor
from generator.verifier.empirical.halving import difference
from generator.verifier.empirical.ladder import RUNGS, Rung, climb


def check(case: Case) -> Iterator[Finding]:
    """Findings from submissions of known skill. Leaves their scores in the case.

    The strongest and slowest baseline runs only when the others have not settled the matter.
    """
    yield from floor.check(case)
    rungs = list(climb(case, RUNGS[:-1]))
    unlearnable = _check_separation(case, rungs)
    if unlearnable is not None:
        rungs += climb(case, RUNGS[-1:])
        unlearnable = _check_separation(case, rungs)
    if unlearnable is not None:
        yield unlearnable
    yield from _check_headroom(case, rungs)


def gain(case: Case, score: float) -> float:
    """The share of the way from the best uninformed score (0) to the score of the answers (1)."""
    bottom, top = case.scores[floor.best_floor(case)], case.scores["oracle"]
    return (score - bottom) / (top - bottom) if top != bottom else 0.0


def _check_separation(case: Case, rungs: list[Rung]) -> Finding | None:
    """The best baseline must beat the best uninformed submission by more than luck, and clearly."""
    best = max(_gains(case, rungs), key=lambda pair: pair[1], default=None)
    if best is None:
        tables = case.train is not None and case.test is not None
        return finding(
            "ladder_failed",
            "; ".join(f"{rung.name}: {rung.reason}" for rung in rungs),
            "say in description.txt, and show in the sample, what a submission looks like",
            # The baselines read tables only; another form of data is no fault of the task.
            None if tables else Severity.WARNING,
        )
    rung, won = best
    assert rung.submission is not None
    name = floor.best_floor(case)
    lead = difference(case, rung.submission, floor.uninformed(case)[name])
    if won >= case.limits.empirical.smallest_gain and (
        lead is None or lead.z >= case.limits.empirical.separation
    ):
        return None
    told = f"{name} scores {case.scores[name]:.5g}, the best baseline ({rung.name}) {rung.score:.5g}"
    if lead is not None:
        told += f", difference {lead.value:.4g} with standard error {lead.standard_error:.2g}"
    # The baselines see rows one by one; a series that only its own past foretells is beyond them.
    forecasting = case.task.spec.objective == "forecasting"
    return finding(
        "unlearnable",
        told,
        "choose a target that the features tell something about, or hold out more rows",
        Severity.WARNING if forecasting else None,
    )


def _gains(case: Case, rungs: list[Rung]) -> list[tuple[Rung, float]]:
    return [(rung, gain(case, rung.score)) for rung in rungs if rung.score is not None]


def _check_headroom(case: Case, rungs: list[Rung]) -> Iterator[Finding]:
    gains = _gains(case, rungs)
    evidence = "of the way from floor to perfect: " + ", ".join(
        f"{rung.name} {share:.1%} with {rung.score:.6g}" for rung, share in gains
    )
    simplest = max((share for rung, share in gains if rung.name == RUNGS[0]), default=0.0)
    if simplest >= case.limits.empirical.trivial_gain:
        yield finding(
            "trivial", evidence, "drop the column that gives the target away, or choose a harder target"
        )
    elif max((share for _, share in gains), default=0.0) >= case.limits.empirical.ceiling_gain:
        yield finding("ceiling", evidence, "choose a harder target, or a finer metric")
