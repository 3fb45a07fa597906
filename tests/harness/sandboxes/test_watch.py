"""What the watch counts: folders, files without a name, and memory, each as a real program makes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sandboxes.base import GIB, MIB, Limits, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.warm.inside import watch
from harness.sandboxes.warm.inside.watch import Watch


def folder_watch(*folders: Path, disk: int = MIB, files: int = 20) -> Watch:
    return Watch(None, [], [str(folder) for folder in folders], disk, files)


def write(path: Path, size: int = MIB + 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


def nest(folder: Path, name: str, times: int) -> None:
    """Make folders in folders, as deep as paths cannot name."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(times):
        os.mkdir(name, dir_fd=handle)
        inner = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


class TestFolders:
    def test_what_is_within_the_limits_is_well(self, tmp_path: Path) -> None:
        write(tmp_path / "a" / "b" / "file", MIB // 2)
        (tmp_path / "link").symlink_to("/usr")
        assert folder_watch(tmp_path).over() is None
        assert folder_watch(tmp_path).over_folders() is None

    def test_bytes_are_those_of_all_folders(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            write(tmp_path / name / "file", MIB * 3 // 4)
            assert folder_watch(tmp_path / name).over() is None
        assert folder_watch(tmp_path / "one", tmp_path / "two").over() == "disk"

    def test_a_file_with_holes_counts_with_what_it_has(self, tmp_path: Path) -> None:
        with (tmp_path / "file").open("wb") as stream:
            stream.truncate(GIB)
        assert folder_watch(tmp_path).over() is None

    def test_a_file_with_several_names_counts_once(self, tmp_path: Path) -> None:
        write(tmp_path / "0", MIB * 3 // 4)
        for number in range(1, 5):
            (tmp_path / f"{number}").hardlink_to(tmp_path / "0")
        assert folder_watch(tmp_path).over() is None

    @pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere")])
    def test_files_are_entries_of_every_kind(self, tmp_path: Path, make: Callable[[Path], None]) -> None:
        for number in range(20):
            make(tmp_path / f"{number}")
        assert folder_watch(tmp_path).over() is None
        make(tmp_path / "another")
        assert folder_watch(tmp_path).over() == "files"
        assert folder_watch(tmp_path).over_folders() == "files"

    def test_folders_deeper_than_sensible_are_too_many(self, tmp_path: Path) -> None:
        nest(tmp_path, "d", 90)
        assert folder_watch(tmp_path, files=10_000).over() is None
        nest(tmp_path, "e", 120)
        assert folder_watch(tmp_path, files=10_000).over() == "files"
        assert folder_watch(tmp_path, files=10_000).over_folders() == "files"

    def test_folders_that_no_path_can_name_are_too_many(self, tmp_path: Path) -> None:
        nest(tmp_path, "d" * 250, 18)
        assert folder_watch(tmp_path).over() == "files"
        assert folder_watch(tmp_path).over_folders() == "files"

    def test_a_large_tree_is_looked_at_in_slices(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watch, "_SLICE", 0.0)
        for number in range(3):
            (tmp_path / f"{number}").touch()
        watching = folder_watch(tmp_path, files=2)
        seen = []
        while "files" not in seen:
            watching._next_look = 0.0  # as if time had passed
            seen.append(watching.over())
        assert seen == [None, None, "files"]


#: Runs as the user of a sandbox. ``holder`` is a process that has run some code, and still lives.
DRIVER = """
import ctypes, os, shutil, socket, sys, threading, time
sys.path.insert(0, '/mlesmith')
from inside import watch
from inside.watch import Watch
MIB, OUT = 1 << 20, '/mlesmith/out'

def looks(**changes):
    given = dict(memory=None, scratch=['/dev/shm'], folders=[OUT], disk=MIB, files=100) | changes
    return Watch(**given)

def take(size, folder=OUT):
    handle = os.open(f'{folder}/file', os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(handle, 0, size)
    os.unlink(f'{folder}/file')
    return handle

def holder(code):
    reader, writer = os.pipe()
    if os.fork() == 0:
        code(lambda: os.write(writer, b'x'))
        os.write(writer, b'x')
        time.sleep(60)
    os.close(writer)
    assert os.read(reader, 1) == b'x', 'the holder ended'
"""


@pytest.fixture(scope="module")
def opened(sandbox: SandboxProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    out = tmp_path_factory.mktemp("watched")
    mounts = (Mount(out, "/mlesmith/out", writable=True),)
    limits = Limits(seconds=30, memory_bytes=2 * GIB, disk_bytes=8 * GIB)
    with sandbox.start(SandboxSpec(mounts, "/mlesmith/work", limits)) as opened:
        yield opened


@pytest.fixture
def said(opened: Sandbox) -> Callable[[str], list[str]]:
    """The lines that code prints inside."""

    def said(code: str) -> list[str]:
        opened.put((DRIVER + code).encode(), "/mlesmith/work/code.py")
        run = opened.run_python("/mlesmith/work/code.py", [])
        assert run.ok, run
        return run.output.splitlines()

    return said


#: Ways in which a process keeps a file that has no name, after ``size`` bytes were written to it.
_OPEN = {
    "open": "take(size)",
    "open twice": "os.dup(take(size))",
    "never had a name": ("os.posix_fallocate(os.open(OUT, os.O_TMPFILE | os.O_RDWR), 0, size)"),
    "by a second thread, the first ended": (
        "take(size); ready(); threading.Thread(target=time.sleep, args=(60,)).start(); "
        "ctypes.CDLL(None).syscall(60, 0)"
    ),
}
#: Those that hide how large it is.
_HIDING = {
    "by one who forbids to look": "take(size); ctypes.CDLL(None).prctl(4, 0)",
    "mapped": (
        "handle = take(size); ctypes.CDLL(None).mmap(0, ctypes.c_size_t(size), 3, 1, handle, 0); "
        "os.close(handle)"
    ),
    "on its way through a socket": (
        "keep.extend(socket.socketpair()); handle = take(size); socket.send_fds(keep[0], [b'x'], [handle]); "
        "os.close(handle)"
    ),
}


def holding(way: str, size: int) -> str:
    return f"""
keep = []
watching = looks()
def hold(ready):
    size = {size}
    {way}
holder(hold)
time.sleep(0.2)
print(watching.over(), watching.over_folders())
"""


class TestFilesWithoutAName:
    @pytest.mark.parametrize("way", _OPEN.values(), ids=_OPEN)
    def test_one_that_is_open_counts(self, said: Callable[[str], list[str]], way: str) -> None:
        assert said(holding(way, 4 * MIB)) == ["disk None"]
        assert said(holding(way, MIB * 3 // 4)) == ["None None"]

    @pytest.mark.parametrize("way", _HIDING.values(), ids=_HIDING)
    def test_one_that_is_hidden_counts_by_what_the_disk_has_lost(
        self, said: Callable[[str], list[str]], way: str
    ) -> None:
        assert said(holding(way, GIB + 64 * MIB)) == ["disk None"]
        assert said(holding(way, 4 * MIB)) == ["None None"]

    def test_what_others_write_to_the_disk_is_not_the_runs(self, said: Callable[[str], list[str]]) -> None:
        # The watching process itself stands for another one: its own files do not count.
        assert said(f"watching = looks()\ntake({GIB + 64 * MIB})\nprint(watching.over())") == ["None"]

    @pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/mlesmith/work"])
    def test_one_in_memory_does_not_count_as_disk(
        self, said: Callable[[str], list[str]], folder: str
    ) -> None:
        assert said(holding(f"take(size, {folder!r})", 4 * MIB)) == ["None None"]


class TestClosedFolders:
    @pytest.mark.parametrize("mode", [0o300, 0o400, 0])
    def test_what_is_in_them_counts(self, said: Callable[[str], list[str]], mode: int) -> None:
        code = f"""
os.makedirs(OUT + '/a/b')
open(OUT + '/a/b/file', 'wb').write(b'x' * 4 * MIB)
for folder in (OUT + '/a/b', OUT + '/a'):
    os.chmod(folder, {mode})
print(looks().over())
for folder in (OUT + '/a/b', OUT + '/a'):
    os.chmod(OUT + '/a', 0o700)
    os.chmod(folder, {mode})
print(looks().over_folders())
os.chmod(OUT + '/a', 0o700), os.chmod(OUT + '/a/b', 0o700)
shutil.rmtree(OUT + '/a')
"""
        assert said(code) == ["disk", "disk"]


class TestMemory:
    @pytest.mark.parametrize(
        "fill",
        [
            "connect(socket.AF_INET, '127.0.0.1')",
            "connect(socket.AF_INET6, '::1')",
            "datagrams(socket.AF_INET, '127.0.0.1')",
            "datagrams(socket.AF_INET6, '::1')",
        ],
    )
    def test_queues_of_sockets_count(self, said: Callable[[str], list[str]], fill: str) -> None:
        code = f"""
keep = []
def push(sender):
    sender.setblocking(False)
    try:
        for _ in range(1000):
            sender.send(b'x' * 30000)
    except BlockingIOError:
        pass
def connect(family, address):
    server = socket.create_server((address, 0), family=family)
    for _ in range(20):
        keep.append(socket.create_connection(server.getsockname()[:2]))
        push(keep[-1])
        keep.append(server.accept()[0])
def datagrams(family, address):
    for _ in range(50):
        receiver, sender = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
        receiver.bind((address, 0))
        sender.connect(receiver.getsockname())
        push(sender)
        keep.extend((receiver, sender))
print(looks(memory=4 * MIB).over())
{fill}
print(looks(memory=4 * MIB).over(), looks(memory=1 << 30).over())
"""
        if "::1" in fill and not Path("/proc/net/if_inet6").exists():
            pytest.skip("no IPv6 here")
        assert said(code) == ["None", "memory None"]

    def test_a_short_machine_stops_only_one_that_uses_much(self, said: Callable[[str], list[str]]) -> None:
        code = """
def use(_):
    global block
    block = bytearray(b'x' * (96 * MIB))
holder(use)
for short in (False, True):
    watch.machine_is_short = lambda: short
    print(looks(memory=1 << 30).over(), looks(memory=256 * MIB).over(), looks(memory=64 * MIB).over())
"""
        assert said(code) == ["None None memory", "None memory memory"]
