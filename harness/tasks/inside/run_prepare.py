"""Runs a task's ``prepare(raw, public, private)`` inside the sandbox. A standalone script.

run_prepare.py PREPARE.py RAW PUBLIC PRIVATE
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    """Import prepare.py and call its ``prepare``."""
    script, *folders = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("task_prepare", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["task_prepare"] = module
    spec.loader.exec_module(module)
    prepare = getattr(module, "prepare", None)
    if not callable(prepare):
        raise SystemExit("prepare.py defines no function prepare(raw, public, private)")
    raw, public, private = (Path(folder) for folder in folders)
    prepare(raw, public, private)


main()
