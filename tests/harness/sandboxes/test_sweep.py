"""What a killed harness leaves behind is removed; what a living one uses is not."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import SandboxLost
from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.containers import images
from harness.sandboxes.containers.container import Container
from harness.sandboxes.containers.engine import Engine
from harness.sandboxes.containers.sweep import OWNER, find_orphans, remove_orphans
from harness.sandboxes.docker import Docker
from harness.sandboxes.kernel.owners import Life, Owner
from harness.tasks import grading
from harness.tasks.grading import Grader
from harness.tasks.package import Task

SPEC = SandboxSpec((), "/mlesmith/work")
#: A harness: starts a sandbox, says so, and runs a program in it.
HARNESS = """
import sys
from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.docker import Docker
from harness.sandboxes.containers.engine import Engine

url, image, trial = sys.argv[1:]
sandbox = Docker(image, Engine(url)).start(SandboxSpec((), "/mlesmith/work", labels={"trial": trial}))
sandbox.run(["true"])
print("started", flush=True)
sandbox.run(["sleep", "601"])
"""


def harness(engine: Engine, image: str, trial: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, engine.url, image, trial],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    return process


def orphans_of(engine: Engine, trial: str, *, all_unknown: bool = False) -> list[str]:
    found = find_orphans(engine, all_unknown=all_unknown)
    return [orphan.why for orphan in found if orphan.labels.get("trial") == trial]


def running(engine: Engine, trial: str) -> int:
    return len(engine.api.containers(all=True, filters={"label": f"mlesmith.trial={trial}"}))


def programs_of(engine: Engine, trial: str) -> list[str]:
    """The command lines that run in a trial's container."""
    (container,) = engine.api.containers(filters={"label": f"mlesmith.trial={trial}"})
    return [process[-1] for process in engine.api.top(container["Id"])["Processes"]]


def test_with_its_harness_ends_what_runs_in_the_sandbox(engine: Engine, docker_image: str) -> None:
    process = harness(engine, docker_image, "sweep-program")
    process.send_signal(signal.SIGKILL)
    process.wait()

    limit = time.monotonic() + 20
    while any("python" in line or "601" in line for line in programs_of(engine, "sweep-program")):
        assert time.monotonic() < limit
        time.sleep(0.1)

    remove_orphans(engine, [o for o in find_orphans(engine) if o.labels.get("trial") == "sweep-program"])


def test_a_killed_harness_leaves_a_container_which_the_sweep_removes(
    engine: Engine, docker_image: str
) -> None:
    process = harness(engine, docker_image, "sweep-killed")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert running(engine, "sweep-killed") == 1

    orphans = [orphan for orphan in find_orphans(engine) if orphan.labels.get("trial") == "sweep-killed"]
    removed = remove_orphans(engine, orphans)

    assert [orphan.why for orphan in removed] == ["its harness has ended"]
    assert running(engine, "sweep-killed") == 0


def test_a_living_harness_keeps_its_container(engine: Engine, docker_image: str) -> None:
    process = harness(engine, docker_image, "sweep-living")
    try:
        assert orphans_of(engine, "sweep-living") == []
        assert orphans_of(engine, "sweep-living", all_unknown=True) == []
    finally:
        process.kill()
        process.wait()
        remove_orphans(engine, [o for o in find_orphans(engine) if o.labels.get("trial") == "sweep-living"])


def test_a_container_of_another_job_is_left_while_ours_is_removed(
    engine: Engine, docker_image: str, docker_sandbox: Docker
) -> None:
    with docker_sandbox.start(replace(SPEC, labels={"trial": "sweep-mine"})) as sandbox:
        sandbox.run(["true"])

        remove_orphans(engine, find_orphans(engine))

        assert sandbox.run(["true"]).ok


class TestOfAnotherMachine:
    """Nobody can tell from here whether its harness lives, so only its deadline counts."""

    @pytest.fixture
    def make(self, engine: Engine, docker_image: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
        other = replace(Owner.me(), boot="00000000-1111-2222-3333-444444444444")
        monkeypatch.setattr(Owner, "me", lambda: other)
        made: list[Container] = []

        def make(trial: str, deadline: float) -> None:
            spec = replace(SPEC, labels={"trial": trial, "deadline": str(deadline)})
            made.append(Container(engine, images.find(engine, docker_image), spec))
            made[-1].create()

        yield make
        for container in made:
            container.remove()

    def test_before_its_deadline_it_is_left_unless_all_are_asked_for(self, engine: Engine, make) -> None:  # type: ignore[no-untyped-def]
        make("sweep-early", time.time() + 600)

        assert orphans_of(engine, "sweep-early") == []
        assert orphans_of(engine, "sweep-early", all_unknown=True) == ["its harness is unknown here"]

    def test_after_its_deadline_it_is_an_orphan(self, engine: Engine, make) -> None:  # type: ignore[no-untyped-def]
        make("sweep-late", time.time() - 1)

        assert orphans_of(engine, "sweep-late") == ["its deadline has passed"]


def test_a_container_ends_by_itself_at_its_deadline(engine: Engine, docker_sandbox: Docker) -> None:
    spec = replace(SPEC, labels={"trial": "sweep-itself", "deadline": str(time.time() + 3)})
    with docker_sandbox.start(spec) as sandbox:
        sandbox.run(["true"])
        limit = time.monotonic() + 30
        while running(engine, "sweep-itself") and time.monotonic() < limit:
            time.sleep(0.2)

        assert running(engine, "sweep-itself") == 0


def test_a_grader_whose_container_has_ended_at_its_deadline_starts_another(
    engine: Engine, docker_sandbox: Docker, iris: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "_LIFETIME_SECONDS", 3.0)
    mine = {"label": [f"{OWNER}={Owner.me()}", "mlesmith.role=grader"]}
    with Grader(iris, docker_sandbox) as grader:
        with contextlib.suppress(SandboxLost):  # on a slow machine
            grader.grade(iris.answer_path)
        limit = time.monotonic() + 30
        while engine.api.containers(all=True, filters=mine) and time.monotonic() < limit:
            time.sleep(0.2)
        assert engine.api.containers(all=True, filters=mine) == []
        monkeypatch.undo()

        assert grader.grade(iris.answer_path).valid


class TestOwner:
    def test_reads_what_it_wrote(self) -> None:
        assert Owner.parse(str(Owner.me())) == Owner.me()

    @pytest.mark.parametrize("text", ["", "x", "a/b/c/d", "1/2/3", "1a-2b/3/4/5/6"])
    def test_anything_else_is_nobody(self, text: str) -> None:
        assert Owner.parse(text) is None

    def test_this_process_is_alive(self) -> None:
        assert Owner.me().life is Life.ALIVE

    def test_a_process_that_has_ended_is_gone(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()

        assert replace(Owner.me(), pid=process.pid).life is Life.GONE

    def test_another_process_with_the_number_is_not_the_owner(self) -> None:
        assert replace(Owner.me(), start=1).life is Life.GONE

    @pytest.mark.parametrize("other", [{"boot": "0-0"}, {"pid_namespace": 1}])
    def test_elsewhere_nobody_can_tell(self, other: dict[str, str]) -> None:
        assert replace(Owner.me(), **other).life is Life.UNKNOWN
