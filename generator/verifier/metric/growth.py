"""Work and numbers that grow: many rows, and values far out of the data.

How work grows is read off the lines of metric.py, with its rows repeated under new ids to four times as many
again and again. How often a line runs is exact on any machine; how long it takes is compared over sixteen
times the rows, and again before anything is said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench, Stop, cannot
from generator.verifier.targets import Kind
from generator.verifier.thresholds.metric import MetricLimits
from harness.tasks.grading import Grader
from harness.tasks.submission import read_answer_key
from harness.tasks.variants import Line, Outcome, Variant, VariantResult

_STEP = 4
_ROWS = tuple(64 * _STEP**step for step in range(8))
#: For so many rows memory is weighed.
_WEIGHED = (1_024, 4_096)
#: So many rows are enough to see how operations on whole columns grow.
_FEW = 65_536
#: With more rows the metric gets this many times as long, of which it needs some before any loop.
_MORE = {262_144: 3, 1_048_576: 8}
#: Cells of a table that is still handed to the metric, so that wide answers go over no limit of memory.
_CELLS = 4_000_000
#: What is counted in ticks of the clock may be wrong by so many, and by a fifth of what takes 25.
_TICKS, _SURE = 3, 25
#: Once a loop was stopped, these are enough to see whether its lines take longer; and the most rows, where it
#: was stopped early.
_AFTER = (16_384, 262_144)
#: Repetitions of both measurements that a suspicion rests on.
_REPEATS = 2
_FIX = "use operations on whole columns, or look rows up by their id, instead of comparing all pairs of rows"

Runs = Mapping[int, VariantResult]
_NEVER = Line(0, 0, 0.0, 0.0)


def check(bench: Bench) -> Iterator[Finding]:
    """How work grows with the rows, and whether large numbers have a score."""
    yield from _check_work(bench)
    yield from _check_large(bench)


def _check_work(bench: Bench) -> Iterator[Finding]:
    first, limits = bench.many([bench.oracle])[0], bench.case.limits.metric
    if _takes_long(first, limits.slow_seconds):
        yield finding("metric_slow", f"scoring {len(bench.oracle):,} rows takes {first.wall:.0f} s", _FIX)
        return
    heavy = _heavy(bench)
    if heavy:
        yield finding("metric_slow", heavy, _FIX)
        return
    runs: dict[int, VariantResult] = {}
    for rows in _ROWS:
        if not _is_bearable(bench, runs, rows):
            break
        if not _is_worth(runs, rows):
            continue
        runs[rows] = _follow(bench, rows)
        if runs[rows].outcome is Outcome.FAILED and "MemoryError" in runs[rows].message:
            yield finding("metric_slow", f"{rows:,} rows go over the limit of memory", _FIX)
            return
        told = next(filter(None, (_often(limits, runs, number) for number in _numbers(runs))), None)
        if told:
            yield finding("metric_slow", told, _FIX)
            return
    told = next(filter(None, (_long(bench, runs, number) for number in _numbers(runs))), None)
    if told:
        yield finding("metric_slow", told, _FIX)


def _takes_long(result: VariantResult, limit: float) -> bool:
    """By the processor, or by sleeping; on a busy machine anything takes long by the clock."""
    return result.seconds > limit or (result.wall > limit and result.seconds < 0.1 * result.wall)


def _follow(bench: Bench, rows: int) -> VariantResult:
    seconds = bench.case.limits.metric.follow_seconds * _MORE.get(rows, 1)
    variant = Variant(bench.worse, rows=rows)
    return bench.case.grader.score_variants([variant], answers=bench.answers, follow=seconds)[0]


def _heavy(bench: Bench) -> str | None:
    """The evidence that memory grows faster than the rows, or ``None``."""
    limits = bench.case.limits.metric
    weighed = [
        bench.case.grader.score_variants(
            [Variant(bench.worse, rows=rows)], answers=bench.answers, follow=limits.follow_seconds, weigh=True
        )[0].peak
        for rows in _WEIGHED
    ]
    few, many = zip(_WEIGHED, weighed, strict=True)
    # A byte for each pair of rows is the least that a table of all pairs takes.
    if many[1] < many[0] ** 2 or _power(few, many) < limits.growth:
        return None
    return f"{few[0]:,} rows take {few[1] / 1e6:.0f} MB of memory, {many[0]:,} rows {many[1] / 1e6:.0f} MB"


def _is_bearable(bench: Bench, runs: Runs, rows: int) -> bool:
    """Whether so many rows fit into memory, and take no step that is long and cannot be stopped."""
    sizes = list(runs)[-2:]
    if len(sizes) < 2:
        return True
    few, many = ((size, max(runs[size].step, bench.case.limits.metric.tick)) for size in sizes)
    power = min(2.0, max(1.0, _power(few, many)))
    expected = many[1] * (rows / many[0]) ** power
    bearable = expected <= bench.case.limits.metric.follow_step_seconds
    return bearable and rows * bench.oracle.shape[1] <= _CELLS


def _is_worth(runs: Runs, rows: int) -> bool:
    """Whether so many rows can tell more; many are for what a loop over them hides."""
    stopped = [few for few, run in runs.items() if run.outcome is Outcome.STOPPED]
    if stopped:
        return rows in _AFTER or (rows == _ROWS[-1] and stopped[0] <= _AFTER[0])
    loops = any(line.began > few / 2 for few, run in runs.items() for line in run.lines.values())
    return rows <= _FEW or (loops and rows < _ROWS[-1])


def _numbers(runs: Runs) -> list[int]:
    """The lines that ran, the most frequent first: what is inside of a loop before the loop."""
    began: dict[int, int] = {}
    for result in runs.values():
        for number, line in result.lines.items():
            began[number] = max(began.get(number, 0), line.began)
    return sorted(began, key=lambda number: (-began[number], number))


def _often(limits: MetricLimits, runs: Runs, number: int) -> str | None:
    """The evidence that a line runs more often than in proportion to the rows, or ``None``."""
    counted = _counted(runs, number)
    if counted is None or counted[1][1] <= counted[1][0] or _power(*counted) < limits.growth:
        return None
    (few, seldom), (many, often) = counted
    return f"line {number} of metric.py runs {seldom:,} times for {few:,} rows, {often:,} for {many:,}"


def _long(bench: Bench, runs: Runs, number: int) -> str | None:
    """The evidence that a line takes longer, times how often it runs, than in proportion to the rows."""
    limits, power = bench.case.limits.metric, _count_power(runs, number)
    for sizes in _sixteenfold(runs, number):
        before, after = (runs[rows].lines[number] for rows in sizes)
        if not _is_slower(limits, power, (sizes[0], before), (sizes[1], after)):
            continue
        # Once more, and by what speaks most for the metric: other programs may have slowed it down.
        again = [{rows: _follow(bench, rows).lines.get(number) for rows in sizes} for _ in range(_REPEATS)]
        few, many = ([run[rows] for run in again] for rows in sizes)
        before = (max if power >= limits.loop else min)([before, *filter(None, few)], key=_each)
        after = min([after, *filter(None, many)], key=_each)
        if _is_slower(limits, power, (sizes[0], before), (sizes[1], after)):
            how = " runs for each row and" if power >= limits.loop else ""
            return (
                f"line {number} of metric.py{how} takes {_told(before.each)} for {sizes[0]:,} rows, "
                f"{_told(after.each)} for {sizes[1]:,}"
            )
    return None


def _counted(runs: Runs, number: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Rows and runs of a line for two sizes that follow each other: the steeper of the two last such pairs.

    The smaller one came to its end; where the larger one was stopped, its count is the least it can be.
    """
    pairs = []
    for few, many in itertools.pairwise(runs):
        seldom, often = (runs[rows].lines.get(number, _NEVER).began for rows in (few, many))
        ended = [runs[rows].outcome is Outcome.SCORE for rows in (few, many)]
        stopped = runs[many].outcome is Outcome.STOPPED and often > many
        if ended[0] and (ended[1] or stopped) and seldom:
            pairs.append(((few, seldom), (many, often)))
    return max(pairs[-2:], key=lambda pair: _power(*pair), default=None)


def _count_power(runs: Runs, number: int) -> float:
    """The power of the rows with which a line's runs grow, where the metric came to its end; where it did so
    once at most, a line that ran about as often as there are rows is taken for one of a loop."""
    ended = [rows for rows, run in runs.items() if run.outcome is Outcome.SCORE]
    if len(ended) > 1:
        few, many = ((rows, runs[rows].lines.get(number, _NEVER).began) for rows in ended[-2:])
        return _power(few, many)
    return float(any(run.lines.get(number, _NEVER).began > rows / 2 for rows, run in runs.items()))


def _sixteenfold(runs: Runs, number: int) -> list[tuple[int, int]]:
    """Two sizes, one at least sixteen times the other, at which a line ended; the largest first."""
    ended = [rows for rows, run in runs.items() if run.lines.get(number, _NEVER).ended]
    pairs = []
    for many in reversed(ended):
        few = max((rows for rows in ended if rows * _STEP**2 <= many), default=0)
        pairs += [(few, many)] if few else []
    return pairs


def _power(few: tuple[int, float], many: tuple[int, float]) -> float:
    """The power of the rows with which something grows."""
    if few[1] <= 0 or many[1] <= 0:
        return 0.0
    return math.log(many[1] / few[1]) / math.log(many[0] / few[0])


def _is_slower(limits: MetricLimits, power: float, few: tuple[int, Line], many: tuple[int, Line]) -> bool:
    """Whether how often a line runs and how long it takes grow faster together than the rows."""
    before, after, error = few[1].each, many[1].each, _TICKS * limits.tick
    if power >= limits.loop:
        before += error / few[1].ended
        sure = many[1].seconds >= _SURE * limits.tick
        return sure and after >= limits.loop_ratio * before and after - before >= limits.loop_seconds
    together = power + _power((few[0], max(before, limits.tick)), (many[0], after))
    return together >= limits.growth and many[1].ended * after >= limits.line_seconds


def _each(line: Line) -> float:
    return line.each


def _told(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"


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
