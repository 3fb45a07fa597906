"""Categories of a feature that occur in test only."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.sides import sides
from generator.verifier.targets import to_numbers

_DRAWN = ("random", "stratified", "group")


def check(case: Case) -> Iterator[Finding]:
    """Features of repeated categories of which many test rows hold unseen ones."""
    both, limits, split = sides(case), case.limits.data, case.task.spec.split
    if both is None:
        return
    own = {split.group_column, split.time_column}
    for name in [name for name in both.features if name not in own]:
        seen, asked = (table[name].str.strip() for table in (both.train, both.test))
        seen, asked = seen[seen != ""], asked[asked != ""]
        if min(len(seen), len(asked)) < limits.drift_rows or not _repeats(seen, limits.repeated):
            continue
        if max(float(to_numbers(side).notna().mean()) for side in (seen, asked)) > 0.5:
            continue
        unseen = asked[~asked.isin(set(seen))]
        share, expected = len(unseen) / len(asked), _expected(seen, len(asked))
        bound = limits.unseen_category if split.kind in _DRAWN else limits.unseen_dated
        if share <= max(bound, 3 * expected) or len(unseen) < limits.drift_rows:
            continue
        if split.kind == "group" and _belongs(both.train, name, split.group_column):
            continue
        respelled = _respelled(unseen, seen)
        yield finding(
            "category_drift",
            f"{share:.1%} of the test rows have a category of {name} that training lacks, "
            f"{sorted(unseen.unique())[0][:40]!r} for one"
            + (" (the same in another spelling)" if respelled > 0.5 else "")
            + both.said,
            "write both sides with the same code, or declare how test rows were drawn",
            Severity.ERROR if respelled > 0.5 and share > 0.5 else None,
        )


def _respelled(unseen: pd.Series, seen: pd.Series) -> float:
    """Share of cells that are a known category but for case, signs, and how all begin or end."""
    known = {_plain(label) for label in seen.unique()}
    words = sorted(unseen.unique())
    head = _shared_start(words)
    tail = _shared_start([word[head:][::-1] for word in words])
    bare = [unseen, unseen.str.slice(head), unseen.str.slice(head, -tail or None)]
    if len(words) < 2:
        bare = bare[:1]
    return max(float(cells.map(_plain).isin(known - {""}).mean()) for cells in bare)


def _shared_start(words: list[str]) -> int:
    """How many characters all words begin with alike."""
    pairs = zip(min(words), max(words), strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(min(words)))


def _plain(label: str) -> str:
    return "".join(character for character in label.casefold() if character.isalnum())


def _repeats(seen: pd.Series, times: float) -> bool:
    """Whether values repeat as categories do; names, texts and paths do not."""
    return len(seen) >= times * seen.nunique()


def _expected(seen: pd.Series, asked: int) -> float:
    """Share of unseen categories to expect of rows drawn alike: that of values seen once (Good and Turing).

    Source: Good, I. J. (1953), The population frequencies of species. Biometrika 40.
    """
    return float((seen.value_counts() == 1).sum() + 1) / len(seen)


def _belongs(train: pd.DataFrame, name: str, group: str | None) -> bool:
    """Whether a category belongs to few groups, so that whole groups take it along."""
    if group is None or group not in train.columns:
        return False
    spread = train.groupby(name)[group].nunique()
    return bool(spread.median() <= 2)
