"""What code inside a sandbox must not find among the packages of its Python.

The Dockerfile runs this file by itself, so it needs nothing but the standard library.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

OUR_PACKAGES = ("harness", "generator", "stats", "leaderboards", "reports", "mlesmith")
#: Data that ships inside libraries; tasks are made from such data, so an agent could look answers up.
BUNDLED_DATA = (
    "sklearn/datasets/data",
    "sklearn/datasets/images",
    "sklearn/datasets/tests",
    "statsmodels/datasets",
    "statsmodels/**/tests",
    "pingouin/datasets",
)


@functools.cache
def hidden_folders() -> tuple[Path, ...]:
    """Folders among all packages that a sandbox shows, which it shows empty, or leaves out."""
    return hidden_below(site_folders())


def hidden_below(sites: Iterable[Path]) -> tuple[Path, ...]:
    """Folders to hide in folders of packages, in their order."""
    found = (path for site in sites for name in (*OUR_PACKAGES, *BUNDLED_DATA) for path in site.glob(name))
    return tuple(path for path in found if path.is_dir())


def site_folders() -> tuple[Path, ...]:
    """Where a sandbox shows packages: those of this Python, of its base, and of the system's Pythons."""
    base, executable = Path(sys.base_prefix).resolve(), Path(sys.executable).resolve()
    prefixes = {Path(sys.prefix), base, executable.parent.parent, Path("/usr"), Path("/usr/local")}
    found = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    for prefix in prefixes:
        for library in prefix.glob("lib*"):
            if not library.is_symlink():  # lib64 is lib on many systems
                found.update(library.glob("python3*/site-packages"))
                found.update(library.glob("python3*/dist-packages"))
    return tuple(sorted(path for path in found if path.is_dir()))
