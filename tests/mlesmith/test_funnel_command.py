"""``mlesmith funnel`` as scripts use it: the JSON document, the report, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.generator.pipeline.example import write

ROOT = Path(__file__).parents[2]


def run_funnel(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mlesmith", "funnel", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_one_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "tasks")
    done = run_funnel(folder, "--json", "--html", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["schema_version"], document["verified"], document["datasets"]) == (1, 3, 4)
    assert (tmp_path / "report" / "index.html").is_file() and "the report is" in done.stderr
    told = run_funnel(folder).stdout
    assert "3 verified tasks from 4 datasets" in told and "not reviewed: trivial 1" in told
    assert "309 s preparing, 63 s verifying, at least 0.84" in told


def test_several_folders_are_compared(tmp_path: Path) -> None:
    folders = [write(tmp_path / name) for name in ("whole", "without-repair")]
    done = run_funnel(*folders, "--json")
    document = json.loads(done.stdout)
    assert document["first"] == "whole" and document["generations"][1]["shared_datasets"] == 2
    told = run_funnel(*folders).stdout
    assert "without-repair against whole, shared datasets: 2" in told


def test_a_folder_of_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    done = run_funnel(tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "funnel.csv is not there" in done.stderr
