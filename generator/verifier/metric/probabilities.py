"""Metrics of scores and probabilities: they must see more than labels, and must not be cheated by them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import SEED, Bench, close
from generator.verifier.metric.order import NOMINAL

_HARD = NOMINAL | {"f1", "precision", "recall"}
_DRAWS = 3


def check(bench: Bench) -> Iterator[Finding]:
    """Rounded scores, probabilities compared with labels, and rows that promise every class."""
    if bench.flags and bench.known is not None:
        yield from _check_rounded(bench)
    if bench.known is not None and bench.known.name in _HARD:
        yield from _check_labels(bench)
    if bench.flags and len(bench.columns) > 1:
        yield from _check_every_class(bench)


def _check_rounded(bench: Bench) -> Iterator[Finding]:
    rng, columns = np.random.default_rng(SEED + 5), bench.columns
    frames = []
    for _ in range(_DRAWS):
        soft = changes.softened(bench.oracle, columns, rng)
        frames += [soft, soft.assign(**{name: (soft[name] >= 0.5).astype(float) for name in columns})]
    scores = [result.finite for result in bench.many(frames)]
    pairs = [
        (soft, hard)
        for soft, hard in zip(scores[::2], scores[1::2], strict=True)
        if soft is not None and hard is not None
    ]
    if len(pairs) >= 2 and all(close(soft, hard) for soft, hard in pairs):
        yield finding(
            "metric_thresholds",
            f"predictions between 0 and 1 score {pairs[0][0]:.6g}, and the same when they are rounded at 0.5",
            f"hand the predictions to {bench.known.name if bench.known else 'the metric'} as they are",
        )


def _check_labels(bench: Bench) -> Iterator[Finding]:
    """The sample asks for probabilities where the metric compares labels."""
    name = bench.columns[0]
    if len(bench.columns) != 1 or name not in bench.case.key.numeric:
        return
    truth, shown = bench.oracle[name], bench.sample[name]
    if not truth.isin((0.0, 1.0)).all() or not bool(((shown % 1 != 0) & shown.between(0, 1)).any()):
        return
    sure = bench.oracle.assign(**{name: 0.8 * truth + 0.1})
    result = bench.many([sure])[0]
    if result.finite is not None and bench.loss(result.finite) <= 0.5 * abs(bench.gap):
        return
    got = f"score {result.finite:.6g}" if result.finite is not None else f"fail ({result.message[:120]})"
    yield finding(
        "metric_thresholds",
        f"the sample submission shows probabilities of {name}; answers of 0.1 and 0.9 on the right side "
        f"{got}, as {bench.case.task.spec.metric.name} compares labels",
        "ask for labels in the sample and the description, or turn probabilities into labels in evaluate",
    )


def _check_every_class(bench: Bench) -> Iterator[Finding]:
    """1 for every class in every row: only a metric that scales or refuses such rows is safe."""
    columns = bench.columns
    if not bool((bench.oracle[columns].sum(axis=1) == 1).all()):
        return
    for value in (1.0, 1e6):
        result = bench.many([bench.oracle.assign(**dict.fromkeys(columns, value))])[0]
        if result.finite is not None and bench.loss(result.finite) <= 1e-6 * abs(bench.gap):
            yield finding(
                "metric_lenient",
                f"{value:g} for each of the {len(columns)} classes in every row scores {result.finite:.6g}, "
                f"the answers {bench.perfect:.6g}",
                "refuse rows that do not sum to 1, or divide each row by its sum",
            )
            return
