"""How far two sets agree about the same models.

Which models are best (Top-k), in which order (Spearman, Kendall), on a line (Pearson, R2, slope), on the line
of identity (Lin's CCC, Bland-Altman, ICC)? Where a figure does not exist it is NaN, and `notes` say why.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stats.agreement.bland_altman import BlandAltman, bland_altman
from stats.agreement.concordance import lin_ccc
from stats.agreement.correlation import STATISTICS
from stats.agreement.reliability import cronbach_alpha, icc_2_1
from stats.intervals import Interval
from stats.vectors import LARGEST

Floats = NDArray[np.float64]

LOCATION = "location not identified"
PART_WHOLE = "part-whole"


class Table(Protocol):
    """Model name to rating: a mapping or a pandas Series."""

    def items(self) -> Iterable[tuple[str, float]]:
        """Pairs of name and rating."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of sets a and b on the models both have rated.

    Attributes:
        a, b: names of the sets.
        models: models used, by name; `dropped` lists those left out, with the reason.
        n: their number.
        pearson_r: linear correlation.
        r_squared: its square, the R2 of the regression of b on a (not of the line of identity).
        slope: of that regression: 1 means the same spread only if r is near 1.
        spearman_rho, kendall_tau_b: rank correlations with tie correction.
        ccc: Lin's concordance, moments of divisor n.
        top3_overlap, top5_overlap: expected overlap under random tie-breaking, with the overlap of unrelated
            rankings (k / n) as `top3_chance` and `top5_chance`.
        bland_altman: of a - b; None if no finite pair is left.
        cronbach_alpha, icc_2_1: of the two sets; functions of variances and r only.
        intervals: by name of the statistic; each says its method and unit.
        notes: what is undefined, left out or true by construction.
    """

    a: str
    b: str
    models: tuple[str, ...]
    dropped: Mapping[str, str]
    n: int
    pearson_r: float
    r_squared: float
    slope: float
    spearman_rho: float
    kendall_tau_b: float
    ccc: float
    top3_overlap: float
    top5_overlap: float
    top3_chance: float
    top5_chance: float
    bland_altman: BlandAltman | None
    cronbach_alpha: float
    icc_2_1: float
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def align(sets: Mapping[str, Table]) -> tuple[tuple[str, ...], Floats, dict[str, str]]:
    """Line up rating tables by model name.

    Returns:
        Sorted names of the models with a number (infinite ones included) in every set, their (n, k) ratings,
        and the models left out with the reason.

    Raises:
        ValueError: a rating that is not a number, or a model named twice in one set.
    """
    tables = {name: _table(ratings, name) for name, ratings in sets.items()}
    kept, dropped = [], {}
    for model in sorted({model for table in tables.values() for model in table}):
        absent = [name for name, table in tables.items() if np.isnan(table.get(model, np.nan))]
        if absent:
            dropped[model] = f"no rating in {', '.join(absent)}"
        else:
            kept.append(model)
    matrix = np.array([[table[model] for table in tables.values()] for model in kept], dtype=np.float64)
    return tuple(kept), matrix.reshape(len(kept), len(tables)), dropped


def agree(
    a: Table,
    b: Table,
    name_a: str = "a",
    name_b: str = "b",
    *,
    part_whole: bool = False,
    level: float = 0.95,
) -> Agreement:
    """Agreement of two rating tables, lined up by model name.

    Only ratings are known here, so the intervals (Fisher's for r from four models on, Lin's for the CCC) take
    the models as a sample of models; they do not speak of other tasks. `agree_sets` does.

    Args:
        a, b: model name to rating (a mapping or a pandas Series). NaN is left out; infinities count as
            extremes in the rank statistics and make the others NaN.
        name_a, name_b: names of the sets; they must differ.
        part_whole: one set contains the other's tasks.
        level: nominal coverage.
    """
    if name_a == name_b:
        raise ValueError(f"both sets are named {name_a!r}")
    models, matrix, dropped = align({name_a: a, name_b: b})
    x, y = matrix[:, 0], matrix[:, 1]
    n = len(models)
    notes = [f"left out: {', '.join(dropped)}"] if dropped else []
    values = {name: float(statistic(x, y)) if n else np.nan for name, (statistic, _) in STATISTICS.items()}
    notes += _degenerate(x, y, name_a, name_b)
    if _same_mean(x, y):
        notes.append(
            f"{LOCATION}: both sets have the same mean rating, so the bias, the location part of the CCC and "
            "the rater effect in ICC(2,1) are zero by construction and no evidence of agreement in level"
        )
    elif _same_mean(*(np.array([*_table(*pair).values()]) for pair in ((a, name_a), (b, name_b)))):
        notes.append(
            f"{LOCATION}: both sets are centred on one mean, each over its own rated models, so the bias "
            "comes from the models left out here and is no evidence of a difference in level"
        )
    if part_whole:
        notes.append(
            f"{PART_WHOLE}: one of {name_a} and {name_b} contains the other's tasks, which raises every "
            "figure of agreement"
        )
    finite = n > 0 and bool(np.isfinite(matrix).all())
    alpha = cronbach_alpha(matrix) if finite else None
    icc = icc_2_1(matrix) if finite else None
    return Agreement(
        a=name_a,
        b=name_b,
        models=models,
        dropped=dropped,
        n=n,
        **values,
        top3_chance=3 / n if n >= 3 else np.nan,
        top5_chance=5 / n if n >= 5 else np.nan,
        bland_altman=bland_altman(x, y, level=level) if finite else None,
        cronbach_alpha=np.nan if alpha is None else alpha.value,
        icc_2_1=np.nan if icc is None else icc.value,
        intervals=_model_intervals(x, y, values, level) if finite else {},
        notes=tuple(notes),
    )


def _table(ratings: Table, name: str) -> dict[str, float]:
    """Ratings by model, checked."""
    table: dict[str, float] = {}
    for model, value in ratings.items():
        if str(model) in table:
            raise ValueError(f"{name}: model {model} is listed twice")
        given: object = value
        try:
            # None and pandas' own missing value say what NaN says.
            table[str(model)] = np.nan if given is None or given is pd.NA else float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name}: rating {value!r} of {model} is not a number") from None
        if LARGEST < abs(table[str(model)]) < np.inf:
            raise ValueError(f"{name}: rating {value} of {model} is beyond {LARGEST:g}")
    return table


def _degenerate(x: Floats, y: Floats, name_a: str, name_b: str) -> list[str]:
    """Why figures are undefined or empty of meaning."""
    n = len(x)
    notes = []
    if n == 0:
        return ["no model is rated in both sets: nothing is defined"]
    if n == 1:
        notes.append("n = 1: correlations, CCC and limits of agreement are undefined")
    elif n == 2:
        notes.append("n = 2: correlations are always +1 or -1 (or undefined) and carry no information")
    elif n == 3:
        notes.append("n = 3: no Fisher interval, which needs four models")
    notes += [f"n = {n}: Top-{k} is undefined" for k in (3, 5) if n < k]
    notes += [f"n = {n}: Top-{k} is 1 by construction" for k in (3, 5) if n == k]
    for values, name in ((x, name_a), (y, name_b)):
        if np.isinf(values).any():
            notes.append(f"{name} has infinite ratings: only the rank statistics are defined")
        elif n > 1 and np.ptp(values) == 0:
            notes.append(f"{name} is constant: correlations are undefined")
        elif n > 1 and np.ptp(values) < 1e-9 * np.abs(values).max():
            notes.append(f"{name} is nearly constant: correlations rest on rounding")
    return notes


def _same_mean(left: Floats, right: Floats) -> bool:
    """Whether the finite ratings of two sets have one mean, to a thousandth of the spread.

    The tolerance lets ratings printed with one decimal count as centred alike.
    """
    left, right = left[np.isfinite(left)], right[np.isfinite(right)]
    if min(left.size, right.size) < 2:
        return False
    spread = max(float(left.std()), float(right.std()))
    return spread > 0 and abs(float(left.mean() - right.mean())) <= 1e-3 * spread


def _model_intervals(x: Floats, y: Floats, values: Mapping[str, float], level: float) -> dict[str, Interval]:
    """Intervals that take the models as the sample, where they exist."""
    from scipy.stats import pearsonr

    n, intervals = len(x), {}
    if n >= 4 and np.isfinite(values["pearson_r"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes tell of nearly constant ratings
            limits = pearsonr(x, y).confidence_interval(level)
        method = "Fisher z; models as the sample"
        intervals["pearson_r"] = Interval(float(limits.low), float(limits.high), level, method, n, "models")
    concordance = lin_ccc(x, y, level)
    if np.isfinite(concordance.interval.low):
        method = f"{concordance.interval.method}; models as the sample"
        intervals["ccc"] = replace(concordance.interval, method=method)
    return intervals
