"""Gate 5: uninformed submissions lie at the floor, and real baselines rise from it, with room left above."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical import floor, headroom, learnable, noise
from generator.verifier.empirical.ladder import CRASHED, FORECASTER, RUNGS, STRONGER, Rung, climb
from generator.verifier.empirical.standing import Field, Standing, best, is_separated
from generator.verifier.empirical.trials import TrialInterrupted

#: The program ran, and what it handed in was refused: the task's data and its own checks do not agree.
_REFUSED = (
    "metric_",
    "missing_id",
    "foreign_id",
    "duplicate_id",
    "wrong_columns",
    "missing_value",
    "not_numeric",
)


def check(case: Case) -> Iterator[Finding]:
    """Findings from submissions of known skill. Leaves their scores and two exhibits in the case.

    Stronger and slower baselines run only when the others have not settled the matter.

    Raises:
        TrialInterrupted: trials were lost to the machine, or to errors of the baselines themselves.
    """
    found = list(floor.check(case))
    yield from found
    field = Field(case, floor.lowest(case, without="sample" if _informed(found) else None))
    rungs: list[Rung] = []
    standings: list[Standing] = []
    for names in _stages(case):
        for rung in climb(case, names):
            rungs.append(rung)
            standings += filter(None, [field.standing(rung)])
        if is_separated(case, best(standings)):
            break
    case.exhibits["ladder"] = [standing.to_exhibit() for standing in standings]
    highest = best(standings)
    if highest is None:
        if any(rung.reason == CRASHED for rung in rungs):
            raise TrialInterrupted("no baseline has a score, and some ended by an error of their own")
        yield _failed(case, rungs)
        return
    yield from learnable.check(case, field, standings)
    yield from headroom.check(case, field.floor, standings)
    if is_separated(case, highest) and highest.gain < case.limits.empirical.noisy_gain:
        yield from noise.check(case, highest, field.floor.height)


def _informed(found: list[Finding]) -> bool:
    return any(each.code == "sample_informative" for each in found)


def _stages(case: Case) -> list[tuple[str, ...]]:
    forecasts = case.task.spec.objective == "forecasting"
    return [RUNGS, STRONGER, FORECASTER] if forecasts else [RUNGS, STRONGER]


def _failed(case: Case, rungs: list[Rung]) -> Finding:
    """No baseline has a score: the task's fault when it refused what they handed in, else perhaps theirs."""
    refused = any(rung.reason.startswith(_REFUSED) for rung in rungs)
    return finding(
        "ladder_failed",
        "; ".join(f"{rung.name}: {rung.reason}" for rung in rungs),
        "say in description.txt, and show in the sample, what a submission looks like",
        None if refused else Severity.WARNING,
    )
