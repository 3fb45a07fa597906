"""How fast and how exact Bradley-Terry ratings and their bootstraps are, beside other packages.

    python benchmarks/stats.py [--rows a,b,c] [--peers PYTHON] [--fastchat CHECKOUT] [--json OUT]

Rows: (a) 8 models on 100 tasks, all pairs, about 10 % ties; (b) 100 models, 1,000,000 comparisons; (c) 1,000
models, 10,000,000 comparisons; in b and c models are unevenly popular and 15 % are ties. Every way runs in a
fresh process with one thread for linear algebra. `benchmarks/peers.txt` says how to get the other packages;
without them only ours are timed. The Elo error is the largest difference from a fit whose gradients are
computed in extended precision.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from peers import WAYS, Row, Way

ROOT = Path(__file__).parent.parent
TIME_LIMIT = 150
"""Seconds for one way on one row."""
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
TITLES = {
    "a": "8 models, 100 tasks, all pairs, ties",
    "b": "100 models, 1,000,000 comparisons",
    "c": "1,000 models, 10,000,000 comparisons",
}


def scored_tasks(seed: int = 0, tasks: int = 100, models: int = 8) -> dict[str, Any]:
    """Row a: skill + noise, rounded so that about one comparison in ten is a tie."""
    rng = np.random.default_rng(seed)
    scores = np.round((np.linspace(-1, 1, models) + rng.normal(size=(tasks, models))) * 2.5) / 2.5
    i, j = np.triu_indices(models, 1)
    twice = np.sign(scores[:, i] - scores[:, j]) + 1
    return {
        "a": np.tile(i, tasks), "b": np.tile(j, tasks), "twice": twice.ravel().astype(np.int8),
        "n": models, "scores": scores,
    }  # fmt: skip


def votes(models: int, size: int, seed: int = 1) -> dict[str, Any]:
    """Rows b and c: pairs of models of uneven popularity, 15 % ties."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(scale=0.8, size=models)
    popularity = np.exp(rng.normal(scale=0.7, size=models))
    edges = np.cumsum(popularity) / popularity.sum()
    a = np.searchsorted(edges, rng.random(size))
    b = np.searchsorted(edges, rng.random(size))
    while (same := np.flatnonzero(a == b)).size:
        b[same] = np.searchsorted(edges, rng.random(same.size))
    wins = rng.random(size) < 1.0 / (1.0 + np.exp(skill[b] - skill[a]))
    twice = np.where(rng.random(size) < 0.15, 1, 2 * wins).astype(np.int8)
    return {"a": a.astype(np.int32), "b": b.astype(np.int32), "twice": twice, "n": models}


def reference(wins: np.ndarray) -> np.ndarray:
    """Elo by Newton steps, the last ones with gradients in extended precision."""
    n = len(wins)
    counts = wins + wins.T
    theta = np.zeros(n)
    for _ in range(12):
        p = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
        weights = counts * p * (1.0 - p)
        information = np.diag(weights.sum(axis=1)) - weights + weights.mean()
        step = np.linalg.solve(information, wins.sum(axis=1) - (counts * p).sum(axis=1))
        theta += step
        if np.abs(step).max() < 1e-9:
            break
    exact = theta.astype(np.longdouble)
    for _ in range(2):
        p_exact = 1 / (1 + np.exp(exact[None, :] - exact[:, None]))
        gradient = (wins - counts * p_exact).sum(axis=1)
        exact += np.linalg.solve(information, gradient.astype(float))
    exact -= exact.mean()
    return np.asarray(1000 + 400 / np.log(np.longdouble(10)) * exact, dtype=float)


def run_way(name: str, way: Way, path: Path, peers: str | None, fastchat: str | None) -> dict[str, Any]:
    """Time one way on one row in a fresh process; what went wrong, if it did."""
    if way.package == "fastchat" and fastchat is None:
        return {"skipped": "no --fastchat checkout given"}
    python = sys.executable if way.package == "ours" else peers
    if python is None:
        return {"skipped": "no --peers Python given"}
    command = [python, "-m", "benchmarks.peers", name, str(path)]
    try:
        done = subprocess.run(
            command + ([fastchat] if way.package == "fastchat" and fastchat else []),
            cwd=ROOT, env=os.environ | ONE_THREAD, capture_output=True, text=True, timeout=TIME_LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"skipped": f"no result within {TIME_LIMIT} s"}
    if done.returncode:
        return {"skipped": done.stderr.strip().splitlines()[-1][:200]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def compare(
    key: str, data: dict[str, Any], folder: Path, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Time every way on one row; one dictionary per line of the table."""
    path = folder / f"{key}.npz"
    np.savez(path, **data)
    truth = reference(Row(str(path)).wins)
    lines = []
    for name, way in WAYS.items():
        if key not in way.rows:
            continue
        print(f"  {key}: {way.label}, {way.kind} from {way.given}", file=sys.stderr)
        found = run_way(name, way, path, arguments.peers, arguments.fastchat)
        line = {"row": key, "way": way.label, "kind": way.kind, "given": way.given, "package": way.package}
        if "ratings" in found and way.kind == "fit":
            line["elo_error"] = float(np.abs(np.array(found.pop("ratings")) - truth).max())
        if "seconds" in found:
            line["median"], line["runs"] = statistics.median(found["seconds"]), len(found["seconds"])
        lines.append(line | {k: found[k] for k in ("skipped", "extrapolated_from", "width") if k in found})
    floor = next((line["median"] for line in lines if line["kind"] == "floor" and "median" in line), None)
    for line in lines:
        ours = [
            other["median"] for other in lines
            if "median" in other and other["package"] == "ours"
            and (other["kind"], other["given"]) == (line["kind"], line["given"])
        ]  # fmt: skip
        if "median" in line:
            line["to_ours"] = line["median"] / ours[0] if ours else None
            line["to_bincount"] = line["median"] / floor if floor else None
    return lines


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def show(lines: list[dict[str, Any]]) -> None:
    head = f"{'way':36} {'from':8} {'median':>9} {'of ours':>8} {'Elo error':>10} {'of bincount':>12}"
    for kind, title in (
        ("floor", "floor"), ("fit", "fit"), ("tasks", "1,000 replicates, tasks resampled"),
        ("comparisons", "1,000 replicates, comparisons resampled"),
    ):  # fmt: skip
        chosen = [line for line in lines if line["kind"] == kind]
        if not chosen:
            continue
        print(f"\n{title}\n{head if kind in ('fit', 'floor') else head.replace('Elo error', '95% width')}")
        for line in sorted(chosen, key=lambda line: (line["given"], line.get("median", np.inf))):
            if "median" not in line:
                print(f"{line['way']:36} {line['given']:8} skipped: {line['skipped']}")
                continue
            ratio = "" if line["to_ours"] is None else f"{line['to_ours']:.3g}x"
            accuracy = "" if "elo_error" not in line else f"{line['elo_error']:.1e}"
            accuracy = f"{line['width']:.1f}" if "width" in line else accuracy
            note = f"  from {line['extrapolated_from']} draws" if line.get("extrapolated_from") else ""
            note += "  1 run" if line["runs"] == 1 and not note else ""
            floor = "" if line["to_bincount"] is None else f"{line['to_bincount']:.3g}x"
            print(
                f"{line['way']:36} {line['given']:8} {duration(line['median']):>9} {ratio:>8} {accuracy:>10} "
                f"{floor:>12}{note}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="a,b,c", help="which inputs, separated by commas")
    parser.add_argument("--peers", type=os.path.abspath, help="Python with the packages of peers.txt")
    parser.add_argument("--fastchat", type=os.path.abspath, help="checkout of FastChat")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    rows = arguments.rows.split(",")
    if not set(rows) <= set(TITLES):
        parser.error(f"--rows: {arguments.rows}; known are {', '.join(TITLES)}")
    makers = {"a": scored_tasks, "b": lambda: votes(100, 1_000_000), "c": lambda: votes(1000, 10_000_000)}
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        for key in rows:
            lines = compare(key, makers[key](), Path(folder), arguments)
            print(f"\n({key}) {TITLES[key]}")
            show(lines)
            everything += lines
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
