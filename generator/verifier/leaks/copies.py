"""Answers that lie in the open: under another name, in another file, in the sample submission."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.targets import to_numbers
from generator.verifier.thresholds.leaks import LeakLimits


def check(case: Case) -> Iterator[Finding]:
    """Look through every table under public/ for a column that tells the answers."""
    yield from _check_test(case)
    for path, table in [*case.tables.items(), *_mappings(case)]:
        name = path.relative_to(case.prepared.public).as_posix()
        for column, target, how in _telling(case, table):
            if table is case.test:
                if column != target:
                    yield finding(
                        "target_copied",
                        f"column {column} of {name} is {target} itself: {how}",
                        f"drop {column} from the public tables",
                    )
            elif path == case.prepared.sample_path:
                yield finding(
                    "sample_is_answers",
                    f"column {column} of the sample submission: {how}",
                    "fill the sample with a constant or random values",
                )
            else:
                yield finding(
                    "answers_public",
                    f"column {column} of public/{name} tells {target} of the test rows: {how}",
                    f"do not write {name} to public/, or drop the column",
                )


def _check_test(case: Case) -> Iterator[Finding]:
    if case.test is None:
        return
    for column in case.targets:
        if column in case.test.columns and case.test[column].str.strip().ne("").any():
            yield finding(
                "target_in_test", f"the test table holds {column}", f"drop {column} from the test table"
            )


def _mappings(case: Case) -> Iterator[tuple[Path, pd.DataFrame]]:
    """JSON files that map ids to values, as tables."""
    for path in sorted(case.prepared.public.rglob("*.json")):
        if path not in case.tables and (mapping := _mapping(path)) is not None:
            yield path, pd.DataFrame({"key": list(mapping), "value": [str(v) for v in mapping.values()]})


def _mapping(path: Path) -> dict[str, object] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    plain = isinstance(data, dict) and not any(isinstance(value, (dict, list)) for value in data.values())
    return data if plain else None


class Values:
    """One column of cells, and what comparing it with others needs; each is computed once."""

    def __init__(self, cells: pd.Series) -> None:
        self.text = cells.to_numpy(dtype=object)

    @functools.cached_property
    def numbers(self) -> np.ndarray | None:
        """The cells as floats, when all are finite numbers."""
        numbers = to_numbers(pd.Series(self.text)).to_numpy()
        return numbers if np.isfinite(numbers).all() else None

    @functools.cached_property
    def codes(self) -> np.ndarray:
        """The cells as numbers 0, 1, ... of their distinct values."""
        return np.asarray(pd.factorize(self.text if self.numbers is None else self.numbers)[0])

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """How often each distinct value occurs."""
        return np.bincount(self.codes)

    @functools.cached_property
    def ranks(self) -> np.ndarray | None:
        """Standardised ranks of numbers, ties at their mean rank; nothing for text or a constant."""
        if self.numbers is None or len(self.counts) < 3:
            return None
        ranks = rankdata(self.numbers)
        return np.asarray((ranks - ranks.mean()) / ranks.std())


def _telling(case: Case, table: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Columns that equal a target, with the target and how, once rows are matched.

    Rows are matched by id, or by order in a table without ids that has as many rows as there are answers.
    """
    answers = case.answers.drop_duplicates(case.id_column).set_index(case.id_column)
    ids = next((name for name in table.columns if _covers(table[name], answers.index)), None)
    if ids is not None:
        rows = table.drop_duplicates(ids).set_index(ids)
        common = answers.index.intersection(rows.index)
        rows, answers = rows.loc[common], answers.loc[common]
    elif len(table) == len(answers):
        rows = table
    else:
        return
    if len(answers) < case.limits.leaks.copy_rows:
        return
    truths = {target: Values(answers[target]) for target in case.targets}
    for name in rows.columns:
        column = Values(rows[name])
        for target, truth in truths.items():
            how = same(column, truth, case.limits.leaks)
            if how:
                yield name, target, how


def _covers(column: pd.Series, ids: pd.Index) -> bool:
    return bool(ids.isin(pd.Index(column)).mean() >= 0.9)


def same(column: Values, truth: Values, limits: LeakLimits) -> str:
    """In words how a column is the truth itself, row by row, or nothing when it is not."""
    # A class of a few rows coincides with many an honest feature.
    if int(truth.counts.sum() - truth.counts.max()) < limits.rare_rows:
        return ""
    equal = agreement(column, truth)
    if equal >= limits.copy_agreement:
        return f"equal values (agreement beyond chance {equal:.3f})"
    classes = len(truth.counts)
    if classes <= max(2, len(truth.text) // 4):
        if len(column.counts) == classes:
            pairs = len(np.unique(column.codes * classes + truth.codes))
            if pairs == classes:
                return f"its {classes} values stand for the {classes} classes one to one"
    elif column.ranks is not None and truth.ranks is not None:
        rank = abs(float(np.mean(column.ranks * truth.ranks)))
        if rank >= 1 - (1 - limits.copy_agreement) / 10:
            return f"the same order (rank correlation {rank:.5f})"
    return ""


def row_hashes(frame: pd.DataFrame) -> pd.Series:
    """A 64-bit hash of each row's cells; equal rows have equal hashes in any table with these columns."""
    return pd.util.hash_pandas_object(frame, index=False).reset_index(drop=True)


def agreement(left: Values, right: Values) -> float:
    """Cohen's kappa of two columns, numbers compared as numbers: (p_o - p_e) / (1 - p_e).

    1 is full agreement, 0 what chance gives. With one value only on both sides it is 0: nothing is told.
    """
    a, b = left.numbers, right.numbers
    if a is None or b is None:
        a, b = left.text, right.text
    observed = float(np.mean(a == b))
    if observed == 0.0:
        return 0.0
    shares = [pd.Series(values).value_counts(normalize=True) for values in (a, b)]
    expected = float(shares[0].mul(shares[1], fill_value=0.0).sum())
    return (observed - expected) / (1.0 - expected) if expected < 1.0 else 0.0
