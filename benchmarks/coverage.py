"""How often nominal 95 % intervals contain the truth, ours and those by the methods of other packages.

    python -m benchmarks.coverage [--part ratings,agreement] [--scenario NAME,...] [--tasks 20,50,100]
        [--sets 200] [--replicates 500] [--seed 0] [--workers N] [--json OUT]

Eight models on sets of tasks whose true ratings are known (`benchmarks/scenarios.py`). Prints Markdown: one
table for ratings and contrasts, one for ranks, one for agreement. A cell reads `coverage in % ± standard
error of the simulation (mean width)`. Sets of tasks on which a model has no finite rating are counted and
drawn anew, so the figures speak of sets that have ratings. An interval that does not exist covers nothing.

Run it as a module, from the root of the repository. One process per worker, each with one thread for linear
algebra; the figures do not depend on the number of workers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.scenarios import Part, Scenario, draw, scenarios, skills_of, true_ratings
from stats.agreement.correlation import STATISTICS
from stats.agreement.pair import agree
from stats.agreement.sets import IntervalMethod, agree_sets
from stats.bootstrap import bootstrap_comparisons, bootstrap_ratings
from stats.bradley_terry import Fit, fit
from stats.comparisons import Comparisons
from stats.newton import inverse_information
from stats.ranks import Kind, rank_intervals, ranks, win_probabilities
from stats.sandwich import contrast_intervals, rating_intervals

Floats = NDArray[np.float64]
Limits = tuple[Floats, Floats]

LEVEL = 0.95
TOUCH = 1e-6
"""Limits this near to the truth contain it: rounding."""
CHUNK = 10
"""Data sets per job."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

TABLES = {
    "Ratings and contrasts, width in Elo": (
        "task sandwich, t (ours)", "Fisher information", "row sandwich (arena-rank)",
        "row bootstrap (FastChat, evalica)", "task bootstrap (TabArena)", "tasks, then attempts",
    ),
    "Ranks, width in ranks": ("marginal (ours)", "simultaneous (ours)", "percentile of bootstrapped ranks"),
    "Agreement of two sets": ("inverted (ours)", "basic", "bca", "percentile", "models as the sample"),
}  # fmt: skip
"""Columns of each table: the methods."""
METHODS: dict[str, IntervalMethod] = {
    "inverted (ours)": "inverted", "basic": "basic", "bca": "bca", "percentile": "percentile",
}  # fmt: skip


class Cover(NamedTuple):
    """Intervals of one quantity in one data set: shares that cover and that do not exist, and mean width."""

    covered: float
    missing: float
    width: float


Covers = dict[tuple[str, str], Cover]
"""By quantity and method."""


class Cell(NamedTuple):
    """What is drawn again and again."""

    part: Part
    scenario: str
    tasks: int


@dataclass(frozen=True)
class Line:
    """One figure of the result; coverage and its simulation standard error in per cent."""

    scenario: str
    tasks: int
    quantity: str
    truth: float | None
    method: str
    coverage: float
    error: float
    width: float
    missing: float
    sets: int
    redrawn: int


def cover(limits: Limits, truth: Floats | float) -> Cover:
    low, high = limits
    inside = (low - TOUCH <= truth) & (truth <= high + TOUCH)
    exists = np.isfinite(low) & np.isfinite(high)
    width = float((high - low)[exists].mean()) if exists.any() else np.nan
    return Cover(float(inside.mean()), float(1.0 - exists.mean()), width)


def differences(ratings: Floats) -> Floats:
    """Of every two models, along the last axis."""
    first, second = np.triu_indices(ratings.shape[-1], 1)
    return np.asarray(ratings[..., first] - ratings[..., second])


def row_covariance(rows: Comparisons, fitted: Fit) -> Floats:
    """Sandwich covariance of the ratings as if all comparisons were independent (arena-rank's method)."""
    tied = np.zeros_like(rows.total) if rows.ties is None else rows.ties.sum(axis=0)
    p = win_probabilities(fitted.ratings)
    decisive = (rows.total - tied / 2.0) * (1.0 - p) ** 2
    squares = decisive + decisive.T + tied * (0.5 - p) ** 2
    bread = inverse_information(rows.total, fitted.strengths)
    return np.asarray(fitted.unit**2 * bread @ (np.diag(squares.sum(axis=1)) - squares) @ bread)


def from_covariance(ratings: Floats, covariance: Floats) -> tuple[Limits, Limits]:
    """Normal limits of ratings and contrasts."""
    variance = np.diagonal(covariance)
    first, second = np.triu_indices(len(ratings), 1)
    spread = variance[first] + variance[second] - 2.0 * covariance[first, second]
    z = float(ndtri((1.0 + LEVEL) / 2.0))
    half, half_apart = z * np.sqrt(variance), z * np.sqrt(spread)
    apart = differences(ratings)
    return (ratings - half, ratings + half), (apart - half_apart, apart + half_apart)


def percentiles(replicates: Floats) -> Limits:
    """Of the replicates that exist, for each column."""
    finite = replicates[np.isfinite(replicates).all(axis=1)]
    low, high = np.quantile(finite, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=0)
    return low, high


def measure_ratings(truth: Floats, data: Comparisons, replicates: int, rng: np.random.Generator) -> Covers:
    """Ratings, contrasts and ranks of one set."""
    fitted = fit(data)
    seeds = rng.integers(1 << 31, size=4)
    # Packages that know only rows get one per pair of attempts.
    pairs = 1 if data.attempts is None else int(data.attempts.counts.max()) ** 2
    rows = Comparisons.from_wins(
        data.wins * pairs, data.models, data.tasks, None if data.ties is None else data.ties * pairs
    )
    by_rows = fit(rows)
    resampled_rows = bootstrap_comparisons(rows, replicates, int(seeds[0]), fitted=by_rows)
    resampled = bootstrap_ratings(data, replicates, int(seeds[1]), fitted=fitted, attempts=False)
    upper = np.triu_indices(len(truth), 1)
    ours, ours_apart = rating_intervals(data, fitted, LEVEL), contrast_intervals(data, fitted, LEVEL)
    found: dict[str, tuple[Limits, Limits]] = {
        "task sandwich, t (ours)": ((ours.low, ours.high), (ours_apart.low[upper], ours_apart.high[upper])),
        "Fisher information": from_covariance(by_rows.ratings, by_rows.covariance),
        "row sandwich (arena-rank)": from_covariance(by_rows.ratings, row_covariance(rows, by_rows)),
        "row bootstrap (FastChat, evalica)": (
            percentiles(resampled_rows), percentiles(differences(resampled_rows))
        ),
        "task bootstrap (TabArena)": (percentiles(resampled), percentiles(differences(resampled))),
    }  # fmt: skip
    if data.attempts is not None:
        nested = bootstrap_ratings(data, replicates, int(seeds[2]), fitted=fitted)
        found["tasks, then attempts"] = percentiles(nested), percentiles(differences(nested))
    covers: Covers = {}
    for method, (of_ratings, of_contrasts) in found.items():
        covers["ratings", method] = cover(of_ratings, truth)
        covers["contrasts", method] = cover(of_contrasts, differences(truth))

    kinds: tuple[Kind, ...] = get_args(Kind)
    allowed: dict[str, Limits] = {}
    for kind in kinds:
        intervals = rank_intervals(data, fitted, LEVEL, kind, seed=int(seeds[3]))
        allowed[f"{kind} (ours)"] = intervals.low, intervals.high
    finite = resampled[np.isfinite(resampled).all(axis=1)]
    allowed["percentile of bootstrapped ranks"] = percentiles(ranks(finite))
    for method, (low, high) in allowed.items():
        each = cover((low, high), ranks(truth))
        each = each._replace(width=each.width + 1.0)  # the number of ranks, not the distance
        covers["rank of a model", method] = each
        covers["all ranks", method] = each._replace(covered=float(each.covered == 1.0))
    return covers


def measure_agreement(
    truths: tuple[Floats, Floats], a: Comparisons, b: Comparisons, replicates: int, rng: np.random.Generator
) -> Covers:
    """Every statistic of agreement of two sets."""
    seed = int(rng.integers(1 << 31))
    intervals = {
        name: agree_sets(a, b, level=LEVEL, method=method, replicates=replicates, seed=seed).intervals
        for name, method in METHODS.items()
    }
    tables = [dict(zip(s.models, fit(s).ratings, strict=True)) for s in (a, b)]
    intervals["models as the sample"] = agree(tables[0], tables[1], level=LEVEL).intervals
    return {
        (name, method): cover(
            (np.array([found[name].low]), np.array([found[name].high])), float(true(*truths))
        )
        for name, (true, _) in STATISTICS.items()
        for method, found in intervals.items()
        if name in found
    }


def measure(cell: Cell, numbers: range, replicates: int, seed: int) -> tuple[Cell, list[Covers], int]:
    """These data sets of a cell, and how many were drawn anew; each has a random stream of its own."""
    known = scenarios()
    scenario = known[cell.scenario]
    noise = scenario.noise
    skills = [skills_of(ratings, noise) for ratings in (scenario.a, scenario.b)]
    truth_a, truth_b = (true_ratings(s, noise) for s in skills)
    place = (get_args(Part).index(cell.part), list(known).index(cell.scenario), cell.tasks)
    results, redrawn = [], 0
    for number in numbers:
        rng = np.random.default_rng([seed, *place, number])
        while True:
            a = draw(skills[0], noise, cell.tasks, "a", rng)
            sets = [a] if cell.part == "ratings" else [a, draw(skills[1], noise, cell.tasks, "b", rng)]
            if all(np.isfinite(fit(s).ratings).all() for s in sets):
                break
            redrawn += 1
        if cell.part == "ratings":
            results.append(measure_ratings(truth_a, a, replicates, rng))
        else:
            results.append(measure_agreement((truth_a, truth_b), a, sets[1], replicates, rng))
    return cell, results, redrawn


def simulate(
    cells: Sequence[Cell], sets: int, replicates: int, seed: int, workers: int
) -> Iterable[tuple[Cell, list[Covers], int]]:
    """Each cell as soon as all its data sets are measured."""
    done: dict[Cell, list[Covers]] = defaultdict(list)
    redrawn: dict[Cell, int] = defaultdict(int)
    numbers = [range(first, min(first + CHUNK, sets)) for first in range(0, sets, CHUNK)]
    # Read when numpy is loaded, so the processes must be new ones.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        jobs = [pool.submit(measure, cell, some, replicates, seed) for cell in cells for some in numbers]
        for job in as_completed(jobs):
            cell, results, again = job.result()
            done[cell] += results
            redrawn[cell] += again
            if len(done[cell]) == sets:
                yield cell, done[cell], redrawn[cell]


def summary(cell: Cell, scenario: Scenario, results: list[Covers], redrawn: int) -> list[Line]:
    """Means over the data sets; the error takes the data sets, not the intervals, as independent."""
    lines = []
    for quantity, method in results[0]:
        values = np.array([covers[quantity, method] for covers in results if (quantity, method) in covers])
        sets, widths = len(values), values[:, 2][np.isfinite(values[:, 2])]
        share = values[:, 0]
        truth = float(STATISTICS[quantity][0](scenario.a, scenario.b)) if quantity in STATISTICS else None
        lines.append(
            Line(
                scenario=cell.scenario,
                tasks=cell.tasks,
                quantity=quantity,
                truth=truth,
                method=method,
                coverage=100.0 * float(share.mean()),
                error=100.0 * float(share.std(ddof=1) / np.sqrt(sets)) if sets > 1 else np.nan,
                width=float(widths.mean()) if widths.size else np.nan,
                missing=100.0 * float(values[:, 1].mean()),
                sets=sets,
                redrawn=redrawn,
            )
        )
    return lines


def show(lines: list[Line]) -> None:
    for title, methods in TABLES.items():
        rows: dict[tuple[str, int, str], dict[str, Line]] = defaultdict(dict)
        for line in lines:
            if line.method in methods:
                rows[line.scenario, line.tasks, line.quantity][line.method] = line
        if not rows:
            continue
        used = [method for method in methods if any(method in row for row in rows.values())]
        print(f"\n### {title}\n\n| scenario | tasks | of | " + " | ".join(used) + " |")
        print("|---|--:|---|" + "--:|" * len(used))
        for (scenario, tasks, quantity), row in rows.items():
            true = next(iter(row.values())).truth
            name = quantity if true is None else f"{quantity} = {true:.3f}"
            cells = [figure(row[method]) if method in row else "" for method in used]
            print(f"| {scenario} | {tasks} | {name} | " + " | ".join(cells) + " |")


def figure(line: Line) -> str:
    absent = f", {line.missing:.0f} % none" if line.missing else ""
    width = f"{line.width:.0f}" if line.width >= 10 else f"{line.width:.2f}"
    return f"{line.coverage:.1f} ± {line.error:.1f} ({width}{absent})"


def main() -> None:
    known = scenarios()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", default=",".join(get_args(Part)), help="what to measure")
    parser.add_argument("--scenario", help=f"of {', '.join(known)}; all parts of those named are measured")
    parser.add_argument("--tasks", default="20,50,100", help="numbers of tasks, separated by commas")
    parser.add_argument("--sets", type=int, default=200, help="data sets per cell")
    parser.add_argument("--replicates", type=int, default=500, help="of each bootstrap")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    named = arguments.scenario.split(",") if arguments.scenario else []
    parts = arguments.part.split(",")
    for option, given, allowed in (("scenario", named, known), ("part", parts, get_args(Part))):
        if not set(given) <= set(allowed):
            parser.error(f"--{option}: {','.join(given)}; known are {', '.join(allowed)}")
    cells = [
        Cell(part, name, int(tasks))
        for part in get_args(Part) if part in parts
        for name in named or known if named or part in known[name].parts
        for tasks in arguments.tasks.split(",")
    ]  # fmt: skip
    started, found = time.perf_counter(), {}
    for cell, results, redrawn in simulate(
        cells, arguments.sets, arguments.replicates, arguments.seed, arguments.workers
    ):
        found[cell] = summary(cell, known[cell.scenario], results, redrawn)
        print(
            f"{time.perf_counter() - started:6.0f} s: {cell.part}, {cell.scenario}, {cell.tasks} tasks: "
            f"{len(results)} sets, {redrawn} more had a model without a finite rating and were drawn anew",
            file=sys.stderr,
        )
    lines = [line for cell in cells for line in found[cell]]
    show(lines)
    print(f"\n{arguments.sets} data sets per cell, {arguments.replicates} replicates, seed {arguments.seed}.")
    for name in dict.fromkeys(cell.scenario for cell in cells):
        again = {c: found[c][0].redrawn for c in cells if c.scenario == name}
        counts = ", ".join(f"{count} ({c.part}, {c.tasks} tasks)" for c, count in again.items() if count)
        print(f"- {name}: {known[name].what}; drawn anew: {counts or 'none'}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(line) for line in lines], indent=1))


if __name__ == "__main__":
    main()
