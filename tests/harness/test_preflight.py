"""What a job will run on, looked at before anything runs."""

from __future__ import annotations

import logging
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pynvml
import pytest

from harness.errors import InputError, SandboxUnavailable
from harness.preflight import Ground, look
from harness.sandboxes.base import Hold, SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.package import SandboxNeeds, Task, load_task
from harness.tasksets.catalogue import reference_task, ships_with_us


@pytest.fixture(autouse=True)
def _no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without GPUs, also where there are some."""

    def fails() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fails)


def ground(*tasks: Task, workers: int = 0, scripted: bool = True, **settings: Any) -> Ground:
    config = SandboxConfig.model_validate(settings)
    return look(config, tasks, scripted=scripted, workers=workers, out=Path("/tmp/job"))


def opening(task: Task, *hosts: str) -> Task:
    needs = SandboxNeeds(allow_hosts=hosts)
    return Task(task.root, task.spec.model_copy(update={"sandbox": needs}))


def test_workers_are_leases_or_else_processors(iris: Task) -> None:
    process: dict[str, Any] = {"kind": "process", "trust": True}
    assert ground(iris, **process).workers == os.cpu_count()
    assert ground(iris, **process, workers=3).workers == 3
    gpus = {"gpus": "GPU-a,GPU-b,GPU-c"}
    assert ground(iris, **process, **gpus).workers == 3
    assert ground(iris, **process, **gpus, gpus_per_trial=2).workers == 1
    assert ground(iris, **process, **gpus, workers=8).workers == 8


def test_gpus_that_cannot_be_had_are_refused_before_anything_runs(
    iris: Task, sandbox: SandboxProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    process: dict[str, Any] = {"kind": "process", "trust": True}
    with pytest.raises(InputError, match="--gpus-per-trial 3: there are 2"):
        ground(iris, **process, gpus="0,1", gpus_per_trial=3)
    with pytest.raises(InputError, match="--gpus: 'first' is no index"):
        ground(iris, **process, gpus="first")
    with pytest.raises(InputError, match="--gpus all: found none: NVIDIA's driver does not"):
        ground(iris, **process, gpus="all")
    with pytest.raises(SandboxUnavailable, match="NVIDIA's driver does not answer"):
        ground(iris, kind="bubblewrap", gpus="0")
    without = replace(sandbox.capabilities, gpus=False)
    monkeypatch.setattr(Bubblewrap, "capabilities", without)
    with pytest.raises(InputError, match="bubblewrap cannot hand in GPUs; choose --sandbox docker"):
        ground(iris, kind="bubblewrap", gpus="0")


def test_hosts_are_those_of_the_task_and_of_the_job(iris: Task, sandbox: SandboxProvider) -> None:
    closed = replace(iris, spec=iris.spec.model_copy(update={"set": "other"}))
    found = ground(opening(iris, "b.org"), closed, kind="bubblewrap", allow_hosts=["a.org", "b.org"])
    assert found.hosts == {"reference/iris": ("a.org", "b.org"), "other/iris": ("a.org", "b.org")}
    found = ground(opening(iris, "b.org"), closed, kind="bubblewrap")
    assert found.hosts == {"reference/iris": ("b.org",), "other/iris": ()}
    assert [line for line in found.lines() if line.startswith("network")] == [
        "network none (other/iris)",
        "network b.org (reference/iris)",
    ]


def test_a_sandbox_that_cannot_hold_to_hosts_opens_none(iris: Task) -> None:
    for task, settings in ((opening(iris, "a.org"), {}), (iris, {"allow_hosts": ["*"]})):
        with pytest.raises(InputError, match="process cannot open the network for named hosts"):
            ground(task, kind="process", trust=True, **settings)


def test_what_cannot_be_held_here_is_said(iris: Task, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = ground(iris, kind="process", trust=True)
    gaps = found.provider.capabilities.gaps()
    assert f"the sandbox process cannot hold here: {'; '.join(gaps)}" in caplog.text
    assert "processes: not at all" in gaps


def test_what_can_be_held_is_not_mentioned(
    iris: Task, sandbox: SandboxProvider, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = replace(sandbox.capabilities, system_calls=True, memory=Hold.WATCHED, cpus=Hold.KERNEL)
    monkeypatch.setattr(Bubblewrap, "capabilities", firm)
    ground(iris, kind="bubblewrap")
    assert "cannot hold" not in caplog.text


def test_only_code_of_ours_runs_without_isolation(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = load_task(Path(shutil.copytree(reference_task("fuel-economy"), tmp_path / "fuel-economy")))
    assert ships_with_us(copy.root) and not ships_with_us(iris.root)
    assert ground(copy, kind="process").provider.name == "process"
    for tasks, scripted in (((copy, iris), True), ((copy,), False)):
        with pytest.raises(InputError, match="say --trust"):
            ground(*tasks, scripted=scripted, kind="process")
        assert ground(*tasks, scripted=scripted, kind="process", trust=True).provider.name == "process"
    for name in ("metric.py", "prepare.py"):
        text = (copy.root / name).read_text()
        (copy.root / name).write_text(text + "# changed\n")
        assert not ships_with_us(copy.root)
        (copy.root / name).unlink()
        assert not ships_with_us(copy.root)
        (copy.root / name).write_text(text)


def test_it_is_told_in_a_few_lines_and_as_a_document(iris: Task) -> None:
    found = ground(iris, kind="process", trust=True, gpus="GPU-a,GPU-b", gpus_per_trial=2, warm=False)
    assert list(found.lines()) == [
        "sandbox process; trials at a time: 1",
        "limits memory 8 GiB, disk 4 GiB, processes 256, cpus 1; a new interpreter for every program",
        "gpus GPU-a, GPU-b; for each trial: 2",
        "network none",
    ]
    document = found.to_document()
    assert document["gpus"] == ["GPU-a", "GPU-b"]
    assert document["limits"]["memory_gb"] == 8.0
    assert document["allow_hosts"] == {"reference/iris": []}


def test_a_job_folder_and_tasks_that_every_sandbox_would_show_are_refused(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    settings = SandboxConfig.model_validate({"kind": "bubblewrap"})

    def refused(path: Path, task: Task, out: Path) -> None:
        with pytest.raises(SandboxUnavailable, match=f"{path} lies below /usr"):
            look(settings, [task], scripted=True, workers=1, out=out)

    refused(Path("/usr/src/job"), iris, Path("/usr/src/job"))
    refused(Path("/usr/src/app/iris"), replace(iris, root=Path("/usr/src/app/iris")), tmp_path)
    shutil.rmtree(iris.private)
    iris.private.symlink_to("/usr/src")
    refused(iris.private, iris, tmp_path)
