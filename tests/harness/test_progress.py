"""What a job tells while it works: how far it is, and what slows it down."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.errors import Status
from harness.progress import RichProgress
from tests.harness.test_records import RESULT


@pytest.mark.parametrize("terminal", [True, False])
def test_a_slow_endpoint_is_shown_until_it_is_well_again(terminal: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200)
    with RichProgress(console) as progress:
        progress.planned(20, 0)
        progress.noted("openai/a", "rate limited, [8] calls at a time")
        progress._progress.refresh()
        assert "openai/a: rate limited, [8] calls at a time" in stream.getvalue()
        for _ in range(20):
            progress.finished(RESULT)
        told = stream.getvalue()
        progress.noted("openai/a", "")
        progress._progress.refresh()
        assert "rate limited" not in stream.getvalue()[len(told) :]
    assert "20 of 20 trials done" in told or terminal


@pytest.mark.parametrize(
    ("status", "score", "said"),
    [
        (Status.SUBMITTED, 0.25, "0.25"),
        (Status.STEP_LIMIT, None, "invalid"),
        (Status.PROVIDER_ERROR, None, "provider_error"),  # it says nothing about the candidate
    ],
)
def test_what_the_last_trial_came_to_is_shown(status: Status, score: float | None, said: str) -> None:
    stream = io.StringIO()
    with RichProgress(Console(file=stream, force_terminal=False, width=200)) as progress:
        progress.planned(1, 0)
        progress.finished(RESULT.model_copy(update={"status": status, "score": score}))
    assert stream.getvalue().rstrip().endswith(f"{RESULT.model} {said}")
