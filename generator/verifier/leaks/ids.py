"""Ids that tell the target: by their size, their digits, their letters, their length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.residuals import outcomes, unexplained
from generator.verifier.leaks.view import Truth, View
from generator.verifier.probing import NOTHING, Floats, Strength, strength, transfer
from generator.verifier.targets import Kind

_MODULI = range(2, 11)
_HEX = r"(?=.*[a-f])(?=.*\d)[0-9a-f]{8,}"
_RANK, _NUMBER = "the alphabetical rank", "the number"
_PLACES = (_RANK, _NUMBER)
_LEADING = ("the first", "the length", _RANK)
_SEPARATORS = r"[_\-./:| ]"


def check(view: View) -> Iterator[Finding]:
    """For each target the pattern of the id that tells most of it."""
    ids = view.case.id_column
    if len(view.test) < view.limits.copy_rows or view.dated(ids):
        return
    train = view.train[ids] if ids in view.train.columns else pd.Series([], dtype=str)
    cut = len(train)
    ids_read = pd.concat([train, view.test[ids]], ignore_index=True)
    found_in = patterns_of(ids_read)
    in_time = any(_in_time(view, found_in[what], cut) for what in _PLACES if what in found_in)
    patterns = {
        what: (values[:cut], values[cut:])
        for what, values in found_in.items()
        if np.ptp(values[cut:]) > 0 and not (what.startswith(_PLACES) and in_time)
    }
    for truth in map(Truth.ranked, view.truths):
        told = {what: _told(truth, *sides) for what, sides in patterns.items()}
        what = max(told, key=lambda name: told[name].z, default=None)
        if what is None or told[what].z < view.limits.z:
            continue
        found = told[what]
        view.note(ids, truth.name, what, found)
        shown = [values[cut:] for values in _roots(ids_read, found_in, what)]
        if found.correlation < view.limits.id_warning or any(_natural(view, values) for values in shown):
            continue
        serious = (
            found.correlation >= view.limits.id
            and _beyond(view, truth, patterns[what][1]) >= view.limits.id_warning
        )
        yield finding(
            "id_leak",
            f"{what} of {ids} tells {truth.name}: correlation {found.correlation:.2f}, z {found.z:.0f}, "
            f"the best of {len(patterns)} patterns{view.told}",
            "number the rows after shuffling them, with ids that carry nothing",
            Severity.ERROR if serious else Severity.WARNING,
        )


def patterns_of(ids: pd.Series) -> dict[str, Floats]:
    """What can be read off ids, as numbers, shape (n,); patterns with one value only are left out."""
    found: dict[str, Floats] = {_RANK: np.asarray(ids.rank(method="dense"), dtype=float)}
    found["the length"] = np.asarray(ids.str.len(), dtype=float)
    digits = ids.str.extract(r"(\d{1,9})\D*$")[0]
    if digits.notna().mean() > 0.9:
        number = pd.to_numeric(digits).to_numpy(dtype=float)
        found[_NUMBER] = number
        found |= {f"the number modulo {k}": number % k for k in _MODULI}
    if ids.str.fullmatch(_HEX).mean() > 0.5:
        number = ids.str[-6:].map(_from_hex).to_numpy(dtype=float)
        found |= {f"the hexadecimal number modulo {k}": number % k for k in (2, 3, 4, 8, 16)}
    categories = {
        "the first character": ids.str[:1],
        "the first two characters": ids.str[:2],
        "the last character": ids.str[-1:],
        "the last two characters": ids.str[-2:],
        "the letters before the first digit": ids.str.extract(r"^(\D*)")[0],
        "the letters after the last digit": ids.str.extract(r"(\D*)$")[0],
        "the part before the first separator": ids.str.split(_SEPARATORS, n=1, regex=True).str[0],
        "the part after the last separator": ids.str.extract(rf"{_SEPARATORS}([^_\-./:| ]*)$")[0],
    }
    for what, cells in categories.items():
        cells = cells.fillna("")
        if 2 <= cells.nunique() <= len(cells) // 5:
            found[what] = pd.factorize(cells, sort=True)[0].astype(float)
    return {what: values for what, values in found.items() if np.ptp(values) > 0}


def _roots(ids: pd.Series, found: dict[str, Floats], what: str) -> list[Floats]:
    """A pattern, and the number of which it is the first digits, the length or the order as text."""
    leading = what.startswith(_LEADING) and _NUMBER in found and bool(ids.str.fullmatch(r"\d+").all())
    return [found[what], found[_NUMBER]] if leading else [found[what]]


def _from_hex(text: str) -> float:
    try:
        return float(int(text, 16))
    except ValueError:
        return -1.0


def _told(truth: Truth, train: Floats, test: Floats) -> Strength:
    """By test rows alone, since a pattern can be guessed, or learnt from training rows."""
    found = strength(test.reshape(-1, 1), truth.test, truth.kind)
    if truth.train is None or len(train) == 0:
        return found
    across = transfer(train.reshape(-1, 1), truth.train, test.reshape(-1, 1), truth.test, truth.kind)
    return max(found, across if across.gain > 0 else NOTHING, key=lambda one: one.z)


def _in_time(view: View, values: Floats, cut: int) -> bool:
    """Whether ids count the rows of a split in time, so that test rows come after all training rows."""
    spec = view.case.task.spec
    dated = spec.split.kind == "time" or spec.objective == "forecasting"
    return dated and (cut == 0 or bool(values[cut:].min() > values[:cut].max()))


def _beyond(view: View, truth: Truth, pattern: Floats) -> float:
    """How the pattern correlates with what the visible columns leave unexplained.

    Ids of a source that lists its districts one after the other tell no more than the district does.
    """
    wanted = outcomes(truth, truth.test)
    left = unexplained(view.matrix(view.features)[1], wanted, np.arange(len(wanted)))
    columns = (pd.Series(column) for column in left.T)
    return max(strength(pattern.reshape(-1, 1), column, Kind.NUMBER).correlation for column in columns)


def _natural(view: View, pattern: Floats) -> bool:
    """Whether a visible column says the same as the id: a date, a shop, a place in a list."""
    ranks = pd.Series(pattern).rank()
    for name in view.features:
        numbers = view.numbers(name)[1]
        if len(np.unique(numbers[np.isfinite(numbers)])) < 3:
            continue
        explained = strength(numbers.reshape(-1, 1), ranks, Kind.NUMBER)
        if explained.gain >= 0.95:
            return True
    return False
