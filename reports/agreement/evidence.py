"""All that the statistics can say about two sets: agreement, its ceiling, what it rests on, lines through it.

Where the scores of both sets are known, tasks are resampled and left out. Where only ratings are, the models
are the only sample there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reports.agreement.names import is_part_whole
from reports.agreement.rated import Options, RatedSet, prior_words
from reports.templating import count
from stats.agreement.ceiling import Ceiling, ceiling
from stats.agreement.equivalence import (
    ContrastEquivalence,
    MeanEquivalence,
    equivalent_contrasts,
    equivalent_ratings,
)
from stats.agreement.influence import Influence, leave_one_model_out, leave_one_task_out
from stats.agreement.lines import Line, deming, error_ratio, passing_bablok
from stats.agreement.pair import PART_WHOLE, Agreement, agree
from stats.agreement.permutation import PermutationTest, permutation_test_agreement
from stats.agreement.sets import agree_sets
from stats.bradley_terry import FirthPrior, Prior, Status
from stats.comparisons import Comparisons
from stats.sandwich import task_covariance

Floats = NDArray[np.float64]

TESTED = ("pearson_r", "spearman_rho", "kendall_tau_b")
"""Statistics that are tested against random pairing."""
THIN = 0.1
"""Share of random halves without a finite fit beyond which the ceiling takes Firth's fit."""
FEW_MODELS = 10
MANY_MODELS = 100
"""Random pairings take seconds from here on."""
FEW_TASKS = 20
"""The coverage of the intervals was simulated from here on."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of two sets.

    Attributes:
        agreement: with intervals over tasks where `by_tasks`, over models else.
        by_models: the same figures, with intervals that take the models as the sample.
        by_tasks: whether the scores of two sets of different tasks are known.
        first, second: rating of each common model in the two sets.
        models: every statistic without each model.
        tasks: every statistic without each task; None without scores.
        ceiling: agreement of the sets with themselves; None without scores.
        ceiling_fit: how the ceiling's ratings were fitted.
        deming, passing_bablok: lines; None for fewer than two models.
        permutation: tests against random pairing, by statistic.
        equivalence: within a margin, if one was given.
        notes: what was left out, or how something was computed.
    """

    agreement: Agreement
    by_models: Agreement
    by_tasks: bool
    first: Mapping[str, float]
    second: Mapping[str, float]
    models: Influence
    tasks: Influence | None = None
    ceiling: Ceiling | None = None
    ceiling_fit: str = ""
    deming: Line | None = None
    passing_bablok: Line | None = None
    permutation: Mapping[str, PermutationTest] = field(default_factory=dict)
    equivalence: ContrastEquivalence | MeanEquivalence | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def interval_notes(self) -> tuple[str, ...]:
        """What few models or tasks let the intervals say."""
        notes = few_models(self.by_models, by_tasks=self.by_tasks)
        over_tasks = self.agreement.intervals.get("pearson_r")
        if self.by_tasks and over_tasks is not None:
            if over_tasks.n < FEW_TASKS:
                notes.append(
                    f"few tasks (n = {over_tasks.n} in the smaller set): how often the intervals over tasks "
                    f"hold was simulated from {FEW_TASKS} tasks on"
                )
            if over_tasks.failed:
                notes.append(
                    "in a resample without a finite fit some model wins or loses everything, so the "
                    "intervals rest on the milder resamples; a prior keeps them all (mlesmith agree "
                    "--prior-sd 400)"
                )
        return tuple(notes)


def few_models(by_models: Agreement, *, by_tasks: bool = False) -> list[str]:
    """What few models let an interval over models say, if they are few."""
    interval = by_models.intervals.get("pearson_r")
    if not 2 < by_models.n < FEW_MODELS or interval is None or interval.unit != "models":
        return []
    note = (
        f"few models (n = {by_models.n}): for other models like these, r may lie from {interval.low:.3f} to "
        f"{interval.high:.3f} ({interval.level:.0%} {interval.method})"
    )
    return [note if by_tasks else f"{note}; ratings alone cannot say how far other tasks matter"]


def gather(
    a: RatedSet, b: RatedSet, options: Options, progress: Callable[[str], None] = lambda _: None
) -> Evidence:
    """All evidence on whether set b can stand in for set a.

    Args:
        a, b: with different names.
        options: of the intervals and tests.
        progress: told what is being computed.
    """
    named_whole = is_part_whole(a.name, b.name)
    by_models = agree(a.ratings, b.ratings, a.name, b.name, part_whole=named_whole, level=options.level)
    first, second = ({m: float(s.ratings[m]) for m in by_models.models} for s in (a, b))
    x, y = (np.array(list(values.values())) for values in (first, second))
    notes: list[str] = []
    known = _tasks_known(a, b, named_whole, notes)
    if options.prior is not None and a.comparisons is None and b.comparisons is None:
        notes.append("the prior is not used: ratings stay as they are given")
    agreement, tasks, found, ceiling_fit = by_models, None, None, ""
    if known is not None:
        progress(f"{a.name} - {b.name}: resampling tasks ({options.replicates} times)")
        agreement = agree_sets(
            *known, a.name, b.name, level=options.level, method=options.interval,
            replicates=options.replicates, seed=options.seed, prior=options.prior,
        )  # fmt: skip
        progress(f"{a.name} - {b.name}: ceiling of the agreement")
        found, ceiling_fit = _ceiling(a.name, b.name, known, options, notes)
        progress(f"{a.name} - {b.name}: leaving out each model and task")
        if min(len(side.tasks) for side in known) > 1:
            tasks = leave_one_task_out(*known, a.name, b.name, prior=options.prior)
        else:
            notes.append("a set of one task: no task can be left out")
    if by_models.n >= MANY_MODELS:
        progress(f"{a.name} - {b.name}: trying random pairings of {by_models.n} models")
    lines = _lines(a, b, by_models.models, x, y, known is not None, options.level, notes)
    return Evidence(
        agreement=agreement,
        by_models=by_models,
        by_tasks=known is not None,
        first=first,
        second=second,
        models=leave_one_model_out(first, second, a.name, b.name),
        tasks=tasks,
        ceiling=found,
        ceiling_fit=ceiling_fit,
        deming=lines[0],
        passing_bablok=lines[1],
        permutation={name: permutation_test_agreement(x, y, name, seed=options.seed) for name in TESTED},
        equivalence=_equivalence(a, b, known, x, y, options),
        notes=tuple(notes),
    )


def _tasks_known(
    a: RatedSet, b: RatedSet, named_whole: bool, notes: list[str]
) -> tuple[Comparisons, Comparisons] | None:
    """The comparisons of two sets of different tasks, or None and a note why there are none."""
    if a.comparisons is None or b.comparisons is None:
        if a.comparisons is not b.comparisons:
            scored, rated = (a, b) if b.comparisons is None else (b, a)
            notes.append(
                f"{rated.name} is a table of ratings, so {scored.name} was rated and the rest speaks of "
                "models only; give the scores of both sets to learn how far their tasks matter"
            )
        return None
    shared = len(set(a.comparisons.tasks) & set(b.comparisons.tasks))
    if shared:
        notes.append(
            f"{PART_WHOLE}: the sets share {count(shared, 'task')} by name, which raises every figure of "
            "agreement; they cannot be resampled apart, so nothing here speaks of other tasks. If the tasks "
            "are different ones, give them different names"
        )
    return None if shared or named_whole else (a.comparisons, b.comparisons)


def _ceiling(
    name_a: str, name_b: str, sets: tuple[Comparisons, Comparisons], options: Options, notes: list[str]
) -> tuple[Ceiling, str]:
    """The ceiling, with Firth's fit where too many halves have no fit by maximum likelihood."""

    def computed(prior: Prior | None) -> Ceiling:
        return ceiling(
            *sets, name_a, name_b, replicates=options.replicates, level=options.level, seed=options.seed,
            prior=prior,
        )  # fmt: skip

    found = computed(options.prior)
    if options.prior is not None:
        return found, prior_words(options.prior)
    halves = (found.reliability_a, found.reliability_b)
    if all(half.failed <= THIN * half.splits for half in halves):
        return found, prior_words(None)
    failed = " and ".join(
        f"{half.failed} of {half.splits} halves of {name}"
        for name, half in zip((name_a, name_b), halves, strict=True)
        if half.failed
    )
    notes.append(
        f"ceiling: {failed} have no finite fit, so it takes Firth's bias-reduced fit, which also rates "
        "models that won or lost everything; its r is of those ratings"
    )
    return computed(FirthPrior()), prior_words(FirthPrior())


def _lines(
    a: RatedSet,
    b: RatedSet,
    models: tuple[str, ...],
    x: Floats,
    y: Floats,
    by_tasks: bool,
    level: float,
    notes: list[str],
) -> tuple[Line | None, Line | None]:
    """Deming's and Passing and Bablok's line of b on a."""
    if len(models) < 2:
        return None, None
    ratio = 1.0
    if by_tasks:
        # A rating that only a prior makes finite has no error that tasks could tell.
        told = [m for m in models if Status.PRIOR not in (_status(a, m), _status(b, m))]
        try:
            ratio = error_ratio(*(_task_covariance(side, told) for side in (a, b)))
        except ValueError as error:
            notes.append(f"Deming's line takes the errors of both sets as equal: {error}")
    return deming(x, y, ratio, level), passing_bablok(x, y, level)


def _status(side: RatedSet, model: str) -> Status:
    assert side.fitted is not None
    return side.fitted.status[side.fitted.models.index(model)]


def _task_covariance(side: RatedSet, models: Sequence[str]) -> Floats:
    assert side.comparisons is not None and side.fitted is not None
    covariance, _ = task_covariance(side.comparisons, side.fitted)
    places = [side.fitted.models.index(model) for model in models]
    return covariance[np.ix_(places, places)]


def _equivalence(
    a: RatedSet,
    b: RatedSet,
    known: tuple[Comparisons, Comparisons] | None,
    x: Floats,
    y: Floats,
    options: Options,
) -> ContrastEquivalence | MeanEquivalence | None:
    if options.margin is None:
        return None
    if known is None:
        return equivalent_ratings(x, y, margin=options.margin, level=options.level)
    return equivalent_contrasts(
        *known, margin=options.margin, level=options.level, fit_a=a.fitted, fit_b=b.fitted
    )
