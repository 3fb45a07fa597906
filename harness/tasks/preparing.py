"""Preparation: ``raw/`` to ``public/`` and ``private/`` by the task's own prepare.py, in a sandbox.

What is shipped is what was run: the folders are replaced only after prepare.py has succeeded and its output
has the files that an agent and the grader need. ``raw/`` is mounted read-only.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.errors import TaskError
from harness.sandboxes.base import GIB, ROOT, Limits, Mount, SandboxProvider, SandboxSpec
from harness.tasks.labels import task_labels
from harness.tasks.package import Task, raw_hash

log = logging.getLogger(__name__)

_DRIVER = Path(__file__).with_name("inside") / "run_prepare.py"
_PREPARE, _RUN = f"{ROOT}/task/prepare.py", f"{ROOT}/run_prepare.py"
_LIMITS = Limits(seconds=1_800.0, memory_bytes=16 * GIB, disk_bytes=64 * GIB, files=5_000_000)
#: How long a sandbox may outlast its run.
_SPARE_SECONDS = 3_600.0
_BOARDS = ("public_leaderboard.csv", "private_leaderboard.csv")


@dataclass(frozen=True)
class Conditions:
    """What must not matter to prepare.py. The defaults are those of an ordinary preparation.

    Attributes:
        hash_seed: Python's, which decides the order of sets.
        elsewhere: raw, public and private lie at another place inside, and the run starts in an empty folder.
        listing: the order of names in which folders are listed; by default the file system's.
        timezone: the local time zone.
        umask: the permissions that new files lack; by default the sandbox's.
        days: by how many days Python's clocks are wrong.
    """

    hash_seed: int = 0
    elsewhere: bool = False
    listing: Literal["forward", "reverse"] | None = None
    timezone: str | None = None
    umask: int | None = None
    days: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """The variables that bring them about."""
        zone = {} if self.timezone is None else {"TZ": self.timezone}
        return {"PYTHONHASHSEED": str(self.hash_seed), **zone}

    def to_json(self) -> str:
        """What the script inside is told; see ``inside/run_prepare.py``."""
        told: dict[str, Any] = {"elsewhere": self.elsewhere, "listing": self.listing, "days": self.days}
        if self.umask is not None:
            told["umask"] = self.umask
        return json.dumps(told)


_ORDINARY = Conditions()


@dataclass(frozen=True)
class Preparation:
    """One run of prepare.py.

    Attributes:
        ok: it ended without an error and wrote the required files.
        message: why not, in one line; the last lines of its output.
        output: everything it printed, bounded.
        seconds: wall time.
    """

    ok: bool
    message: str
    output: str
    seconds: float


def run_prepare(
    task: Task,
    out: Path,
    provider: SandboxProvider,
    *,
    seconds: float | None = None,
    conditions: Conditions = _ORDINARY,
    raw_writable: bool = False,
) -> Preparation:
    """Run prepare.py once, into ``out/public`` and ``out/private``, which it finds as they are.

    Args:
        task: the package; only its ``prepare.py`` and ``raw/`` are seen by the code.
        out: a folder of the host that receives the output.
        provider: opens the sandbox.
        seconds: time limit.
        conditions: under which it runs, so that a caller can prove independence of them.
        raw_writable: let it write to ``raw/``, which must be a copy then.
    """
    for name in ("public", "private"):
        (out / name).mkdir(parents=True, exist_ok=True)
    limits = _LIMITS if seconds is None else replace(_LIMITS, seconds=seconds)
    place = f"{ROOT}/elsewhere" if conditions.elsewhere else ROOT
    spec = SandboxSpec(
        mounts=(
            Mount(_DRIVER, _RUN),
            Mount(task.prepare_path, _PREPARE),
            Mount(task.raw, f"{place}/raw", writable=raw_writable),
            Mount(out, f"{place}/out", writable=True),
        ),
        workdir=f"{place}/out",
        limits=_LIMITS,
        environment=conditions.environment,
        preload=("numpy", "pandas"),
        labels=task_labels("prepare", f"{task.spec.set}/{task.id}", limits.seconds + _SPARE_SECONDS),
    )
    with provider.start(spec) as sandbox:
        folders = [sandbox.inside(f"{place}/{name}") for name in ("raw", "out/public", "out/private")]
        run = sandbox.run_python(
            sandbox.inside(_RUN), [sandbox.inside(_PREPARE), *folders, conditions.to_json()], limits=limits
        )
    if run.over:
        return Preparation(False, f"prepare.py went over its limit of {run.over}", run.output, run.seconds)
    if run.timed_out:
        return Preparation(False, f"prepare.py ran longer than {run.seconds:.0f} s", run.output, run.seconds)
    if not run.ok:
        last = run.output.strip().splitlines()[-1:] or [f"exit code {run.exit_code}"]
        return Preparation(False, f"prepare.py failed: {last[0]}", run.output, run.seconds)
    unfit = _make_readable(out)
    if unfit:
        return Preparation(False, f"prepare.py made {unfit}", run.output, run.seconds)
    for required in ("public/sample_submission.csv", "private/test_answer.csv"):
        if not (out / required).is_file():
            return Preparation(False, f"prepare.py did not write {required}", run.output, run.seconds)
    return Preparation(True, "prepared", run.output, run.seconds)


def _make_readable(out: Path) -> str | None:
    """Open what prepare.py made to the user of a sandbox, or say what in it is neither file nor folder.

    A link would show agents, or have us write, whatever it points to.
    """
    folders = [out]
    while folders:
        folder = folders.pop()
        try:
            folder.chmod(0o755)
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                path = Path(entry.path)
                if not entry.name.isprintable():
                    return f"{str(path.relative_to(out))!a}, whose name cannot be printed; rename it"
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False):
                    path.chmod(0o644)
                else:
                    return f"{path.relative_to(out)} a link or a special file; copy the data"
        except OSError as error:
            return f"{folder.relative_to(out)}, which cannot be read: {error.strerror}"
    return None


def prepare_task(task: Task, provider: SandboxProvider, *, seconds: float | None = None) -> Preparation:
    """Make ``public/`` and ``private/`` anew; an earlier state stays when anything fails.

    Leaderboards that lie in ``private/`` are kept, as prepare.py does not make them.

    Raises:
        TaskError: a file of the package is missing, ``raw/`` is not what task.toml declares, or prepare.py
            failed; the message says which.
    """
    for path in (task.prepare_path, task.description_path):
        if not path.is_file():
            raise TaskError(f"{path}: not found; a task package needs it")
    if not task.raw.is_dir():
        raise TaskError(f"{task.raw}: not found; put the raw data there")
    found = raw_hash(task.raw)
    if found != task.spec.source.sha256:
        raise TaskError(
            f"{task.root / 'task.toml'}: source.sha256 is {task.spec.source.sha256} but raw/ hashes to "
            f"{found}; restore the raw data, or declare the new hash"
        )
    with tempfile.TemporaryDirectory(dir=task.root, prefix=".prepare-") as name:
        out = Path(name)
        report = run_prepare(task, out, provider, seconds=seconds)
        if not report.ok:
            raise TaskError(f"{task.prepare_path}: {report.message}")
        shutil.copyfile(task.description_path, out / "public" / "description.txt")
        for board in _BOARDS:
            if (task.private / board).is_file() and not (out / "private" / board).exists():
                shutil.copyfile(task.private / board, out / "private" / board)
        replace_folders(out, task.root, (task.public.name, task.private.name))
    return report


def replace_folders(source: Path, target: Path, names: Sequence[str]) -> None:
    """Move folders from ``source`` to ``target``: all of them, or, with an error, none.

    What ``target`` had by these names is in ``source`` then, as ``old-<name>``.
    """
    folders = [(source / name, target / name, source / f"old-{name}") for name in names]
    with contextlib.ExitStack() as undo:
        for _, place, old in folders:
            if os.path.lexists(place):
                place.rename(old)
                undo.callback(old.rename, place)
        for new, place, _ in folders:
            new.rename(place)
            undo.callback(place.rename, new)
        undo.pop_all()
