"""One column that all but decides the target: a value known only afterwards, a label written in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.comparing import Values, same_where_filled
from generator.verifier.leaks.view import Truth, View
from generator.verifier.probing import NOTHING, Floats, Strength, strength, transfer
from generator.verifier.targets import Kind, to_numbers

_HOPEFUL = 0.8
_SHOWN = 20
_TEXT_ROWS = 5_000


@dataclass(frozen=True)
class _Seen:
    """What one column tells.

    Attributes:
        asked: on test rows, learnt from training rows, or from other test rows when that tells more.
        learnt: cross-validated on training rows; nothing without the column there.
    """

    asked: Strength
    learnt: Strength | None


def check(view: View) -> Iterator[Finding]:
    """Columns that decide a target alone, beside copies, which are reported as such."""
    texts = {name for name in view.features if _is_text(view, name)}
    for truth in view.truths:
        for name in _worth_asking(view, truth, texts):
            if _skipped(view, name, truth):
                continue
            seen = _seen(view, name, truth)
            if seen.asked.z > view.limits.z:
                view.note(name, truth.name, "column", seen.asked)
            severity = _severity(view, truth, seen)
            if severity is None:
                continue
            yield finding(
                "proxy_column",
                f"{name} alone gives {truth.name}: a tree on it reaches {seen.asked.gain:.3f} of the way "
                "from knowing nothing to perfect on test rows"
                + (f", {seen.learnt.gain:.3f} on training rows" if seen.learnt else "")
                + view.told,
                f"drop {name} if it is known only after {truth.name}",
                severity,
            )


def _worth_asking(view: View, truth: Truth, texts: set[str]) -> list[str]:
    """Columns that could decide the target, texts, and the most telling of the others for the report."""
    bounds = {name: _bound(view.slices[name], truth) for name in view.features}
    shown = sorted(bounds, key=lambda name: -bounds[name])[: max(3, _SHOWN // len(view.truths))]
    return [name for name in view.features if bounds[name] >= _HOPEFUL or name in shown or name in texts]


def _bound(cells: np.ndarray, truth: Truth) -> float:
    """About the most that a tree on one column could gain: that of the best guess for each of its slices."""
    if truth.kind is Kind.NUMBER:
        wanted = to_numbers(truth.test).to_numpy()
        counts, sums = np.bincount(cells), np.bincount(cells, weights=wanted)
        means = sums / np.maximum(counts, 1)
        return 1 - float(
            ((wanted - means[cells]) ** 2).sum() / max(((wanted - wanted.mean()) ** 2).sum(), 1e-300)
        )
    codes, labels = pd.factorize(truth.test)
    pairs, counts = np.unique(cells * len(labels) + codes, return_counts=True)
    most = np.zeros(cells.max() + 1)
    np.maximum.at(most, pairs // len(labels), counts)
    base = np.bincount(codes).max() / len(codes)
    return float((most.sum() / len(codes) - base) / (1 - base)) if base < 1 else 0.0


def _skipped(view: View, name: str, truth: Truth) -> bool:
    """Copies are reported as such; a moment tells a smooth series in between other moments."""
    split = view.case.task.spec.split
    if name == split.time_column or (truth.kind is Kind.NUMBER and view.dated(name)):
        return True
    cells = view.test[name]
    if view.case.test is not None and cells.nunique() < 2:
        return True
    return bool(same_where_filled(Values(cells), Values(truth.test), view.limits))


def _seen(view: View, name: str, truth: Truth) -> _Seen:
    train, test = _cells(view, name)
    best = _probe(truth, train, test, apart=_apart(view, name))
    for patterns in _text_patterns(view, name, truth):
        found = _probe(truth, *patterns)
        best = max(best, found, key=lambda seen: seen.asked.gain)
    return best


def _cells(view: View, name: str) -> tuple[Floats, Floats]:
    train, test = view.numbers(name)
    return train.reshape(-1, 1), test.reshape(-1, 1)


def _apart(view: View, name: str) -> bool:
    """Whether it is the declared group, and no test group is in training: none can be learned about."""
    if name != view.case.task.spec.split.group_column or name not in view.shared:
        return False
    return not view.test[name].isin(view.train[name]).any()


def _probe(truth: Truth, train: Floats, test: Floats, *, apart: bool = False) -> _Seen:
    within = NOTHING if apart else strength(test, truth.test, truth.kind)
    if truth.train is None or len(train) == 0:
        return _Seen(within, None)
    across = transfer(train, truth.train, test, truth.test, truth.kind)
    learnt = strength(train, truth.train, truth.kind) if max(across.gain, within.gain) > 0.9 else NOTHING
    return _Seen(max(across, within, key=lambda found: found.gain), learnt)


def _severity(view: View, truth: Truth, seen: _Seen) -> Severity | None:
    limits = view.limits
    if seen.asked.z < limits.z or seen.asked.gain < limits.proxy_warning:
        return None
    # On few rows a strong and honest column can be right in all of them: what it is sure to reach counts.
    least = _least(seen, truth)
    everywhere = seen.learnt is None or seen.learnt.gain >= limits.proxy
    forecast = view.case.task.spec.objective == "forecasting" and truth.kind is Kind.NUMBER
    if least >= limits.proxy_warning and seen.asked.gain >= limits.proxy and everywhere and not forecast:
        return Severity.ERROR
    if seen.learnt is not None and seen.learnt.gain < limits.proxy_warning:
        return None
    return None if forecast else Severity.WARNING


def _least(seen: _Seen, truth: Truth) -> float:
    """The gain with the errors at the upper end of their 95 % interval (Wilson's); for numbers the gain."""
    if truth.kind is not Kind.CLASS:
        return seen.asked.gain
    base = float(truth.test.value_counts(normalize=True).iloc[0])
    sides = [side for side in (seen.asked, seen.learnt) if side is not None and side.rows]
    gain, rows, z = min(side.gain for side in sides), sum(side.rows for side in sides), 1.645
    wrong = (1 - gain) * (1 - base)
    upper = (wrong + z**2 / (2 * rows) + z * (wrong * (1 - wrong) / rows + z**2 / (4 * rows**2)) ** 0.5) / (
        1 + z**2 / rows
    )
    return float(1 - upper / (1 - base))


def _text_patterns(view: View, name: str, truth: Truth) -> Iterator[tuple[Floats, Floats]]:
    """Small patterns of a text as numbers: its first and last word, the label it names, telling words."""
    if not _is_text(view, name):
        return
    test = view.test[name]
    train = view.train[name] if name in view.shared and truth.train is not None else test.iloc[:0]
    both = pd.concat([train, test], ignore_index=True).str.casefold()
    cut = len(train)
    if truth.kind is Kind.NUMBER:
        for written in _numbers_in(both):
            yield written[:cut], written[cut:]
        return
    for found in (
        both.str.extract(r"(\w+)")[0],
        both.str.extract(r"(\w+)\W*$")[0],
        both.str[:1],
        both.str[-1:],
    ):
        codes = _codes(found.fillna(""))
        if codes is not None:
            yield codes[:cut], codes[cut:]
    named = _named_label(both, truth)
    if named is not None:
        yield named[:cut], named[cut:]
    words = _telling_words(both, cut, truth)
    if words is not None:
        yield words[:cut], words[cut:]


def _is_text(view: View, name: str) -> bool:
    """Whether the cells of a column are texts, mostly different ones; paths are looked at with the files."""
    test = view.test[name]
    some = test[test.str.strip() != ""].iloc[:200]
    if some.empty or test.nunique() < max(20, len(test) // 10) or _is_path(view, test):
        return False
    return not (pd.to_numeric(some, errors="coerce").notna().mean() > 0.5 or view.dated(name))


def _numbers_in(texts: pd.Series) -> Iterator[Floats]:
    """The first, the second and the third number, and the last, that stand in each text."""
    found = texts.str.findall(r"-?\d+(?:\.\d+)?")
    for place in (0, 1, 2, -1):
        written = ["".join(words[place:][:1]) for words in found]
        numbers = to_numbers(pd.Series(written, dtype=str)).to_numpy()
        if np.isfinite(numbers).mean() > 0.9:
            yield numbers.reshape(-1, 1)


def _codes(found: pd.Series) -> Floats | None:
    """Categories as one column of numbers, when few enough to be learnt."""
    if not 2 <= found.nunique() <= max(20, len(found) // 10):
        return None
    return pd.factorize(found, sort=True)[0].astype(float).reshape(-1, 1)


def _named_label(both: pd.Series, truth: Truth) -> Floats | None:
    """Which class's name stands in each text, as a column for each class of at most 50."""
    labels = [label for label in truth.test.value_counts().index if re.search(r"[^\W\d]{2}", str(label))]
    if len(labels) < 2 or len(labels) > 50:
        return None
    texts = both.str.replace(r"[\W_]+", " ", regex=True)
    columns = []
    for label in labels:
        word = re.sub(r"[\W_]+", " ", str(label).casefold()).strip()
        columns.append(texts.str.contains(rf"\b{re.escape(word)}\b", regex=True).to_numpy(dtype=float))
    return np.column_stack(columns)


def _telling_words(both: pd.Series, cut: int, truth: Truth) -> Floats | None:
    """For each class the presence of the one word that goes with it most, learnt from half of the rows."""
    from sklearn.feature_extraction.text import CountVectorizer

    labels = truth.test if cut == 0 or truth.train is None else pd.concat([truth.train, truth.test])
    rows = np.linspace(0, len(both) - 1, min(len(both), _TEXT_ROWS)).astype(int)
    classes = truth.test.value_counts().index[:20]
    counter = CountVectorizer(binary=True, min_df=5, max_features=3_000, token_pattern=r"\S+")
    try:
        present = counter.fit_transform(both.iloc[rows])
    except ValueError:  # no word comes five times
        return None
    total = np.asarray(present.sum(axis=0)).ravel()
    names = counter.get_feature_names_out()
    columns, words = [], both.str.split().map(set)
    for label in classes:
        is_it = (labels.iloc[rows] == label).to_numpy(dtype=float)
        together = np.asarray(present.T @ is_it).ravel()
        best = int(np.argmax(2 * together / np.maximum(total + is_it.sum(), 1)))
        columns.append([float(names[best] in said) for said in words])
    return np.column_stack(columns)


def _is_path(view: View, cells: pd.Series) -> bool:
    """Whether a column names files; what a path tells is looked for among the files."""
    first = str(cells.iloc[0])
    return 0 < len(first) < 200 and "\x00" not in first and (view.case.prepared.public / first).is_file()
