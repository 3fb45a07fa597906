"""What the task sets are made of: modality, objective and metric."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reports.style import PALETTE, styled


@styled
def task_distributions(tasks: pd.DataFrame, fields: Mapping[str, str]) -> Figure:
    """Number of tasks by value, one panel per field, one colour per set.

    Args:
        tasks: one row per task, with the columns set and those of ``fields``.
        fields: column to panel title.
    """
    sets = sorted(tasks["set"].unique())
    counts = {
        column: pd.crosstab(tasks[column], tasks["set"]).reindex(columns=sets, fill_value=0)
        for column in fields
    }
    heights = [max(1.0, 0.9 + len(table)) for table in counts.values()]
    figure = Figure(figsize=(7.2, 0.32 * sum(heights) + 0.9), layout="constrained")
    panels = figure.subplots(len(fields), 1, squeeze=False, height_ratios=heights, sharex=True)[:, 0]
    for axes, (column, title) in zip(panels, fields.items(), strict=True):
        table = counts[column]
        table = table.loc[table.sum(axis=1).sort_values(ascending=False, kind="stable").index]
        place, left = np.arange(len(table)), np.zeros(len(table))
        for i, name in enumerate(sets):
            values = table[name].to_numpy(dtype=float)
            axes.barh(place, values, left=left, height=0.66, color=PALETTE[i % len(PALETTE)], label=name)
            left += values
        for y, total in zip(place, left, strict=True):
            axes.text(total, y, f" {total:.0f}", va="center", fontsize=8.5)
        axes.set_yticks(place, [str(value) for value in table.index])
        axes.set_ylim(len(table) - 0.45, -0.55)
        axes.set_title(title)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
    panels[-1].set_xlabel("Tasks")
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=max(1, len(sets)))
    return figure
