"""Prepared numbers under a name of their own: something in the raw rows must tell of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.tables import table_format
from generator.verifier.case import Case
from generator.verifier.preparation.cells import EMPTY, cell_hashes
from generator.verifier.preparation.facts import Floats, facts
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.preparation.tracing import Trace
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers

_MOST_COLUMNS = 40
_MOST_ROWS = 4_000
#: Files that hold no data, by name or suffix; any other file that is no table may be where numbers are from.
_PAPERS = frozenset({".md", ".pdf", ".html", ".rst", ".bib", ".cff"})
_PAPER_NAMES = ("readme", "licen", "citation", "changelog", "source", "notice")
#: Calls that draw numbers; those that only choose or shuffle rows are how honest splits are made.
_DRAWS = frozenset(
    {
        *("normal", "uniform", "randn", "rand", "random", "random_sample", "randint", "integers", "gauss"),
        *("normalvariate", "standard_normal", "exponential", "gamma", "beta", "poisson", "binomial", "rvs"),
        *("lognormal", "lognormvariate", "betavariate", "triangular", "randrange", "multivariate_normal"),
        *("geometric", "laplace", "logistic", "weibull", "dirichlet"),
    }
)


def check_origins(case: Case, trace: Trace, tables: Sequence[RawTable]) -> Iterator[Finding]:
    """Columns of many numbers that no raw column holds and that have nothing to do with the raw rows."""
    limits = case.limits.preparation
    asked = [name for name in trace.made.columns if name not in {*trace.pairs, case.id_column, *case.targets}]
    if not asked or _has_other_sources(case.task.raw):
        return
    rows, places = trace.partners(trace.key, sampled_rows(len(trace.made), case.limits.sampling.rows))
    thinned = sampled_rows(len(rows), _MOST_ROWS)
    rows, places = rows[thinned], places[thinned]
    said: Floats | None = None
    for name in asked[:_MOST_COLUMNS]:
        cells = trace.made[name].iloc[rows].reset_index(drop=True)
        numbers = to_numbers(cells).to_numpy()
        given = np.isfinite(numbers)
        if not _are_measured(cells, numbers[given], limits.origin_rows) or _occur(cells, tables):
            continue
        if said is None:
            said = facts(trace.raw, places, tables)
        if _related(said[given], numbers[given], limits.origin_pair, limits.origin_all):
            continue
        # Where nothing is drawn, or there are other tables, numbers may have been looked up or hashed.
        certain = len(tables) == 1 and _draws(case.task.prepare_path)
        yield finding(
            "values_fabricated",
            f"{name}: none of {int(given.sum()):,} numbers, as {cells[given].iloc[0]!r}, has to do with its "
            f"row in {trace.raw.name}: no column there holds them, and nothing in the rows tells of them",
            "leave the column out, or make it from the raw data",
            None if certain else Severity.WARNING,
        )


def _are_measured(cells: pd.Series, numbers: Floats, least: int) -> bool:
    """Whether a column holds measurements: not names or flags, whose numbers are free."""
    filled = int((cells.str.strip() != "").sum())
    if len(numbers) < max(least, 0.95 * filled):
        return False
    distinct = len(np.unique(numbers))
    names = distinct == len(numbers) and bool(np.all(numbers % 1 == 0))
    return distinct > max(10, 0.02 * len(numbers)) and not names


def _occur(cells: pd.Series, tables: Sequence[RawTable]) -> bool:
    """Whether nearly all values stand in some raw column: renamed, of another row, or looked up."""
    values = np.unique(cell_hashes(cells))
    values = values[values != EMPTY]
    return any(
        float(np.isin(values, cell_hashes(table.rows[name])).mean()) > 0.95
        for table in tables
        for name in table.rows.columns
    )


def _has_other_sources(raw: Path) -> bool:
    return any(
        table_format(path) is None
        and path.suffix.lower() not in _PAPERS
        and not path.name.lower().startswith(_PAPER_NAMES)
        for path in raw.rglob("*")
        if path.is_file()
    )


def _draws(path: Path) -> bool:
    """Whether prepare.py draws numbers, other than to compare them with a share, as splits do."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    except (OSError, SyntaxError, ValueError):
        return False
    compared = {id(node.left) for node in nodes if isinstance(node, ast.Compare)}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _DRAWS
        and id(node) not in compared
        for node in nodes
    )


def _related(said: Floats, numbers: Floats, single: float, together: float) -> bool:
    """Whether anything said of the rows, alone or together, tells of the numbers beyond chance.

    Args:
        said: what is said, shape (n, m).
        numbers: the numbers, shape (n,).
        single: how many standard errors the coefficient of one fact must reach.
        together: how many standard errors the rank correlation with a forest's prediction must reach.
    """
    ranks = rankdata(numbers)
    mixed = np.random.default_rng(7).permutation(len(ranks))
    telling = [fact for fact in said.T if np.ptp(fact) > 0]
    if any(_xi(fact[mixed], ranks[mixed]) > single for fact in telling):
        return True
    if not telling:
        return False
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    forest = ExtraTreesRegressor(60, min_samples_leaf=3, max_features=0.3, random_state=7)
    folds = KFold(5, shuffle=True, random_state=7)
    predicted = cross_val_predict(forest, np.column_stack(telling), ranks, cv=folds)
    correlation = float(spearmanr(predicted, ranks).statistic)
    return bool(np.isfinite(correlation)) and correlation * np.sqrt(len(ranks)) > together


def _xi(fact: Floats, ranks: Floats) -> float:
    """Chatterjee's rank coefficient of numbers given a fact, in its standard errors under independence.

    It is near its greatest whenever the numbers are a function of the fact, of whatever form. (S. Chatterjee,
    A new coefficient of correlation, JASA 116, 2021.)
    """
    count = len(ranks)
    steps = np.abs(np.diff(ranks[np.argsort(fact, kind="stable")])).sum()
    return float((1 - 3 * steps / (count**2 - 1)) * np.sqrt(count * 2.5))
