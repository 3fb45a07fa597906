"""Answers made wrong step by step, and in many small ways: nothing may score better than the truth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import NOISE, SEED, Bench
from generator.verifier.targets import Kind

_FACTORS = (0.0, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, -1.0)
_SHIFTS = (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0)
_NOISES = (1e-6, 1e-3, 0.03, 0.3)


def check(bench: Bench) -> Iterator[Finding]:
    """The score falls as more rows are wrong, and no small change of the answers beats them."""
    limits, rng = bench.case.limits.metric, np.random.default_rng(SEED)
    shares = [share for share in limits.perturbed_shares for _ in range(limits.perturbations)]
    scores = _scores(
        bench, [changes.exchanged(bench.oracle, bench.columns, share, rng) for share in shares], shares
    )
    each = limits.perturbations
    drawn = [scores[start : start + each] for start in range(0, len(scores), each)]
    bench.case.exhibits["metric"] = [
        {"share": share, "scores": scores}
        for share, scores in zip((0.0, *limits.perturbed_shares), ([bench.perfect], *drawn), strict=True)
    ]
    means = [bench.perfect, *(float(np.mean(scores)) for scores in drawn)]
    bench.case.scores["exchanged_answers"] = means[-1]
    found = _judge(bench, means, max(-bench.loss(score) for score in itertools.chain(*drawn)))
    if found:
        yield found
        return
    yield from _check_best(bench)


def _scores(bench: Bench, frames: list[pd.DataFrame], shares: list[float]) -> list[float]:
    """Scores of submissions that must have one.

    Raises:
        Stop: one has none, or none that is finite.
    """
    results = bench.many(frames)
    if all(result.finite is not None for result in results):
        return [float(result.finite or 0.0) for result in results]
    # Alone it has the whole time, and an error tells more.
    return [
        bench.score(frame, f"answers with {share:.0%} of the rows exchanged")
        for frame, share in zip(frames, shares, strict=True)
    ]


def _judge(bench: Bench, means: list[float], better: float) -> Finding | None:
    limits, perfect, floor = bench.case.limits.metric, bench.perfect, bench.floor
    told = ", ".join(f"{mean:.5g}" for mean in means)
    shares = ", ".join(f"{share:.0%}" for share in (0.0, *limits.perturbed_shares))
    seen = f"answers with {shares} of the rows exchanged score {told}"
    slack, loss = NOISE * max(1.0, abs(perfect)), bench.loss(means[-1])
    if max(abs(mean - perfect) for mean in [*means, floor]) <= slack:
        fix = "compare the submission with the answers"
        return finding("metric_insensitive", f"{seen}; the sample {floor:.5g}", fix)
    if loss < 0:
        return finding("metric_direction", seen, "correct higher_is_better, or the sign of the metric")
    if better > slack:
        return finding(
            "oracle_not_best",
            f"some wrong answers score better by {better:.5g}: {seen}",
            "correct the metric",
        )
    if loss < limits.much_worse * abs(perfect - floor):
        fix = "use a metric that sees the whole error"
        return finding("metric_insensitive", f"{seen}; the sample {floor:.5g}", fix)
    rises = [bench.sign * (after - before) for before, after in itertools.pairwise(means)]
    if max(rises) > limits.monotone_slack * loss:
        return finding("metric_not_monotone", seen, "use a metric that falls as errors grow")
    return None


def _check_best(bench: Bench) -> Iterator[Finding]:
    named = small_errors(bench)
    results = bench.many([frame for _, frame in named])
    best: tuple[float, str] = (NOISE * max(1.0, abs(bench.perfect)), "")
    looked = 0
    for (what, _), result in zip(named, results, strict=True):
        if result.finite is not None:
            looked += 1
            best = max(best, (-bench.loss(result.finite), what))
    if best[1]:
        yield finding(
            "oracle_not_best",
            f"{best[1]} score better than the answers by {best[0]:.5g} (of {looked} changed answers)",
            "correct the metric: nothing may score better than the truth",
        )


def small_errors(bench: Bench) -> list[tuple[str, pd.DataFrame]]:
    """Answers with errors of many kinds, in words; not every metric takes all of them.

    The kinds that matter most come first, for a slow metric.
    """
    rng, oracle, columns = np.random.default_rng(SEED + 1), bench.oracle, bench.columns
    made: list[tuple[str, pd.DataFrame]] = []
    numeric = [name for name in columns if name in bench.case.key.numeric]
    classes = all(bench.case.kinds.get(name) is Kind.CLASS for name in columns)
    if numeric == columns and (bench.flags or not classes):
        made += _changed_numbers(bench, rng)
    if bench.flags:
        mean = oracle[columns].mean()
        for weight in (0.99, 0.9, 0.6):
            blurred = {name: weight * oracle[name] + (1 - weight) * mean[name] for name in columns}
            made.append((f"the answers blurred by {1 - weight:.0%}", oracle.assign(**blurred)))
    codes = oracle.groupby(columns, sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(np.bincount(codes)[codes], kind="stable")
    left = max(20, bench.case.limits.metric.small_errors - len(made))
    rare, common, anywhere = order[:1000], order[-1000:], np.arange(len(oracle))
    for number in range(left):
        pool, what = ((anywhere, "a"), (rare, "a rare"), (common, "a common"))[number % 3]
        count = 1 if number % 4 else min(len(pool), 5)
        rows = rng.choice(pool, size=count, replace=False)
        frame = changes.wrong_at(oracle, columns, rows, rng)
        if number % 5 == 4 and numeric:
            frame = _moved(bench, rows, rng)
        made.append((f"the answers with {what} row or {count} wrong", frame))
    return made


def _changed_numbers(bench: Bench, rng: np.random.Generator) -> list[tuple[str, pd.DataFrame]]:
    oracle, columns = bench.oracle, bench.columns
    spread = oracle[columns].std().replace(0.0, 1.0).fillna(1.0)
    made = []
    for factor in _FACTORS:
        values = {name: oracle[name] * factor for name in columns}
        made.append((f"the answers times {factor:g}", oracle.assign(**values)))
    for shift in _SHIFTS:
        values = {name: oracle[name] + shift * spread[name] for name in columns}
        made.append((f"the answers plus {shift:g} standard deviations", oracle.assign(**values)))
    for size in _NOISES:
        for _ in range(2):
            values = {
                name: oracle[name] + size * spread[name] * rng.normal(size=len(oracle)) for name in columns
            }
            made.append((f"the answers with noise of {size:g} standard deviations", oracle.assign(**values)))
    return made


def _moved(bench: Bench, rows: changes.Rows, rng: np.random.Generator) -> pd.DataFrame:
    """Some cells of numbers moved a little, as far as such values are legal."""
    frame = bench.oracle.copy()
    for name in bench.columns:
        if name in bench.case.key.numeric:
            values = frame[name].to_numpy(dtype=float, copy=True)
            values[rows] += rng.normal(size=len(rows)) * float(np.std(values) or 1.0)
            frame[name] = np.clip(values, 0.0, 1.0) if bench.flags else values
    return frame
