"""What the evidence on two sets shows and does not, in plain sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from reports.agreement.evidence import Evidence
from reports.agreement.reliability import Length
from reports.templating import count
from stats.agreement.equivalence import MeanEquivalence
from stats.agreement.influence import Influence
from stats.agreement.pair import LOCATION, agree
from stats.intervals import Interval

LEFT_OUT = 2
"""Lowest rated models left out to see what the rest says."""


def pair_sentences(evidence: Evidence, lengths: Mapping[str, Length]) -> list[str]:
    """What the agreement of two sets shows, most important first.

    Args:
        evidence: on the pair.
        lengths: by name of the set, how reliably its tasks order models, where the scores are known.
    """
    result = evidence.agreement
    if not isfinite(result.pearson_r):
        verb = "is" if result.n == 1 else "are"
        return [
            f"{result.a} and {result.b}: {count(result.n, 'model')} {verb} rated in both; their correlation "
            "is not defined."
        ]
    return [
        _headline(evidence),
        *_how_sure(evidence),
        *_ceiling(evidence),
        *_models(evidence),
        *_tasks(evidence),
        *_lengths(evidence, lengths),
        *_spread(evidence),
        *_limits(evidence),
        *_equivalence(evidence),
        *_location(evidence),
    ]


def interval_caption(evidence: Evidence) -> str:
    """``r = 0.97, 95% interval 0.85 to 1.00 over tasks, 0.81 to 1.00 over models.``"""
    result = evidence.agreement
    if not isfinite(result.pearson_r):
        return "The correlation is not defined."
    intervals = {
        interval.unit: interval
        for agreement in (evidence.by_models, result)
        if (interval := agreement.intervals.get("pearson_r")) is not None and _known(interval)
    }
    spans = ", ".join(f"{span(intervals[u])} over {u}" for u in ("tasks", "models") if u in intervals)
    level = next((f", {interval.level:.0%} interval " for interval in intervals.values()), "")
    return f"r = {result.pearson_r:z.2f}{level}{spans}."


def span(interval: Interval) -> str:
    """``0.88 to 1.00``, with more digits where two show no difference."""
    return ends(interval.low, interval.high)


def ends(low: float, high: float) -> str:
    """Two numbers with two digits, or with as many (at most four) as it takes to tell them apart."""
    digits = next((d for d in (2, 3) if f"{low:.{d}f}" != f"{high:.{d}f}"), 4 if low != high else 2)
    return f"{low:z.{digits}f} to {high:z.{digits}f}"


def _known(interval: Interval | None) -> bool:
    return interval is not None and isfinite(interval.low) and isfinite(interval.high)


def _headline(evidence: Evidence) -> str:
    result = evidence.agreement
    line = f"{result.a} and {result.b}: over {count(result.n, 'model')} the ratings correlate with r = "
    line += f"{result.pearson_r:z.2f}"
    if isfinite(result.kendall_tau_b):
        line += f" and the orders with Kendall's tau-b = {result.kendall_tau_b:z.2f}"
    test = evidence.permutation.get("kendall_tau_b")
    if test is not None and isfinite(test.p):
        how = f"all {test.resamples:,}" if test.exact else f"{test.resamples:,} random"
        line += f"; unrelated orders would agree so well with probability {_p(test.p)} ({how} pairings)"
    return line + "."


def _p(value: float) -> str:
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def _how_sure(evidence: Evidence) -> list[str]:
    """Intervals over tasks and over models, each named, and each of what its sample stands for."""
    said = []
    seen = evidence.agreement.pearson_r
    for unit, agreement in (("tasks", evidence.agreement), ("models", evidence.by_models)):
        interval = agreement.intervals.get("pearson_r")
        if interval is None or not _known(interval) or interval.unit != unit:
            continue
        text = f"with endlessly many {unit} like these r would lie from {span(interval)}"
        if interval.low > seen:
            text += ", above the r seen, which noise pulls down"
        text += f" ({interval.level:.0%} interval, {unit} as the sample"
        if interval.failed:
            drawn = interval.replicates
            text += f"; {interval.failed} of {drawn} resamples have no finite fit and are left out"
        said.append(text + ")")
    text = "; ".join(said)
    return [f"{text[0].upper()}{text[1:]}."] if said else []


def _ceiling(evidence: Evidence) -> list[str]:
    found = evidence.ceiling
    if found is None or not isfinite(found.expected):
        return [] if found is None else [found.sentence]
    said = found.sentence
    if len(found.models) > evidence.agreement.n:
        said = f"By {evidence.ceiling_fit}, which rates {len(found.models)} models, {said}"
    if isfinite(found.disattenuated):
        said += f" Without the noise of the tasks r would be about {found.disattenuated:.2f}"
        if _known(found.interval):
            low, high = found.interval.low, found.interval.high
            said += f" ({found.interval.level:.0%} interval over tasks {span(found.interval)}): "
            if low > 1:
                said += "they agree better than their noise lets expect, by chance or a shared cause."
            elif high >= 1:
                said += "that both sets measure the same is not ruled out."
            else:
                said += "noise alone does not explain the difference, so the sets measure different things."
        else:
            said += "."
    return [said]


def _models(evidence: Evidence) -> list[str]:
    """Leave-one-model-out, and the easy agreement that very different models give."""
    said = []
    result, influence = evidence.agreement, evidence.models
    r = _column(influence, "pearson_r")
    most = influence.most_influential["pearson_r"]
    if most is not None and np.isfinite(r).any():
        line = (
            f"Without any one model r lies from {ends(np.nanmin(r), np.nanmax(r))}; {most} moves it "
            f"most (without it, {_without(influence, 'pearson_r', most):z.2f})"
        )
        tau = _column(influence, "kendall_tau_b")
        if np.isfinite(tau).any():
            line += f". Kendall's tau-b lies from {ends(np.nanmin(tau), np.nanmax(tau))}"
        said.append(line + ".")
    if result.n - LEFT_OUT >= 4:
        first, second = evidence.first, evidence.second
        kept = sorted(result.models, key=lambda m: first[m] + second[m])[LEFT_OUT:]
        rest = agree({m: first[m] for m in kept}, {m: second[m] for m in kept}, result.a, result.b)
        if isfinite(rest.pearson_r):
            said.append(
                f"Models of very different skill make a high correlation easy: without the {LEFT_OUT} lowest "
                f"rated, r = {rest.pearson_r:z.2f} and Kendall's tau-b = {rest.kendall_tau_b:z.2f}."
            )
    return said


def _tasks(evidence: Evidence) -> list[str]:
    """Leave-one-task-out."""
    influence = evidence.tasks
    if influence is None:
        return []
    r = _column(influence, "pearson_r")
    most = influence.most_influential["pearson_r"]
    if most is None or not np.isfinite(r).any():
        return []
    line = (
        f"Without any one task r lies from {ends(np.nanmin(r), np.nanmax(r))}; {most} moves it most "
        f"(without it, {_without(influence, 'pearson_r', most):z.2f})"
    )
    swapping = int((influence.swaps > 0).sum())
    if swapping:
        worst = int(influence.swaps.argmax())
        line += (
            f". {swapping} of {count(len(influence.swaps), 'task')} "
            f"{'alters' if swapping == 1 else 'alter'} the order of models in their set when left "
            f"out: without {influence.left_out[worst]}, "
            f"{count(int(influence.swaps[worst]), 'pair')} of them "
            f"{'changes' if influence.swaps[worst] == 1 else 'change'} places"
        )
    else:
        line += ". No single task decides the order of two models in its own set"
    return [line + "."]


def _lengths(evidence: Evidence, lengths: Mapping[str, Length]) -> list[str]:
    names = (evidence.agreement.a, evidence.agreement.b)
    return [length_sentence(name, lengths[name]) for name in names if name in lengths]


def length_sentence(name: str, length: Length) -> str:
    """How reliably a set orders models now, and how many tasks it would take."""
    if not isfinite(length.reliability):
        return f"How reliably the tasks of {name} order models is not known: {'; '.join(length.notes)}."
    line = (
        f"The {count(length.tasks, 'task')} of {name} order {length.models} models by win rate with a "
        f"reliability of {length.reliability:.2f}"
    )
    if _known(length.interval):
        line += f" ({span(length.interval)}, models as the sample)"
    if not isfinite(length.needed):
        return f"{line}; the models do not differ enough for any number of tasks to reach {length.target:g}."
    needed = f"{count(int(length.needed), 'task')} like these"
    if isfinite(length.needed_high):
        needed += f" ({length.needed_low:.0f} to {length.needed_high:.0f})"
    elif isfinite(length.needed_low):
        needed += f" ({length.needed_low:.0f} at least)"
    if length.needed > length.tasks:
        return f"{line}; {length.target:g} would take about {needed}."
    return f"{line}; about {needed} would give {length.target:g}."


def _spread(evidence: Evidence) -> list[str]:
    result, line = evidence.agreement, evidence.deming
    if line is None or not line.slope > 0:
        return []
    said = (
        f"A difference of 100 points on {result.a} is one of {100 * line.slope:.0f} on {result.b} "
        f"(Deming slope {line.slope:.2f}"
    )
    if _known(line.slope_interval):
        said += f", {line.slope_interval.level:.0%} interval over models {span(line.slope_interval)}"
    robust = evidence.passing_bablok
    if robust is not None and isfinite(robust.slope):
        said += f"; Passing-Bablok {robust.slope:.2f}"
    said += ")"
    if _known(line.slope_interval):
        low, high = line.slope_interval.low, line.slope_interval.high
        if low > 1 or high < 1:
            wider = result.b if low > 1 else result.a
            return [
                f"{said}: {wider} spreads the models wider, so ratings cannot be carried over as they are."
            ]
        return [f"{said}: no difference in spread is shown."]
    return [f"{said}."]


def _limits(evidence: Evidence) -> list[str]:
    result = evidence.agreement
    limits = result.bland_altman
    if limits is None or not isfinite(limits.sd):
        return []
    return [
        f"For 95% of such models, the rating on {result.a} minus that on {result.b} lies from "
        f"{limits.loa_low:z.0f} to {limits.loa_high:z.0f} points, as far as {result.n} models can tell."
    ]


def _equivalence(evidence: Evidence) -> list[str]:
    found, result = evidence.equivalence, evidence.agreement
    if found is None:
        return []
    margin = f"{found.margin:g} {'point' if found.margin == 1 else 'points'}"
    if isinstance(found, MeanEquivalence):
        if not isfinite(found.p):
            return [
                f"Whether the ratings are equal within {margin} cannot be tested: {'; '.join(found.notes)}."
            ]
        if any(LOCATION in note for note in (*found.notes, *result.notes)):
            return [
                f"Whether the mean ratings are equal within {margin} is no question here: both sets are "
                "centred alike. Give the scores of both sets, and the differences between models are tested."
            ]
        verdict = "is shown to lie" if found.equivalent else "is not shown to lie"
        return [
            f"The mean difference of the ratings, {found.difference:z.0f} points, {verdict} within {margin} "
            f"(p = {_p(found.p)}, models as the sample)."
        ]
    pairs = len(found.first)
    if not pairs:
        return [f"No difference between two models can be tested for equivalence within {margin}."]
    same, other = int(found.equivalent.sum()), int(found.different.sum())
    return [
        f"Of the {count(pairs, 'difference')} between two models, {same} "
        f"{'is' if same == 1 else 'are'} shown to be the same on {result.a} and {result.b} within {margin}, "
        f"{other} to be different, and {pairs - same - other} remain open (tasks as the sample, "
        f"{found.adjust}-adjusted)."
    ]


def _location(evidence: Evidence) -> list[str]:
    if any(LOCATION in note for note in evidence.agreement.notes):
        return [
            "Both sets have the same mean rating by construction: nothing here shows which set is easier."
        ]
    return []


def _column(influence: Influence, statistic: str) -> np.ndarray:
    return influence.without[:, influence.statistics.index(statistic)]


def _without(influence: Influence, statistic: str, name: str) -> float:
    return float(_column(influence, statistic)[influence.left_out.index(name)])
