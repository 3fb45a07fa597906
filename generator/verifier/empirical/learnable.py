"""Whether the features tell anything of the answers; and, where they do not, whether they do in training."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical import floor
from generator.verifier.empirical.ladder import climb
from generator.verifier.empirical.rehearsal import open_rehearsal
from generator.verifier.empirical.standing import Field, Standing, best, is_separated
from generator.verifier.reduction import time_order
from generator.verifier.targets import to_numbers

#: What the baselines can do; with another objective their failure says less.
_OBJECTIVES = ("classification", "regression", "multi-label classification", "ranking", "anomaly detection")
_READ = (".csv", ".tsv", ".png", ".jpg", ".jpeg", ".bmp", ".wav", ".txt", ".md")
_EXCHANGEABLE = ("random", "stratified")
_FIX_MISALIGNED = (
    "write each answer beside the id of its own row, and check that nothing sorts only one of them"
)


def check(case: Case, field: Field, standings: list[Standing]) -> Iterator[Finding]:
    """One finding at most: the answers are misaligned, or the target cannot be learnt."""
    highest = best(standings)
    if highest is None:
        return
    separated = is_separated(case, highest)
    if separated and not _looks_worse(case, field, standings):
        return
    case.say("rehearsing on the training rows")
    with open_rehearsal(case) as rehearsal:
        rehearsed = None if rehearsal is None else _rehearse(rehearsal, highest.rung.name)
    if rehearsed is not None and _is_misaligned(case, highest, rehearsed):
        lost = rehearsed.gain - highest.gain
        yield finding(
            "answers_misaligned",
            f"{rehearsed.rung.name} trained on two thirds of the training rows goes {rehearsed.gain:.0%} of "
            f"the way from the floor to perfect on the rest; on the answers the best baseline "
            f"({highest.rung.name}) goes {highest.gain:.0%} (gap z = {_gap_z(highest, rehearsed, lost):.1f})",
            _FIX_MISALIGNED,
        )
    elif not separated:
        yield _unlearnable(case, field, highest, rehearsed)


def _looks_worse(case: Case, field: Field, standings: list[Standing]) -> bool:
    """Whether a program's own validation promised much more than the answers gave.

    The two are compared only when the program validates by the task's metric; a promise in other units can
    lead to a rehearsal for nothing, and to no more.
    """
    limits = case.limits.empirical
    for standing in standings:
        said = standing.rung.validated
        promised = 0.0 if said is None or not math.isfinite(said) else field.floor.gain(said)
        if promised > limits.rehearsed_gain and standing.gain < limits.kept_gain * promised:
            return True
    return False


def _rehearse(rehearsal: Case, name: str) -> Standing | None:
    """The best of two baselines on the rehearsal, the one that did best on the task among them."""
    sample, answers = rehearsal.sample(), rehearsal.oracle()
    graded = [rehearsal.grader.grade_frame(frame).raw_score for frame in (sample, answers)]
    if graded[1] is None or graded[0] is None:
        return None
    rehearsal.scores["oracle"] = graded[1]
    field = Field(rehearsal, floor.lowest(rehearsal))
    names = dict.fromkeys([name, "linear", "forest"])
    rungs = climb(rehearsal, list(names)[:2])
    return best([standing for standing in map(field.standing, rungs) if standing is not None])


def _gap_z(ours: Standing, rehearsed: Standing, gap: float) -> float:
    error = math.hypot(ours.error or 0.0, rehearsed.error or 0.0)
    return gap / error if error > 0 else math.inf


def _is_misaligned(case: Case, ours: Standing, rehearsed: Standing) -> bool:
    """A gap between training and answers that no honest split makes.

    Later times and other groups explain that less is gained, so there only the loss of everything counts.
    """
    limits = case.limits.empirical
    gap = rehearsed.gain - ours.gain
    if not is_separated(case, rehearsed) or rehearsed.gain < limits.rehearsed_gain:
        return False
    if _gap_z(ours, rehearsed, gap) < limits.misaligned_z:
        return False
    if case.task.spec.split.kind in _EXCHANGEABLE:
        return ours.gain < limits.kept_gain * rehearsed.gain
    return not is_separated(case, ours) and case.task.spec.split.kind != "time"


def _unlearnable(case: Case, field: Field, highest: Standing, rehearsed: Standing | None) -> Finding:
    """An error when the baselines could have learnt and did not; where they did a little, or may not be able
    to, a warning."""
    told = (
        f"{field.floor.name} scores {field.floor.score:.5g}, the best baseline ({highest.rung.name}) "
        f"{highest.rung.score:.5g}: {highest.gain:.1%} of the way to the answers"
    )
    if highest.error is not None:
        told += f", 95% interval {highest.low:.1%} to {highest.high:.1%}"
    fix, reasons = "choose a target that the features tell something about", []
    if is_separated(case, rehearsed):
        assert rehearsed is not None
        reasons.append(
            f"on held-out training rows {rehearsed.rung.name} goes {rehearsed.gain:.0%} of the way"
        )
        fix = "hold out more rows"
    elif rehearsed is not None:
        told += f"; on held-out training rows {rehearsed.rung.name} goes {rehearsed.gain:.1%} of the way"
    if highest.error and highest.z >= case.limits.empirical.signal:
        reasons.append(f"that is more than luck (z = {highest.z:.1f}), but little to compare candidates by")
    reasons += _beyond(case)
    severity = Severity.WARNING if reasons else None
    return finding("unlearnable", "; ".join([told, *reasons]), fix, severity)


def _beyond(case: Case) -> list[str]:
    """Why the baselines may miss what a better candidate would find."""
    reasons = []
    objective = case.task.spec.objective
    if objective == "forecasting":
        if case.train is None or _remembers(case):
            reasons.append("the series follows its own past, which the baselines hardly look at")
    elif objective not in _OBJECTIVES:
        reasons.append(f"the baselines know nothing about {objective}")
    used = {case.train_path, case.test_path, case.prepared.sample_path}
    others = [
        path
        for path in sorted(case.prepared.public.rglob("*"))
        if path.is_file() and path not in used and (path in case.tables or path.suffix.lower() not in _READ)
    ]
    if others:
        reasons.append(f"the baselines do not read {len(others)} further files, such as {others[0].name}")
    return reasons


def _remembers(case: Case) -> bool:
    """Whether a target's value tells of the next one: the lag-1 autocorrelation r in the order of time.

    Under independence r sqrt(n) is nearly standard normal (Bartlett 1946).
    """
    train = case.train
    assert train is not None
    order = time_order(train, case.task.spec.split.time_column)
    for column in case.targets:
        if column not in train.columns:
            return True
        values = to_numbers(train[column]).to_numpy()[order]
        values = values[np.isfinite(values)]
        if len(values) < 8 or np.ptp(values) == 0:
            continue
        r = float(np.corrcoef(values[:-1], values[1:])[0, 1])
        if abs(r) * math.sqrt(len(values)) > case.limits.empirical.separation:
            return True
    return False
