"""Who gets a defect back."""

from __future__ import annotations

import pytest

from generator.defects.base import Severity
from generator.defects.registry import DEFECTS, finding
from generator.pipeline.routing import Agent, responsible, route


def test_every_defect_has_somebody_who_is_responsible() -> None:
    found = {responsible(finding(code, "seen", "mend it")) for code in DEFECTS}
    assert found == set(Agent)


@pytest.mark.parametrize(
    ("codes", "agent"),
    [
        (["unlearnable"], Agent.BRAINSTORMER),
        (["group_leak"], Agent.DESIGNER),
        (["description_names"], Agent.REFACTOR),
        (["direction_mismatch"], Agent.REFACTOR),
        # The earliest decision is mended first: what came after it may be gone then.
        (["description_names", "target_in_test"], Agent.DESIGNER),
        (["target_in_test", "constant_target", "prepare_failed"], Agent.BRAINSTORMER),
    ],
)
def test_the_earliest_agent_that_is_responsible_works_next(codes: list[str], agent: Agent) -> None:
    findings = [finding(code, "seen", "mend it") for code in codes]
    assert route(findings) == (agent, tuple(findings))


def test_warnings_go_along_but_decide_nothing() -> None:
    warning = finding("duplicate_task", "seen", "mend it", Severity.WARNING)
    error = finding("description_names", "seen", "mend it")
    assert route([warning, error]) == (Agent.REFACTOR, (warning, error))
    with pytest.raises(ValueError, match="nothing has to be mended"):
        route([warning])
