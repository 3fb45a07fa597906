"""A set to be compared: ratings of its models, the comparisons behind them if known, and how it is rated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stats.agreement.sets import IntervalMethod
from stats.agreement.split_half import rated_together
from stats.bradley_terry import FirthPrior, Fit, Prior, fit
from stats.comparisons import Comparisons


@dataclass(frozen=True)
class Options:
    """How the evidence is computed.

    Attributes:
        level: coverage of all intervals.
        replicates, seed: of the resampling of tasks.
        interval: kind of interval over tasks, see `stats.agreement.sets.agree_sets`.
        prior: for all fits of scores, or None for maximum likelihood.
        margin: rating points that do not matter, for the equivalence tests; None for no such test.
    """

    level: float = 0.95
    replicates: int = 1000
    seed: int = 0
    interval: IntervalMethod = "inverted"
    prior: Prior | None = None
    margin: float | None = None


@dataclass(frozen=True, eq=False)
class RatedSet:
    """One set: ratings, and the comparisons behind them where the scores are known.

    Attributes:
        ratings: by model, for those with a number on one scale.
        unrated: other models of the set.
    """

    name: str
    ratings: Mapping[str, float]
    unrated: tuple[str, ...] = ()
    comparisons: Comparisons | None = None
    fitted: Fit | None = None

    @classmethod
    def from_comparisons(cls, name: str, comparisons: Comparisons, prior: Prior | None) -> RatedSet:
        """Rate a set; of groups of models that were never compared, the largest has the ratings."""
        fitted = fit(comparisons, prior=prior)
        ratings = {fitted.models[i]: float(fitted.ratings[i]) for i in rated_together(fitted)}
        unrated = tuple(model for model in fitted.models if model not in ratings)
        return cls(name, ratings, unrated, comparisons, fitted)


def prior_words(prior: Prior | None) -> str:
    """How ratings were fitted."""
    if prior is None:
        return "maximum likelihood"
    if isinstance(prior, FirthPrior):
        return "Firth's bias-reduced fit"
    return f"Gaussian prior on ratings, SD {prior.sd:g}"
