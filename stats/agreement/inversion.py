"""Intervals of agreement by inverting a test over resampled tasks.

The noise of both sets pulls an observed correlation below the true one, and the more so the closer that is to
one, so the replicates of a bootstrap lie off the estimate as the estimate lies off the truth. Here every
degree of true agreement is put to the test instead. With c the common direction of the two rating vectors and
d a direction of disagreement, true ratings that correlate with cos(2 phi) are

    x = s_x (cos(phi) c + sin(phi) d),     y = s_y (cos(phi) c - sin(phi) d)

where s_x and s_y are the observed spreads less what noise adds to them, and d is the observed direction less
resampled errors: where the sets truly disagree is known as far as noise allows. The resampled errors of both
sets are added, and the interval reaches from the phi below which the observed statistic lies in the lower
tail to the phi above which it lies in the upper one (test inversion: Casella & Berger, Statistical Inference,
9.2.1). Rank statistics of true ratings at one phi still differ with d, such as by the order of models that
are nearly tied; the limits hold all but the tail of what d makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import Statistic
from stats.intervals import Interval, check_level

Floats = NDArray[np.float64]

METHOD = "inverted test over resampled tasks"
FULL, NONE = 0.0, np.pi / 2
"""The angles phi of full agreement and of full disagreement."""
HALVINGS = 12
"""Of the range of phi, in search of a limit; 0.0004 of an angle is left."""
SPREADS = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Ratios of the spreads that a statistic of scale is tested under, in half widths of their own interval."""


@dataclass(frozen=True, eq=False)
class ResampledSets:
    """Ratings of the same n models in two sets, and B resampled errors of each.

    Attributes:
        x, y: (n,) ratings.
        errors_x, errors_y: (B, n) refitted ratings less their mean over the replicates.
        failed: replicates without a finite fit, left out.
    """

    x: Floats
    y: Floats
    errors_x: Floats
    errors_y: Floats
    failed: int = 0

    @classmethod
    def of(cls, x: Floats, y: Floats, replicates_x: Floats, replicates_y: Floats) -> ResampledSets:
        """Keep the replicates that are finite in both sets."""
        usable = np.isfinite(replicates_x).all(axis=1) & np.isfinite(replicates_y).all(axis=1)
        errors = [r[usable] - r[usable].mean(axis=0) if usable.any() else r[usable]
                  for r in (replicates_x, replicates_y)]  # fmt: skip
        return cls(x, y, errors[0], errors[1], int((~usable).sum()))


def inverted_intervals(
    sets: ResampledSets,
    statistics: Mapping[str, tuple[Statistic, tuple[float, float]]],
    level: float = 0.95,
    *,
    n: int,
    seed: int | np.random.Generator = 0,
    scale_matters: frozenset[str] = frozenset({"ccc"}),
) -> dict[str, Interval]:
    """Intervals of statistics of the true ratings, for tasks like these.

    If the spread of a set's ratings is no larger than its noise alone would make it, nothing is known of
    their order and the interval is all that the statistic can be. Statistics of fewer than three models, or
    that are undefined, have none.

    Args:
        sets: ratings and errors.
        statistics: by name, functions along the last axis, and the bounds of their values.
        level: nominal coverage.
        n: number of tasks, for the record.
        seed: of the random directions.
        scale_matters: statistics that change with the ratio of the spreads; they are tested under several
            ratios from its own bootstrap interval, and the interval holds what any of them accepts.
    """
    check_level(level)
    replicates = len(sets.errors_x)
    found: dict[str, Interval] = {}
    varies = len(sets.x) > 2 and np.ptp(sets.x) > 0 and np.ptp(sets.y) > 0
    family = _family(sets, np.random.default_rng(seed)) if varies and replicates > 1 else None
    for name, (statistic, bounds) in statistics.items():
        observed = float(statistic(sets.x, sets.y))
        low = high = np.nan
        if np.isfinite(observed) and family is not None:
            spreads = family.ratios if name in scale_matters else (0.0,)
            low, high = _accepted(family, sets, statistic, observed, (1 - level) / 2, spreads, bounds)
        found[name] = Interval(low, high, level, METHOD, n, "tasks", replicates + sets.failed, sets.failed)
    return found


@dataclass(frozen=True, eq=False)
class _Family:
    """True ratings by degree of agreement (see the module).

    Attributes:
        centre: mean ratings of both sets.
        spread: lengths of the centred true rating vectors; 0 where noise explains all.
        ratio_error: half width of the interval of log(s_x / s_y).
        common: (n,) unit vector.
        against: (B, n) unit vectors orthogonal to it.
    """

    centre: tuple[float, float]
    spread: tuple[float, float]
    ratio_error: float
    common: Floats
    against: Floats

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ratios of the spreads to test under, with the nearest to equal spreads among them."""
        if min(self.spread) == 0.0 or self.ratio_error == 0.0:
            return SPREADS
        equal = np.log(self.spread[1] / self.spread[0]) / self.ratio_error
        return (*SPREADS, float(np.clip(equal, -1.0, 1.0)))

    def ratings(self, phi: float, ratio: float) -> tuple[Floats, Floats]:
        """(B, n) true ratings of both sets; `ratio` in half widths of the ratio's interval."""
        stretch = np.exp(ratio * self.ratio_error / 2)
        along, across = np.cos(phi) * self.common, np.sin(phi) * self.against
        (m_x, m_y), (s_x, s_y) = self.centre, self.spread
        return m_x + s_x * stretch * (along + across), m_y + s_y / stretch * (along - across)


def _family(sets: ResampledSets, rng: np.random.Generator) -> _Family:
    units, lengths, spreads, log_errors = [], [], [], []
    for values, errors in ((sets.x, sets.errors_x), (sets.y, sets.errors_y)):
        centred = values - values.mean()
        length = float(np.linalg.norm(centred))
        noise_squared = float((errors**2).sum(axis=1).mean())
        lengths.append(length)
        units.append(centred / length)
        spreads.append(float(np.sqrt(max(length**2 - noise_squared, 0.0))))
        # Error of the length of the vector, along itself; relative, so of its logarithm.
        log_errors.append(float((errors @ units[-1]).std()) / length)
    both = units[0] + units[1]
    if np.linalg.norm(both) < 1e-9:  # exactly opposed: any direction is as common as another
        both = rng.normal(size=len(both))
        both -= both.mean()
        both -= (both @ units[0]) * units[0]
    common = both / np.linalg.norm(both)
    # Replicates in another order than those that are added as noise.
    noise = [rng.permutation(errors) for errors in (sets.errors_x, sets.errors_y)]
    against = units[0] - units[1] - (noise[0] / lengths[0] - noise[1] / lengths[1])
    if np.abs(against).max() < 1e-9:  # equal sets without any noise
        against = rng.normal(size=against.shape)
    against -= against.mean(axis=1, keepdims=True)
    against -= (against @ common)[:, None] * common
    against /= np.linalg.norm(against, axis=1, keepdims=True)
    return _Family(
        (float(sets.x.mean()), float(sets.y.mean())), (spreads[0], spreads[1]),
        2.0 * float(np.hypot(log_errors[0], log_errors[1])), common, against,
    )  # fmt: skip


def _accepted(
    family: _Family,
    sets: ResampledSets,
    statistic: Statistic,
    observed: float,
    tail: float,
    spreads: tuple[float, ...],
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Smallest and largest statistic of the true ratings that the test accepts."""
    if min(family.spread) == 0.0:
        return bounds

    def drawn(phi: float, ratio: float) -> Floats:
        x, y = family.ratings(phi, ratio)
        return statistic(x + sets.errors_x, y + sets.errors_y)

    # Sets may happen to agree better than noise lets even full agreement look, or worse than none. That is
    # luck, and no evidence against full agreement: it counts as the best that luck does not need.
    least = min(float(np.nanquantile(drawn(NONE, ratio), 2 * tail)) for ratio in spreads)
    most = max(float(np.nanquantile(drawn(FULL, ratio), 1 - 2 * tail)) for ratio in spreads)
    observed = float(np.clip(observed, least, most))
    slack = 1e-9 * max(1.0, abs(observed))  # equal but for rounding counts as equal

    def too_high(ratio: float, phi: float) -> bool:
        return bool((drawn(phi, ratio) <= observed + slack).mean() <= tail)

    def too_low(ratio: float, phi: float) -> bool:
        return bool((drawn(phi, ratio) >= observed - slack).mean() <= tail)

    def true_value(ratio: float, phi: float, share: float) -> float:
        return float(np.nanquantile(statistic(*family.ratings(phi, ratio)), share))

    lows = [true_value(ratio, _edge(partial(too_low, ratio), NONE, FULL), tail) for ratio in spreads]
    highs = [true_value(ratio, _edge(partial(too_high, ratio), FULL, NONE), 1 - tail) for ratio in spreads]
    low, high = np.clip([min(lows), max(highs)], *bounds)
    return float(low), float(high)


def _edge(refused: Callable[[float], bool], start: float, end: float) -> float:
    """First accepted angle on the way from start to end, if refusal ends once on that way."""
    if not refused(start):
        return start
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        if refused(middle):
            start = middle
        else:
            end = middle
    return end
