"""The agent without feedback, and the probe of its sandbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from generator.defects.base import Severity
from generator.verifier.empirical.trials import open_trials
from generator.verifier.execution import gate
from generator.verifier.thresholds.config import Thresholds
from generator.verifier.thresholds.execution import ExecutionLimits
from harness.sandboxes.base import ROOT, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.process import Process
from tests.generator.verifier.ladders import case_of, measured, messages

Made = Callable[[], tuple[pd.DataFrame, pd.DataFrame, str]]
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


def test_a_clean_task_is_worked_on_in_an_isolated_sandbox(sandbox: SandboxProvider, tmp_path: Path) -> None:
    case = case_of(messages(), tmp_path, sandbox, limits=QUICK)
    with case.grader:
        assert list(gate.check(case)) == []
    assert "agent" in case.scores


@pytest.mark.parametrize("made", [measured, messages])
def test_answers_within_reach_of_agents(made: Made, sandbox: SandboxProvider, tmp_path: Path) -> None:
    """Under another name and with a line more, so that only the rows themselves give them away."""
    more = tmp_path / "more"
    more.mkdir()
    case = case_of(made(), tmp_path, Careless(more), limits=QUICK)
    (more / "notes.txt").write_text("for later\n" + case.prepared.answer_path.read_text())
    with open_trials(case) as trials:
        (found,) = gate.check_reach(case, trials)
    assert (found.code, found.severity) == ("private_reachable", Severity.ERROR)
    assert "/mlesmith/more/notes.txt (200 answers)" in found.evidence


def test_a_sandbox_that_claims_nothing_is_worth_a_warning(tmp_path: Path) -> None:
    case = case_of(measured(), tmp_path, Process(), limits=QUICK)
    with open_trials(case) as trials:
        (found,) = gate.check_reach(case, trials)
    assert (found.code, found.severity) == ("private_reachable", Severity.WARNING)


def test_an_agent_that_hands_in_nothing_fails_where_baselines_did_not(
    sandbox: SandboxProvider, tmp_path: Path
) -> None:
    limits = Thresholds(execution=ExecutionLimits(candidate="scripted/nop"))
    case = case_of(measured(), tmp_path, sandbox, limits=limits)
    with case.grader, open_trials(case) as trials:
        assert list(gate.check_agent(case, trials)) == []  # nor has any baseline a score
        case.scores["ladder/linear"] = 1.0
        (found,) = gate.check_agent(case, trials)
    assert (found.code, found.severity) == ("execution_failed", Severity.ERROR)


def test_without_a_name_the_cheapest_baseline_that_rose_works(
    sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """On a target that no line follows this is the tree; without a ladder it is the linear model."""
    case = case_of(measured(), tmp_path, sandbox)
    case.exhibits["ladder"] = [
        {"name": "tree", "score": 1.0, "gain": 0.5, "low": 0.4, "high": 0.6},
        {"name": "linear", "score": 1.9, "gain": 0.05, "low": -0.1, "high": 0.2},
        {"name": "forest", "score": 0.9, "gain": 0.55, "low": 0.4, "high": 0.7},
    ]
    assert gate.cheapest(case) == "tree"
    case.exhibits["ladder"] = [each | {"low": -1.0} for each in case.exhibits["ladder"]]
    assert gate.cheapest(case) == "forest"
    case.exhibits = {}
    assert gate.cheapest(case) == "linear"


def test_an_agent_at_the_floor(sandbox: SandboxProvider, tmp_path: Path) -> None:
    limits = Thresholds(execution=ExecutionLimits(candidate="scripted/sample"))
    case = case_of(measured(), tmp_path, sandbox, limits=limits)
    with case.grader, open_trials(case) as trials:
        case.exhibits["floors"] = [{"name": "sample", "score": 0.1}]
        (found,) = gate.check_agent(case, trials)
    assert (found.code, found.severity) == ("execution_below_floor", Severity.WARNING)
