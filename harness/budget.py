"""The budget of a trial, and what is left of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import Cancelled, CostLimit, StepLimit, TimeLimit, TokenLimit
from harness.models.base import Usage


class Budget(BaseModel):
    """What one trial may use. ``None`` means no limit.

    Attributes:
        steps: actions the agent may take.
        seconds: wall time of the whole trial.
        execution_seconds: wall time of one ``validate_code`` or ``execute_code``.
        tokens: input plus output tokens of all model calls.
        cost_usd: price of all model calls.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(15, ge=1)
    seconds: float | None = Field(43_200.0, gt=0, allow_inf_nan=False)
    execution_seconds: float = Field(3_600.0, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(None, ge=1)
    cost_usd: float | None = Field(None, gt=0, allow_inf_nan=False)


@dataclass
class BudgetMeter:
    """Counts what a trial has used and raises the matching end when a limit is reached."""

    budget: Budget
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def seconds_left(self) -> float:
        """Wall seconds left; infinite without a limit."""
        if self.budget.seconds is None:
            return float("inf")
        return self.budget.seconds - (time.monotonic() - self.started)

    def steps_left(self) -> int:
        """Steps left."""
        return self.budget.steps - self.steps

    def check_cancelled(self) -> None:
        """Raise :class:`Cancelled` once the job has been interrupted."""
        if self.cancelled.is_set():
            raise Cancelled("the job was interrupted")

    def check(self) -> None:
        """Raise the end of the first limit that is reached.

        Raises:
            Cancelled, StepLimit, TimeLimit, TokenLimit, CostLimit: as the class names say.
        """
        self.check_cancelled()
        if self.steps_left() <= 0:
            raise StepLimit(f"all {self.budget.steps} steps are used")
        if self.seconds_left() <= 0:
            raise TimeLimit(f"the {self.budget.seconds:g} s of the trial are used")
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            raise TokenLimit(f"{self.tokens} of {self.budget.tokens} tokens are used")
        if self.budget.cost_usd is not None and self.cost_usd >= self.budget.cost_usd:
            raise CostLimit(f"${self.cost_usd:.4f} of ${self.budget.cost_usd:.4f} are used")

    def spend_step(self) -> None:
        """Book one step."""
        self.steps += 1

    def spend_usage(self, usage: Usage, cost_usd: float | None) -> None:
        """Book one model call; an unknown price books no money, so callers refuse a cost limit then."""
        self.tokens += usage.input + usage.output
        self.cost_usd += cost_usd or 0.0

    def describe(self) -> str:
        """What is left, in the words shown to the agent."""
        parts = [f"{self.steps_left()} steps"]
        if self.budget.seconds is not None:
            parts.append(f"{max(0.0, self.seconds_left()):.0f} s")
        if self.budget.tokens is not None:
            parts.append(f"{max(0, self.budget.tokens - self.tokens)} tokens")
        if self.budget.cost_usd is not None:
            parts.append(f"${max(0.0, self.budget.cost_usd - self.cost_usd):.4f}")
        return ", ".join(parts)
