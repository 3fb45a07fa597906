"""What every bubblewrap sandbox shows of this machine beside its mounts; nothing private may lie in it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import harness
from harness.errors import SandboxUnavailable
from harness.sandboxes.hidden import hidden_folders

SYSTEM = Path("/usr")
#: Scripts of ours that are mounted on purpose, and hold nothing to keep secret.
_SCRIPTS = Path(harness.__file__).resolve().parent / "tasks" / "inside"


def python_folders() -> tuple[Path, ...]:
    """Where this Python and its packages lie, as far as that is outside of :data:`SYSTEM`."""
    executable = Path(sys.executable).resolve()
    prefixes = (Path(sys.base_prefix).resolve(), executable.parent.parent, Path(sys.prefix))
    return tuple(prefix for prefix in dict.fromkeys(prefixes) if not prefix.is_relative_to(SYSTEM))


def check_not_shown(paths: Iterable[Path]) -> None:
    """Raise when a path lies in what every sandbox shows: what is beside it would be shown, too.

    Raises:
        SandboxUnavailable: names the path, the folder above it that is shown, and the fix.
    """
    covered = [_SCRIPTS, *(folder.resolve() for folder in hidden_folders())]
    for path in paths:
        place = path.resolve()
        if any(place.is_relative_to(folder) for folder in covered):
            continue
        for folder in (SYSTEM, *python_folders()):
            if place.is_relative_to(folder.resolve()):
                raise SandboxUnavailable(
                    f"{path} lies below {folder}, which every sandbox shows, with the answers of tasks that "
                    "are there; move it, or use a Python whose virtual environment has a folder of its own"
                )
