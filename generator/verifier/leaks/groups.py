"""Groups that stand on both sides of the split: of a group split, and such as nobody declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.leaks.residuals import Alike, alike, outcomes, unexplained
from generator.verifier.leaks.view import View, is_dated
from generator.verifier.probing import Floats
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers

_NAMES = re.compile(
    r"(?:^|_|\b)(?:id|uid|key|code|nr|no|user|person|patient|subject|group|session|household|family|customer|"
    r"client|owner|author|speaker|player|device|machine|site|case|account|booking|trip|batch|specimen|visit|"
    r"student|school|store|company|doctor|worker)s?(?:_|\b|$|id)|(?<=[a-z])(?:Id|ID)$",
    re.IGNORECASE,
)
_FEWEST_GROUPS = 15
_LARGEST = 200
#: A category of no telling name is a feature, not a group, unless it is fine.
_FEWEST_UNNAMED = 50
_LARGEST_UNNAMED = 10
_CANDIDATES = 4
_LEARNT = 4_000
_FEATURES = 40


@dataclass(frozen=True)
class Candidate:
    """A column, or part of one, whose values may be groups of rows that belong together.

    Attributes:
        name: what it is, for the evidence.
        train: group of each sampled training row.
        test: group of each sampled test row.
        named: whether it says that it names something.
        column: the column that it is read from.
    """

    name: str
    train: pd.Series
    test: pd.Series
    named: bool
    column: str

    @property
    def overlap(self) -> float:
        """The share of test rows with a mate in training."""
        return float(self.test.isin(set(self.train)).mean())


def check(view: View) -> Iterator[Finding]:
    """Groups on both sides of the split."""
    declared = list(check_declared(view.case))
    yield from declared
    split = view.case.task.spec.split
    if split.kind == "time" or view.case.task.spec.objective in ("forecasting", "ranking"):
        return
    if len(view.train) < 50 or len(view.test) < view.limits.copy_rows:
        return
    found = [one for one in _candidates(view) if one.overlap >= view.limits.group_share]
    found.sort(key=lambda one: (not one.named, -one.train.nunique()))
    done = {split.group_column}
    for candidate in found[:_CANDIDATES]:
        if candidate.column in done:
            continue
        for one in _check_candidate(view, candidate):
            done.add(candidate.column)
            yield one


def check_declared(case: Case) -> Iterator[Finding]:
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


def _candidates(view: View) -> Iterator[Candidate]:
    """Columns, parts of the id and folders of paths that repeat as groups do."""
    ids = view.case.id_column
    for name in view.shared:
        yield from _one(name, view.train[name], view.test[name], bool(_NAMES.search(name)), name)
        if view.test[name].str.contains("/", regex=False).mean() > 0.9 and not view.dated(name):
            folders = [table[name].str.rsplit("/", n=1).str[0] for table in (view.train, view.test)]
            yield from _one(f"the folder of {name}", folders[0], folders[1], True, name)
            yield from _parts(name, *(t[name].str.rsplit("/", n=1).str[-1] for t in (view.train, view.test)))
    if ids in view.train.columns:
        yield from _parts(ids, view.train[ids], view.test[ids])


def _parts(name: str, train: pd.Series, test: pd.Series) -> Iterator[Candidate]:
    for words, pattern in (
        ("the part before the last separator", r"^(.+)[_\-:. ][^_\-:. ]+(?:\.\w+)?$"),
        ("the part before the first separator", r"^([^_\-:. ]+)[_\-:. ]"),
    ):
        sides = [side.str.extract(pattern)[0] for side in (train, test)]
        if all(side.notna().mean() > 0.9 for side in sides):
            yield from _one(f"{words} of {name}", sides[0].fillna(""), sides[1].fillna(""), True, name)


def _one(name: str, train: pd.Series, test: pd.Series, named: bool, column: str) -> Iterator[Candidate]:
    if is_dated(test):
        return
    filled = test[test.str.strip() != ""]
    numbers = to_numbers(filled)
    measured = numbers.notna().mean() > 0.9
    # A measured number is no group, and a count of a few values neither.
    if filled.empty or (measured and (not named or bool((numbers.dropna() % 1 != 0).any()))):
        return
    distinct, rows = train.nunique(), len(train)
    largest = _LARGEST if named else _LARGEST_UNNAMED
    if distinct < (_FEWEST_GROUPS if named else _FEWEST_UNNAMED) or not 1.1 <= rows / distinct <= largest:
        return
    yield Candidate(name, train, test, named, column)


def _check_candidate(view: View, candidate: Candidate) -> Iterator[Finding]:
    limits = view.limits
    least = limits.group_named if candidate.named else limits.group_warning
    for truth in view.truths:
        ranked = truth.ranked()
        if ranked.train is None:
            continue
        chosen = sampled_rows(len(ranked.train), _LEARNT)
        groups = pd.factorize(candidate.train.iloc[chosen])[0]
        wanted = outcomes(ranked, ranked.train.iloc[chosen])
        names = [name for name in view.shared if name != candidate.column and not _texts(view, name)]
        features = view.matrix(names[:_FEATURES])[0][chosen]
        found = _alike(wanted, groups)
        if found.z < limits.z or found.correlation < least:
            continue
        found = _alike(unexplained(features, wanted, groups), groups)
        if found.z < limits.z or found.correlation < least:
            continue
        serious = found.correlation >= limits.group and candidate.named and _random(view)
        yield finding(
            "group_leak",
            f"{candidate.overlap:.1%} of the test rows share {candidate.name} with training rows, and such "
            f"rows have like {truth.name} beyond what other columns explain: correlation "
            f"{found.correlation:.2f}, z {found.z:.0f}{view.told}",
            f"keep rows of one {candidate.column} on one side of the split, or say why they may be on both",
            Severity.ERROR if serious else Severity.WARNING,
        )
        return


def _random(view: View) -> bool:
    return view.case.task.spec.split.kind in ("random", "stratified", "group")


def _texts(view: View, name: str) -> bool:
    """Whether a column is free text or paths, of which a tree on codes makes nothing."""
    cells = view.train[name]
    return bool(cells.nunique() > 0.5 * len(cells) and to_numbers(cells).notna().mean() < 0.5)


def _alike(wanted: Floats, groups: np.ndarray) -> Alike:
    """How alike a row's outcome is to the mean of its mates."""
    sizes = np.bincount(groups)[groups]
    sums = pd.DataFrame(wanted).groupby(groups).transform("sum").to_numpy()
    paired = sizes > 1
    if paired.sum() < 30:
        return Alike(0.0, 0.0)
    mates = (sums - wanted)[paired] / (sizes[paired] - 1)[:, None]
    return alike(wanted[paired], mates)
