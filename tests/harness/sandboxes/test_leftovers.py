"""Temporary folders of harnesses that were killed go; those of living ones, and of others, stay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.kernel import leftovers
from harness.sandboxes.network.egress import Egress
from harness.sandboxes.process import Process

REPOSITORY = Path(__file__).parents[3]
#: Each leaves a folder, and tells its path.
KINDS = {
    "egress": "e = Egress(['example.org']).start(); print(e.socket.parent, flush=True)",
    "work": "s = Process().start(SandboxSpec((), '/mlesmith/w')); print(s.inside('/mlesmith/w'), flush=True)",
}
IMPORTS = """
from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.network.egress import Egress
from harness.sandboxes.process import Process
"""


@contextmanager
def harness(kind: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process with a folder of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{IMPORTS}\n{KINDS[kind]}\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    try:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_harness_s_folder_goes_and_a_living_one_s_stays(kind: str) -> None:
    with harness(kind) as (_, its_folder), harness(kind) as (killed, left):
        killed.kill()
        killed.wait()
        leftovers.sweep()  # or that of a job which another test runs at this moment
        assert not left.exists()
        assert its_folder.is_dir()
    leftovers.sweep()
    assert not its_folder.exists()


@pytest.mark.parametrize("provider", [Bubblewrap(), Process()], ids=lambda provider: str(provider.name))
def test_sandboxes_sweep_them_at_the_start_of_a_job(provider: Bubblewrap | Process) -> None:
    with harness("egress") as (killed, left):
        killed.kill()
        killed.wait()
        provider.sweep()
        assert not left.exists()


def test_what_this_process_uses_is_never_swept() -> None:
    with Egress(["example.org"]) as egress, Process().start(SandboxSpec((), "/mlesmith/work")) as sandbox:
        leftovers.sweep()
        assert egress.socket.exists()
        assert Path(sandbox.inside("/mlesmith/work")).is_dir()


class TestWhatIsNotOurs:
    @pytest.fixture
    def gone(self) -> str:
        """A name that this process would give, if it had ended."""
        before, start = leftovers.prefix("test")[:-1].rsplit("-", 1)
        return f"{before}-{int(start) - 1}-"

    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Where folders are made and looked for in this test, so that no other test sweeps here."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setattr(leftovers, "SHORT", tmp_path)
        return tmp_path

    def test_the_name_alone_would_be_swept(self, gone: str, place: Path) -> None:
        folder = Path(tempfile.mkdtemp(prefix=gone))
        (folder / "a" / "b").mkdir(parents=True)
        assert leftovers.find() == [place / folder.name]
        assert leftovers.sweep() == [str(folder)]

    def test_links_and_files_stay_and_so_does_what_a_link_in_a_folder_leads_to(
        self, gone: str, place: Path
    ) -> None:
        (place / "kept").mkdir()
        (place / "kept" / "file").touch()
        (place / f"{gone}link").symlink_to("kept")
        (place / f"{gone}file").touch()
        (place / f"{gone}folder").mkdir()
        (place / f"{gone}folder" / "link").symlink_to(place / "kept")
        assert leftovers.sweep() == [str(place / f"{gone}folder")]
        assert (place / "kept" / "file").exists()
        assert (place / f"{gone}link").is_symlink() and (place / f"{gone}file").is_file()

    @pytest.mark.skipif(os.getuid() != 0, reason="needs root, to make a folder of another user")
    def test_another_user_s_folder_stays(self, gone: str, place: Path) -> None:
        folder = place / f"{gone}other"
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        assert leftovers.find() == []

    def test_a_folder_of_another_boot_or_pid_namespace_or_of_none_stays(self, gone: str, place: Path) -> None:
        word, kind, boot, namespace, *rest = gone.split("-")
        for parts in (
            (word, kind, "0" * 8, namespace, *rest),
            (word, kind, boot, "1", *rest),
            (word, kind, *rest),
            ("other", kind, boot, namespace, *rest),
        ):
            (place / ("-".join(parts) + "x")).mkdir()
        assert leftovers.find() == []


def test_a_socket_s_path_stays_short() -> None:
    with Egress(["example.org"]) as egress:
        assert len(str(egress.socket)) < 90
