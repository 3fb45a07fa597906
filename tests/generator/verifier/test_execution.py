"""The agent without feedback, and the probe of its sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generator.defects.base import Severity
from generator.verifier.execution import gate
from generator.verifier.thresholds.config import Thresholds
from generator.verifier.thresholds.execution import ExecutionLimits
from harness.sandboxes.base import ROOT, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.process import Process
from tests.generator.verifier.ladders import case_of, measured, messages

QUICK = Thresholds(execution=ExecutionLimits(candidate="scripted/tree"))


class Careless(Bubblewrap):
    """Shows agents a folder too many."""

    name = "careless"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def start(self, spec: SandboxSpec) -> Sandbox:
        if any(mount.target.endswith("/public") for mount in spec.mounts):
            spec = replace(spec, mounts=(*spec.mounts, Mount(self._folder, f"{ROOT}/more")))
        return super().start(spec)


@pytest.mark.parametrize("made", [measured, messages])
def test_a_clean_task_is_worked_on_in_an_isolated_sandbox(
    made: object, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    assert callable(made)
    case = case_of(made(), tmp_path, sandbox, limits=QUICK)
    with case.grader:
        assert list(gate.check(case)) == []
    assert "agent" in case.scores


@pytest.mark.parametrize("made", [measured, messages])
def test_answers_within_reach_of_agents(made: object, sandbox: SandboxProvider, tmp_path: Path) -> None:
    """Under another name and with a line more, so that only the rows themselves give them away."""
    assert callable(made)
    more = tmp_path / "more"
    more.mkdir()
    case = case_of(made(), tmp_path, Careless(more), limits=QUICK)
    (more / "notes.txt").write_text("for later\n" + case.prepared.answer_path.read_text())
    with case.grader:
        (found,) = [each for each in gate.check(case) if each.code == "private_reachable"]
    assert found.severity is Severity.ERROR
    assert "/mlesmith/more/notes.txt (200 answers)" in found.evidence


def test_a_sandbox_that_claims_nothing_is_worth_a_warning(tmp_path: Path) -> None:
    case = case_of(measured(), tmp_path, Process(), limits=QUICK)
    with case.grader:
        (found,) = [each for each in gate.check(case) if each.code == "private_reachable"]
    assert found.severity is Severity.WARNING


def test_an_agent_that_hands_in_nothing_fails_where_baselines_did_not(
    sandbox: SandboxProvider, tmp_path: Path
) -> None:
    limits = Thresholds(execution=ExecutionLimits(candidate="scripted/nop"))
    case = case_of(measured(), tmp_path, sandbox, limits=limits)
    with case.grader:
        assert list(gate.check(case)) == []  # nor has any baseline a score
        case.scores["ladder/linear"] = 1.0
        (found,) = gate.check(case)
    assert (found.code, found.severity) == ("execution_failed", Severity.ERROR)


def test_an_agent_at_the_floor(sandbox: SandboxProvider, tmp_path: Path) -> None:
    limits = Thresholds(execution=ExecutionLimits(candidate="scripted/sample"))
    case = case_of(measured(), tmp_path, sandbox, limits=limits)
    with case.grader:
        case.exhibits["floors"] = [{"name": "sample", "score": 0.1}]
        (found,) = gate.check(case)
    assert (found.code, found.severity) == ("execution_below_floor", Severity.WARNING)
