"""The shape of the house: arrows go down only, and files stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("harness", "generator", "stats", "leaderboards", "reports", "mlesmith")
SOURCES = [
    path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if "tasksets" not in path.parts
]


def test_imports_go_down_only() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_forbidden_import_is_noticed(tmp_path: Path) -> None:
    """The contract can fail: a copy of the tree with one upward import breaks it."""
    import shutil

    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("raw", "*.gz", "*.png"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "stats" / "upward.py").write_text("import leaderboards\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "stats.upward" in done.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_at_most_400_lines_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text)), "a module begins with a docstring"


def test_help_answers_without_heavy_imports() -> None:
    """``mlesmith --help`` must not import what only some commands need."""
    code = (
        "import sys\nfrom mlesmith.main import app\n"
        "heavy = {'pandas', 'numpy', 'sklearn', 'scipy', 'matplotlib', 'openai', 'pingouin', 'pydantic'}\n"
        "found = sorted(heavy & set(sys.modules))\n"
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
