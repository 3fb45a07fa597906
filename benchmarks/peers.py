"""Ways to rate models from comparisons, ours and those of other packages; one is timed per process.

    python -m benchmarks.peers WAY ROW.npz [FASTCHAT]

Prints one JSON document: seconds of each run, and what came out. `benchmarks/stats.py` calls it, with the
Python that has the package. Whatever a package wants its input to be is prepared before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

REPLICATES = 1000
VERY_LONG, LONG, TOTAL, MOST = 15.0, 3.0, 1.5, 200
"""Seconds of a run that needs no warm-up, of one that is not repeated, of all runs; and most runs."""


class Row:
    """One input: outcomes of a against b (0, 1/2, 1) by places of the models, and scores if there are any."""

    def __init__(self, path: str) -> None:
        with np.load(path) as stored:
            self.a, self.b = stored["a"].astype(np.int64), stored["b"].astype(np.int64)
            self.outcome = stored["twice"] / 2.0
            self.n = int(stored["n"])
            self.scores = stored.get("scores")
        self.names = np.array([f"model-{i:04d}" for i in range(self.n)], dtype=object)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per outcome, names as Python strings."""
        labels = np.array(["model_b", "tie", "model_a"], dtype=object)
        columns = {
            "model_a": self.names[self.a],
            "model_b": self.names[self.b],
            "winner": labels[(self.outcome * 2).astype(np.int64)],
        }
        return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})

    @cached_property
    def results(self) -> pd.DataFrame:
        """One score per task and model, higher is better."""
        assert self.scores is not None
        tasks, n = self.scores.shape
        return pd.DataFrame(
            {
                "task": np.repeat([f"task-{t:04d}" for t in range(tasks)], n),
                "model": np.tile(self.names, tasks),
                "attempt": 0,
                "score": self.scores.ravel(),
                "valid": True,
                "higher_is_better": True,
            }
        )

    @cached_property
    def wins(self) -> np.ndarray:
        shape = self.n * self.n
        won = np.bincount(self.a * self.n + self.b, self.outcome, shape)
        lost = np.bincount(self.b * self.n + self.a, 1.0 - self.outcome, shape)
        return (won + lost).reshape(self.n, self.n)

    def from_series(self, elo: pd.Series) -> np.ndarray:
        return elo.reindex(self.names).to_numpy()

    def from_strengths(self, theta: np.ndarray) -> np.ndarray:
        """Elo about a mean of 1000."""
        theta = np.asarray(theta, dtype=float)
        return 1000.0 + 400.0 / np.log(10.0) * (theta - theta.mean(axis=-1, keepdims=True))


Run = Callable[[], Any]
Read = Callable[[Any], np.ndarray]
"""From what a run returned to (n,) Elo in the order of the models, or (replicates, n)."""


@dataclass(frozen=True)
class Way:
    """One way to rate.

    Attributes:
        label: what the table calls it.
        kind: `fit`, `tasks` or `comparisons` (what is resampled).
        given: what the clock starts from: `scores`, `strings`, `codes` or `matrix`.
        rows: the inputs it can do in reasonable time.
        draws: by row, two numbers of replicates to extrapolate the time of all from; else all are drawn.
        package: whose it is: `ours`, `peers` or `fastchat`.
    """

    prepare: Callable[[Row, int], tuple[Run, Read]]
    label: str
    kind: str
    given: str
    rows: str
    package: str
    draws: dict[str, tuple[int, int]]


WAYS: dict[str, Way] = {}


def way(
    label: str,
    kind: str,
    given: str,
    rows: str = "abc",
    package: str = "peers",
    **draws: tuple[int, int],
) -> Callable[[Callable[[Row, int], tuple[Run, Read]]], Callable[[Row, int], tuple[Run, Read]]]:
    def register(prepare: Callable[[Row, int], tuple[Run, Read]]) -> Callable[[Row, int], tuple[Run, Read]]:
        WAYS[prepare.__name__] = Way(prepare, label, kind, given, rows, package, draws)
        return prepare

    return register


@way("MLE-Smith", "fit", "scores", "a", "ours")
def ours_scores(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bradley_terry import fit
    from stats.comparisons import Comparisons

    return lambda: fit(Comparisons.from_scores(row.results)), lambda fitted: fitted.ratings


@way("MLE-Smith", "fit", "strings", package="ours")
def ours_strings(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bradley_terry import fit
    from stats.comparisons import Comparisons

    return lambda: fit(Comparisons.from_outcomes(row.frame)), lambda fitted: fitted.ratings


@way("MLE-Smith", "fit", "codes", package="ours")
def ours_codes(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bradley_terry import fit
    from stats.comparisons import Comparisons

    names = tuple(row.names)
    return (
        lambda: fit(Comparisons.from_codes(row.a, row.b, row.outcome, names)),
        lambda fitted: fitted.ratings,
    )


@way("MLE-Smith", "fit", "matrix", package="ours")
def ours_matrix(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bradley_terry import fit

    return lambda: fit(row.wins), lambda fitted: fitted.ratings


@way("MLE-Smith bootstrap_ratings", "tasks", "scores", "a", "ours")
def ours_tasks(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bootstrap import bootstrap_ratings
    from stats.comparisons import Comparisons

    return lambda: bootstrap_ratings(Comparisons.from_scores(row.results), draws), np.asarray


@way("MLE-Smith bootstrap_comparisons", "comparisons", "strings", "ab", "ours")
def ours_comparisons(row: Row, draws: int) -> tuple[Run, Read]:
    from stats.bootstrap import bootstrap_comparisons
    from stats.comparisons import Comparisons

    return lambda: bootstrap_comparisons(Comparisons.from_outcomes(row.frame), draws), np.asarray


def _evalica(row: Row, a: Any, b: Any, tolerance: float) -> tuple[Run, Read]:
    import evalica

    winners = _evalica_winners(row)

    def read(result: Any) -> np.ndarray:
        scores = result.scores
        order = row.names if isinstance(scores.index[0], str) else np.arange(row.n)
        return row.from_strengths(np.log(scores.reindex(order).to_numpy()))

    return lambda: evalica.bradley_terry(a, b, winners, tolerance=tolerance, limit=10_000), read


def _evalica_winners(row: Row) -> list[Any]:
    from evalica import Winner

    return [(Winner.Y, Winner.Draw, Winner.X)[twice] for twice in (row.outcome * 2).astype(int).tolist()]


@way("evalica, default tolerance", "fit", "strings")
def evalica_strings(row: Row, draws: int) -> tuple[Run, Read]:
    return _evalica(row, row.frame["model_a"], row.frame["model_b"], 1e-6)


@way("evalica, tolerance 1e-12", "fit", "strings")
def evalica_exact(row: Row, draws: int) -> tuple[Run, Read]:
    return _evalica(row, row.frame["model_a"], row.frame["model_b"], 1e-12)


@way("evalica, tolerance 1e-12", "fit", "codes")
def evalica_codes(row: Row, draws: int) -> tuple[Run, Read]:
    return _evalica(row, row.a, row.b, 1e-12)


@way("evalica, tolerance 1e-12", "fit", "matrix")
def evalica_matrix(row: Row, draws: int) -> tuple[Run, Read]:
    import evalica

    i, j = np.nonzero(row.wins)
    weights, winners = row.wins[i, j].tolist(), [evalica.Winner.X] * len(i)
    return (
        lambda: evalica.bradley_terry(i, j, winners, weights=weights, tolerance=1e-12, limit=10_000),
        lambda result: row.from_strengths(np.log(result.scores.reindex(np.arange(row.n)).to_numpy())),
    )


@way("evalica bootstrap, percentile", "comparisons", "strings", "ab", a=(20, 120), b=(1, 3))
def evalica_bootstrap(row: Row, draws: int) -> tuple[Run, Read]:
    import evalica

    winners = _evalica_winners(row)
    a, b = row.frame["model_a"], row.frame["model_b"]

    def run() -> Any:
        return evalica.bootstrap(
            evalica.bradley_terry, a, b, winners,
            n_resamples=draws, bootstrap_method="percentile", random_state=0,
        )  # fmt: skip

    return run, lambda result: row.from_strengths(np.log(result.distribution[list(row.names)].to_numpy()))


@way("choix ilsr_pairwise_dense", "fit", "matrix")
def choix_dense(row: Row, draws: int) -> tuple[Run, Read]:
    import choix

    return lambda: choix.ilsr_pairwise_dense(row.wins), row.from_strengths


@way("choix ilsr_pairwise, ties doubled", "fit", "codes", "a")
def choix_list(row: Row, draws: int) -> tuple[Run, Read]:
    import choix

    forward = np.repeat(np.arange(len(row.a)), (row.outcome * 2).astype(int))
    back = np.repeat(np.arange(len(row.a)), ((1 - row.outcome) * 2).astype(int))
    pairs = list(zip(row.a[forward].tolist(), row.b[forward].tolist(), strict=True))
    pairs += list(zip(row.b[back].tolist(), row.a[back].tolist(), strict=True))
    return lambda: choix.ilsr_pairwise(row.n, pairs), row.from_strengths


@way("arena-rank BradleyTerry.fit", "fit", "strings")
def arena_rank(row: Row, draws: int) -> tuple[Run, Read]:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    def run() -> Any:
        model = BradleyTerry(n_competitors=row.n)
        model.fit(PairDataset.from_pandas(row.frame))
        return np.asarray(model.params["ratings"])

    return run, row.from_strengths


@way("arena-rank bootstrap, one process", "comparisons", "strings", "ab", a=(2, 6), b=(1, 3))
def arena_rank_bootstrap(row: Row, draws: int) -> tuple[Run, Read]:
    """The steps of its bootstrap, which as shipped forks after JAX has started threads, and hangs."""
    import jax
    from arena_rank.models.bradley_terry import BradleyTerry, fit_single_bootstrap_sample
    from arena_rank.utils.data_utils import PairDataset

    def run() -> Any:
        model, dataset = BradleyTerry(n_competitors=row.n), PairDataset.from_pandas(row.frame)
        total = dataset.counts.sum()
        counts = jax.random.multinomial(
            jax.random.PRNGKey(0), int(total), dataset.counts / total, shape=(draws, len(dataset.counts)),
            dtype=model.dtype,
        )  # fmt: skip
        return np.array([fit_single_bootstrap_sample(c, model, dataset)["ratings"] for c in counts])

    return run, row.from_strengths


def _tabarena(row: Row) -> tuple[Any, pd.DataFrame]:
    from bencheval.elo_utils import EloHelper

    results = row.results.rename(columns={"model": "method"})[["task", "method"]]
    return EloHelper(), results.assign(metric_error=-row.results["score"])


@way("bencheval compute_mle_elo_from_ranks", "fit", "scores", "a")
def bencheval_ranks(row: Row, draws: int) -> tuple[Run, Read]:
    helper, results = _tabarena(row)
    return lambda: helper.compute_mle_elo_from_ranks(results), row.from_series


@way("bencheval battles, compute_mle_elo", "fit", "scores", "a")
def bencheval_battles(row: Row, draws: int) -> tuple[Run, Read]:
    helper, results = _tabarena(row)
    return lambda: helper.compute_mle_elo(helper.convert_results_to_battles(results)), row.from_series


@way("bencheval bootstrap from ranks", "tasks", "scores", "a")
def bencheval_bootstrap(row: Row, draws: int) -> tuple[Run, Read]:
    helper, results = _tabarena(row)
    return (
        lambda: helper.compute_elo_ratings_from_ranks(results, BOOTSTRAP_ROUNDS=draws, show_process=False),
        lambda table: table[list(row.names)].to_numpy(),
    )


@way("FastChat compute_bt", "fit", "strings", package="fastchat")
def fastchat(row: Row, draws: int) -> tuple[Run, Read]:
    from fastchat.serve.monitor.rating_systems import compute_bt

    return lambda: compute_bt(row.frame), row.from_series


@way("FastChat compute_bootstrap_bt", "comparisons", "strings", "ab", "fastchat", b=(5, 30))
def fastchat_bootstrap(row: Row, draws: int) -> tuple[Run, Read]:
    from fastchat.serve.monitor.rating_systems import compute_bootstrap_bt

    return (
        lambda: compute_bootstrap_bt(row.frame, draws, num_cpu=1),
        lambda table: table[list(row.names)].to_numpy(),
    )


@way("one np.bincount over the outcomes", "floor", "codes", package="ours")
def bincount(row: Row, draws: int) -> tuple[Run, Read]:
    pair = row.a * row.n + row.b
    return lambda: np.bincount(pair, weights=row.outcome), lambda counts: np.full(row.n, np.nan)


def timed(run: Run) -> tuple[list[float], Any]:
    """A warm-up, unless it took too long to repeat, then runs until enough time has passed."""
    seconds: list[float] = []
    warm = False
    while True:
        started = time.perf_counter()
        result = run()
        spent = time.perf_counter() - started
        if warm or spent > VERY_LONG:
            seconds.append(spent)
            enough = len(seconds) >= 3 or spent > LONG
            if len(seconds) == MOST or (enough and sum(seconds) > TOTAL):
                return seconds, result
        warm = True


def measure(name: str, path: str) -> dict[str, Any]:
    chosen, row = WAYS[name], Row(path)
    key = path.rsplit("/", 1)[-1].removesuffix(".npz")
    few, many = chosen.draws.get(key, (0, REPLICATES))
    run, read = chosen.prepare(row, many)
    seconds, result = timed(run)
    values = read(result)
    if few:
        short, _ = timed(chosen.prepare(row, few)[0])
        per_draw = (np.median(seconds) - np.median(short)) / (many - few)
        seconds = [float(np.median(seconds) + per_draw * (REPLICATES - many))]
    found: dict[str, Any] = {"seconds": seconds, "extrapolated_from": many if few else None}
    if values.ndim == 1:
        found["ratings"] = values.tolist()
    elif not few:
        low, high = np.nanquantile(values, [0.025, 0.975], axis=0)
        found["width"] = float((high - low).mean())
    return found


if __name__ == "__main__":
    sys.path.extend(sys.argv[3:])
    print(json.dumps(measure(sys.argv[1], sys.argv[2])))
