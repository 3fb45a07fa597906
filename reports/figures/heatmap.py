"""Every task against every model: the normalised scores."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reports.style import MUTED, SEQUENTIAL, short_names, styled


@styled
def task_heatmap(scores: pd.DataFrame, valid: pd.DataFrame) -> Figure:
    """A cell per task and model, 0 at the worst and 1 at the best known score of the task.

    Args:
        scores: normalised scores, tasks as rows (``<set>/<task>``) and models as columns in the order wanted;
            NaN without a counted trial.
        valid: share of valid trials, in the same shape; cells with none show a cross.
    """
    values = scores.to_numpy(dtype=float)
    names = short_names([str(model) for model in scores.columns])
    rows, columns = values.shape
    figure = Figure(figsize=(2.6 + 0.62 * columns, 1.5 + 0.25 * rows), layout="constrained")
    axes = figure.subplots()
    colours = mpl.colormaps[SEQUENTIAL].with_extremes(bad="#f2f4f7")
    image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=1, aspect="auto")
    good = valid.to_numpy(dtype=float)
    for i in range(rows):
        for j in range(columns):
            value = values[i, j]
            if np.isnan(value):
                text, ink = "–", MUTED
            elif good[i, j] == 0:
                text, ink = "×", "white"
            else:
                text, ink = f"{value:z.2f}".replace("0.", ".", 1), "white" if value < 0.55 else "black"
            axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xticks(range(columns), [names[str(m)] for m in scores.columns], rotation=35, ha="left")
    axes.set_yticks(range(rows), [str(task) for task in scores.index])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    sets = [str(task).split("/", 1)[0] for task in scores.index]
    for i in range(1, rows):
        if sets[i] != sets[i - 1]:
            axes.axhline(i - 0.5, color="white", linewidth=3)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.5, aspect=40, pad=0.02)
    bar.set_label("Normalised score  (× no valid submission, – no trial)", fontsize=8.5)
    bar.outline.set_visible(False)
    return figure
