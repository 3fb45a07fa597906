"""The room stays quick to import, imports nothing of the others, and touches no file."""

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import stats

MODULES = sorted(module.name for module in pkgutil.walk_packages(stats.__path__, "stats."))
ALLOWED = {"stats", "numpy", "scipy", "pandas", "pingouin", "statsmodels"} | set(sys.stdlib_module_names)
TOUCHING = {"os", "io", "pathlib", "shutil", "tempfile", "subprocess", "socket", "urllib", "http"}


def test_slow_libraries_load_only_when_needed():
    code = (
        f"import sys, {', '.join(MODULES)}\n"
        "slow = {'pingouin', 'statsmodels', 'scipy.stats', 'matplotlib', 'sklearn'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("module", MODULES)
def test_imports_stay_in_the_room(module):
    place = Path(stats.__path__[0], *module.split(".")[1:])
    source = place.with_suffix(".py") if place.with_suffix(".py").exists() else place / "__init__.py"
    tree = ast.parse(source.read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= ALLOWED and not imported & TOUCHING
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not any(isinstance(call, ast.Name) and call.id == "open" for call in calls)
