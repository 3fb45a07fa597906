"""The score of wrong answers against the known metric of the declared name, and its kin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import SEED, Bench
from generator.verifier.targets import Kind
from harness.tasks.metrics import METRICS, Array, NamedMetric

_TOLERANCE = 1e-6
#: Decimals to which a score may be rounded, as competitions do.
_ROUNDED = (4, 5, 6, 7, 8)
_FEWEST = 2
#: What compares whole cells, and so is defined for cells that hold several labels.
_WHOLE_CELLS = ("accuracy", "error_rate")

#: Metrics that are taken for each other; of these a plain name may mean any.
_LOOSE = {
    "f1": ("macro_f1", "weighted_f1", "micro_f1"),
    "precision": (),
    "recall": ("balanced_accuracy",),
    "roc_auc": (),
}
Scaled = Callable[[float], float]
_SCALES: tuple[tuple[str, Scaled], ...] = (
    ("100 times", lambda score: 100.0 * score),
    ("a hundredth of", lambda score: score / 100.0),
    ("minus", lambda score: -score),
    ("1 minus", lambda score: 1.0 - score),
    ("2 times, minus 1, the", lambda score: 2.0 * score - 1.0),
)


@dataclass(frozen=True)
class _Trial:
    """Wrong answers, shape (n, k), the right ones, and the score that they got."""

    truth: Array
    said: Array
    score: float


def check(bench: Bench) -> Iterator[Finding]:
    """Whether a metric with a known name is that metric."""
    known, declared = bench.known, bench.case.task.spec.metric
    if known is None or (Kind.LABELS in bench.case.kinds.values() and known.name not in _WHOLE_CELLS):
        return
    if known.higher_is_better != declared.higher_is_better:
        yield finding(
            "metric_formula",
            f"task.toml has the direction of {known.name} wrong",
            f"correct the direction or the name (known names: {', '.join(sorted(METRICS))})",
        )
        return
    trials = _trials(bench)
    found = _compare(known, declared.name, trials)
    if found:
        yield found


def _trials(bench: Bench) -> list[_Trial]:
    truth = bench.oracle[bench.columns].to_numpy()
    frames = wrong_submissions(bench)
    return [
        _Trial(truth, frame[bench.columns].to_numpy(), result.finite)
        for frame, result in zip(frames, bench.many(frames), strict=True)
        if result.finite is not None
    ]


def wrong_submissions(bench: Bench) -> list[pd.DataFrame]:
    """Several that differ from the answers in several ways, all of legal values."""
    rng, oracle, columns = np.random.default_rng(SEED), bench.oracle, bench.columns
    if bench.flags:
        return [changes.softened(oracle, columns, rng) for _ in range(4)]
    frames = [changes.exchanged(oracle, columns, share, rng) for share in (0.3, 0.1, 0.6, 1.0)]
    codes = oracle.groupby(columns, sort=False).ngroup().to_numpy()
    if codes.max() < 50:  # one class is never predicted
        frames.append(changes.wrong_at(oracle, columns, np.flatnonzero(codes == codes.max()), rng))
    return frames


def _expected(metric: NamedMetric, trial: _Trial) -> float | None:
    try:
        return metric(trial.truth, trial.said)
    except (ValueError, TypeError, ZeroDivisionError):
        return None


def _equals(score: float, expected: float) -> bool:
    if abs(score - expected) <= _TOLERANCE * max(1e-3, abs(expected)):
        return True
    return any(abs(score - round(expected, places)) < 1e-10 for places in _ROUNDED)


def _fits(metric: NamedMetric, trials: list[_Trial], scaled: Scaled = lambda score: score) -> bool | None:
    """Whether all trials that the metric is defined for got its score; ``None`` when it is for none."""
    pairs = [(trial.score, _expected(metric, trial)) for trial in trials]
    told = [_equals(score, scaled(expected)) for score, expected in pairs if expected is not None]
    return all(told) if told else None


def _compare(known: NamedMetric, name: str, trials: list[_Trial]) -> Finding | None:
    fits = _fits(known, trials)
    if fits or len(trials) < _FEWEST or _legal_kin(known.name, trials):
        return None
    kin = next((other for other in METRICS.values() if other is not known and _fits(other, trials)), None)
    loose = known.name in _LOOSE
    if fits is None:
        # The name is not defined here as it stands, as F1 of more than two classes.
        if loose and kin is not None:
            return _variant(name, f"it is {kin.name}", kin.name)
        return None
    if loose and kin is not None and kin.name in _LOOSE[known.name]:
        return _variant(name, f"it is {kin.name}", kin.name)
    average = _average(known.name, trials)
    if average:
        return _variant(name, f"it is the {average} average", f"{average}_{known.name}")
    for what, scaled in _SCALES:
        if _fits(known, trials, scaled):
            return _variant(name, f"it is {what} {known.name}", "a name of its own")
    trial = next(trial for trial in trials if _expected(known, trial) is not None)
    also = f", and {kin.name} is what it computes" if kin is not None else ""
    return finding(
        "metric_formula",
        f"partly wrong answers score {trial.score:.9g}; {known.name} is {_expected(known, trial):.9g}{also}",
        "correct the metric, or give it a name of its own",
    )


def _variant(name: str, told: str, better: str) -> Finding:
    return finding(
        "metric_variant",
        f"the metric is named {name!r}, and {told} on all wrong answers tried",
        f"say so in metric.name: {better}",
    )


def _legal_kin(name: str, trials: list[_Trial]) -> bool:
    """Other readings of a name that are as usual: of several columns, of percentages."""
    readings: dict[str, list[Callable[[Array, Array], npt.ArrayLike]]] = {
        "rmse": [
            lambda t, p: np.sqrt(np.mean((p - t) ** 2)),
            lambda t, p: np.mean(np.sqrt(np.mean((p - t) ** 2, axis=0))),
        ],
        "r2": [lambda t, p: 1 - ((p - t) ** 2).sum() / ((t - t.mean(axis=0)) ** 2).sum()],
        "smape": [
            lambda t, p: _smape(t, p, 2.0),
            lambda t, p: _smape(t, p, 1.0),
            lambda t, p: _smape(t, p, 100.0),
        ],
        "mape": [lambda t, p: 100 * np.mean(np.abs((p - t) / t))],
        "brier": [lambda t, p: np.mean(((p - t) ** 2).sum(axis=1))],
        "log_loss": [lambda t, p: -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))],
    }
    for reading in readings.get(name, []):
        try:
            with np.errstate(all="ignore"):
                told = [
                    _equals(
                        trial.score,
                        float(np.asarray(reading(trial.truth.astype(float), trial.said.astype(float)))),
                    )
                    for trial in trials
                ]
        except (ValueError, TypeError):
            continue
        if told and all(told):
            return True
    return False


def _smape(true: Array, pred: Array, scale: float) -> float:
    size = np.abs(true) + np.abs(pred)
    return float(scale * np.divide(np.abs(pred - true), size, out=np.zeros_like(size), where=size > 0).mean())


def _average(name: str, trials: list[_Trial]) -> str:
    """Which average of scikit-learn's, where a name leaves it open."""
    from sklearn import metrics

    scorers = {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "roc_auc": metrics.roc_auc_score,
        "average_precision": metrics.average_precision_score,
    }
    if name not in scorers:
        return ""
    for average in ("macro", "weighted", "micro"):
        try:
            told = [_equals(trial.score, _scored(scorers[name], trial, average)) for trial in trials]
        except (ValueError, TypeError):
            continue
        if told and all(told):
            return average
    return ""


def _scored(scorer: Callable[..., float], trial: _Trial, average: str) -> float:
    soft = trial.said.astype(float) % 1 != 0
    truth = trial.truth.astype(int)
    said = trial.said if soft.any() else trial.said.astype(int)
    flat = truth.shape[1] == 1
    return float(scorer(truth.ravel() if flat else truth, said.ravel() if flat else said, average=average))
