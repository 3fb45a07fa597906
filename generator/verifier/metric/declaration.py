"""What task.toml declares of the metric, against what the metric says and gives."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench


def check(bench: Bench) -> Iterator[Finding]:
    """The answers get the declared best, no score lies outside best and worst, and directions agree."""
    declared = bench.case.task.spec.metric
    gap = bench.case.limits.metric.oracle_gap * abs(bench.floor - declared.best)
    if abs(bench.perfect - declared.best) > gap + 1e-6 * max(1.0, abs(declared.best)):
        yield finding(
            "oracle_not_best",
            f"the answers score {bench.perfect:.6g}, metric.best is {declared.best:.6g}",
            "correct the metric, or declare the score that perfect predictions get",
        )
    said = bench.case.grader.higher_is_better
    if said is not None and said != declared.higher_is_better:
        yield finding(
            "direction_mismatch",
            f"task.toml says higher_is_better = {str(declared.higher_is_better).lower()}, "
            f"metric.py says {str(said).lower()}",
            "declare the same direction in both",
        )
