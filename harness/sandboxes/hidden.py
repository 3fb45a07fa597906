"""What code inside a sandbox must not find among the packages of its Python."""

from __future__ import annotations

import functools
import sysconfig
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
    """Folders of this Python's packages that a sandbox shows empty, or leaves out."""
    sites = sorted({Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")})
    found = [path for site in sites for name in (*OUR_PACKAGES, *BUNDLED_DATA) for path in site.glob(name)]
    return tuple(path for path in found if path.is_dir())
