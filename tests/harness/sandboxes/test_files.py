"""Files in and out of a sandbox of any kind, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandboxes.base import (
    MIB,
    FileRefused,
    Limits,
    Mount,
    Refusal,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)

WORK = "/mlesmith/work"
LIMITS = Limits(
    seconds=20.0, memory_bytes=512 * MIB, disk_bytes=8 * MIB, tmp_bytes=8 * MIB, shm_bytes=8 * MIB
)


@pytest.fixture(scope="module")
def shared(any_provider: SandboxProvider) -> Iterator[Sandbox]:
    with any_provider.start(SandboxSpec((), WORK, LIMITS)) as opened:
        yield opened


@pytest.fixture
def opened(shared: Sandbox) -> Sandbox:
    shared.clear()
    return shared


@pytest.fixture(scope="module")
def held(holding: SandboxProvider) -> Iterator[Sandbox]:
    with holding.start(SandboxSpec((), WORK, LIMITS)) as opened:
        yield opened


@pytest.fixture(scope="module", params=["bubblewrap", "docker"])
def holding(request: pytest.FixtureRequest) -> SandboxProvider:
    """The kinds whose working folder cannot grow beyond its limit."""
    name = "docker_sandbox" if request.param == "docker" else "sandbox"
    provider: SandboxProvider = request.getfixturevalue(name)
    return provider


def at(opened: Sandbox, name: str) -> str:
    return opened.inside(f"{WORK}/{name}")


def shell(opened: Sandbox, command: str) -> str:
    result = opened.run(["sh", "-c", command])
    assert result.ok, result
    return result.output


class TestPut:
    @pytest.mark.parametrize("data", [b"", b"x", b"\0\xff\n" * 1000, b"{}\n", bytes(3 * MIB)])
    def test_every_byte_arrives_and_comes_back(self, opened: Sandbox, tmp_path: Path, data: bytes) -> None:
        opened.put(data, at(opened, "file"))
        assert shell(opened, "wc -c < file").strip() == str(len(data))
        opened.get(at(opened, "file"), tmp_path / "back", max_bytes=len(data))
        assert (tmp_path / "back").read_bytes() == data

    def test_a_file_of_the_host_is_copied_with_the_folders_above_it(
        self, opened: Sandbox, tmp_path: Path
    ) -> None:
        (tmp_path / "source").write_text("content")
        opened.put(tmp_path / "source", at(opened, "a/b/c.txt"))
        assert shell(opened, "cat a/b/c.txt") == "content"

    @pytest.mark.parametrize(
        "occupy",
        [
            "echo old > file",
            "mkdir -p file/deep; echo old > file/deep/x",
            "ln -s /dev/null file",
            "mkfifo file",
            "ln -s nowhere file",
            "touch file; chmod 000 file",
            "mkdir file; chmod 000 file",
            "echo > file.part",
            "mkdir file.part",
            "ln -s /dev/full file.part",
        ],
    )
    def test_what_is_in_its_place_is_replaced_and_never_followed(
        self, opened: Sandbox, tmp_path: Path, occupy: str
    ) -> None:
        shell(opened, occupy)
        opened.put(b"new", at(opened, "file"))
        opened.get(at(opened, "file"), tmp_path / "back", max_bytes=10)
        assert (tmp_path / "back").read_text() == "new"

    @pytest.mark.parametrize("name", ["ä ö", "-rf", "a'b\"c", "new\nline", "$(id)", "x" * 200])
    def test_names_are_only_names(self, opened: Sandbox, tmp_path: Path, name: str) -> None:
        opened.put(b"x", at(opened, name))
        opened.get(at(opened, name), tmp_path / "back", max_bytes=1)
        assert shell(opened, "ls | wc -l").strip() in ("1", "2")  # ls shows a newline as one

    def test_a_place_that_is_no_folder_is_refused(self, opened: Sandbox) -> None:
        opened.put(b"x", at(opened, "file"))
        with pytest.raises(FileRefused, match="file/below cannot be written"):
            opened.put(b"x", at(opened, "file/below"))
        assert shell(opened, "cat file") == "x"

    def test_more_than_fits_is_refused_and_the_next_request_is_understood(self, held: Sandbox) -> None:
        held.clear()
        with pytest.raises(FileRefused, match="No space left"):
            held.put(bytes(9 * MIB), f"{WORK}/large")
        held.put(b"small", f"{WORK}/small")
        assert shell(held, "ls -A") == "small\n"

    def test_a_read_only_place_is_refused(self, held: Sandbox) -> None:
        for path in ("/usr/new", "/mlesmith/inside/warm.py", "/etc/passwd"):
            with pytest.raises(FileRefused, match="cannot be written"):
                held.put(b"x", path)


class TestGet:
    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            ("true", Refusal.MISSING),
            ("ln -s /etc/hostname file", Refusal.NOT_A_FILE),
            ("ln -s nowhere file", Refusal.NOT_A_FILE),
            ("ln -s file file", Refusal.NOT_A_FILE),
            ("mkdir file", Refusal.NOT_A_FILE),
            ("mkfifo file", Refusal.NOT_A_FILE),
            ("truncate -s 2M file", Refusal.TOO_LARGE),
            ("head -c 1048577 /dev/zero > file", Refusal.TOO_LARGE),
        ],
    )
    def test_what_is_no_file_of_that_size_is_refused(
        self, opened: Sandbox, tmp_path: Path, make: str, reason: Refusal
    ) -> None:
        shell(opened, make)
        with pytest.raises(FileRefused) as refused:
            opened.get(at(opened, "file"), tmp_path / "target" / "file", max_bytes=MIB)
        assert refused.value.reason is reason
        assert str(refused.value).startswith("file ")
        assert not (tmp_path / "target").exists() or not list((tmp_path / "target").iterdir())

    def test_a_file_closed_to_its_owner_is_refused(self, held: Sandbox, tmp_path: Path) -> None:
        held.clear()
        shell(held, "echo > file; chmod 000 file")
        with pytest.raises(FileRefused) as refused:
            held.get(f"{WORK}/file", tmp_path / "file", max_bytes=MIB)
        assert refused.value.reason is Refusal.UNREADABLE

    def test_a_file_of_just_the_size_is_handed_out_into_new_folders(
        self, opened: Sandbox, tmp_path: Path
    ) -> None:
        shell(opened, "head -c 1048576 /dev/zero > file")
        opened.get(at(opened, "file"), tmp_path / "a" / "b" / "file", max_bytes=MIB)
        assert (tmp_path / "a" / "b" / "file").stat().st_size == MIB

    def test_an_older_copy_is_replaced_and_a_link_in_its_place_not_followed(
        self, opened: Sandbox, tmp_path: Path
    ) -> None:
        (tmp_path / "other").write_text("untouched")
        (tmp_path / "target").symlink_to(tmp_path / "other")
        opened.put(b"new", at(opened, "file"))
        opened.get(at(opened, "file"), tmp_path / "target", max_bytes=10)
        assert (tmp_path / "target").read_text() == "new"
        assert (tmp_path / "other").read_text() == "untouched"


class TestRemoveAndClear:
    @pytest.mark.parametrize(
        "make",
        [
            "true",
            "echo > x",
            "mkdir -p x/y; echo > x/y/z",
            "ln -s /etc x",
            "mkfifo x",
            "mkdir -p x/y; chmod 000 x/y x",
            "mkdir -p x/y/z; echo > x/y/z/f; chmod 555 x/y/z x/y x",
        ],
    )
    def test_anything_is_removed_and_nothing_else(self, opened: Sandbox, make: str) -> None:
        shell(opened, f"{make}; mkdir other; ln -s other link")
        opened.remove(at(opened, "x"))
        opened.remove(at(opened, "link"))
        assert shell(opened, "ls -A") == "other\n"

    @pytest.mark.parametrize("depth", [100, 1_200])
    def test_folders_in_folders_are_removed_however_deep(self, opened: Sandbox, depth: int) -> None:
        opened.put(
            f"import os\nfor _ in range({depth}): os.mkdir('d'); os.chdir('d')".encode(),
            at(opened, "main.py"),
        )
        opened.run_python(at(opened, "main.py"))
        opened.remove(at(opened, "d"))
        assert shell(opened, "ls -A") in ("main.py\n", "")  # a run over its files leaves an empty folder

    @pytest.mark.parametrize(
        "make",
        ["true", "touch .hidden '-rf' a", "mkdir -p a/b; chmod 000 a/b a", "ln -s / root", "chmod 000 ."],
    )
    def test_a_cleared_folder_is_empty_and_can_be_written(self, opened: Sandbox, make: str) -> None:
        opened.run(["sh", "-c", make])
        opened.clear()
        assert shell(opened, "ls -A; echo new > file; cat file") == "new\n"

    def test_before_the_first_run_there_is_nothing_to_remove(self, any_provider: SandboxProvider) -> None:
        with any_provider.start(SandboxSpec((), WORK, LIMITS)) as opened:
            opened.remove(at(opened, "x"))
            opened.clear()


class TestMounts:
    def test_a_folder_is_shown_and_cannot_be_changed(self, holding: SandboxProvider, tmp_path: Path) -> None:
        (tmp_path / "shown").mkdir()
        (tmp_path / "shown" / "file").write_text("old")
        spec = SandboxSpec((Mount(tmp_path / "shown", "/mlesmith/public"),), WORK, LIMITS)
        open_to_others(tmp_path)
        with holding.start(spec) as opened:
            assert shell(opened, "cat /mlesmith/public/file") == "old"
            assert not opened.run(["sh", "-c", "echo new > /mlesmith/public/file"]).ok
        assert (tmp_path / "shown" / "file").read_text() == "old"

    def test_a_writable_folder_keeps_its_content_and_is_ours_again(
        self, any_provider: SandboxProvider, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        out.mkdir()
        open_to_others(tmp_path)
        spec = SandboxSpec((Mount(out, "/mlesmith/out", writable=True),), "/mlesmith/out", LIMITS)
        with any_provider.start(spec) as opened:
            shell(opened, "mkdir a; echo kept > a/file; ln -s /etc/passwd link")
            opened.clear()  # only a folder in memory is emptied
        assert (out / "a" / "file").read_text() == "kept\n"
        assert out.stat().st_uid == (out / "a" / "file").stat().st_uid == tmp_path.stat().st_uid
        assert Path("/etc/passwd").stat().st_uid == 0


def open_to_others(folder: Path) -> None:
    """Root's sandboxes run as another user, which must get to the folder."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
