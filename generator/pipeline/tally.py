"""What a long generation tells while it runs: how far it is, what came of it so far, and what it cost."""

from __future__ import annotations

import threading
import time
from collections import Counter

from generator.ledger import Attempt

_OF_TASKS = ("verified", "rejected")
_STAGES = ("design", "refactor", "verify")


class Tally:
    """Counts what :func:`generator.pipeline.generation.generate` tells; may be told from several threads.

    Args:
        datasets: how many there are.
    """

    def __init__(self, datasets: int) -> None:
        self.datasets = datasets
        self.counts: Counter[str] = Counter()
        self.cost_usd = 0.0
        self.unpriced = 0
        self._working: dict[str, str] = {}
        self._started = time.monotonic()
        self._lock = threading.Lock()

    def told(self, dataset: str, stage: str, text: str) -> str:
        """Count what happened, and say it in a line after how things stand."""
        with self._lock:
            if stage in (*_OF_TASKS, "done"):
                self.counts[stage] += 1
                self._working.pop(dataset, None)
            else:
                self._working[dataset] = stage
            return f"[{self._standing()}] {dataset}: {stage}: {text}"

    def booked(self, attempt: Attempt) -> None:
        """Add what an attempt cost."""
        with self._lock:
            if attempt.cost_usd is None:
                self.unpriced += 1
            else:
                self.cost_usd += attempt.cost_usd

    def _standing(self) -> str:
        busy = Counter(self._working.values())
        parts = [f"{self.counts['done']}/{self.datasets} datasets"]
        parts += [f"{self.counts[kind]} {kind}" for kind in _OF_TASKS if self.counts[kind]]
        parts += [f"{busy[stage]} in {stage}" for stage in _STAGES if busy[stage] > 1]
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        parts.append(f"{minutes}:{seconds:02d}")
        if self.cost_usd or self.unpriced:
            parts.append(f"${self.cost_usd:.2f}" + (" and unpriced calls" if self.unpriced else ""))
        return ", ".join(parts)
