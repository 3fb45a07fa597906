"""How two sets agree: scatter of their ratings, and Bland and Altman's plot of the differences."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reports.figures.labels import label_points
from reports.style import ACCENT, INK, MUTED, Look, looks_for, say_nothing, short_names, styled
from stats.agreement.bland_altman import BlandAltman
from stats.agreement.pair import Agreement


@styled
def agreement_scatter(
    agreement: Agreement, ratings: pd.DataFrame, looks: Mapping[str, Look] | None = None
) -> Figure:
    """Ratings in set b against set a, with the lines of identity and regression.

    Args:
        agreement: of the two sets.
        ratings: indexed by model, with the columns ``agreement.a`` and ``agreement.b``; optionally
            ``<set> low`` and ``<set> high`` for intervals.
        looks: of all models of the report.
    """
    figure = Figure(figsize=(5.6, 5.4), layout="constrained")
    axes = figure.subplots()
    axes.set_title(f"{agreement.b} against {agreement.a}")
    models = list(agreement.models)
    table = ratings.loc[models]
    x, y = (table[name].to_numpy(dtype=float) for name in (agreement.a, agreement.b))
    if len(models) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        say_nothing(axes, "fewer than two models are rated in both sets")
        return figure
    look, names = looks_for(models, looks), short_names(models)
    spans = {name: _interval(table, name) for name in (agreement.a, agreement.b)}
    for i, model in enumerate(models):
        colour = look[model].colour
        for horizontal, name in ((True, agreement.a), (False, agreement.b)):
            low, high = (end[i] for end in spans[name])
            if np.isfinite(low) and np.isfinite(high):
                across = ([low, high], [y[i], y[i]]) if horizontal else ([x[i], x[i]], [low, high])
                axes.plot(*across, color=colour, linewidth=1.2, alpha=0.45)
        axes.plot(
            x[i], y[i], look[model].marker, color=colour, markersize=7,
            markeredgecolor="white", markeredgewidth=0.7, gid=model, zorder=3,
        )  # fmt: skip
    everything = np.concatenate([x, y, *(end for ends in spans.values() for end in ends)])
    everything = everything[np.isfinite(everything)]
    pad = 0.06 * float(np.ptp(everything)) + 10
    ends = np.array([everything.min() - pad, everything.max() + pad])
    axes.plot(ends, ends, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), label="identity")
    if np.isfinite(agreement.slope):
        line = y.mean() + agreement.slope * (ends - x.mean())
        axes.plot(ends, line, color=INK, linewidth=1.2, label=f"regression, slope {agreement.slope:.2f}")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    axes.set_xlabel(f"Elo on {agreement.a}")
    axes.set_ylabel(f"Elo on {agreement.b}")
    axes.legend(loc="lower right")
    figures = (
        ("r", agreement.pearson_r),
        ("ρ", agreement.spearman_rho),
        ("τ-b", agreement.kendall_tau_b),
        ("CCC", agreement.ccc),
    )
    summary = "\n".join([f"n = {agreement.n}", *(f"{k} = {v:.3f}" for k, v in figures if np.isfinite(v))])
    axes.text(0.03, 0.97, summary, transform=axes.transAxes, va="top", fontsize=9, linespacing=1.4)
    label_points(figure, axes, list(x), list(y), [names[m] for m in models])
    return figure


@styled
def bland_altman_plot(
    agreement: Agreement, ratings: pd.DataFrame, looks: Mapping[str, Look] | None = None
) -> Figure:
    """Differences a - b against means, with bias, limits of agreement and the intervals of all three.

    Args:
        agreement, ratings, looks: as for :func:`agreement_scatter`.
    """
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    a, b, result = agreement.a, agreement.b, agreement.bland_altman
    axes.set_title(f"Differences between {a} and {b}")
    if result is None or result.n < 2:
        say_nothing(axes, "fewer than two models are rated in both sets")
        return figure
    models = list(agreement.models)
    look, names = looks_for(models, looks), short_names(models)
    x, y = (ratings.loc[models, name].to_numpy(dtype=float) for name in (a, b))
    means, differences = (x + y) / 2, x - y
    lines = (
        ("upper limit", result.loa_high, result.loa_high_interval, ACCENT),
        ("bias", result.bias, result.bias_interval, INK),
        ("lower limit", result.loa_low, result.loa_low_interval, ACCENT),
    )
    for label, value, (low, high), colour in lines:
        if np.isfinite([low, high]).all():
            axes.axhspan(low, high, color=colour, alpha=0.10, linewidth=0)
        style = "-" if label == "bias" else (0, (5, 3))
        axes.axhline(value, color=colour, linewidth=1.2, linestyle=style, gid=label)
        axes.text(
            1.01, value, f"{label}\n{value:+z.1f}", transform=axes.get_yaxis_transform(), va="center",
            fontsize=8.5, color=colour,
        )  # fmt: skip
    for i, model in enumerate(models):
        axes.plot(
            means[i], differences[i], look[model].marker, color=look[model].colour, markersize=7,
            markeredgecolor="white", markeredgewidth=0.7, gid=model, zorder=3,
        )  # fmt: skip
    axes.margins(x=0.12)
    axes.set_ylim(*_frame(result, differences))
    axes.set_xlabel(f"Mean of the Elo ratings on {a} and {b}")
    axes.set_ylabel(f"Elo on {a} - Elo on {b}")
    label_points(figure, axes, list(means), list(differences), [names[m] for m in models])
    return figure


def _frame(result: BlandAltman, differences: np.ndarray) -> tuple[float, float]:
    """Limits of the difference axis: wide bands run out of the frame, points never."""
    span = result.loa_high - result.loa_low
    reach = 0.65 * span if span > 0 else 1.0
    low, high = result.loa_low - reach, result.loa_high + reach
    return float(min(low, differences.min() - 0.1 * span)), float(max(high, differences.max() + 0.1 * span))


def _interval(table: pd.DataFrame, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Limits of each model, NaN without any."""
    nothing = np.full(len(table), np.nan)
    low, high = (
        table[column].to_numpy(dtype=float) if column in table else nothing
        for column in (f"{name} low", f"{name} high")
    )
    return low, high
