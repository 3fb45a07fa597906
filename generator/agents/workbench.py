"""Where an agent works: a sandbox with the raw data read-only and a folder of its own, without a network."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from generator.datasets.catalogue import CARD, raw_files
from harness.sandboxes.base import (
    MIB,
    ROOT,
    FileRefused,
    Limits,
    Mount,
    RunResult,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from harness.sandboxes.kernel import leftovers
from harness.tasks.labels import task_labels

_INSIDE = Path(__file__).with_name("inside")
_RAW, _WORK, _SCRIPTS = f"{ROOT}/raw", f"{ROOT}/work", f"{ROOT}/scripts"
#: A text file of a package; programs are far smaller, and nothing else is taken out of the folder.
FILE_BYTES = 4 * MIB
_SPARE_SECONDS = 24 * 3_600.0


@dataclass(frozen=True)
class Workbench:
    """A started sandbox and its two folders.

    Attributes:
        sandbox: what runs.
        raw: where the raw data are, inside.
        work: where the agent's own folder is, inside.
    """

    sandbox: Sandbox
    raw: str
    work: str

    def script(self, name: str) -> str:
        """The path, inside, of a script of ours."""
        return self.sandbox.inside(f"{_SCRIPTS}/{name}")

    def run(self, command: Sequence[str], limits: Limits) -> RunResult:
        """Run a command in the work folder."""
        return self.sandbox.run(command, limits=limits)

    def put(self, files: Mapping[str, str]) -> None:
        """Write text files below the work folder."""
        for name, text in files.items():
            data = text.encode("utf-8", "backslashreplace")
            self.sandbox.put(data, f"{self.work}/{name}")

    def get(self, name: str) -> str | None:
        """The text of a file below the work folder; ``None`` where there is none that can be had."""
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix("file")) as folder:
            target = Path(folder) / "file"
            try:
                self.sandbox.get(f"{self.work}/{name}", target, max_bytes=FILE_BYTES)
            except FileRefused:
                return None
            return target.read_text(encoding="utf-8", errors="replace")


@contextmanager
def open_workbench(
    provider: SandboxProvider, raw: Path, role: str, name: str, limits: Limits, hash_seed: int = 0
) -> Iterator[Workbench]:
    """A workbench, stopped when the block ends.

    Args:
        provider: opens the sandbox.
        raw: the raw data; hidden files in it are not shown.
        role: the agent.
        name: what it works on.
        limits: bounds of the sandbox.
        hash_seed: Python's, which decides the order of sets.
    """
    with _visible(raw, guarded=provider.capabilities.isolated) as shown:
        spec = SandboxSpec(
            mounts=(Mount(shown, _RAW), Mount(_INSIDE, _SCRIPTS)),
            workdir=_WORK,
            limits=limits,
            environment={"PYTHONHASHSEED": str(hash_seed)},
            preload=("numpy", "pandas"),
            labels=task_labels(role, name, _SPARE_SECONDS),
        )
        with provider.start(spec) as sandbox:
            yield Workbench(sandbox, sandbox.inside(_RAW), sandbox.inside(_WORK))


def copy_raw(folder: Path, names: Sequence[str], target: Path) -> list[str]:
    """Copy raw files, or all below raw folders, and say which names stand for nothing."""
    files = {path.relative_to(folder).as_posix(): path for path in raw_files(folder)}
    missing = []
    for name in names:
        wanted = name.strip().removeprefix("./").removeprefix("raw/").rstrip("/")
        chosen = [
            each for each in files if wanted in ("", ".") or each == wanted or each.startswith(f"{wanted}/")
        ]
        if not chosen:
            missing.append(name)
        for each in chosen:
            (target / each).parent.mkdir(parents=True, exist_ok=True)
            # It may be a link that an earlier state of the package shares.
            (target / each).unlink(missing_ok=True)
            shutil.copyfile(files[each], target / each)
    return missing


def bounded(limits: Limits, seconds: float) -> Limits:
    """The limits with less time."""
    return replace(limits, seconds=max(0.1, min(limits.seconds, seconds)))


@contextmanager
def _visible(folder: Path, *, guarded: bool) -> Iterator[Path]:
    """The folder itself, or one that holds its raw files alone where it holds others, such as hidden ones.

    Args:
        folder: the raw data.
        guarded: whoever sees it cannot write to it; otherwise they get a copy.
    """
    shown = {path.resolve() for path in raw_files(folder)}
    every = [path for path in folder.rglob("*") if path.is_file() or path.is_symlink()]
    whole = all(path.resolve() in shown and not path.is_symlink() for path in every if path != folder / CARD)
    if guarded and whole:
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("raw")) as name:
        place = Path(name)
        place.chmod(0o755)
        for path in raw_files(folder):
            target = place / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not (guarded and linked(path, target)):
                shutil.copyfile(path, target)
        yield place


def linked(path: Path, target: Path) -> bool:
    """Link a file, where both lie in one file system that can."""
    try:
        os.link(path.resolve(), target)
    except OSError:
        return False
    return True
