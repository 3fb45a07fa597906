"""The budget of a trial, and what is left of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import Cancelled, CostLimit, StepLimit, TimeLimit, TokenLimit, WorkingTimeLimit
from harness.models.base import Usage


class Budget(BaseModel):
    """What one trial may use. ``None`` means no limit.

    Attributes:
        steps: actions the agent may take.
        seconds: wall time of the whole trial.
        working_seconds: wall time without waiting for the model's endpoint: for room at it, for failed calls,
            and for the next attempt after one.
        execution_seconds: wall time of one ``validate_code`` or ``execute_code``.
        tokens: input plus output tokens of all model calls.
        input_tokens: input tokens of all model calls, cached ones included.
        output_tokens: output tokens of all model calls, reasoning included.
        cost_usd: price of all model calls.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(default=15, ge=1)
    seconds: float | None = Field(default=43_200.0, gt=0, allow_inf_nan=False)
    working_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    execution_seconds: float = Field(default=3_600.0, gt=0, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=1)
    input_tokens: int | None = Field(default=None, ge=1)
    output_tokens: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def counts_usage(self) -> bool:
        """Whether a limit of it is counted by the usage that endpoints tell."""
        limits = (self.tokens, self.input_tokens, self.output_tokens, self.cost_usd)
        return any(limit is not None for limit in limits)


@dataclass
class BudgetMeter:
    """Counts what a trial has used and raises the matching end when a limit is reached.

    It belongs to the trial's own thread; only ``cancelled`` is set by others.
    """

    budget: Budget
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    _waited: float = 0.0
    _waiting_since: float | None = None

    def waited(self) -> float:
        """Seconds waited for the model's endpoint, the wait that is going on included."""
        going_on = 0.0 if self._waiting_since is None else time.monotonic() - self._waiting_since
        return self._waited + going_on

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Book the time of the block as waiting, while it passes."""
        self._waiting_since = time.monotonic()
        try:
            yield
        finally:
            self._waited, self._waiting_since = self.waited(), None

    def book_waited(self, seconds: float) -> None:
        """Book time that has passed as waiting: that of a call which failed."""
        self._waited += seconds

    def seconds_left(self) -> float:
        """Wall seconds left; infinite without a limit."""
        if self.budget.seconds is None:
            return float("inf")
        return self.budget.seconds - (time.monotonic() - self.started)

    def working_seconds(self) -> float:
        """Seconds worked so far: wall time without waiting."""
        return time.monotonic() - self.started - self.waited()

    def working_seconds_left(self) -> float:
        """Working seconds left; infinite without a limit."""
        if self.budget.working_seconds is None:
            return float("inf")
        return self.budget.working_seconds - self.working_seconds()

    def time_left(self) -> float:
        """Seconds that work may still take: what is left of wall time and of working time."""
        return min(self.seconds_left(), self.working_seconds_left())

    def steps_left(self) -> int:
        """Steps left."""
        return self.budget.steps - self.steps

    def tokens_left(self) -> dict[str, int]:
        """What is left of each limited kind of tokens, by the words shown to the agent."""
        used, budget = self.usage, self.budget
        limits = {
            "tokens": (budget.tokens, used.input + used.output),
            "input tokens": (budget.input_tokens, used.input),
            "output tokens": (budget.output_tokens, used.output),
        }
        return {kind: limit - spent for kind, (limit, spent) in limits.items() if limit is not None}

    def money_left(self) -> float:
        """USD left; infinite without a limit."""
        return float("inf") if self.budget.cost_usd is None else self.budget.cost_usd - self.cost_usd

    def check_cancelled(self) -> None:
        """Raise :class:`Cancelled` once the job has been interrupted."""
        if self.cancelled.is_set():
            raise Cancelled("the job was interrupted")

    def check_time(self) -> None:
        """Raise the end of a time limit that is reached.

        Raises:
            Cancelled, TimeLimit, WorkingTimeLimit: as the class names say.
        """
        self.check_cancelled()
        if self.seconds_left() <= 0:
            raise TimeLimit(f"the {self.budget.seconds:g} s of the trial are used")
        if self.working_seconds_left() <= 0:
            raise WorkingTimeLimit(f"the {self.budget.working_seconds:g} s of working time are used")

    def check_action(self) -> None:
        """Raise the end of a limit that forbids another action of a reply, which itself is paid for.

        Raises:
            Cancelled, StepLimit, TimeLimit, WorkingTimeLimit: as the class names say.
        """
        self.check_cancelled()
        if self.steps_left() <= 0:
            raise StepLimit(f"all {self.budget.steps} steps are used")
        self.check_time()

    def check(self) -> None:
        """Raise the end of the first limit that forbids another call of the model.

        Raises:
            Cancelled, StepLimit, TimeLimit, WorkingTimeLimit, TokenLimit, CostLimit: as the class names say.
        """
        self.check_action()
        for kind, left in self.tokens_left().items():
            if left <= 0:
                limit = getattr(self.budget, kind.replace(" ", "_"))
                raise TokenLimit(f"{limit - left} of {limit} {kind} are used")
        if self.money_left() <= 0:
            raise CostLimit(f"${self.cost_usd:.4f} of ${self.budget.cost_usd:.4f} are used")

    def spend_step(self) -> None:
        """Book one step."""
        self.steps += 1

    def spend_usage(self, usage: Usage, cost_usd: float | None) -> None:
        """Book one model call; an unknown price books no money, so callers refuse a cost limit then."""
        self.usage += usage
        self.cost_usd += cost_usd or 0.0

    def describe(self) -> str:
        """What is left, in the words shown to the agent."""
        parts = [f"{self.steps_left()} steps"]
        if self.budget.seconds is not None:
            parts.append(f"{max(0.0, self.seconds_left()):.0f} s")
        if self.budget.working_seconds is not None:
            parts.append(f"{max(0.0, self.working_seconds_left()):.0f} s of work")
        parts += [f"{max(0, left)} {kind}" for kind, left in self.tokens_left().items()]
        if self.budget.cost_usd is not None:
            parts.append(f"${max(0.0, self.money_left()):.4f}")
        return ", ".join(parts)
