"""Every limit ends a trial with its own exception, at its boundary, cancellation first."""

from __future__ import annotations

import threading
import time

import pytest
from pydantic import ValidationError

from harness.budget import Budget, BudgetMeter
from harness.errors import Cancelled, CostLimit, StepLimit, TimeLimit, TokenLimit, WorkingTimeLimit
from harness.models.base import Usage


def budget(**limits: object) -> Budget:
    return Budget.model_validate(limits)


def test_the_paper_s_budget_is_the_default() -> None:
    default = budget()
    assert (default.steps, default.seconds, default.tokens, default.cost_usd) == (15, 12 * 3600, None, None)


def test_steps() -> None:
    meter = BudgetMeter(budget(steps=2))
    meter.check()
    meter.spend_step()
    meter.check()
    assert meter.describe() == "1 steps, 43200 s"
    meter.spend_step()
    with pytest.raises(StepLimit, match="all 2 steps"):
        meter.check()


def test_time() -> None:
    meter = BudgetMeter(budget(seconds=10.0), started=time.monotonic() - 11)
    assert meter.seconds_left() < 0
    assert "0 s" in meter.describe()
    with pytest.raises(TimeLimit, match="10 s"):
        meter.check()
    assert BudgetMeter(budget(seconds=None)).seconds_left() == float("inf")


def test_working_time_is_wall_time_without_waiting() -> None:
    meter = BudgetMeter(budget(working_seconds=10.0), started=time.monotonic() - 15)
    assert meter.working_seconds_left() < 0
    meter.book_waited(6.0)  # a call that failed
    assert 0.5 < meter.working_seconds_left() < 1.0
    meter.check()
    assert meter.describe() == "15 steps, 43185 s, 1 s of work"
    assert meter.time_left() == pytest.approx(meter.working_seconds_left(), abs=0.1)
    meter = BudgetMeter(budget(working_seconds=10.0), started=time.monotonic() - 11)
    with pytest.raises(WorkingTimeLimit, match="10 s of working time"):
        meter.check()


@pytest.mark.parametrize(
    ("limits", "left", "said"),
    [
        ({"input_tokens": 70}, "10 input tokens", "70 of 70 input tokens"),
        ({"output_tokens": 50}, "10 output tokens", "50 of 50 output tokens"),
        ({"tokens": 120}, "20 tokens", "120 of 120 tokens"),
    ],
)
def test_each_kind_of_tokens_has_its_own_limit(limits: dict[str, int], left: str, said: str) -> None:
    meter = BudgetMeter(budget(**limits))
    meter.spend_usage(Usage(input=60, output=40), None)
    meter.check()
    assert meter.describe().endswith(f", {left}")
    meter.spend_usage(Usage(input=10, output=10), None)
    with pytest.raises(TokenLimit, match=said):
        meter.check()


def test_tokens_count_input_and_output_once() -> None:
    meter = BudgetMeter(budget(tokens=100))
    # Cached and reasoning tokens are parts of input and output, not more of them.
    meter.spend_usage(Usage(input=60, cache_read=50, output=39, reasoning=30), None)
    meter.check()
    assert "1 tokens" in meter.describe()
    meter.spend_usage(Usage(output=1), None)
    with pytest.raises(TokenLimit, match="100 of 100"):
        meter.check()


def test_money() -> None:
    meter = BudgetMeter(budget(cost_usd=0.5))
    meter.spend_usage(Usage(), 0.25)
    meter.check()
    assert "$0.2500" in meter.describe()
    meter.spend_usage(Usage(), 0.25)
    with pytest.raises(CostLimit):
        meter.check()


def test_an_interrupt_comes_before_every_limit() -> None:
    cancelled = threading.Event()
    meter = BudgetMeter(budget(steps=1), steps=1, cancelled=cancelled)
    cancelled.set()
    with pytest.raises(Cancelled):
        meter.check()


@pytest.mark.parametrize(
    "limits",
    [
        {"steps": 0},
        {"seconds": 0},
        {"working_seconds": 0},
        {"execution_seconds": -1},
        {"tokens": 0},
        {"input_tokens": 0},
        {"output_tokens": -1},
        {"cost_usd": 0},
        {"step": 3},
    ],
)
def test_limits_that_mean_nothing_are_refused(limits: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(limits))):
        budget(**limits)


def test_usages_add_up_by_part() -> None:
    total = Usage(input=1, cache_read=2, cache_write=3, output=4, reasoning=5) + Usage(input=10, output=20)
    assert total == Usage(input=11, cache_read=2, cache_write=3, output=24, reasoning=5)
