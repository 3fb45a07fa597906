"""What the kernel does with a process in one of our control groups.

With all three controllers, in whichever version this machine has them. A version 2 tree without them, which
most machines with version 1 have too, is tried for joining, killing and removing; what we would write into
its files is seen in a plain folder, which shows our side only.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandboxes.base import GIB, MIB, Limits
from harness.sandboxes.kernel import cgroups
from harness.sandboxes.kernel.cgroups import (
    OWN_PROCESSES,
    Cgroup,
    Hierarchy,
    controllers,
    find,
    hierarchies,
    sweep,
)

needs_groups = pytest.mark.skipif(
    not controllers(), reason="no control groups can be made here: needs root, or a delegated folder"
)


def needs(controller: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        controller not in controllers(), reason=f"the controller {controller} cannot be used here"
    )


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Iterator[Cgroup]:
    limits = getattr(request, "param", Limits(memory_bytes=200 * MIB))
    cgroup = Cgroup.create("test", limits)
    assert cgroup is not None
    yield cgroup
    cgroup.remove()


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-S", "-c", code, *map(str, arguments)]


def processes_in(cgroup: Cgroup) -> set[int]:
    return {int(pid) for folder in cgroup._groups for pid in (folder / "cgroup.procs").read_text().split()}


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


@needs("memory")
def test_who_eats_the_memory_is_killed_and_nobody_else(group: Cgroup) -> None:
    outside = subprocess.Popen(python("input()"), stdin=subprocess.PIPE)
    beside = subprocess.Popen(group.enter(python("input()")), stdin=subprocess.PIPE)
    assert group.oom_kills() == 0
    eater = subprocess.run(group.enter(python("x = b'1' * (400 << 20); print(len(x))")), capture_output=True)
    assert eater.returncode == -9
    assert group.oom_kills() == 1
    for process in (outside, beside):
        process.communicate(b"\n", timeout=30)
        assert process.returncode == 0


@needs("memory")
def test_files_in_memory_count(group: Cgroup) -> None:
    code = "import os\nfd = os.memfd_create('m')\nwhile True: os.write(fd, b'1' * (1 << 20))"
    assert subprocess.run(group.enter(python(code))).returncode == -9
    assert group.oom_kills() == 1


@needs("memory")
def test_processes_count_together(group: Cgroup) -> None:
    code = """
import os, sys
for _ in range(4):
    if os.fork() == 0:
        x = b'1' * (100 << 20)
        sys.stdin.read()
        os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""
    eater = subprocess.Popen(group.enter(python(code)), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert eater.stdout is not None
    assert eater.stdout.readline() == b"-9\n"
    assert group.oom_kills() >= 1
    eater.communicate()


@needs("pids")
@pytest.mark.parametrize("group", [Limits(processes=20)], indirect=True)
def test_a_fork_bomb_is_bounded_and_ends(group: Cgroup) -> None:
    code = """
import os, sys
while True:
    try:
        os.fork()
    except OSError as error:
        print(error, flush=True)
"""
    bomb = subprocess.Popen(group.enter(python(code)), stdout=subprocess.PIPE)
    assert bomb.stdout is not None
    assert b"Resource temporarily unavailable" in bomb.stdout.readline()
    most = len(processes_in(group))
    assert 10 < most <= 20 + OWN_PROCESSES
    subprocess.run(["true"], check=True)  # others can still fork
    started = time.monotonic()
    group.remove()
    assert time.monotonic() - started < 30
    bomb.communicate(timeout=30)
    assert not any(folder.exists() for folder in group._groups)


@needs("pids")
@pytest.mark.parametrize("group", [Limits(processes=20)], indirect=True)
def test_threads_count_as_processes(group: Cgroup) -> None:
    code = """
import threading, time
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
except RuntimeError:
    print(n)
"""
    run = subprocess.run(group.enter(python(code)), capture_output=True, text=True)
    assert 10 < int(run.stdout) < 20 + OWN_PROCESSES


@needs("cpu")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one processor there is nothing to bound")
@pytest.mark.parametrize("group", [Limits(cpus=1)], indirect=True)
def test_two_burners_share_one_processor(group: Cgroup) -> None:
    """The time that they used, and not the time that they took, so a busy machine does not matter."""
    code = """
import os, time
end = time.monotonic() + 2
for _ in range(2):
    if os.fork() == 0:
        while time.monotonic() < end: pass
        os._exit(0)
os.wait(), os.wait()
times = os.times()
print(times.children_user + times.children_system)
"""
    run = subprocess.run(group.enter(python(code)), capture_output=True, text=True)
    assert 0.1 < float(run.stdout) < 2.6  # unbounded: 4


@needs_groups
def test_a_process_is_in_the_group_before_the_command_runs(group: Cgroup) -> None:
    run = subprocess.run(group.enter(["cat", "/proc/self/cgroup"]), capture_output=True, text=True)
    for folder, hierarchy in group._groups.items():
        lines = run.stdout.splitlines()
        ours = [line for line in lines if line.endswith(f"/{cgroups.PARENT}/{folder.name}")]
        assert len(ours) == len(group._groups), (hierarchy, lines)


@needs_groups
def test_the_command_gets_its_arguments_and_its_exit_code_comes_back(group: Cgroup) -> None:
    code = "import sys; print(sys.argv[1:]); sys.exit(7)"
    run = subprocess.run(group.enter(python(code, "a b", "--", "$x", "")), capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (7, "['a b', '--', '$x', '']\n")


@needs_groups
def test_a_command_does_not_run_when_it_cannot_join(group: Cgroup) -> None:
    group.remove()
    run = subprocess.run(group.enter(["echo", "ran"]), capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (125, "")
    assert "cgroup.procs" in run.stderr


@needs_groups
def test_remove_ends_processes_that_left_their_session_and_is_safe_twice(group: Cgroup) -> None:
    code = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    print(os.getpid(), flush=True)
    time.sleep(600)
"""
    run = subprocess.Popen(group.enter(python(code)), stdout=subprocess.PIPE)
    assert run.stdout is not None
    survivor = int(run.stdout.readline())
    run.wait()
    assert processes_in(group) == {survivor}
    group.remove()
    group.remove()
    wait_until_gone(survivor)
    assert not Path(f"/proc/{survivor}").exists()
    assert not any(folder.exists() for folder in group._groups)
    assert group.oom_kills() == 0


@needs_groups
def test_what_cannot_be_removed_is_logged(
    group: Cgroup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    below = [folder / "below" for folder in group._groups]
    for folder in below:
        folder.mkdir()
    monkeypatch.setattr(cgroups, "_REMOVE_SECONDS", 0.1)
    with caplog.at_level(logging.WARNING):
        group.remove()
    assert all(str(folder.parent) in caplog.text for folder in below)
    for folder in below:
        folder.rmdir()


@needs_groups
def test_sweep_ends_what_a_killed_harness_left_and_leaves_the_living() -> None:
    code = """
import os, signal, subprocess, sys
from harness.sandboxes.base import Limits
from harness.sandboxes.kernel.cgroups import Cgroup
group = Cgroup.create("trial", Limits())
process = subprocess.Popen(group.enter(["sleep", "600"]), start_new_session=True)
print(process.pid, next(iter(group._groups)).name, flush=True)
if sys.argv[1] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
input()
"""

    def harness(fate: str) -> tuple[subprocess.Popen[str], int, str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, fate],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        assert process.stdout is not None
        pid, name = process.stdout.readline().split()
        if fate == "dies":  # and nobody has taken notice yet
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return process, int(pid), name

    living, its_child, its_group = harness("lives")
    dead, orphan, orphaned_group = harness("dies")
    try:
        found, swept = find(), sweep()
        assert orphaned_group in found and orphaned_group in swept
        assert its_group not in found and its_group not in swept
        assert orphaned_group not in find()
        wait_until_gone(orphan)
        assert not Path(f"/proc/{orphan}").exists()
        assert Path(f"/proc/{its_child}").exists()
    finally:
        living.kill()
        living.wait()
        dead.wait()
    assert its_group in sweep()
    wait_until_gone(its_child)


@needs_groups
def test_sweep_leaves_what_it_cannot_judge() -> None:
    """A folder that is not ours, and a group from another PID namespace: its number means nothing here."""
    names = ["not-ours", "1-999999999-1-abcd-other-container"]
    parents = [hierarchy.folder / cgroups.PARENT for hierarchy in hierarchies()]
    folders = [parent / name for parent in parents for name in names]
    for folder in folders:
        folder.mkdir()
    try:
        assert not set(names).intersection(sweep())
        assert all(folder.exists() for folder in folders)
    finally:
        for folder in folders:
            folder.rmdir()


def test_a_pid_that_another_process_has_now_is_not_its_first_owner() -> None:
    mine = Path("/any") / cgroups._group_name("x")
    assert not cgroups._abandoned(mine)
    namespace, pid, start, rest = mine.name.split("-", 3)
    assert cgroups._abandoned(mine.with_name(f"{namespace}-{pid}-{int(start) - 1}-{rest}"))


@pytest.mark.parametrize("name", ["../../x", "a/b", "with space", "ü", "x" * 500, ""])
def test_any_name_makes_one_folder_and_a_new_one_each_time(name: str) -> None:
    first, second = cgroups._group_name(name), cgroups._group_name(name)
    assert first != second
    assert re.fullmatch(r"[\w.-]{1,200}", first, re.ASCII)
    assert cgroups._GROUP.fullmatch(first)


def test_without_any_usable_tree_there_is_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "hierarchies", lambda: ())
    assert controllers() == frozenset()
    assert Cgroup.create("x", Limits()) is None
    assert sweep() == []


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become a user without rights")
def test_a_user_without_rights_finds_none_and_no_error() -> None:
    code = "from harness.sandboxes.kernel import cgroups as c; print(sorted(c.controllers()), c.sweep())"
    run = subprocess.run(
        ["/usr/bin/python3", "-c", code],
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
        env={"PYTHONPATH": str(Path(__file__).parents[3]), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "[] []\n", run.stderr


# Version 2.


def bare_version_2() -> Hierarchy | None:
    """A version 2 tree in which we may make groups, with no controllers of it in use."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        if " - cgroup2 " in line:
            tree = Hierarchy(2, Path(line.split()[4]), frozenset())
            return tree if cgroups._works(tree) else None
    return None


def test_version_2_joins_kills_and_removes() -> None:
    tree = bare_version_2()
    if tree is None:
        pytest.skip("no writable cgroup2 is mounted here")
    group = Cgroup.make([tree], "bare", Limits())
    process = subprocess.Popen(group.enter(["sleep", "600"]))
    deadline = time.monotonic() + 10
    while process.pid not in processes_in(group) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_in(group) == {process.pid}
    group.remove()
    group.remove()
    assert process.wait(timeout=30) == -9
    assert not any(folder.exists() for folder in group._groups)


def test_version_2_writes_these_values(tmp_path: Path) -> None:
    files = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max")
    for name in files:
        (tmp_path / name).write_text("")
    tree = Hierarchy(2, tmp_path, frozenset({"memory", "pids", "cpu"}))
    tree.limit(tmp_path, Limits(memory_bytes=GIB, processes=100, cpus=3))
    assert {name: (tmp_path / name).read_text() for name in files} == {
        "memory.max": str(GIB),
        "memory.swap.max": "0",
        "memory.oom.group": "",  # the kernel's own value: only the offender dies
        "pids.max": str(100 + OWN_PROCESSES),
        "cpu.max": "300000 100000",
    }


def test_version_2_counts_kills_in_memory_events(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 31\noom 4\noom_kill 3\noom_group_kill 0\n")
    assert Cgroup({tmp_path: Hierarchy(2, tmp_path, frozenset({"memory"}))}).oom_kills() == 3


CGROUP2 = "34 31 0:29 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.mark.parametrize(
    ("mounts", "own", "places"),
    [
        pytest.param(CGROUP2.format(root="/"), "0::/\n", ["."], id="root group"),
        pytest.param(
            CGROUP2.format(root="/"),
            "0::/user.slice/run.scope\n",
            [".", "user.slice", "user.slice/run.scope"],
            id="a scope: the outermost place first",
        ),
        pytest.param(
            CGROUP2.format(root="/docker/1f"), "0::/docker/1f/init\n", [".", "init"], id="part of a tree"
        ),
        pytest.param(CGROUP2.format(root="/"), "0::/../other\n", [], id="outside of our cgroup namespace"),
        pytest.param(CGROUP2.format(root="/docker/1f"), "0::/x\n", [], id="outside of what is mounted"),
        pytest.param(CGROUP2.format(root="/"), "4:memory:/\n", [], id="not in the tree"),
        pytest.param("31 23 0:28 / / rw - ext4 /dev/vda rw\n", "0::/\n", [], id="no tree"),
    ],
)
def test_places_in_version_2(mounts: str, own: str, places: list[str]) -> None:
    top = Path("/sys/fs/cgroup")
    assert [found.folder for found in cgroups._candidates(mounts, own)] == [top / place for place in places]


def test_places_in_version_1() -> None:
    mounts = (
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 /docker/1f /sys/fs/cgroup/a\\040b rw master:9 - cgroup cgroup rw,memory\n"
    )
    top = Path("/sys/fs/cgroup")
    assert list(cgroups._candidates(mounts, "")) == [
        Hierarchy(1, top / "cpu,cpuacct", frozenset({"cpu"})),
        Hierarchy(1, top / "a b", frozenset({"memory"})),
    ]
