"""What an agreement rests on: its value without each model, and without each task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.style import INK, MARKERS, MUTED, PALETTE, Look, looks_for, say_nothing, short_names, styled
from stats.agreement.influence import Influence

NAMED = 3
"""Tasks that are named: those that move the statistic most."""
LANES = (-0.4, -0.26, -0.12, 0.02, 0.11, 0.2, 0.29)
"""Where the points of a set lie, around its row, so that equal values stay apart; named tasks first."""


@styled
def influence_plot(
    models: Influence,
    tasks: Influence | None,
    looks: Mapping[str, Look] | None = None,
    *,
    statistic: str = "pearson_r",
    label: str = "r",
) -> Figure:
    """The statistic without each model (above) and without each task (below), beside its full value.

    Args:
        models, tasks: what leaving each out does; tasks are None where no scores are known.
        looks: of all models of the report.
        statistic: a name in `models.statistics`; `label` is printed for it.
    """
    column = models.statistics.index(statistic)
    sets = list(dict.fromkeys(tasks.sets)) if tasks is not None else []
    heights = [0.9 + 0.24 * len(models.left_out), 0.7 + 0.95 * len(sets)][: 1 + bool(sets)]
    figure = Figure(figsize=(5.6, sum(heights) + 0.5), layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    _models(panels[0], models, column, label, looks)
    if tasks is not None and sets:
        _tasks(panels[1], tasks, tasks.statistics.index(statistic), sets, label)
    panels[-1].set_xlabel(label)
    return figure


def _models(
    axes: Axes, influence: Influence, column: int, label: str, looks: Mapping[str, Look] | None
) -> None:
    axes.set_title(f"{label} without each model")
    values = influence.without[:, column]
    if not np.isfinite(values).any():
        say_nothing(axes, "no correlation is left without a model")
        return
    look, names = looks_for(influence.left_out, looks), short_names(influence.left_out)
    order = np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable")
    full = float(influence.full[column])
    axes.axvline(full, color=INK, linewidth=1, linestyle=(0, (4, 3)), gid="full")
    for place, i in enumerate(order):
        model = influence.left_out[i]
        if np.isfinite(values[i]):
            axes.plot([full, values[i]], [place] * 2, color=look[model].colour, linewidth=1.6, alpha=0.5)
            axes.plot(
                values[i], place, look[model].marker, color=look[model].colour, markersize=6.5,
                markeredgecolor="white", markeredgewidth=0.6, gid=model,
            )  # fmt: skip
    axes.set_yticks(range(len(order)), [names[influence.left_out[i]] for i in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _tasks(axes: Axes, influence: Influence, column: int, sets: list[str], label: str) -> None:
    axes.set_title(f"{label} without each task")
    values = influence.without[:, column]
    axes.axvline(float(influence.full[column]), color=INK, linewidth=1, linestyle=(0, (4, 3)), gid="full")
    top = [int(i) for i in influence.ordered(influence.statistics[column])[:NAMED] if np.isfinite(values[i])]
    for row, name in enumerate(sets):
        members = [i for i, s in enumerate(influence.sets) if s == name and np.isfinite(values[i])]
        lost = influence.sets.count(name) - len(members)
        if lost:
            axes.text(
                0.01, row + 0.45, f"{lost} without which a model has no rating: not shown", fontsize=8,
                color=MUTED, style="italic", transform=axes.get_yaxis_transform(), va="center",
            )  # fmt: skip
        # Named tasks have a lane each, above the others, so that names cover no point.
        others = sorted((i for i in members if i not in top), key=lambda i: values[i])
        places = {i: row + LANES[NAMED + k % (len(LANES) - NAMED)] for k, i in enumerate(others)}
        places |= {i: row + LANES[k] for k, i in enumerate(i for i in top if i in members)}
        axes.plot(
            values[members], [places[i] for i in members], MARKERS[row % len(MARKERS)], linestyle="none",
            color=PALETTE[row % len(PALETTE)], markersize=5, alpha=0.8, markeredgecolor="white",
            markeredgewidth=0.5, gid=f"tasks:{name}",
        )  # fmt: skip
        low, high = axes.get_xlim()
        for i in set(top) & set(members):
            left = values[i] < (low + high) / 2
            axes.annotate(
                influence.left_out[i].rsplit("/", 1)[-1], (values[i], places[i]),
                xytext=(6 if left else -6, 0), textcoords="offset points", va="center_baseline",
                ha="left" if left else "right", fontsize=8.5, color=INK,
            )  # fmt: skip
    axes.set_yticks(range(len(sets)), sets)
    axes.set_ylim(len(sets) - 0.42, -0.55)
    axes.grid(visible=False, axis="y")
