"""The gates that look at a loaded task, in order of cost, and what must hold before each is worth running."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from generator.defects.base import Finding, Gate, has_errors
from generator.verifier.case import Case
from generator.verifier.data import gate as data
from generator.verifier.description import gate as description
from generator.verifier.empirical import gate as empirical
from generator.verifier.execution import gate as execution
from generator.verifier.metric import gate as metric
from generator.verifier.preparation import gate as preparation

#: With one of these there is nothing that the later gates could look at.
UNPREPARED = frozenset(
    {
        "prepare_failed",
        "prepare_timeout",
        "prepare_needs_network",
        "prepare_needs_place",
        "prepare_alters_raw",
        "missing_output",
        "linked_output",
        "unreadable_table",
        "columns_differ",
        "ids_differ",
    }
)
#: With one of these no answer can be looked up by its id, so the metric has nothing to work on.
UNGRADABLE = frozenset({"duplicate_ids", "missing_answers", "sample_invalid"})


@dataclass(frozen=True)
class Step:
    """One gate in the line.

    Attributes:
        gate: its name.
        check: yields findings and may set parts of the case.
        blocked: by which errors so far, beside :data:`UNPREPARED`; ``None`` by any.
        costly: it trains or asks models, and is left out of a quick verification.
    """

    gate: Gate
    check: Callable[[Case], Iterator[Finding]]
    blocked: frozenset[str] | None = frozenset()
    costly: bool = False

    def is_blocked(self, findings: Collection[Finding]) -> bool:
        """Whether what was found so far makes running it pointless."""
        errors = {found.code for found in findings if has_errors([found])}
        return bool(errors if self.blocked is None else errors & (UNPREPARED | self.blocked))


STEPS: tuple[Step, ...] = (
    Step(Gate.PREPARATION, preparation.check),
    Step(Gate.DATA, data.check),
    Step(Gate.METRIC, metric.check, blocked=UNGRADABLE),
    Step(Gate.EMPIRICAL, empirical.check, blocked=None, costly=True),
    Step(Gate.DESCRIPTION, description.check),
    Step(Gate.EXECUTION, execution.check, blocked=None, costly=True),
)
