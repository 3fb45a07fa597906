"""The process sandbox: no isolation, said loudly; but a clean environment, limits, and an end."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import MIB, Hold, Limits, Mount, Sandbox, SandboxSpec
from harness.sandboxes.process import Process

CANARY = "canary-7f3a"
WORK = "/mlesmith/work"
SPEC = SandboxSpec((), WORK, Limits(seconds=20.0, memory_bytes=512 * MIB, disk_bytes=8 * MIB, files=500))


def run(sandbox: Sandbox, code: str) -> str:
    sandbox.put(code.encode(), sandbox.inside(f"{WORK}/main.py"))
    return sandbox.run_python(sandbox.inside(f"{WORK}/main.py")).output


def test_it_warns_once_that_it_isolates_nothing(caplog: pytest.LogCaptureFixture) -> None:
    provider = Process()
    with caplog.at_level(logging.WARNING):
        provider.start(SPEC).stop()
        provider.start(SPEC).stop()
    assert caplog.text.count("isolates nothing") == 1


def test_it_says_what_it_cannot_hold() -> None:
    assert not Process.capabilities.isolated
    assert Process.capabilities.memory is Hold.PROCESS
    assert Process().describe() == {
        "name": "process",
        "gaps": [
            "memory: per process",
            "processes: not at all",
            "cpus: not at all",
            "system calls: not filtered",
        ],
    }


def test_nothing_of_the_harness_s_environment_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    with Process().start(replace(SPEC, environment={"GIVEN": "yes"})) as sandbox:
        output = run(sandbox, "import os; print(dict(os.environ))")
    assert CANARY not in output and "PYTHONPATH" not in output
    assert "'GIVEN': 'yes'" in output


def test_the_working_folder_is_of_this_sandbox_alone_and_gone_afterwards() -> None:
    with Process().start(SPEC) as sandbox, Process().start(SPEC) as other:
        folder = run(sandbox, "import os; print(os.getcwd())").strip()
        assert folder == sandbox.inside(WORK) != other.inside(WORK)
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_paths_are_told_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("shown")
    with Process().start(replace(SPEC, mounts=(Mount(tmp_path, "/mlesmith/public"),))) as sandbox:
        path = sandbox.inside("/mlesmith/public/file")
        assert path == str(tmp_path / "file")
        assert run(sandbox, f"print(open({path!r}).read())") == "shown\n"
        assert sandbox.inside("/elsewhere") == "/elsewhere"


@pytest.mark.parametrize(
    ("code", "over"),
    [
        ("for i in range(600): open(f'file{i}', 'w')\nimport time; time.sleep(20)", "files"),
        (
            "for i in range(2): open(f'{i}', 'wb').write(bytes(7 << 20))\nimport time\ntime.sleep(20)",
            "disk",
        ),
    ],
)
def test_a_working_folder_that_grows_too_large_ends_the_run(code: str, over: str) -> None:
    with Process().start(SPEC) as sandbox:
        sandbox.put(code.encode(), sandbox.inside(f"{WORK}/main.py"))
        assert sandbox.run_python(sandbox.inside(f"{WORK}/main.py")).over == over


@pytest.mark.parametrize(("end", "timed_out"), [("sleep 60", True), ("exit 0", False)])
def test_no_process_of_a_run_outlives_its_result(end: str, timed_out: bool) -> None:
    left = "for i in $(seq 20); do (exec >/dev/null; exec sleep 60) & echo $!; done"
    with Process().start(SPEC) as sandbox:
        limits = replace(SPEC.limits, seconds=1.0 if timed_out else 20.0)
        result = sandbox.run(["sh", "-c", f"{left}; {end}"], limits=limits)
        alive = [pid for pid in result.output.split() if lives(pid)]
    assert (result.timed_out, len(result.output.split())) == (timed_out, 20)
    assert not alive


def test_named_hosts_are_refused_since_it_cannot_keep_to_them() -> None:
    with pytest.raises(SandboxUnavailable, match="cannot keep code to named hosts"):
        Process().start(replace(SPEC, allow_hosts=("example.org",)))


def lives(pid: str) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
