"""Temporary folders that end with their harness, and those that a killed one left behind."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from harness.sandboxes.kernel.owners import Life, Owner

#: Where folders are made that hold a socket: its path has room for about a hundred bytes, TMPDIR may not.
SHORT = Path("/tmp")
_BOOT = 8  # digits of the boot's id; enough to tell the boots of one machine apart
# kind, boot, pid namespace, pid, start of the process; what tempfile appends
_NAME = re.compile(rf"mlesmith-[a-z]+-([0-9a-f]{{{_BOOT}}})-(\d+)-(\d+)-(\d+)-\w+")


def prefix(kind: str) -> str:
    """How the name of a temporary folder of this process begins, for :mod:`tempfile`; names its owner.

    Args:
        kind: what the folder is for, in lower case letters.
    """
    me = Owner.me()
    return f"mlesmith-{kind}-{me.boot[:_BOOT]}-{me.pid_namespace}-{me.pid}-{me.start}-"


def find() -> list[Path]:
    """Folders whose harness has ended: of this user, and of this boot and PID namespace alone."""
    places = {SHORT.resolve(), Path(tempfile.gettempdir()).resolve()}
    return sorted(Path(entry.path) for place in places for entry in os.scandir(place) if _abandoned(entry))


def sweep() -> list[str]:
    """Remove what :func:`find` finds; links are never followed. Returns the paths of what is gone."""
    found = find()
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return [str(folder) for folder in found if not folder.exists()]


def _abandoned(entry: os.DirEntry[str]) -> bool:
    owner = _owner_of(entry.name)
    if owner is None or owner.life is not Life.GONE or not entry.is_dir(follow_symlinks=False):
        return False
    try:
        return entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except FileNotFoundError:  # swept by another harness at this moment
        return False


def _owner_of(name: str) -> Owner | None:
    """Who made a folder of this name, if that was a process of this boot."""
    found, boot = _NAME.fullmatch(name), Owner.me().boot
    if not found or not boot.startswith(found[1]):
        return None
    return Owner(boot, *map(int, found.group(2, 3, 4)))
