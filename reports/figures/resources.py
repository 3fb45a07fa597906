"""What each model used: time, tokens and money."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from reports.style import MUTED, Look, looks_for, short_names, styled


@styled
def resources_plot(used: pd.DataFrame, looks: Mapping[str, Look] | None = None) -> Figure:
    """Means per trial of each model; a model without a known price is marked, never drawn as free.

    Args:
        used: one row per model in the order wanted, columns model, minutes, tokens and cost_usd, each per
            trial; a missing cost is an unknown price.
        looks: of all models of the report.
    """
    models = [str(model) for model in used["model"]]
    look, names = looks_for(models, looks), short_names(models)
    figure = Figure(figsize=(7.2, 0.9 + 0.3 * len(models)), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    fields = (("minutes", "Minutes", _plain), ("tokens", "Tokens", _plain), ("cost_usd", "Cost, USD", _money))
    for axes, (column, title, text) in zip(panels, fields, strict=True):
        values = used[column].astype(float)
        axes.barh(range(len(models)), values.fillna(0.0), height=0.66, color=[look[m].colour for m in models])
        for i, value in enumerate(values):
            unknown = pd.isna(value)
            axes.text(
                0.0 if unknown else value, i, "  unpriced" if unknown else f" {text(value)}", va="center",
                fontsize=8.5, color=MUTED if unknown else None, style="italic" if unknown else "normal",
            )  # fmt: skip
        axes.set_title(f"{title} per trial")
        axes.set_xlim(0, 1.32 * float(values.max()) if values.max() > 0 else 1.0)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(_tick)
    panels[0].set_yticks(range(len(models)), [names[m] for m in models])
    panels[0].set_ylim(len(models) - 0.45, -0.55)
    return figure


def _tick(value: float, _: int) -> str:
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def _plain(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.1f}M"
    if value >= 1e4:
        return f"{value / 1e3:.0f}k"
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _money(value: float) -> str:
    return "0" if value == 0 else f"{value:.2g}" if value < 1 else f"{value:.2f}"
