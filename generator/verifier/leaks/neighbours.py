"""Random splits of a smooth series: test rows between training rows that tell their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.residuals import Alike, alike, outcomes, unexplained
from generator.verifier.leaks.times import earlier, to_times
from generator.verifier.leaks.view import Truth, View, is_dated
from generator.verifier.probing import Floats
from generator.verifier.targets import to_numbers

_NAMES = re.compile(r"date|time|month|year|day\b|hour|moment|period|quarter|week", re.IGNORECASE)
_LEARNT = 4_000
_BLOCKS = 9
_CLOCK = 1e8
_FEATURES = 40


def check(view: View) -> Iterator[Finding]:
    """Times that no split respects though rows of near moments are alike."""
    case, limits = view.case, view.limits
    if case.train is None or case.test is None or len(view.train) < 50:
        return
    for column in _times(view):
        early = earlier(view.train[column], view.test[column])
        if early <= limits.time_error:
            continue
        if case.task.spec.objective == "forecasting":
            yield finding(
                "time_leak",
                f"the objective is forecasting, and {early:.1%} of the test rows are not later than the last "
                f"training row by {column}",
                "cut at a moment: train before it, test after it",
            )
            return
        for truth in view.truths:
            found = _smooth(view, truth, column)
            if found.z < limits.z or found.correlation < limits.time_warning_alike:
                continue
            yield finding(
                "time_leak",
                f"{early:.1%} of the test rows are not later than the last training row by {column}, and "
                f"rows of near moments have like {truth.name} beyond what other columns explain: correlation "
                f"{found.correlation:.2f}, z {found.z:.0f}",
                "cut at a moment: train before it, test after it",
                Severity.ERROR
                if found.correlation >= limits.time and _dealt(view, column)
                else Severity.WARNING,
            )
            return


def _dealt(view: View, column: str) -> bool:
    """Whether test rows were dealt among training rows of a series, which no group or block explains.

    A split that is declared as one by group or in time has its reasons, and in a given one, whole days or
    weeks may have been kept back; then most test rows stand between other test rows. Rows drawn one by one
    have a training row beside them nearly always.
    """
    known, asked = view.case.train, view.case.test
    if known is None or asked is None:
        return False
    if view.case.task.spec.split.kind not in ("random", "stratified", "given"):
        return False
    train, test = (to_times(side[column]).dropna() for side in (known, asked))
    times = np.concatenate([train, test])
    tests = (np.arange(len(times)) >= len(train))[np.argsort(times, kind="stable")]
    beside = np.r_[True, tests[:-1]] & np.r_[tests[1:], True]
    # Of rows drawn with share s a part s * s has test rows on both sides.
    return bool(beside[tests].mean() <= (1 + tests.mean() ** 2) / 2)


def _times(view: View) -> list[str]:
    """Columns of moments other than the declared one."""
    declared = view.case.task.spec.split.time_column
    names = [view.case.id_column] if view.case.id_column in view.train.columns else []
    found = []
    for name in [*names, *view.shared]:
        if name == declared:
            continue
        if view.dated(name) and not view.test[name].str.match(r"^\d{1,2}:\d\d").all():
            found.append(name)
        elif name in view.shared and _NAMES.search(name):
            numbers = to_numbers(view.test[name])
            # A year or an hour of the day is a feature; seconds since 1970 are a clock that counts on.
            if numbers.notna().all() and numbers.min() > _CLOCK and numbers.nunique() > 0.5 * len(numbers):
                found.append(name)
    return found[:2]


def _smooth(view: View, truth: Truth, column: str) -> Alike:
    """How alike training rows are to the next later one, beyond what features tell from other periods."""
    if truth.train is None:
        return Alike(0.0, 0.0)
    times = to_times(view.train[column]).to_numpy(dtype=float)
    order = np.argsort(times, kind="stable")
    order = order[np.isfinite(times[order])][:_LEARNT]
    ranked = truth.ranked().train
    if ranked is None or len(order) < 50:
        return Alike(0.0, 0.0)
    wanted = outcomes(truth.ranked(), ranked)[order]
    found = alike(wanted[:-1], wanted[1:])
    if found.z < view.limits.z or found.correlation < view.limits.time_warning_alike:
        return found
    names = [name for name in view.shared if name != column and not is_dated(view.train[name])]
    features: Floats = view.matrix(names[:_FEATURES])[0][order]
    blocks = np.arange(len(order)) * _BLOCKS // len(order)
    left = unexplained(features, wanted, blocks)
    beyond = alike(left[:-1], left[1:])
    # So smooth a series is worth a word even where other columns explain it.
    if beyond.correlation < view.limits.time_warning_alike and found.correlation >= view.limits.time:
        return Alike(view.limits.time_warning_alike, found.z)
    return beyond
