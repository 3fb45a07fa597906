"""A generation: how far formulations came, how the agents worked, what it took and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from generator.pipeline.comparison import Compared
from generator.pipeline.labour import WITHIN, AgentWork, Money
from generator.pipeline.statistics import StageCount, Tagged, TaskSpending
from reports.style import ACCENT, GRID, INK, MUTED, PALETTE, say_nothing, styled
from reports.templating import duration

_WIDTH = 4.8
_MOST_REASONS = 16
_MOST_KINDS = 12
_STOPPED, _OPEN = PALETTE[1], "#b9c0cb"
_ATTEMPTS = (PALETTE[0], PALETTE[4], PALETTE[1])


@styled
def funnel_plot(stages: Sequence[StageCount]) -> Figure:
    """Formulations that passed each stage, those it stopped, and those it did not judge."""
    figure = Figure(figsize=(_WIDTH, 3.3), layout="constrained")
    axes = figure.subplots()
    passed = np.array([stage.passed for stage in stages], dtype=float)
    undecided = np.array([stage.undecided for stage in stages], dtype=float)
    stopped = np.array([sum(stage.reasons.values()) for stage in stages], dtype=float)
    if not passed[:1].any():
        say_nothing(axes, "no formulation was considered")
        return figure
    place = np.arange(len(stages))
    parts = (
        (passed, ACCENT, "passed"),
        (stopped, _STOPPED, "stopped here"),
        (undecided, _OPEN, "not judged"),
    )
    left = np.zeros(len(stages))
    for values, colour, name in parts:
        if values.any():
            axes.barh(place, values, left=left, height=0.68, color=colour, label=name)
        left = left + values
    for y, stage in enumerate(stages):
        share = stage.of_before.value if stage.of_before else None
        axes.text(
            left[y], y, f" {stage.passed}" + ("" if share is None else f"  {share:.0%} of those judged"),
            va="center", fontsize=9,
        )  # fmt: skip
    _rows(axes, [str(stage.stage) for stage in stages])
    axes.set_xlim(0, passed[0] * 1.5)
    axes.set_xlabel("Formulations")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    _legend(figure, axes)
    return figure


@styled
def reasons_plot(stages: Sequence[StageCount]) -> Figure:
    """Why formulations stopped, grouped by the stage that they did not pass."""
    found = [(str(each.stage), code, count) for each in stages for code, count in each.reasons.items()]
    shown = sorted(found, key=lambda item: -item[2])[:_MOST_REASONS]
    rest = sum(count for *_, count in found) - sum(count for *_, count in shown)
    lines = [item for item in found if item in shown] + ([("", "others", rest)] if rest else [])
    figure = Figure(figsize=(_WIDTH, 0.3 * max(len(lines), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    if not lines:
        say_nothing(axes, "nothing was stopped")
        return figure
    axes.barh(np.arange(len(lines)), [count for *_, count in lines], height=0.66, color=_STOPPED)
    for y, (*_, count) in enumerate(lines):
        axes.text(count, y, f" {count}", va="center", fontsize=9)
    _rows(axes, [f"not {stage}: {code}" if stage else code for stage, code, _ in lines])
    axes.set_xlim(0, 1.12 * max(count for *_, count in lines))
    axes.set_xlabel("Formulations")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    return figure


@styled
def steps_plot(works: Sequence[AgentWork]) -> Figure:
    """How many steps the attempts of each agent took, with its median."""
    shown = [work for work in works if work.histogram]
    figure = Figure(figsize=(_WIDTH, 1.35 * max(len(shown), 1) + 0.7), layout="constrained")
    if not shown:
        say_nothing(figure.subplots(), "no agent took steps: rules take none")
        return figure
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, work in zip(panels, shown, strict=True):
        axes.bar(list(work.histogram), list(work.histogram.values()), width=0.86, color=ACCENT)
        axes.axvline(WITHIN + 0.5, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)))
        if work.steps is not None:
            axes.set_title(f"{work.agent}: median {work.steps.median:g}, most {work.steps.largest:g}")
        axes.set_ylabel("Attempts")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
        axes.grid(visible=False, axis="x")
    panels[-1].set_xlabel(f"Steps; the dashed line is after {WITHIN}")
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[-1].set_xlim(left=0)
    return figure


@styled
def attempts_plot(works: Sequence[AgentWork]) -> Figure:
    """How many attempts each agent needed at a formulation, as shares; the numbers are formulations."""
    shown = [work for work in works if work.once.of]
    figure = Figure(figsize=(_WIDTH, 0.42 * max(len(shown), 2) + 1.1), layout="constrained")
    axes = figure.subplots()
    if not shown:
        say_nothing(axes, "no attempt has come to an end")
        return figure
    counts = np.array(
        [
            (each.once.of - each.twice.count, each.twice.count - each.thrice.count, each.thrice.count)
            for each in shown
        ],
        dtype=float,
    )
    left = np.zeros(len(shown))
    for number, (name, colour) in enumerate(
        zip(("one attempt", "two", "three or more"), _ATTEMPTS, strict=True)
    ):
        shares = counts[:, number] / counts.sum(axis=1)
        axes.barh(np.arange(len(shown)), shares, left=left, height=0.66, color=colour, label=name)
        for y, (start, share, count) in enumerate(zip(left, shares, counts[:, number], strict=True)):
            if share > 0.05:
                ink = INK if number == 1 else "white"
                axes.text(
                    start + share / 2, y, f"{count:.0f}", ha="center", va="center", color=ink, fontsize=9
                )
        left = left + shares
    _rows(axes, [work.agent for work in shown])
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("Share of formulations (brainstormer: of datasets)")
    _legend(figure, axes)
    return figure


@styled
def agents_spending_plot(works: Sequence[AgentWork]) -> Figure:
    """Seconds and dollars of each agent in all; an unknown price is marked, never drawn as free."""
    figure = Figure(figsize=(_WIDTH, 0.36 * max(len(works), 2) + 0.95), layout="constrained")
    if not works:
        say_nothing(figure.subplots(), "there are no attempts")
        return figure
    panels = figure.subplots(1, 2, sharey=True)
    seconds = [work.total_seconds for work in works]
    unit, scale = _unit(max(seconds))
    money = [work.spent.money for work in works]
    _amounts(panels[0], [value / scale for value in seconds], [duration(value) for value in seconds])
    _amounts(panels[1], [each.known for each in money], [_dollars(each) for each in money])
    panels[0].set_title("Time")
    panels[0].set_xlabel(unit)
    panels[1].set_title("Cost")
    panels[1].set_xlabel("US dollars")
    _rows(panels[0], [work.agent for work in works])
    return figure


@styled
def task_spending_plot(tasks: Sequence[TaskSpending]) -> Figure:
    """Seconds and dollars of each verified task, with median and quartiles; unpriced tasks have no point."""
    figure = Figure(figsize=(_WIDTH, 2.5), layout="constrained")
    panels = figure.subplots(2, 1)
    longest = max((each.spent.seconds for each in tasks), default=0.0)
    unit, scale = _unit(longest)
    seconds = [each.spent.seconds / scale for each in tasks]
    costs = [each.spent.money.known for each in tasks if not each.spent.money.unpriced]
    _points(panels[0], seconds, f"{unit} for each verified task", "no task was verified")
    _points(
        panels[1], costs, "US dollars for each verified task", "no verified task has a price" if tasks else ""
    )
    return figure


@styled
def tasks_per_dataset_plot(datasets: Mapping[int, int]) -> Figure:
    """How many datasets gave no verified task, one, two, ..."""
    figure = Figure(figsize=(_WIDTH, 2.3), layout="constrained")
    axes = figure.subplots()
    if not datasets:
        say_nothing(axes, "no dataset was worked on to its end")
        return figure
    numbers = np.arange(max(*datasets, 3) + 1)
    heights = [datasets.get(int(number), 0) for number in numbers]
    axes.bar(numbers, heights, width=0.66, color=[_STOPPED, *[ACCENT] * (len(numbers) - 1)])
    for number, height in enumerate(heights):
        axes.text(number, height, f"{height}", ha="center", va="bottom", fontsize=9)
    axes.set_xticks(numbers)
    axes.set_xlabel("Verified tasks")
    axes.set_ylabel("Datasets")
    axes.set_ylim(0, 1.15 * max(heights))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.grid(visible=False, axis="x")
    return figure


@styled
def kinds_plot(kinds: Sequence[Tagged]) -> Figure:
    """Formulations by their modality, objective or metric: verified, and considered in all."""
    shown = list(kinds[:_MOST_KINDS])
    if rest := kinds[_MOST_KINDS:]:
        shown.append(Tagged("others", sum(k.considered for k in rest), sum(k.verified for k in rest)))
    figure = Figure(figsize=(_WIDTH, 0.32 * max(len(shown), 2) + 1.0), layout="constrained")
    axes = figure.subplots()
    if not shown:
        say_nothing(axes, "no formulation was considered")
        return figure
    place = np.arange(len(shown))
    axes.barh(place, [each.considered for each in shown], height=0.7, color=_OPEN, label="considered")
    axes.barh(place, [each.verified for each in shown], height=0.7, color=ACCENT, label="verified")
    for y, each in enumerate(shown):
        axes.text(each.considered, y, f" {each.verified} of {each.considered}", va="center", fontsize=9)
    _rows(axes, [each.value or "not settled" for each in shown])
    axes.set_xlim(0, 1.25 * max(each.considered for each in shown))
    axes.set_xlabel("Formulations")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    _legend(figure, axes)
    return figure


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of horizontal bars, the first on top."""
    axes.set_yticks(range(len(names)), [name if len(name) < 40 else name[:38] + "…" for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels))


def _amounts(axes: Axes, values: Sequence[float], texts: Sequence[str]) -> None:
    axes.barh(np.arange(len(values)), values, height=0.66, color=ACCENT)
    most = max(values)
    for y, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.text(value, y, f" {text}", va="center", fontsize=8.5)
    axes.set_xlim(0, 1.6 * most if most > 0 else 1.0)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _points(axes: Axes, values: Sequence[float], label: str, nothing: str) -> None:
    """One point for each value, spread over the height so that equal ones can be told apart."""
    if not any(values):
        say_nothing(axes, "nothing had to be paid" if values else nothing)
        return
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    axes.axvspan(low, high, color=GRID, zorder=0)
    axes.axvline(middle, color=INK, linewidth=1.2)
    heights = (np.arange(len(values)) * 0.618034) % 1.0
    axes.plot(values, heights, "o", color=ACCENT, alpha=0.65, markersize=4.5, gid="tasks")
    axes.set_ylim(-0.2, 1.2)
    axes.set_yticks([])
    axes.set_xlim(0, 1.08 * max(values) or 1.0)
    axes.set_xlabel(f"{label}; line: median {middle:.3g}")
    axes.grid(visible=False, axis="y")


def _unit(seconds: float) -> tuple[str, float]:
    """The unit that suits the longest of some times, and its seconds."""
    return ("Seconds", 1.0) if seconds < 90 else ("Minutes", 60.0) if seconds < 5400 else ("Hours", 3600.0)


def _dollars(money: Money) -> str:
    if not money.unpriced:
        return f"{money.known:.2f}"
    return f"{money.known:.2f} + unpriced" if money.known else "unpriced"


@styled
def yields_plot(compared: Sequence[Compared]) -> Figure:
    """Of several generations the share of the proposed formulations that were verified, with intervals."""
    figure = Figure(figsize=(_WIDTH, 0.4 * max(len(compared), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    for y, each in enumerate(compared):
        share = each.statistics.of_proposed
        if share.value is None:
            axes.text(0.0, y, " nothing was judged", va="center", color=MUTED, style="italic", fontsize=9)
            continue
        if share.low is not None and share.high is not None:
            axes.plot([share.low, share.high], [y, y], color=ACCENT, linewidth=1.4)
        axes.plot([share.value], [y], "o", color=ACCENT, gid=each.name)
    _rows(axes, [each.name for each in compared])
    axes.set_xlim(-0.01, 1.01)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("Verified of the proposed")
    return figure
