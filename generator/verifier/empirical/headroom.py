"""What is left to do above the baselines, and whether they rise at all by enough."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical.floor import Floor
from generator.verifier.empirical.ladder import SIMPLE
from generator.verifier.empirical.standing import Standing, best, is_separated


def check(case: Case, floor: Floor, standings: list[Standing]) -> Iterator[Finding]:
    """A task is trivial when something simple is as good as perfect and more learning adds nothing.

    A perfect score on few rows may be luck, as on iris, and where stronger baselines clearly improve on a
    nearly perfect simple one there is something to do, as on shuttle: both only deserve a warning.
    """
    limits = case.limits.empirical
    highest = best(standings)
    simple = best([standing for standing in standings if standing.rung.name in SIMPLE])
    if highest is None or not is_separated(case, highest):
        return
    evidence = (
        f"of the way from {floor.name} ({floor.score:.6g}) to the answers ({floor.top:.6g}): "
        + ", ".join(
            f"{standing.rung.name} {standing.gain:.1%} with {standing.rung.score:.6g}"
            for standing in standings
        )
    )
    rows = len(case.key.answers)
    if (
        simple is not None
        and simple.gain >= limits.trivial_gain
        and rows >= limits.trivial_rows
        and highest.gain - simple.gain <= max(limits.trivial_rest, 2.0 / rows)
    ):
        yield finding(
            "trivial",
            f"{evidence}; {rows} test rows",
            "drop the column that gives the target away, or choose a harder target",
        )
    elif highest.gain >= limits.ceiling_gain:
        yield finding("ceiling", f"{evidence}; {rows} test rows", "choose a harder target, or a finer metric")
    elif highest.high < limits.weak_gain:
        yield finding(
            "weak_signal", evidence, "choose a target that the features tell more about, or add features"
        )
