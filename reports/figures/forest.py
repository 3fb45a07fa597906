"""Ratings of models with their intervals, one row per model, one marker per task set."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports.style import INK, MARKERS, MUTED, Look, looks_for, short_names, styled

BAND = 0.6
"""Share of a row that the sets of a model spread over."""


@styled
def forest_plot(boards: Mapping[str, pd.DataFrame], looks: Mapping[str, Look] | None = None) -> Figure:
    """Elo ratings with intervals where there are any.

    Args:
        boards: by name of the set, rows best first with the columns model and elo, and optionally elo_low and
            elo_high (95% intervals); a missing Elo is a model without a rating, which is said at its place.
        looks: of all models of the report.
    """
    models = _order(boards)
    look, names = looks_for(models, looks), short_names(models)
    height = 1.1 + 0.28 * len(models) * max(1.25, 0.62 * len(boards))
    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1000, color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
    step = BAND / max(1, len(boards))
    unrated: dict[str, list[tuple[float, str]]] = {}
    for i, (name, frame) in enumerate(boards.items()):
        offset = (i - (len(boards) - 1) / 2) * step
        for row in frame.to_dict("records"):
            model = str(row["model"])
            place = models.index(model) + offset
            elo, low, high = (float(row.get(key, math.nan)) for key in ("elo", "elo_low", "elo_high"))
            if pd.isna(elo):
                unrated.setdefault(model, []).append((place, name))
                continue
            if not (pd.isna(low) or pd.isna(high)):
                axes.plot([low, high], [place, place], color=look[model].colour, linewidth=1.8, alpha=0.65)
            axes.plot(
                elo, place, MARKERS[i % len(MARKERS)], color=look[model].colour, markersize=6,
                markeredgecolor="white", markeredgewidth=0.6, gid=f"{name}:{model}",
            )  # fmt: skip
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_yticks(range(len(models)), [names[m] for m in models])
    axes.margins(x=0.06)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Elo rating (mean of the models = 1000)")
    left = axes.get_xlim()[0]
    for model, where in unrated.items():
        texts = [(place, f"{name}: no finite rating") for place, name in where]
        if len(where) == len(boards):
            texts = [(models.index(model), "no finite rating")]
        for place, text in texts:
            axes.text(left, place, f"  {text}", va="center", fontsize=8, color=MUTED, style="italic")
    if len(boards) > 1:
        handles = [
            Line2D([], [], color=INK, marker=MARKERS[i % len(MARKERS)], linestyle="none", label=name)
            for i, name in enumerate(boards)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return figure


def _order(boards: Mapping[str, pd.DataFrame]) -> list[str]:
    """Models by their mean place on the boards, also those without a rating."""
    places = pd.concat([pd.Series(range(len(f)), index=f["model"].astype(str)) for f in boards.values()])
    mean = places.groupby(level=0, sort=True).mean()
    return [str(model) for model in mean.sort_values(kind="stable").index]
