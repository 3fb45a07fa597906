"""One model call as a trial needs it: retried, bounded, and with its waiting booked apart."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from harness.budget import Budget, BudgetMeter
from harness.errors import CostLimit, TokenLimit, TrialEnd
from harness.models.base import Finish, Message, Model, Reply, Settings, Tool, Usage
from harness.models.endpoint import LOOK_SECONDS, Endpoint
from harness.models.faults import Fault, FaultKind
from harness.models.pricing import FREE_PROVIDERS

#: A reply shorter than this holds no action, and OpenAI's Responses API refuses a lower bound.
LEAST_OUTPUT = 16
#: Endpoints refuse a bound of output tokens above what the model can write, which nobody tells. Where the
#: settings set none, what is left of the budget is sent only when every model can write it.
SAFE_OUTPUT = 4096
#: How a call is recorded that was still unanswered when its trial ended: nobody knows what it cost.
ABANDONED = "abandoned"
#: How much longer than its timeout a call may take before it is given up: its client should notice first.
_GRACE_SECONDS = 2.0

Record = Callable[[str, dict[str, Any]], None]


class Retries(BaseModel):
    """How patiently failed calls are repeated.

    The wait doubles from one attempt to the next, plus a random part of up to ``first_seconds``; a wait that
    the endpoint asks for is kept where it is longer.

    Attributes:
        attempts: requests for one call, the first included.
        first_seconds: wait after the first failure.
        longest_seconds: the longest wait, also where the endpoint asks for more.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    attempts: int = Field(default=8, ge=1)
    first_seconds: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    longest_seconds: float = Field(default=120.0, ge=0, allow_inf_nan=False)


@dataclass(frozen=True)
class Answer:
    """A reply and what it took.

    Attributes:
        reply: what the model answered.
        seconds: wall time of the call that succeeded.
        waited: wall time of everything else: waiting for room at the endpoint, failed calls, backing off.
        attempts: calls made, the one that succeeded included.
    """

    reply: Reply
    seconds: float
    waited: float = 0.0
    attempts: int = 1


class Caller:
    """Calls one model for one trial, and books what that takes.

    Args:
        model: the candidate.
        settings: what is asked of every call.
        meter: the trial's budget; without one there is no limit.
        endpoint: shared with the other trials of the model.
        retries: how patiently failed calls are repeated.
        price: USD of one call, ``None`` where it is unknown; asked only under a cost limit.
        record: writes one event ``(kind, fields)`` to the trajectory.

    Attributes:
        calls: requests made.
        faults: calls without a reply, by the kind of their fault or as :data:`ABANDONED`.
        seconds: wall time of the calls that were answered.
        version: the model's exact version, as the endpoint named it last.
    """

    def __init__(
        self,
        model: Model,
        settings: Settings,
        *,
        meter: BudgetMeter | None = None,
        endpoint: Endpoint | None = None,
        retries: Retries | None = None,
        price: Callable[[Usage], float | None] = lambda usage: None,
        record: Record = lambda kind, fields: None,
    ) -> None:
        self.model = model
        self.settings = settings
        self.meter = meter or BudgetMeter(Budget(seconds=None))
        self.endpoint = endpoint or Endpoint(model.name)
        self.retries = retries or Retries()
        self.calls = 0
        self.faults: Counter[str] = Counter()
        self.seconds = 0.0
        self.version: str | None = None
        self._price = price
        self._record = record
        self._step = self._attempts = 0
        self._lost_seconds = 0.0

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], *, expected_input: int = 0, step: int = 0
    ) -> Answer:
        """Answer the conversation, and book the tokens and the money it took.

        Args:
            messages: the conversation.
            tools: what the model may do.
            expected_input: tokens the call's input will have at least, as far as earlier usage tells; 0 if
                nothing is known.
            step: the number of the step that the answer will be, for the record of failed calls.

        Raises:
            TrialEnd: the endpoint failed for good, or a limit was reached before or while waiting for it.
        """
        settings = self._within_budget(expected_input)
        self._step, self._attempts = step, 0
        waited = self.meter.waited()
        backoff = wait_exponential_jitter(
            initial=self.retries.first_seconds,
            max=self.retries.longest_seconds,
            jitter=self.retries.first_seconds,
        )

        def wait(state: RetryCallState) -> float:
            asked = _fault_of(state).retry_after or 0.0
            return min(self.retries.longest_seconds, max(backoff(state), asked))

        retrying = Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.policy.retried),
            stop=stop_after_attempt(self.retries.attempts),
            wait=wait,
            before_sleep=lambda state: self._book_fault(_fault_of(state), state.upcoming_sleep),
            sleep=self._pause,
            reraise=True,
        )
        try:
            reply, seconds = retrying(self._attempt, messages, tools, settings)
        except Fault as fault:
            self._book_fault(fault, 0.0)
            raise fault.policy.end(str(fault)) from fault
        limited = self.meter.budget.cost_usd is not None
        self.meter.spend_usage(reply.usage, self._price(reply.usage) if limited else None)
        self.seconds += seconds
        self.version = reply.version or self.version
        return Answer(reply, seconds, self.meter.waited() - waited, self._attempts)

    def _attempt(
        self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings
    ) -> tuple[Reply, float]:
        """One request: its reply and the seconds it took."""
        with self.meter.waiting():
            episode = self.endpoint.enter(self.meter.check_time)
        started = time.monotonic()
        self.calls += 1
        self._attempts += 1
        try:
            reply = self._call(messages, tools, settings)
            self._require_usage(reply)
            self.endpoint.succeeded()
        except Fault as fault:
            self._lost_seconds = time.monotonic() - started
            self.meter.book_waited(self._lost_seconds)
            hold = min(fault.retry_after or 0.0, self.retries.longest_seconds)
            self.endpoint.failed(fault, episode, hold)
            raise
        finally:
            self.endpoint.leave()
        return reply, time.monotonic() - started

    def _call(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Ask the model in a thread of its own, so that nothing that hangs in there holds the trial."""
        timeout = settings.timeout_seconds
        # When the trial's time is the shorter one, its end comes first and the client's soon after.
        asked = settings.model_copy(
            update={"timeout_seconds": min(timeout, self.meter.time_left() + _GRACE_SECONDS)}
        )
        outcomes: queue.SimpleQueue[Reply | BaseException] = queue.SimpleQueue()

        def work() -> None:
            try:
                outcomes.put(self.model.complete(messages, tools, asked))
            except BaseException as error:  # noqa: BLE001 - raised again where the outcome is waited for
                outcomes.put(error)

        threading.Thread(target=work, name=f"call {self.model.name}", daemon=True).start()
        started = time.monotonic()
        deadline = started + timeout + _GRACE_SECONDS
        while True:
            try:
                self.meter.check_time()
            except TrialEnd as end:
                self._lost_seconds = time.monotonic() - started
                self._book(ABANDONED, f"unanswered when the trial ended ({end}); its cost is unknown")
                raise
            try:
                outcome = outcomes.get(timeout=max(0.0, min(LOOK_SECONDS, self.meter.time_left())))
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise Fault(FaultKind.TIMEOUT, f"no answer within {timeout:g} s") from None
            else:
                if isinstance(outcome, BaseException):
                    raise outcome
                return outcome

    def _pause(self, seconds: float) -> None:
        """Back off, unless the trial's time ends or the endpoint closes meanwhile."""
        until = time.monotonic() + seconds
        with self.meter.waiting():
            while (left := until - time.monotonic()) > 0 and self.endpoint.closed is None:
                self.meter.check_time()
                self.meter.cancelled.wait(min(left, LOOK_SECONDS, self.meter.time_left()))
        self.meter.check_time()

    def _require_usage(self, reply: Reply) -> None:
        """Refuse a reply that a limit cannot count: the trial would run without that limit.

        A provider's filter may stop a call before it costs anything.
        """
        if not self.meter.budget.counts_usage or self.model.name.partition("/")[0] in FREE_PROVIDERS:
            return
        usage, said = reply.usage, reply.text or reply.tool_calls
        if reply.finish is not Finish.REFUSAL and (not usage.input or (said and not usage.output)):
            # One that has told it before may tell it again; another never will.
            kind = FaultKind.GARBLED if self.meter.usage.input else FaultKind.USAGE
            raise Fault(kind, "the reply does not tell how many tokens it took, which the budget limits")

    def _book_fault(self, fault: Fault, wait: float) -> None:
        """Count and record a failed call, before the wait that follows it."""
        message = str(fault)
        longest = self.retries.longest_seconds
        if fault.policy.retried and (fault.retry_after or 0.0) > longest:
            message += f" (it asks to wait {fault.retry_after:g} s; {longest:g} s is the longest wait)"
        self._book(fault.kind, message, fault.status, wait)

    def _book(self, kind: str, message: str, status: int | None = None, wait: float = 0.0) -> None:
        self.faults[str(kind)] += 1
        self._record(
            "fault",
            {
                "step": self._step,
                "attempt": self._attempts,
                "kind": str(kind),
                "status": status,
                "message": message,
                "seconds": round(self._lost_seconds, 3),
                "wait": round(max(0.0, min(wait, self.meter.seconds_left())), 3),
            },
        )

    def _within_budget(self, expected_input: int) -> Settings:
        """The settings, with the reply bounded by the tokens and the money that are left.

        The input counts at its full price, since nothing says how much of it a cache will hold.

        Raises:
            TokenLimit, CostLimit: the input alone, or a reply with room for an action, goes beyond the limit.
        """
        rooms = [] if self.settings.max_output_tokens is None else [self.settings.max_output_tokens]
        for kind, left in self.meter.tokens_left().items():
            needed = {"tokens": expected_input + LEAST_OUTPUT, "input tokens": max(1, expected_input)}
            if left < needed.get(kind, LEAST_OUTPUT):
                raise TokenLimit(
                    f"{max(0, left)} {kind} are left; the next call needs at least "
                    f"{needed.get(kind, LEAST_OUTPUT)}"
                )
            if kind != "input tokens":
                rooms.append(left - (expected_input if kind == "tokens" else 0))
        affordable = self._affordable_output(expected_input)
        if affordable is not None:
            rooms.append(affordable)
        room = min(rooms, default=None)
        if room is None or room == self.settings.max_output_tokens:
            return self.settings
        if self.settings.max_output_tokens is None and room > SAFE_OUTPUT:
            return self.settings
        return self.settings.model_copy(update={"max_output_tokens": room})

    def _affordable_output(self, expected_input: int) -> int | None:
        """Output tokens that the money left pays for after the input; ``None`` without a limit or a price.

        Raises:
            CostLimit: it pays for no reply.
        """
        if self.meter.budget.cost_usd is None:
            return None
        for_input = self._price(Usage(input=expected_input))
        for_least = self._price(Usage(input=expected_input, output=LEAST_OUTPUT))
        if for_input is None or for_least is None:
            return None
        left = self.meter.money_left()
        if left < for_least:
            raise CostLimit(f"${left:.6f} is left; the next call costs at least ${for_least:.6f}")
        per_token = (for_least - for_input) / LEAST_OUTPUT
        # Prices per token are sums of binary fractions: a whole number may come out a hair too low.
        return int((left - for_input) / per_token + 1e-6) if per_token > 0 else None


def _fault_of(state: RetryCallState) -> Fault:
    """The fault of an attempt that is retried, which nothing else is."""
    fault = state.outcome.exception() if state.outcome else None
    assert isinstance(fault, Fault)
    return fault
