"""Which agent gets a defect back: the one whose decision it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from generator.defects.base import Finding, Gate, Severity


class Agent(StrEnum):
    """The agents in the order in which they work. A defect goes to the first whose decision it is."""

    BRAINSTORMER = "brainstormer"
    DESIGNER = "designer"
    REFACTOR = "refactor"


#: The target itself is wrong: no other design of it would help.
_IDEAS = frozenset(
    {"constant_target", "unlearnable", "trivial", "nothing_to_learn", "licence_unclear", "duplicate_task"}
)
#: The form of the package, by which gates that look at other things notice it.
_FORM = frozenset(
    {"sample_invalid", "missing_output", "columns_differ", "direction_mismatch", "private_reachable"}
)
_BY_GATE = {
    Gate.STRUCTURE: Agent.REFACTOR,
    Gate.PREPARATION: Agent.REFACTOR,
    Gate.DATA: Agent.DESIGNER,
    Gate.METRIC: Agent.DESIGNER,
    Gate.EMPIRICAL: Agent.DESIGNER,
    Gate.DESCRIPTION: Agent.REFACTOR,
    Gate.REVIEW: Agent.DESIGNER,
    Gate.EXECUTION: Agent.REFACTOR,
}


def responsible(finding: Finding) -> Agent:
    """The agent that can mend it."""
    if finding.code in _IDEAS:
        return Agent.BRAINSTORMER
    if finding.code in _FORM:
        return Agent.REFACTOR
    return _BY_GATE[finding.stage]


def route(findings: Iterable[Finding]) -> tuple[Agent, tuple[Finding, ...]]:
    """Who works next, and on what: the earliest agent that is responsible for an error.

    It is given everything that was found, as what the others would mend may be gone after its work.

    Raises:
        ValueError: there is no error among them.
    """
    findings = tuple(findings)
    errors = [found for found in findings if found.severity is Severity.ERROR]
    if not errors:
        raise ValueError("no finding of severity error, so nothing has to be mended")
    order = list(Agent)
    return min((responsible(found) for found in errors), key=order.index), findings
