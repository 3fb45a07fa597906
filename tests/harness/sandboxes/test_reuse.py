"""A sandbox that is handed on is the same process, emptied; what must not be handed on is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import SandboxLost
from harness.sandboxes.base import ROOT, FileRefused, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.reuse import Reusing
from harness.sandboxes.warm.parent import kill_started_sandboxes

WORK = f"{ROOT}/work"
PID_OF_PARENT = b"import os; print(os.getppid(), os.stat('/proc/self/ns/pid').st_ino)"


@pytest.fixture
def shelf(sandbox: SandboxProvider) -> Iterator[Reusing]:
    with Reusing(sandbox, keep=1) as shelf:
        yield shelf


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    tmp_path.chmod(0o755)
    return SandboxSpec((Mount(tmp_path, f"{ROOT}/public"),), WORK, labels={"trial": "first"})


def said(sandbox: Sandbox, code: bytes) -> str:
    program = sandbox.inside(f"{WORK}/main.py")
    sandbox.put(code, program)
    return sandbox.run_python(program).output


def test_the_next_user_gets_the_same_sandbox_without_the_files(shelf: Reusing, spec: SandboxSpec) -> None:
    with shelf.start(spec) as first:
        first.put(b"secret", first.inside(f"{WORK}/left"))
        one = said(first, PID_OF_PARENT)
    with shelf.start(replace(spec, labels={"trial": "second"})) as second:
        assert said(second, PID_OF_PARENT) == one
        assert said(second, b"import os; print(sorted(os.listdir('.')))") == "['main.py']\n"
        with pytest.raises(FileRefused):
            second.get(second.inside(f"{WORK}/left"), spec.mounts[0].source / "copy", max_bytes=100)


def test_two_users_at_a_time_have_one_each(shelf: Reusing, spec: SandboxSpec) -> None:
    with shelf.start(spec) as first, shelf.start(spec) as second:
        assert said(first, PID_OF_PARENT) != said(second, PID_OF_PARENT)


def test_who_asks_for_something_else_gets_a_new_one(
    shelf: Reusing, spec: SandboxSpec, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    other.chmod(0o755)
    with shelf.start(spec) as first:
        one = said(first, PID_OF_PARENT)
    with shelf.start(replace(spec, mounts=(Mount(other, f"{ROOT}/public"),))) as second:
        assert said(second, PID_OF_PARENT) != one


def test_a_lost_sandbox_is_not_handed_on(shelf: Reusing, spec: SandboxSpec) -> None:
    with shelf.start(spec) as first:
        one = said(first, PID_OF_PARENT)
        kill_started_sandboxes()
        with pytest.raises(SandboxLost):
            first.run(["true"])
    with shelf.start(spec) as second:
        assert said(second, PID_OF_PARENT) != one


def test_a_stopped_sandbox_serves_its_user_no_more(shelf: Reusing, spec: SandboxSpec) -> None:
    first = shelf.start(spec)
    first.stop()
    first.stop()
    with pytest.raises(SandboxLost, match="stopped"):
        first.run(["true"])
