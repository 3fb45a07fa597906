"""Generates tasks and kills itself, as an unplugged machine would, when it is about to do a named thing.

    python -m tests.generator.pipeline.killed OUT STAGE TIMES

STAGE is a stage of the progress, or ``booked`` for the moment after an attempt was written down; TIMES says
at which occurrence. With 0 it never dies.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from generator.ledger import Attempt, Ledger
from generator.pipeline.generation import Options, generate
from harness.sandboxes.choose import choose_sandbox

DATASETS = ("diabetes",)


def main() -> None:
    """Generate, perhaps to the end."""
    out, stage, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

    def die(dataset: str, now: str, text: str) -> None:
        nonlocal left
        left -= now == stage
        if now == stage and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    book = Ledger.book

    def book_and_die(ledger: Ledger, attempt: Attempt) -> None:
        book(ledger, attempt)
        die("", "booked", "")

    Ledger.book = book_and_die  # type: ignore[method-assign, assignment]
    provider = choose_sandbox("auto", trusted=True)
    generate(
        DATASETS, out, provider=provider, options=Options(deep=False, max_tasks=2), progress=die
    )  # fmt: skip


if __name__ == "__main__":
    main()
