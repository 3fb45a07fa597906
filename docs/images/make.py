"""Draw the figures of the pages on ratings, intervals, comparisons and statistics.

    python docs/images/make.py

Reads the score tables in `docs/examples` and the paper's published ratings. One figure is a simulation, and
its title says so. The same code gives the same pictures; takes about half a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.scenarios import draw, scenarios, skills_of, true_ratings
from leaderboards.published import published_agreement, published_ratings
from leaderboards.scores import read_scores_csv
from reports.style import (
    ACCENT,
    INK,
    MARKERS,
    MUTED,
    PALETTE,
    PNG_DPI,
    looks,
    short_name,
    styled,
    styled_context,
)
from stats.agreement.correlation import STATISTICS, pearson_r
from stats.bootstrap import bootstrap_ratings
from stats.bradley_terry import FirthPrior, GaussianPrior, Status, fit
from stats.comparisons import Comparisons
from stats.profiles import area_under_profile, performance_profile, performance_ratios
from stats.ranks import ranks
from stats.ratings import Ratings, rate
from stats.sandwich import rating_intervals
from stats.standings import mean_rank, mean_win_rate, win_shares
from stats.trajectories import normalise_between_anchors
from stats.variance import reliability_curve, reliability_interval, tasks_needed, variance_components

Floats = NDArray[np.float64]

IMAGES = Path(__file__).parent
EXAMPLES = IMAGES.parent / "examples"
SETS = ("reference", "smith")
WARM = PALETTE[1]


def main() -> None:
    """Draw all figures."""
    tables = {name: read_scores_csv(EXAMPLES / f"scores-{name}.csv") for name in SETS}
    rated = {name: rate(table) for name, table in tables.items()}
    figures = {
        "no-rating": no_rating(rated["reference"]),
        "priors": priors(rated["reference"].comparisons),
        "clustered": clustered(rated["smith"]),
        "percentile": percentile(tasks=20, sets=300, replicates=200),
        "tasks-needed": needed(rated),
        "measures": measures(tables["smith"], rated["smith"]),
        "profiles": profiles(tables["reference"]),
        "published": published(),
    }
    with styled_context():
        for name, figure in figures.items():
            figure.savefig(IMAGES / f"{name}.png", dpi=PNG_DPI, metadata={"Software": None})
            plt.close(figure)


@styled
def no_rating(ratings: Ratings) -> Figure:
    """Who beat whom on the reference set, and the graph behind it."""
    names = [short_name(model) for model in ratings.models]
    ordered = ratings.comparisons.subset(ratings.models)
    met = ordered.total + ordered.total.T
    share = np.divide(ordered.total, met, out=np.full_like(met, np.nan), where=met > 0)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.4, 4.4), width_ratios=(1.25, 1.0), layout="constrained"
    )
    left.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    for i, j in np.argwhere(np.isfinite(share)):
        colour = "white" if share[i, j] > 0.6 else INK
        left.text(j, i, f"{share[i, j]:.1f}", ha="center", va="center", color=colour, fontsize=8.5)
    left.set_xticks(range(len(names)), names, rotation=40, ha="right")
    left.set_yticks(range(len(names)), names)
    left.grid(False)
    left.set_title("Share of tasks on which the row beat the column")

    core = [i for i, status in enumerate(ratings.status) if status is Status.RATED]
    rest = [i for i, status in enumerate(ratings.status) if status is not Status.RATED]
    angle = np.linspace(0.0, 2.0 * np.pi, len(core), endpoint=False) + np.pi / 2.0
    place = {i: (np.cos(a), 1.3 + np.sin(a)) for i, a in zip(core, angle, strict=True)}
    place |= {i: (0.0, -1.15 - k) for k, i in enumerate(rest)}
    won = ordered.total > 0
    for i, j in np.argwhere(won):
        if won[j, i]:
            right.plot(*zip(place[i], place[j], strict=True), color="#c3c9d2", lw=1.0, zorder=1)
        elif j in rest:
            style = {"arrowstyle": "-|>", "color": WARM, "lw": 0.9, "shrinkA": 9, "shrinkB": 11}
            right.annotate("", xy=place[j], xytext=place[i], arrowprops=style, zorder=2)
    right.add_patch(
        FancyBboxPatch((-1.42, -0.02), 2.84, 2.64, boxstyle="round,pad=0.12", fc="none", ec=MUTED, ls="--")
    )
    for i, (x, y) in place.items():
        rated = i in core
        right.text(
            x, y, names[i], ha="center", va="center", fontsize=8.5, zorder=3,
            bbox={"boxstyle": "round,pad=0.3", "fc": "white", "ec": ACCENT if rated else WARM},
        )  # fmt: skip
    right.text(1.5, -0.35, "core: one scale", ha="right", va="top", color=MUTED, fontsize=9)
    right.text(0.65, -1.15, "no win leads\nback: no number", va="center", color=WARM, fontsize=9)
    right.set_xlim(-1.75, 1.75)
    right.set_ylim(-1.6, 2.95)
    right.set_axis_off()
    right.set_title("Grey: both have won; arrow: only one has")
    return figure


@styled
def priors(comparisons: Comparisons) -> Figure:
    """Ratings of the reference set under several priors, about the mean of the models that need none."""
    plain = fit(comparisons)
    anchored = np.isfinite(plain.ratings)
    fits = {"none": plain, "Firth": fit(comparisons, prior=FirthPrior())}
    fits |= {f"gaussian\nsd {sd}": fit(comparisons, prior=GaussianPrior(sd)) for sd in (1000, 500, 300, 200)}
    figure, axes = plt.subplots(figsize=(7.6, 4.6), layout="constrained")
    own = looks(comparisons.models)
    for i, model in enumerate(comparisons.models):
        values = [found.ratings[i] - found.ratings[anchored].mean() for found in fits.values()]
        axes.plot(range(len(fits)), values, color=own[model].colour, marker=own[model].marker, ms=5, lw=1.2)
        axes.text(len(fits) - 0.88, values[-1], short_name(model), va="center", fontsize=8.5)
    axes.set_xticks(range(len(fits)), list(fits))
    axes.set_xlim(-0.3, len(fits) + 0.3)
    axes.set_xlabel("prior")
    axes.set_ylabel("Elo about the mean of the seven rated models")
    axes.set_title("Reference set: only the prior decides how far below the others nop is")
    return figure


@styled
def clustered(ratings: Ratings) -> Figure:
    """Intervals of the smith set, tasks or comparisons as the sample."""
    ordered = ratings.comparisons.subset(ratings.models)
    fitted = fit(ordered)
    tasks = rating_intervals(ordered, fitted)
    half = float(ndtri(0.975)) * np.sqrt(np.diagonal(fitted.covariance))
    figure, axes = plt.subplots(figsize=(7.6, 3.7), layout="constrained")
    y = np.arange(len(fitted.models), dtype=np.float64)
    axes.hlines(y - 0.13, tasks.low, tasks.high, color=ACCENT, lw=2.6, label="tasks as the sample (used)")
    axes.hlines(
        y + 0.13, fitted.ratings - half, fitted.ratings + half, color=WARM, lw=2.6,
        label="comparisons as the sample (Fisher information)",
    )  # fmt: skip
    axes.plot(fitted.ratings, y - 0.13, "o", color=ACCENT, ms=5)
    axes.plot(fitted.ratings, y + 0.13, "o", color=WARM, ms=5)
    axes.set_yticks(y, [short_name(model) for model in fitted.models])
    axes.invert_yaxis()
    axes.set_xlabel("Elo, 95 % intervals")
    axes.set_title(f"Smith set, {len(ordered.tasks)} tasks: what is the sample?")
    axes.legend(loc="upper left")
    return figure


@styled
def percentile(tasks: int, sets: int, replicates: int) -> Figure:
    """Simulated pairs of task sets: estimates of r below the truth, replicates below the estimates."""
    scenario = scenarios()["paper"]
    skills = [skills_of(values, scenario.noise) for values in (scenario.a, scenario.b)]
    truth = float(pearson_r(*(true_ratings(skill, scenario.noise) for skill in skills)))
    rng = np.random.default_rng(0)
    estimates: list[float] = []
    resampled: list[Floats] = []
    while len(estimates) < sets:
        pair = [draw(s, scenario.noise, tasks, name, rng) for s, name in zip(skills, "ab", strict=True)]
        fitted = [fit(comparisons) for comparisons in pair]
        if not all(status is Status.RATED for found in fitted for status in found.status):
            continue
        again = [bootstrap_ratings(c, replicates, rng, fitted=f) for c, f in zip(pair, fitted, strict=True)]
        finite = np.isfinite(again[0]).all(axis=1) & np.isfinite(again[1]).all(axis=1)
        estimates.append(float(pearson_r(fitted[0].ratings, fitted[1].ratings)))
        resampled.append(pearson_r(again[0][finite], again[1][finite]))
    off_truth = np.array(estimates) - truth
    off_estimate = np.concatenate([r - e for r, e in zip(resampled, estimates, strict=True)])

    figure, both = plt.subplots(2, 1, figsize=(7.6, 4.0), sharex=True, layout="constrained")
    rows = (("estimate of r less true r", off_truth), ("resampled r less its estimate", off_estimate))
    for axes, (label, values), colour in zip(both, rows, (ACCENT, WARM), strict=True):
        axes.hist(values, bins=np.arange(-0.25, 0.0801, 0.005), density=True, color=colour, alpha=0.75)
        axes.axvline(0.0, color=INK, lw=1.0)
        axes.axvline(np.median(values), color=INK, lw=1.0, ls="--")
        axes.set_yticks([])
        axes.text(
            0.02, 0.82, f"{label}\nmedian {np.median(values):+.3f}; {np.mean(values < 0):.0%} below 0",
            transform=axes.transAxes, va="top",
        )  # fmt: skip
    both[1].set_xlabel("difference of correlations")
    both[0].set_title(f"Simulation: {sets} pairs of sets with {tasks} tasks each, true r = {truth:.3f}")
    return figure


@styled
def needed(rated: dict[str, Ratings]) -> Figure:
    """Reliability of the order by win rate against the number of tasks."""
    figure, axes = plt.subplots(figsize=(7.6, 3.8), layout="constrained")
    lengths = np.arange(1, 61)
    for colour, (name, ratings) in zip((ACCENT, WARM), rated.items(), strict=False):
        shares = win_shares(ratings.comparisons)
        components = variance_components(shares)
        limits = [reliability_interval(shares, int(length)) for length in lengths]
        wanted = tasks_needed(components, 0.9)
        label = f"{name}: {wanted:.0f} tasks for 0.9"
        axes.plot(lengths, reliability_curve(components, lengths), color=colour, label=label)
        axes.fill_between(
            lengths, [x.low for x in limits], [x.high for x in limits], color=colour, alpha=0.15, lw=0
        )
    axes.axhline(0.9, color=MUTED, lw=0.9, ls="--")
    axes.set_ylim(0.3, 1.0)
    axes.set_xlim(1, 60)
    axes.set_xlabel("tasks")
    axes.set_ylabel("reliability of win rates")
    axes.set_title("How many tasks put these eight candidates into a reliable order?")
    axes.legend(loc="lower right")
    return figure


@styled
def measures(scores: pd.DataFrame, ratings: Ratings) -> Figure:
    """Ranks of the smith set by different measures."""
    models = ratings.models
    comparisons = ratings.comparisons.subset(models)
    table, up = _wide(scores, models)
    columns = {
        "Elo": ratings.elo,
        "win rate": mean_win_rate(comparisons),
        "mean rank": -mean_rank(comparisons),
        "score between worst\nand best of the pool": _normalised(table, up).mean(axis=1),
        "AUP": area_under_profile(performance_ratios(table, up)).values,
    }
    figure, axes = plt.subplots(figsize=(7.6, 4.0), layout="constrained")
    own = looks(models)
    places = np.array([ranks(np.round(values, 9)) for values in columns.values()]).T
    for model, row in zip(models, places, strict=True):
        axes.plot(range(len(columns)), row, color=own[model].colour, marker=own[model].marker, ms=7)
        axes.text(-0.12, row[0], short_name(model), ha="right", va="center", fontsize=8.5)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_xlim(-1.0, len(columns) - 0.8)
    axes.set_yticks(range(1, len(models) + 1))
    axes.invert_yaxis()
    axes.set_ylabel("rank")
    axes.set_title("Smith set: the same results, ranked by five measures")
    return figure


@styled
def profiles(scores: pd.DataFrame) -> Figure:
    """Performance profiles of the reference set."""
    models = sorted(set(scores["model"]))
    table, up = _wide(scores, models)
    ratios = performance_ratios(table, up)
    area = area_under_profile(ratios)
    taus = np.geomspace(1.0, area.tau_max, 400)
    curves = performance_profile(ratios, taus)
    figure, axes = plt.subplots(figsize=(7.6, 3.9), layout="constrained")
    own = looks(models)
    for i in np.argsort(-area.values, kind="stable"):
        label = f"{short_name(models[i])}, AUP {area.values[i]:.2f}"
        axes.step(
            taus, curves[i], where="post", color=own[models[i]].colour, ls=own[models[i]].dashes, label=label
        )
    axes.set_xscale("log")
    marks = [mark for mark in (1, 2, 5, 10, 20, 50, 100) if mark <= area.tau_max]
    axes.set_xticks(marks, [str(mark) for mark in marks])
    axes.minorticks_off()
    axes.set_xlim(1.0, area.tau_max)
    axes.set_xlabel("tau: at most this many times worse than the best (log scale)")
    axes.set_ylabel("share of tasks")
    axes.set_title("Reference set: performance profiles")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _wide(scores: pd.DataFrame, models: Sequence[str]) -> tuple[Floats, list[bool]]:
    """(n_models, n_tasks) scores, and a direction per task."""
    table = scores.pivot(index="model", columns="task", values="score").loc[list(models)]
    up = scores.groupby("task")["higher_is_better"].first()
    return table.to_numpy(), up[table.columns].tolist()


def _normalised(table: Floats, up: Sequence[bool]) -> Floats:
    """Scores between the pool's worst and best valid score of each task; invalid is 0."""
    values = np.zeros_like(table)
    for task, column in enumerate(table.T):
        low, high = np.nanmin(column, initial=np.inf), np.nanmax(column, initial=-np.inf)
        if low < high:
            floor, best = (low, high) if up[task] else (high, low)
            values[:, task] = normalise_between_anchors(column, floor, best, higher_is_better=up[task])
    return np.nan_to_num(values)


@styled
def published() -> Figure:
    """Statistics recomputed from the paper's ratings less those it prints, in units of the last place."""
    ratings = published_ratings()
    rows = []
    for _, printed in published_agreement().iterrows():
        a, b = str(printed["pair"]).split("-")
        for name in printed.index.drop("pair"):
            value = float(STATISTICS[name][0](ratings[a].to_numpy(), ratings[b].to_numpy()))
            rows.append((name, f"{a} - {b}", 1000.0 * (value - float(printed[name]))))
    table = pd.DataFrame(rows, columns=["statistic", "pair", "off"])
    names = list(dict.fromkeys(table["statistic"]))
    figure, axes = plt.subplots(figsize=(7.6, 3.4), layout="constrained")
    axes.axvspan(-0.5, 0.5, color=ACCENT, alpha=0.12, lw=0)
    for k, (pair, part) in enumerate(table.groupby("pair", sort=False)):
        y = [names.index(name) + 0.2 * (k - 1) for name in part["statistic"]]
        axes.plot(part["off"], y, MARKERS[k], color=PALETTE[k], ms=5, label=str(pair))
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(-1.0, 1.0)
    axes.set_xlabel("recomputed less printed, in units of the third decimal; shaded: rounding")
    axes.set_title("The paper's Table 2, recomputed from its (repaired) ratings")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


if __name__ == "__main__":
    main()
