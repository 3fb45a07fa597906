"""Kill -9 at any step, and run again: no task is lost, and none is made twice."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generator.pipeline.backends import rows

ROOT = Path(__file__).parents[3]


def run(out: Path, stage: str = "never", times: int = 0) -> int:
    command = [sys.executable, "-m", "tests.generator.pipeline.killed", str(out), stage, str(times)]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode


def tree(out: Path) -> dict[str, str]:
    """Every file of every verified task, by its hash; remembered verdicts hold times and are left out."""
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.glob("*/**/*")
        if path.is_file() and not path.is_relative_to(out / ".generate") and path.name != "verified.json"
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    assert run(out) == 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "times"),
    [("brainstorm", 1), ("design", 1), ("refactor", 1), ("verify", 1), ("booked", 1), ("booked", 2),
     ("booked", 4)],
)  # fmt: skip
def test_a_killed_run_goes_on(whole: Path, tmp_path: Path, stage: str, times: int) -> None:
    assert run(tmp_path, stage, times) == -signal.SIGKILL
    assert run(tmp_path) == 0
    assert tree(tmp_path) == tree(whole)
    told = [(row["task"], row["reached"]) for row in rows(tmp_path / "funnel.csv")]
    assert told == [(row["task"], row["reached"]) for row in rows(whole / "funnel.csv")]
    made = [row["task"] for row in rows(tmp_path / "attempts.csv") if row["outcome"] == "verified"]
    assert len(made) == len(set(made)) or stage == "booked"
    assert not list((tmp_path / ".generate").glob("*/*/*-new"))
