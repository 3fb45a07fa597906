"""Time and numbers that grow: many rows, and values far out of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench, Stop, cannot
from generator.verifier.targets import Kind
from harness.tasks.grading import Grader
from harness.tasks.submission import read_answer_key
from harness.tasks.variants import Outcome, Variant, VariantResult

_ROWS = tuple(1_000 * 2**step for step in range(6))
_MEASURABLE = 0.05
_ENOUGH = 1.0
_FIX = "use operations on whole columns instead of loops over pairs of rows"


def check(bench: Bench) -> Iterator[Finding]:
    """How time grows with the rows, and whether large numbers have a score."""
    yield from _check_time(bench)
    yield from _check_large(bench)


def _check_time(bench: Bench) -> Iterator[Finding]:
    first, limits = bench.many([bench.oracle])[0], bench.case.limits.metric
    if _takes_long(first, limits.slow_seconds):
        yield finding("metric_slow", f"scoring {len(bench.oracle):,} rows takes {first.wall:.0f} s", _FIX)
        return
    seen: list[tuple[int, float]] = []
    for rows, result in zip(_ROWS, _longer(bench), strict=True):
        if result.outcome is not Outcome.SCORE:
            if result.outcome is Outcome.FAILED and "MemoryError" in result.message:
                yield finding("metric_slow", f"{rows:,} rows go over the limit of memory", _FIX)
            break
        seen.append((rows, result.seconds))
    measured = [(rows, seconds) for rows, seconds in seen if seconds >= _MEASURABLE]
    if len(measured) < 2 or measured[-1][0] < 4 * measured[0][0] or measured[-1][1] < _ENOUGH / 2:
        return
    (few, short), (many, long) = measured[0], measured[-1]
    power = math.log(long / short) / math.log(many / few)
    if power > limits.growth:
        yield finding(
            "metric_slow",
            f"time grows faster than the rows: {few:,} rows take {short:.2f} s, {many:,} rows {long:.2f} s",
            _FIX,
        )


def _takes_long(result: VariantResult, limit: float) -> bool:
    """By the processor, or by sleeping; on a busy machine anything takes long by the clock."""
    return result.seconds > limit or (result.wall > limit and result.seconds < 0.1 * result.wall)


def _longer(bench: Bench) -> list[VariantResult]:
    """More and more rows, until that takes long; one by one where together they end the process."""
    longer = [Variant(bench.worse, rows=rows) for rows in _ROWS]
    grader = bench.case.grader
    results = grader.score_variants(longer, seconds=_ENOUGH, answers=bench.answers)
    if all(result.outcome is Outcome.LOST for result in results):
        results = []
        for one in longer:
            results += grader.score_variants([one], answers=bench.answers)
            if results[-1].outcome is not Outcome.SCORE or results[-1].seconds > _ENOUGH:
                break
        results += [VariantResult(Outcome.SKIPPED)] * (len(longer) - len(results))
    return results


def _check_large(bench: Bench) -> Iterator[Finding]:
    """One prediction far out, as a model gives that has gone astray."""
    kinds = {bench.case.kinds.get(name) for name in bench.columns}
    if bench.flags or kinds != {Kind.NUMBER} or not set(bench.columns) <= set(bench.case.key.numeric):
        return
    name, large = bench.columns[0], bench.case.limits.metric.large
    values = (large, -large, 2.0**31, 2.0**63)
    frames: list[pd.DataFrame] = []
    for value in values:
        cells = bench.oracle[name].to_numpy(dtype=float, copy=True)
        cells[len(cells) // 2] = value
        frames.append(bench.oracle.assign(**{name: cells}))
    for value, result in zip(values, bench.many(frames), strict=True):
        if result.outcome is Outcome.FAILED or (result.score is not None and result.finite is None):
            yield finding(
                "metric_not_finite",
                f"one {name} of {value:g} among right answers gets {result.message or result.score}",
                "give every finite number a finite score, or refuse what is out of range",
                Severity.WARNING,
            )
            return


def check_full_size(bench: Bench) -> Iterator[Finding]:
    """Answers and sample of the whole task, where all else is done with a part of its rows."""
    case = bench.case
    if case.scored is case.prepared:
        return
    key = read_answer_key(case.prepared)
    with Grader(case.prepared, case.provider) as grader:
        answers = key.answers[list(key.columns)]
        path = case.scratch / "answers.csv"
        answers.to_csv(path, index=False)
        for what, source in (
            ("all answers", path),
            ("the whole sample submission", case.prepared.sample_path),
        ):
            result = grader.grade(source)
            if result.task_defect or not result.valid:
                raise Stop(cannot(result, what))
        path.unlink()
        spent = grader.score_variants([Variant(answers, whole=True)])[0]
    if _takes_long(spent, case.limits.metric.slow_seconds):
        yield finding("metric_slow", f"scoring {len(answers):,} rows takes {spent.wall:.0f} s", _FIX)
