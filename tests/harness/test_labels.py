"""Sandboxes that work for a task say so, and end by themselves when their harness cannot end them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.sandboxes.base import Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.dojo import higher_is_better
from harness.tasks.grading import Grader
from harness.tasks.package import Task
from harness.tasks.preparing import run_prepare

HOUR = 3600.0


class Recording(Bubblewrap):
    """Real sandboxes, with what was asked for kept."""

    def __init__(self) -> None:
        self.specs: list[SandboxSpec] = []

    def start(self, spec: SandboxSpec) -> Sandbox:
        self.specs.append(spec)
        return super().start(spec)


@pytest.fixture
def recording(sandbox: SandboxProvider) -> Recording:
    return Recording()


def test_a_grader_s_sandbox_ends_within_a_day(iris: Task, recording: Recording) -> None:
    with Grader(iris, recording) as grader:
        assert grader.grade(iris.answer_path).valid
    expect(recording, "grader", "reference/iris", 24 * HOUR)


def test_a_preparation_s_an_hour_after_its_time(iris: Task, recording: Recording, tmp_path: Path) -> None:
    assert run_prepare(iris, tmp_path / "out", recording, seconds=600.0).ok
    expect(recording, "prepare", "reference/iris", HOUR + 600.0)


def test_that_of_a_metric_s_direction_an_hour_after_its_time(iris: Task, recording: Recording) -> None:
    assert higher_is_better(iris.metric_path, recording)
    expect(recording, "direction", str(iris.metric_path), HOUR + 60.0)


def expect(recording: Recording, role: str, task: str, seconds: float) -> None:
    (spec,) = recording.specs
    deadline = float(spec.labels["deadline"]) - time.time()
    assert spec.labels == {"role": role, "task": task, "deadline": spec.labels["deadline"]}
    assert seconds - 120.0 < deadline <= seconds + 1.0
