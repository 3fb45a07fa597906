"""Trials of a task share its grader, which is open only while one of them needs it."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from harness.graders import Graders
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task, load_task


@pytest.fixture
def graders(iris: Task, sandbox: SandboxProvider) -> Graders:
    """For two trials of the task."""
    return Graders(sandbox, [iris, iris])


def test_trials_share_one_which_is_closed_after_the_last(iris: Task, graders: Graders) -> None:
    with graders.lease(iris) as first:
        assert first.grade(iris.answer_path).valid
    started = first._sandbox
    assert started is not None
    with graders.lease(iris) as second:
        assert second is first
        assert second._sandbox is started
    assert first._sandbox is None


def test_one_that_is_slow_to_close_holds_up_no_other_task(
    iris: Task, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    other = load_task(Path(shutil.copytree(iris.root, tmp_path / "other" / "iris")))
    graders = Graders(sandbox, [iris, other])
    closing, go_on = Event(), Event()

    def close_slowly() -> None:
        with graders.lease(iris) as grader:
            close = grader.close
            grader.close = lambda: (closing.set(), go_on.wait(60), close())  # type: ignore[assignment]

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(close_slowly)
        assert closing.wait(60)
        with graders.lease(other) as grader:
            assert grader.grade(other.answer_path).valid
        assert not slow.done()
        go_on.set()
        slow.result(60)


def test_what_is_open_at_the_end_is_closed(iris: Task, graders: Graders) -> None:
    with graders.lease(iris) as grader:
        assert grader.grade(iris.answer_path).valid
    graders.close()
    graders.close()
    assert grader._sandbox is None


def test_a_trial_that_is_not_run_keeps_none_open(iris: Task, graders: Graders) -> None:
    with graders.lease(iris) as grader:
        assert grader.grade(iris.answer_path).valid
    assert grader._sandbox is not None
    graders.forgo(iris)
    assert grader._sandbox is None
