"""What the verifier saw of one task: its targets, the columns that tell most, metric and baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.style import ACCENT, INK, MUTED, PALETTE, say_nothing, styled

_MOST_TARGETS = 6
_MOST_LABELS = 12
_MOST_PROBES = 12
_TRAIN, _TEST = PALETTE[0], PALETTE[1]

Exhibit = Mapping[str, Any]


@styled
def target_plot(targets: Sequence[Exhibit]) -> Figure:
    """The values of each target in train and test, as shares of the rows.

    Args:
        targets: ``exhibits["targets"]``; see :mod:`generator.verifier.exhibits`.
    """
    shown = targets[:_MOST_TARGETS]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(3.7 * columns, 2.5 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, target in zip(panels, shown, strict=False):
        (_numbers if "edges" in target else _classes)(axes, target)
        axes.set_title(str(target["column"]))
    for axes in list(panels)[len(shown) :]:
        axes.set_axis_off()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return figure


def _sides(target: Exhibit) -> list[tuple[str, str, float]]:
    """Name, colour and place of the sides that have values; training may show none of the target."""
    return [side for side in (("train", _TRAIN, -0.19), ("test", _TEST, 0.19)) if len(target[side[0]])]


def _classes(axes: Axes, target: Exhibit) -> None:
    labels = [str(label) for label in target["labels"][:_MOST_LABELS]]
    place = np.arange(len(labels))
    for name, colour, shift in _sides(target):
        axes.barh(place + shift, target[name][: len(labels)], 0.36, color=colour, label=name)
    axes.set_yticks(place, [label if len(label) < 24 else label[:22] + "…" for label in labels])
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.set_xlabel("Share of rows")
    axes.grid(visible=False, axis="y")


def _numbers(axes: Axes, target: Exhibit) -> None:
    for name, colour, _ in _sides(target):
        axes.stairs(target[name], target["edges"], color=colour, label=name, linewidth=1.6)
    axes.set_ylabel("Share of rows")


@styled
def probe_plot(probes: Sequence[Exhibit], limit: float) -> Figure:
    """How much single columns and other things tell of a target, strongest first.

    Args:
        probes: ``exhibits["probes"]``.
        limit: the gain from which one column all but decides the target.
    """
    shown = probes[:_MOST_PROBES]
    figure = Figure(figsize=(7.2, 0.3 * max(len(shown), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    if not shown:
        say_nothing(axes, "no column was probed")
        return figure
    gains = [max(0.0, float(probe["gain"])) for probe in shown]
    place = np.arange(len(shown))
    axes.barh(place, gains, height=0.62, color=[_TEST if gain >= limit else _TRAIN for gain in gains])
    axes.axvline(limit, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(place, [_probed(probe) for probe in shown])
    axes.set_ylim(len(shown) - 0.45, -0.55)
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("Share of the way from knowing nothing to perfect, alone")
    axes.grid(visible=False, axis="y")
    return figure


def _probed(probe: Exhibit) -> str:
    """The column, and what of it, or what else of the rows."""
    if not probe["column"]:
        return str(probe["what"])
    return str(probe["column"]) + ("" if probe["what"] == "column" else f" ({probe['what']})")


@styled
def ladder_plot(ladder: Sequence[Exhibit]) -> Figure:
    """Baselines with the 95 % interval of their gain over the best uninformed submission.

    Args:
        ladder: ``exhibits["ladder"]``.
    """
    figure = Figure(figsize=(7.2, 0.36 * max(len(ladder), 2) + 0.9), layout="constrained")
    axes = figure.subplots()
    if not ladder:
        say_nothing(axes, "no baseline was run")
        return figure
    place = np.arange(len(ladder))
    gain, low, high = (np.array([float(rung[key]) for rung in ladder]) for key in ("gain", "low", "high"))
    spread = np.clip([gain - low, high - gain], 0.0, None)
    axes.errorbar(gain, place, xerr=spread, fmt="o", color=ACCENT, capsize=3, linewidth=1.4)
    axes.axvline(0.0, color=MUTED, linewidth=0.9)
    axes.axvline(1.0, color=MUTED, linewidth=0.9)
    axes.set_yticks(place, [f"{rung['name']}  {rung['score']:.4g}" for rung in ladder])
    axes.set_ylim(len(ladder) - 0.45, -0.55)
    axes.set_xlabel("Share of the way from the best uninformed submission (0) to the answers (1)")
    axes.grid(visible=False, axis="y")
    return figure


@styled
def metric_plot(points: Sequence[Exhibit]) -> Figure:
    """The score of the answers as more and more rows are exchanged among each other.

    Args:
        points: ``exhibits["metric"]``.
    """
    figure = Figure(figsize=(4.6, 3.0), layout="constrained")
    axes = figure.subplots()
    for point in points:
        x = [100 * float(point["share"])] * len(point["scores"])
        axes.plot(x, point["scores"], "o", color=ACCENT, alpha=0.6, markersize=5)
    axes.plot(
        [100 * float(point["share"]) for point in points],
        [float(np.mean(point["scores"])) for point in points],
        color=ACCENT,
    )
    axes.set_xlabel("Rows exchanged, %")
    axes.set_ylabel("Raw score")
    return figure
