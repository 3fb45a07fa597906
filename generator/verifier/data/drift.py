"""Adversarial validation: can test rows be told from training rows, though they were drawn alike?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.sides import Sides, names_rows, sides
from generator.verifier.sampling import sampled, sampled_rows, told
from generator.verifier.targets import to_numbers

Floats = npt.NDArray[np.float64]

_DRAWN = ("random", "stratified", "group")
_SEED = 29
_ROWS = 5_000
_COLUMNS = 100
_FOLDS = 3
_WORDS = 2**12
_FEWEST = 40


def check(case: Case) -> Iterator[Finding]:
    """Whether a model tells the sides apart on rows that it has not seen, better than chance.

    Of a group one row is taken, so that rows are as independent as the groups that were drawn; the column
    of the groups is not looked at, and neither are ids.
    """
    split = case.task.spec.split
    both = sides(case) if split.kind in _DRAWN else None
    if both is None:
        return
    table, side, most = _rows(case, both)
    counts = np.bincount(side, minlength=2)
    if counts.min() < _FEWEST:
        return
    sides_of = [table[side == which] for which in (0, 1)]
    names = [
        name
        for name in both.features
        if name != split.group_column and not all(names_rows(half[name]) for half in sides_of)
    ]
    names = [names[position] for position in sampled_rows(len(names), _COLUMNS)]
    texts = [name for name in names if _is_text(table[name])]
    views = [(names, _numbers(table, names, texts))] if names else []
    scores = [(view, _auc(_told(matrix, side), side)) for view, matrix in views]
    scores += [([name], _auc(_told_by_words(table[name], side), side)) for name in texts[:3]]
    if not scores:
        return
    view, auc = max(scores, key=lambda score: score[1])
    # Of Mann and Whitney's statistic when both sides are alike.
    error = float(np.sqrt((counts.sum() + 1) / (12 * counts[0] * counts[1])))
    if auc < case.limits.data.auc_warning or (auc - 0.5) / error < case.limits.data.auc_z:
        return
    yield finding(
        "split_not_exchangeable",
        f"test rows can be told from training rows with an area under the curve of {auc:.2f} "
        f"(standard error {error:.3f}; 0.5 is chance) by {_told_names(table, side, view)}, though the split "
        f"is {split.kind}{told(most, len(case.test) if case.test is not None else most)}",
        "declare how test rows were drawn, or process both sides alike",
    )


def _rows(case: Case, both: Sides) -> tuple[pd.DataFrame, npt.NDArray[np.intp], int]:
    """Rows of both sides below one another, which side each is of, and how many test rows were taken."""
    group = case.task.spec.split.group_column
    tables = []
    for table in (both.train, both.test):
        if case.task.spec.split.kind == "group" and group in table.columns:
            table = table.iloc[np.random.default_rng(_SEED).permutation(len(table))].drop_duplicates(group)
        tables.append(sampled(table, _ROWS)[both.features])
    side = np.repeat([0, 1], [len(table) for table in tables])
    return pd.concat(tables, ignore_index=True), side, len(tables[1])


def _is_text(cells: pd.Series) -> bool:
    """Whether cells are text of several words that hardly repeats."""
    return bool(cells.str.count(r"\s+").mean() >= 2) and cells.nunique() > len(cells) / 4


def _codes(cells: pd.Series) -> Floats:
    """A column as numbers: itself when nearly all cells are, else codes that do not depend on the row order.

    Empty cells become NaN, and values that occur once have one code: else each would tell its own side.
    """
    numbers, present = to_numbers(cells), cells.str.strip() != ""
    if present.any() and bool(numbers[present].notna().mean() >= 0.95):
        return np.asarray(numbers, dtype=float)
    counts = cells[present].value_counts()
    shared = sorted(counts[counts > 1].index, key=lambda value: (-counts[value], value))
    codes = {value: float(rank) for rank, value in enumerate(shared)}
    return np.array([codes.get(value, float(len(codes))) for value in cells]) + np.where(present, 0.0, np.nan)


def _numbers(table: pd.DataFrame, names: list[str], texts: list[str]) -> Floats:
    """Columns as numbers or codes; of a text, how long it is, its words, digits and capitals."""
    columns: list[Floats] = []
    for name in names:
        cells = table[name]
        if name not in texts:
            columns.append(_codes(cells))
            continue
        length = np.asarray(cells.str.len(), dtype=float)
        for pattern in (r"\s+", r"\d", r"[A-Z]", r"[^\x00-\x7f]"):
            columns.append(np.asarray(cells.str.count(pattern), dtype=float) / np.maximum(length, 1))
        columns.append(length)
    matrix = np.column_stack(columns)
    return np.where(np.isfinite(matrix), matrix, np.nan)


def _told(matrix: Floats, side: npt.NDArray[np.intp]) -> Floats:
    """The probability of being a test row, of rows that boosted trees have not seen."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    said = np.empty(len(side))
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    # More threads than free processors wait for one another far longer than one thread works.
    with threadpool_limits(1):
        for learnt, asked in folds.split(matrix, side):
            model = HistGradientBoostingClassifier(
                max_iter=40, max_leaf_nodes=8, learning_rate=0.15, early_stopping=False, random_state=_SEED
            )
            said[asked] = model.fit(matrix[learnt], side[learnt]).predict_proba(matrix[asked])[:, 1]
    return said


def _told_by_words(cells: pd.Series, side: npt.NDArray[np.intp]) -> Floats:
    """The same by the words of a text, hashed, with a linear model."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    matrix = HashingVectorizer(n_features=_WORDS, alternate_sign=False).transform(cells.str.slice(0, 2_000))
    said = np.empty(len(side))
    for learnt, asked in StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED).split(matrix, side):
        model = LogisticRegression(max_iter=200).fit(matrix[learnt], side[learnt])
        said[asked] = model.decision_function(matrix[asked])
    return said


def _auc(said: Floats, side: npt.NDArray[np.intp]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(side, said))


def _told_names(table: pd.DataFrame, side: npt.NDArray[np.intp], names: list[str]) -> str:
    """The columns that tell most by themselves, with the area under the curve of each."""
    alone = []
    for name in names:
        numbers = _codes(table[name])
        empty = ~np.isfinite(numbers)
        auc = _auc(np.where(empty, -np.inf if empty.all() else np.nanmin(numbers) - 1, numbers), side)
        alone.append((max(auc, 1 - auc), name))
    best = [f"{name} ({auc:.2f})" for auc, name in sorted(alone, reverse=True)[:3] if auc >= 0.55]
    if best:
        return "the columns " + ", ".join(best) if len(best) > 1 else f"the column {best[0]}"
    return f"the words of {names[0]}" if len(names) == 1 else f"{len(names)} columns together"
