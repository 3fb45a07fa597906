"""Groups that stand on both sides of the split."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case


def check(case: Case) -> Iterator[Finding]:
    """Groups of a group split that are on both sides."""
    group, train, test = case.task.spec.split.group_column, case.train, case.test
    if train is None or test is None or group not in train.columns or group not in test.columns:
        return
    both = set(train[group]) & set(test[group])
    if both:
        yield finding(
            "group_leak",
            f"{len(both)} of {test[group].nunique()} groups by {group} in test also stand in training",
            "draw whole groups, not rows",
        )
