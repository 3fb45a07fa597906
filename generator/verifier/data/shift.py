"""Numeric answers, against the range and the distribution of the training values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.distance import Floats, between
from generator.verifier.data.labels import visible
from generator.verifier.targets import Kind, to_numbers

_DRAWN = ("random", "stratified")
_FIX = "give training values and answers in the same unit, and draw both from the same rows"


def check(case: Case) -> Iterator[Finding]:
    """Answers that training does not lead to expect."""
    for target in case.targets:
        labels = visible(case, target) if case.kinds[target] is Kind.NUMBER else None
        if labels is None or not labels.named:
            continue
        known, truth = (to_numbers(column).to_numpy() for column in (labels.values, case.answers[target]))
        known, truth = known[np.isfinite(known)], truth[np.isfinite(truth)]
        if len(known) >= case.limits.data.drift_rows and len(truth) >= case.limits.data.drift_rows:
            yield from _compare(case, target, known, truth)


def _compare(case: Case, target: str, known: Floats, truth: Floats) -> Iterator[Finding]:
    limits, split = case.limits.data, case.task.spec.split.kind
    low, high = float(known.min()), float(known.max())
    spread = high - low
    outside = float(((truth < low - spread / 10) | (truth > high + spread / 10)).mean())
    test = between(known, truth)
    distance, chance = test.size, test.chance * len(case.targets)
    told = (
        f"answers in {target} have the median {np.median(truth):.4g}, training values {np.median(known):.4g} "
        f"(from {low:.4g} to {high:.4g}); {outside:.1%} of the answers lie outside, "
        f"Kolmogorov-Smirnov distance {distance:.2f}"
    )
    if outside > limits.outside_share:
        away = max(low - float(np.median(truth)), float(np.median(truth)) - high)
        trend = split == "time" or case.task.spec.objective == "forecasting"
        honest = trend and away < limits.outside_ranges * spread
        yield finding("target_shift", told, _FIX, Severity.WARNING if honest else Severity.ERROR)
        return
    if split == "time" or chance >= limits.certain:
        return
    drawn = split in _DRAWN
    if drawn and distance >= limits.shift_error:
        yield finding("target_shift", told, _FIX, Severity.ERROR)
        return
    far = distance >= (limits.shift_distance if drawn else limits.shift_grouped)
    if far or (drawn and outside > limits.outside_warning):
        yield finding("target_shift", told, _FIX)
