"""`mlesmith sandbox` as people use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import SandboxProvider, SandboxSpec
from harness.sandboxes.containers import images
from harness.sandboxes.containers.container import Container
from harness.sandboxes.containers.engine import Engine
from harness.sandboxes.kernel import cgroups
from harness.sandboxes.kernel.owners import Owner
from mlesmith.main import app


def mlesmith(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sandbox", *map(str, arguments)])


def document(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    done = mlesmith(*arguments, "--json")
    assert done.exit_code == exit_code, done.output
    read: dict[str, Any] = json.loads(done.stdout)
    assert read["schema_version"] == 1
    return read


def left_by(code: str) -> str:
    """What a harness that has ended printed about what it left behind."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")


@pytest.fixture
def orphan(engine: Engine, docker_image: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A container whose harness has ended."""
    image = images.find(engine, docker_image)
    ended = subprocess.Popen(["true"])
    ended.wait()
    with monkeypatch.context() as patch:
        owner = replace(Owner.me(), pid=ended.pid)
        patch.setattr(Owner, "me", lambda: owner)
        container = Container(engine, image, SandboxSpec((), "/mlesmith/work", labels={"trial": "[orphan]"}))
        yield container.create()
    container.remove()


class TestCheck:
    def test_tells_of_every_sandbox(self, sandbox: SandboxProvider, no_engine: None) -> None:
        found = {entry["name"]: entry for entry in document("check")["sandboxes"]}

        assert set(found) == {"bubblewrap", "docker", "process"}
        assert found[sandbox.name]["capabilities"]["isolated"] is True
        assert found["process"]["capabilities"]["isolated"] is False

    def test_says_why_one_cannot_run(self, sandbox: SandboxProvider, no_engine: None) -> None:
        shown = mlesmith("check")

        assert shown.exit_code == 0
        assert "docker: there is no container engine" in shown.output
        assert "GPUs:" in shown.output

    def test_fails_when_nothing_isolates(
        self, no_engine: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))

        assert {entry["available"] for entry in document("check", exit_code=1)["sandboxes"][:2]} == {False}


class TestBuild:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--gpu", "--cpu"), "choose one of"),
            (("--host", "--rootfs", "x.tar"), "choose one of"),
            (("--host", "--base", "debian"), "--base goes with"),
            (("--cpu", "--tag", "untagged"), "NAME:TAG"),
            (("--cpu", "--tag", "host:5000/untagged"), "NAME:TAG"),
        ],
    )
    def test_options_that_do_not_go_together(self, arguments: tuple[str, ...], said: str) -> None:
        done = mlesmith("build", *arguments)

        assert done.exit_code == 2
        assert said in done.output

    def test_without_an_engine_nothing_is_built(self, no_engine: None) -> None:
        done = mlesmith("build", "--host")

        assert isinstance(done.exception, SandboxUnavailable)


class TestSweep:
    def test_shows_removes_and_then_finds_nothing(self, orphan: str) -> None:
        def mine(*arguments: str) -> list[dict[str, Any]]:
            containers = document("sweep", *arguments)["containers"]
            return [entry for entry in containers if entry["container"] == orphan]

        (shown,) = mine("--dry-run")
        (removed,) = mine()

        assert shown == {
            "container": orphan,
            "labels": {"trial": "[orphan]"},
            "why": "its harness has ended",
            "removed": False,
        }
        assert removed == {**shown, "removed": True}
        assert mine() == []

    def test_says_in_words_what_it_would_do(self, orphan: str) -> None:
        line = f"would remove container {orphan[:12]} (trial [orphan]): its harness has ended"

        assert line in mlesmith("sweep", "--dry-run").output.splitlines()

    def test_folders_of_killed_jobs_are_shown_and_removed(
        self, no_engine: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where no other test sweeps
        made = f"tempfile.mkdtemp(prefix=leftovers.prefix('test'), dir={str(tmp_path)!r})"
        folder = left_by(f"import tempfile; from harness.sandboxes.kernel import leftovers; print({made})")

        assert f"would remove folder {folder}" in mlesmith("sweep", "--dry-run").output.splitlines()
        assert folder in document("sweep", "--dry-run")["folders"]
        assert folder in document("sweep")["folders"]
        assert not Path(folder).exists()

    @pytest.mark.skipif(not cgroups.controllers(), reason="no control groups can be made here")
    def test_control_groups_of_killed_jobs_are_shown_and_removed(
        self, no_engine: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        parent = f"mlesmith-{os.getpid()}"
        monkeypatch.setattr(cgroups, "PARENT", parent)  # where no other test sweeps
        group = left_by(
            "from harness.sandboxes.base import Limits; from harness.sandboxes.kernel import cgroups; "
            f"cgroups.PARENT = {parent!r}; group = cgroups.Cgroup.create('left', Limits()); "
            "print(next(iter(group._groups)).name)"
        )

        assert f"would remove control group {group}" in mlesmith("sweep", "--dry-run").output.splitlines()
        assert document("sweep", "--dry-run")["control_groups"] == [group]
        assert document("sweep")["control_groups"] == [group]
        assert document("sweep")["control_groups"] == []
        for hierarchy in cgroups.hierarchies():
            (hierarchy.folder / parent).rmdir()

    def test_without_an_engine_it_says_so_and_goes_on(self, no_engine: None) -> None:
        found = document("sweep")

        assert found["containers"] == []
        assert "no container engine" in found["engine_problem"]
