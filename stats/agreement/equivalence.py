"""Are two sets' ratings the same for practical purposes? Two one-sided tests (TOST, Schuirmann 1987).

No difference found is no proof of equality: TOST asks whether a difference as large as a margin can be ruled
out. The margin, in rating points, is the user's to choose: what difference would change a decision?
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from stats.agreement.pair import LOCATION, PART_WHOLE
from stats.bradley_terry import Fit, fit
from stats.comparisons import Comparisons
from stats.contrasts import NO_SPREAD, Adjustment, Pairwise, adjusted, check_adjustment, pairwise
from stats.intervals import Interval, check_level
from stats.vectors import LARGEST, check_range

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MeanEquivalence:
    """Whether the mean difference of two sets' ratings lies within the margin; the models are the sample.

    Attributes:
        difference: mean of x - y.
        margin: in the unit of the ratings.
        p: larger of the two one-sided p values; NaN if undefined.
        equivalent: p <= 1 - level.
        interval: of the mean difference at level 2 * level - 1 (90 % for tests at 5 %): it lies within the
            margin exactly if `equivalent`.
        notes: what is undefined or true by construction.
    """

    difference: float
    margin: float
    p: float
    equivalent: bool
    interval: Interval
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ContrastEquivalence:
    """Whether differences between models are the same in two sets; the tasks of both are the sample.

    Arrays follow the P pairs of models that have a difference in both sets.

    Attributes:
        models: n names; `first` and `second` index them.
        shift: R_first - R_second in set a minus the same in set b, in rating points.
        standard_error: root of the summed task-clustered variances.
        degrees: Welch-Satterthwaite degrees of freedom.
        low, high: of the shift at level 2 * level - 1, each pair for itself.
        p_equivalent: of TOST; `p_different`: two-sided, of no shift; both adjusted over the pairs.
        equivalent: a shift of the margin or more is ruled out; `different`: a shift of zero is, and not the
            margin; the others are undecided.
        share_equivalent, share_different, share_undecided: of the P pairs; NaN without a pair.
        margin, level, adjust, method: of the tests.
        n, unit: tasks of the smaller set.
        notes: what is left out or does not hold.
    """

    models: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    shift: Floats
    standard_error: Floats
    degrees: Floats
    low: Floats
    high: Floats
    p_equivalent: Floats
    p_different: Floats
    equivalent: NDArray[np.bool_]
    different: NDArray[np.bool_]
    share_equivalent: float
    share_different: float
    share_undecided: float
    margin: float
    level: float
    adjust: str
    method: str
    n: int
    unit: str
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per pair, models by name."""
        columns = (
            "shift", "standard_error", "degrees", "low", "high", "p_equivalent", "p_different", "equivalent",
            "different",
        )  # fmt: skip
        names = np.array(self.models, dtype=object)
        return pd.DataFrame(
            {"model": names[self.first], "other": names[self.second]}
            | {column: getattr(self, column) for column in columns}
        )


def equivalent_ratings(x: ArrayLike, y: ArrayLike, *, margin: float, level: float = 0.95) -> MeanEquivalence:
    """Paired TOST of the mean of x - y, for ratings whose common level means something.

    Bradley-Terry ratings have no level of their own: two sets centred alike have a mean difference of zero by
    construction, and a note says so. Compare their differences with `equivalent_contrasts`.

    Args:
        x, y: (n,) finite ratings of the same models.
        margin: largest difference that does not matter, in the unit of the ratings.
        level: one minus the size of each one-sided test.

    Raises:
        ValueError: vectors of different lengths, values that are not finite, or a margin that is not
            positive and finite.
    """
    _check(margin, level)
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"need two vectors of one length, not shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("equivalence of means needs finite values")
    check_range(np.concatenate([a, b]), "the ratings")
    n, notes = a.size, []
    difference = float(np.mean(a - b)) if n else np.nan
    p = low = high = np.nan
    if n > 1 and np.ptp(a - b) > 0:
        import pingouin

        error = float(np.std(a - b, ddof=1)) / np.sqrt(n)
        half = float(stdtrit(n - 1, level)) * error
        low, high = difference - half, difference + half
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of lost precision where all differences are nearly equal
            p = float(pingouin.tost(a, b, bound=margin, paired=True)["pval"].iloc[0])
        if abs(difference) <= 1e-3 * max(float(a.std()), float(b.std())):
            notes.append(f"{LOCATION}: the mean difference is zero by construction if both sets are centred")
    else:
        notes.append("no test: it needs two models whose differences vary")
    method = "paired TOST; models as the sample"
    interval = Interval(low, high, 2 * level - 1, method, n, "models")
    return MeanEquivalence(difference, margin, p, p <= 1 - level, interval, tuple(notes))


def equivalent_contrasts(
    a: Comparisons,
    b: Comparisons,
    *,
    margin: float,
    level: float = 0.95,
    adjust: Adjustment = "holm",
    fit_a: Fit | None = None,
    fit_b: Fit | None = None,
) -> ContrastEquivalence:
    """TOST for each pair of models: does the second set put them as far apart as the first?

    Args:
        a, b: comparisons of two sets of different tasks.
        margin: largest shift of a difference that does not matter, in rating points.
        level: one minus the size of the tests.
        adjust: for the number of pairs, as in `stats.contrasts.contrasts`.
        fit_a, fit_b: their fits, on one scale; plain maximum likelihood if absent.

    Raises:
        ValueError: a margin that is not positive and finite, an unknown adjustment, or fits on two scales.
    """
    _check(margin, level)
    check_adjustment(adjust)
    fit_a, fit_b = fit(a) if fit_a is None else fit_a, fit(b) if fit_b is None else fit_b
    if not np.isclose(fit_a.unit, fit_b.unit, rtol=1e-12):
        raise ValueError(f"the fits have two scales: {fit_a.unit} and {fit_b.unit} points per unit")
    models = tuple(sorted(set(a.models) & set(b.models)))
    i, j = np.triu_indices(len(models), 1)
    sides = [_side(pairwise(c, f), f, models) for c, f in ((a, fit_a), (b, fit_b))]
    (d_a, v_a, t_a), (d_b, v_b, t_b) = ([array[i, j] for array in side] for side in sides)
    kept = np.isfinite(d_a + d_b + v_a + v_b) & (np.sqrt(v_a + v_b) > NO_SPREAD * fit_a.unit)
    notes = []
    if len(kept) > kept.sum():
        notes.append(
            f"{len(kept) - int(kept.sum())} of {len(kept)} pairs left out: no finite difference, fewer than "
            "two tasks or no spread in one of the sets"
        )
    if shared := len(set(a.tasks) & set(b.tasks)):
        notes.append(f"{PART_WHOLE}: the sets share {shared} tasks, so the tests, which take them as "
                     "independent, do not hold")  # fmt: skip
    first, second = i[kept], j[kept]
    d_a, v_a, t_a, d_b, v_b, t_b = (array[kept] for array in (d_a, v_a, t_a, d_b, v_b, t_b))
    shift, error = d_a - d_b, np.sqrt(v_a + v_b)
    degrees = (v_a + v_b) ** 2 / (v_a**2 / (t_a - 1) + v_b**2 / (t_b - 1))
    half = stdtrit(degrees, level) * error
    # The larger of the two one-sided p values belongs to the nearer margin.
    p_equivalent = adjusted(stdtr(degrees, (np.abs(shift) - margin) / error), adjust)
    p_different = adjusted(2 * stdtr(degrees, -np.abs(shift) / error), adjust)
    equivalent = p_equivalent <= 1 - level
    different = (p_different <= 1 - level) & ~equivalent
    undecided = ~(equivalent | different)
    shares = [float(x.mean()) if len(first) else np.nan for x in (equivalent, different, undecided)]
    return ContrastEquivalence(
        models=models,
        first=first,
        second=second,
        shift=shift,
        standard_error=error,
        degrees=degrees,
        low=shift - half,
        high=shift + half,
        p_equivalent=p_equivalent,
        p_different=p_different,
        equivalent=equivalent,
        different=different,
        share_equivalent=shares[0],
        share_different=shares[1],
        share_undecided=shares[2],
        margin=margin,
        level=level,
        adjust=adjust,
        method="TOST on task-clustered differences, Welch-Satterthwaite degrees of freedom",
        n=min(len(a.tasks), len(b.tasks)),
        unit="tasks",
        notes=tuple(notes),
    )


def _side(pairs: Pairwise, fitted: Fit, models: tuple[str, ...]) -> tuple[Floats, Floats, Floats]:
    """Differences, their variances and tasks, of the models in this order."""
    index = {model: place for place, model in enumerate(fitted.models)}
    among = np.ix_(*2 * [[index[model] for model in models]])
    tasks = pairs.n_tasks[among].astype(np.float64)
    return pairs.difference[among], pairs.standard_error[among] ** 2, tasks


def _check(margin: float, level: float) -> None:
    """Refuse margins and levels that make no test."""
    if not 0 < margin <= LARGEST:
        raise ValueError(f"the margin must be positive and finite, not {margin}")
    check_level(level)
    if level <= 0.5:
        raise ValueError(f"level must be above one half for one-sided tests, not {level}")
