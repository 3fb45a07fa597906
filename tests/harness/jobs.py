"""What the tests of jobs share: a small job of quick candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.jobconfig import JobConfig
from harness.models import registry
from harness.records import find_results
from harness.tasks.package import Task


def names() -> list[str]:
    """The two weakest scripted candidates, which are quick."""
    return registry.scripted_names()[:2]


def config_of(*tasks: Task, models: list[str] | None = None, **more: Any) -> JobConfig:
    return JobConfig.model_validate(
        {
            "tasks": [task.root for task in tasks],
            "models": [{"name": name} for name in models or names()],
            "budget": {"steps": 4, "execution_seconds": 30.0},
            "sandbox": "bubblewrap",
            "workers": 2,
            **more,
        }
    )


def stamps(out: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in find_results(out)}
