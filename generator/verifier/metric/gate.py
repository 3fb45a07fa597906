"""Gate 4: the metric, probed with the answers, with answers made wrong step by step, and with bad files.

Answers, sample and uninformed submissions are scored with the task cut to ``scored_rows``, all probes with
fewer rows, and answers and sample once more at full size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from generator.defects.base import Finding, has_errors
from generator.verifier.case import Case
from generator.verifier.empirical.floor import uninformed
from generator.verifier.metric import (
    balance,
    coverage,
    declaration,
    direction,
    formula,
    growth,
    lenience,
    malformed,
    order,
    probabilities,
    repetition,
    resolution,
)
from generator.verifier.metric.bench import Bench, Stop, cannot, narrowed, open_bench
from generator.verifier.sampling import told
from harness.tasks.submission import Reason

Part = Callable[[Bench], Iterator[Finding]]

#: In this order; each needs that those before found no error.
_FIRST: tuple[Part, ...] = (repetition.check, direction.check)
#: These look at different sides of a metric that is sound so far.
_THEN: tuple[Part, ...] = (
    order.check,
    probabilities.check,
    coverage.check,
    balance.check,
)
#: These need no more than a score.
_LAST: tuple[Part, ...] = (malformed.check, lenience.check)


def check(case: Case) -> Iterator[Finding]:
    """Findings about the metric. Leaves the scores of oracle, sample and exchanged answers in the case."""
    case.say("probing the metric")
    try:
        bench = open_bench(case)
        _score_uninformed(bench)
        if bench.unscored_sample:
            yield bench.unscored_sample
        yield from declaration.check(bench)
        small = narrowed(bench)
        part_of = told(len(small.answers), len(case.answers))
        for found in _probe(small):
            yield replace(found, evidence=found.evidence + part_of)
        yield from growth.check_full_size(bench)
    except Stop as stop:
        yield stop.finding


def _probe(bench: Bench) -> Iterator[Finding]:
    found: list[Finding] = []
    try:
        for part in _FIRST:
            found += part(bench)
            if has_errors(found):
                break
    except Stop as stop:
        yield stop.finding
        return
    yield from found
    if not has_errors(found):
        yield from _look_closer(bench)
    elif not any(one.code == "metric_random" for one in found):
        yield from order.check(bench)
    for part in _LAST:
        yield from part(bench)


def _look_closer(bench: Bench) -> Iterator[Finding]:
    found = list(growth.check(bench))
    # Its resolution takes hundreds of scores, for which a slow metric is too slow.
    slow = any(one.code == "metric_slow" for one in found)
    for part in _THEN if slow else (*_THEN, resolution.check):
        found += part(bench)
    yield from found
    if not any(one.code == "metric_thresholds" for one in found):
        yield from formula.check(bench)


def _score_uninformed(bench: Bench) -> None:
    """Scores of submissions that know nothing, for this gate and the empirical one.

    Raises:
        Stop: the metric fails on one of them.
    """
    case = bench.case
    for name, frame in uninformed(case).items():
        result = case.grader.grade_frame(frame)
        if result.reason is Reason.METRIC_NOT_FINITE and bench.unscored_sample:
            continue
        if result.task_defect:
            raise Stop(cannot(result, name.replace("_", " ")))
        if result.raw_score is not None:
            case.scores[name] = result.raw_score
    names = [name for name in uninformed(case) if name in case.scores]
    case.exhibits["floors"] = [{"name": name, "score": case.scores[name]} for name in names]
