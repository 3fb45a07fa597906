"""Progress within trials: the best score so far, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from reports.style import Look, looks_for, short_names, styled

Floats = NDArray[np.float64]


@styled
def step_curves(
    panels: Mapping[str, Mapping[str, Floats]],
    looks: Mapping[str, Look] | None = None,
    *,
    ylabel: str = "Best so far, normalised",
    columns: int = 3,
) -> Figure:
    """One panel per category, one curve per model.

    Args:
        panels: by title, the mean curve of each model; entry i belongs to the (i+1)-th scored step.
        looks: of all models of the report.
        ylabel: what the curves measure.
        columns: panels in a row.
    """
    models = sorted({model for curves in panels.values() for model in curves})
    look, names = looks_for(models, looks), short_names(models)
    columns = max(1, min(columns, len(panels)))
    rows = max(1, math.ceil(len(panels) / columns))
    legend_rows = math.ceil(len(models) / 5)
    figure = Figure(
        figsize=(max(5.2, 3.1 * columns + 0.6), 2.5 * rows + 0.35 + 0.22 * legend_rows), layout="constrained"
    )
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, curves) in zip(grid.flat, panels.items(), strict=False):
        axes.set_title(title)
        for model in sorted(curves):
            curve = np.asarray(curves[model])
            drawn = look[model]
            axes.plot(
                np.arange(1, len(curve) + 1), curve, color=drawn.colour, linestyle=drawn.dashes,
                marker=drawn.marker, markersize=4, gid=model, clip_on=False,
            )  # fmt: skip
        axes.set_ylim(-0.02, 1.02)
        length = max((len(curve) for curve in curves.values()), default=1)
        axes.set_xticks(range(1, length + 1, max(1, length // 5)))
    figure.supxlabel("Scored step", fontsize=9.5)
    figure.supylabel(ylabel, fontsize=9.5)
    handles = [
        Line2D([], [], color=look[m].colour, linestyle=look[m].dashes, marker=look[m].marker, markersize=5,
               label=names[m])
        for m in models
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper left", ncols=min(5, max(1, len(models))))
    return figure
