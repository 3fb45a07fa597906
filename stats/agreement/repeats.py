"""What repeated measurements of the same models tell: repeatability, and correlation within models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from stats.agreement.correlation import pearson_r
from stats.intervals import Interval, check_level
from stats.vectors import finite_pair

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Repeatability:
    """How closely two measurements by one set repeat each other.

    Attributes:
        n: models measured twice.
        within_sd: standard deviation of one measurement about a model's own mean, sqrt(mean(d^2) / 2).
        coefficient: multiplier * sqrt(2) * within_sd; two measurements of a model differ by less than this
            nearly always (about 95 % at the multiplier 1.96, if no bias separates first and second).
        multiplier: 1.96 unless asked otherwise; Bland & Altman 1986 print 2.
        bias: mean of first - second; counted into `within_sd`, which takes it for noise.
    """

    n: int
    within_sd: float
    coefficient: float
    multiplier: float
    bias: float


@dataclass(frozen=True)
class WithinCorrelation:
    """Correlation of two measurements within models, between the repeats of each.

    Attributes:
        r: NaN where undefined.
        p_value: two-sided, from t with `degrees` degrees of freedom.
        degrees: measurements - models - 1.
        interval: Fisher z with degrees + 2 for n; the repeats are the sample.
        n, models: measurements and models used.
        notes: what is undefined or was left out, and why.
    """

    r: float
    p_value: float
    degrees: int
    interval: Interval
    n: int
    models: int
    notes: tuple[str, ...] = ()


def repeatability(first: ArrayLike, second: ArrayLike, multiplier: float = 1.96) -> Repeatability:
    """Within-model standard deviation and coefficient of repeatability (Bland & Altman 1986, Lancet i:307).

    Args:
        first, second: two measurements of each of n models by the same set, such as two attempts.
        multiplier: of the standard deviation of a difference.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, or a multiplier that is not
            positive and finite.
    """
    a, b = finite_pair(first, second)
    if not 0 < multiplier < np.inf:
        raise ValueError("the multiplier must be positive and finite")
    mean_square = float(((a - b) ** 2).mean())
    return Repeatability(
        a.size, float(np.sqrt(mean_square / 2)), multiplier * float(np.sqrt(mean_square)), multiplier,
        float((a - b).mean()),
    )  # fmt: skip


def repeated_measures_correlation(
    model: ArrayLike, x: ArrayLike, y: ArrayLike, level: float = 0.95
) -> WithinCorrelation:
    """Correlation of x and y within models (Bland & Altman 1995, BMJ 310:446).

    It is Pearson's r of the deviations from each model's mean, with a degree of freedom less per model.
    (pingouin gets it from an analysis of covariance, which fails where x and y are proportional.)

    Whether x rises where y rises among the attempts of one model; differences between models do not count.

    Args:
        model, x, y: one entry per measurement. Models measured once tell nothing and are left out.
        level: nominal coverage.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, or a bad level.
    """
    a, b = finite_pair(x, y)
    names = np.asarray(model).astype(str)
    if names.shape != a.shape:
        raise ValueError(f"{names.size} model names for {a.size} measurements")
    check_level(level)
    codes, counts = np.unique(names, return_inverse=True, return_counts=True)[1:]
    several = counts[codes] > 1
    single = int((counts == 1).sum())
    notes = (f"{single} models measured once left out",) if single else ()
    codes, a, b = codes[several], a[several], b[several]
    n, models = a.size, int((counts > 1).sum())
    degrees = max(n - models - 1, 0)
    method = "Fisher z of the within-model correlation"
    nothing = Interval(np.nan, np.nan, level, method, n, "measurements")
    constant = [
        name
        for name, v in (("x", a), ("y", b))
        if not any(np.ptp(v[codes == code]) > 0 for code in np.unique(codes))
    ]
    reason = ""
    if models < 3:
        reason = f"{models} models measured more than once; three are needed"
    elif constant:
        reason = f"{' and '.join(constant)} does not vary within any model"
    if reason:
        return WithinCorrelation(
            np.nan, np.nan, degrees, nothing, n, models, (*notes, f"undefined: {reason}")
        )
    r = float(pearson_r(_deviations(codes, a), _deviations(codes, b)))
    with np.errstate(divide="ignore"):
        t = abs(r) * np.sqrt(np.divide(degrees, (1.0 - r) * (1.0 + r)))
    p_value = float(2.0 * stdtr(degrees, -t)) if degrees else np.nan
    if degrees < 2 or 1 - abs(r) < 1e-12:
        notes = (*notes, "no interval: it needs two degrees of freedom and |r| below 1")
        return WithinCorrelation(r, p_value, degrees, nothing, n, models, notes)
    half = float(ndtri((1 + level) / 2)) / np.sqrt(degrees - 1)
    low, high = np.tanh(np.arctanh(r) + np.array([-half, half]))
    interval = Interval(float(low), float(high), level, method, n, "measurements")
    return WithinCorrelation(r, p_value, degrees, interval, n, models, notes)


def _deviations(codes: NDArray[np.intp], values: Floats) -> Floats:
    """Values less the mean of their model, exactly 0 where a model's values are equal."""
    deviations = np.empty_like(values)
    for code in np.unique(codes):
        own = values[codes == code]
        deviations[codes == code] = own - own.mean() if np.ptp(own) > 0 else 0.0
    return deviations
