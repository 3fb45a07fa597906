"""What is written on sandboxes that work for a task and not for a trial."""

from __future__ import annotations

import time


def task_labels(role: str, task: str, seconds: float) -> dict[str, str]:
    """Labels for those who look for what a sandbox belongs to.

    Args:
        role: what the sandbox does for the task.
        task: its name.
        seconds: after which the sandbox has no business to live any more.
    """
    return {"role": role, "task": task, "deadline": f"{time.time() + seconds:.0f}"}
