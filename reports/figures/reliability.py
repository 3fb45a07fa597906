"""How reliability grows with the number of tasks, and where each set stands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from reports.agreement.reliability import Length
from reports.style import DASHES, MARKERS, MUTED, PALETTE, say_nothing, styled

FAR = 10
"""Times today's tasks from which on the tasks are drawn on a logarithmic axis."""


@styled
def reliability_plot(lengths: Mapping[str, Length]) -> Figure:
    """Reliability against the number of tasks, one curve per set, its tasks of today marked.

    Args:
        lengths: by name of the set; those without a curve are named.
    """
    figure = Figure(figsize=(7.2, 3.9), layout="constrained")
    axes = figure.subplots()
    axes.set_title("Reliability of the order of the models")
    drawn = {name: length for name, length in lengths.items() if length.curve}
    if not drawn:
        say_nothing(axes, "no set has two tasks on which two models or more differ")
        return figure
    for i, (name, length) in enumerate(drawn.items()):
        colour = PALETTE[i % len(PALETTE)]
        tasks, values = np.array(length.curve).T
        axes.plot(tasks, values, color=colour, linestyle=DASHES[i % len(DASHES)], gid=f"curve:{name}")
        low, high = length.interval.low, length.interval.high
        if np.isfinite([low, high]).all():
            axes.plot([length.tasks] * 2, [low, high], color=colour, linewidth=1.4, alpha=0.55)
        axes.plot(
            length.tasks, length.reliability, MARKERS[i % len(MARKERS)], color=colour, markersize=7,
            markeredgecolor="white", markeredgewidth=0.7, gid=f"today:{name}", zorder=3,
            label=f"{name}: {length.tasks} tasks today, {length.reliability:.2f}",
        )  # fmt: skip
    target = next(iter(drawn.values())).target
    axes.axhline(target, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), gid="target")
    for i, (name, length) in enumerate(drawn.items()):
        if length.needed <= length.curve[-1][0]:
            colour, height = PALETTE[i % len(PALETTE)], 0.05 + 0.08 * i
            axes.plot([length.needed] * 2, [0, target], color=colour, linewidth=0.9, gid=f"needed:{name}")
            axes.annotate(
                f"{length.needed:.0f}", (length.needed, height), xytext=(4, 0), textcoords="offset points",
                va="center", fontsize=8.5, color=colour,
            )  # fmt: skip
    axes.text(
        0.995, target - 0.012, f"{target:g}", transform=axes.get_yaxis_transform(), ha="right", va="top",
        fontsize=8.5, color=MUTED,
    )  # fmt: skip
    if next(iter(drawn.values())).curve[-1][0] > FAR * max(length.tasks for length in drawn.values()):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:.0f}")
    else:
        axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("Tasks")
    axes.set_ylabel("Reliability")
    axes.legend(loc="lower right")
    return figure
