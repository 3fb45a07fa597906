"""A call is retried as its fault says, never beyond the trial's limits, and its waiting is booked apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from harness.budget import Budget, BudgetMeter
from harness.errors import (
    Cancelled,
    ContextOverflow,
    CostLimit,
    EndpointClosed,
    ProviderError,
    TimeLimit,
    TokenLimit,
    TrialEnd,
    WorkingTimeLimit,
)
from harness.models.base import Finish, Message, Reply, Settings, Tool, Usage
from harness.models.calling import ABANDONED, LEAST_OUTPUT, SAFE_OUTPUT, Caller, Retries
from harness.models.endpoint import Endpoint
from harness.models.faults import FAULTS, Fault, FaultKind
from tests.harness.replies import USAGE, ListModel

HELLO = Reply("Hello.", usage=USAGE, version="m-2026-01-01")
QUICK = Retries(attempts=3, first_seconds=0.01, longest_seconds=0.3)


def fault(kind: FaultKind, **more: Any) -> Fault:
    return Fault(kind, f"the endpoint's {kind}", **more)


class Noting(ListModel):
    """A list model that keeps the settings of its calls."""

    def __init__(self, *replies: Reply | Exception) -> None:
        super().__init__(*replies)
        self.asked: list[Settings] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        self.asked.append(settings)
        return super().complete(messages, tools, settings)


class Hanging:
    """A model whose call ends only when told: a lookup of a name that hangs, a server that drips."""

    name = "hanging/model"

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        self.go_on.wait(60)
        return HELLO


class Events(list[dict[str, Any]]):
    """What is written to the trajectory."""

    def __call__(self, kind: str, fields: dict[str, Any]) -> None:
        self.append({"event": kind, **fields})


def caller_of(
    model: Any, settings: Settings | None = None, *, retries: Retries = QUICK, **more: Any
) -> tuple[Caller, Events]:
    """A caller; names of limits make its budget."""
    events = Events()
    limits = {name: more.pop(name) for name in [*more] if name in Budget.model_fields}
    more.setdefault("meter", BudgetMeter(Budget(**limits)))
    return Caller(model, settings or Settings(), retries=retries, record=events, **more), events


@pytest.mark.parametrize("kind", list(FaultKind))
def test_the_table_says_what_is_retried_and_how_the_trial_ends(kind: FaultKind) -> None:
    policy = FAULTS[kind]
    caller, events = caller_of(ListModel(*[fault(kind, status=500)] * 9))
    with pytest.raises(TrialEnd, match=f"the endpoint's {kind}") as caught:
        caller.complete([], [], step=4)
    requests = QUICK.attempts if policy.retried else 1
    assert type(caught.value) is policy.end
    assert caller.calls == len(events) == caller.faults[kind] == requests
    assert [(e["event"], e["step"], e["attempt"], e["kind"], e["status"]) for e in events] == [
        ("fault", 4, n, kind, 500) for n in range(1, requests + 1)
    ]
    assert [event["wait"] > 0 for event in events] == [True] * (requests - 1) + [False]
    assert (caller.endpoint.closed is not None) == policy.closes


def test_a_call_that_succeeds_at_last_tells_what_it_took() -> None:
    model = ListModel(fault(FaultKind.RATE_LIMIT), fault(FaultKind.GARBLED), HELLO, seconds=0.05)
    caller, events = caller_of(model)
    answer = caller.complete([], [])
    assert (answer.reply, answer.attempts, caller.calls) == (HELLO, 3, 3)
    assert answer.seconds >= 0.05
    assert answer.waited >= 0.1 + sum(event["wait"] for event in events)
    assert answer.waited == pytest.approx(caller.meter.waited())
    assert caller.faults == {FaultKind.RATE_LIMIT: 1, FaultKind.GARBLED: 1}
    assert (caller.version, caller.meter.usage) == ("m-2026-01-01", USAGE)


def test_waits_double_with_a_random_part_up_to_the_longest() -> None:
    retries = Retries(attempts=5, first_seconds=0.02, longest_seconds=0.1)
    caller, events = caller_of(ListModel(*[fault(FaultKind.OVERLOADED)] * 5), retries=retries)
    with pytest.raises(ProviderError):
        caller.complete([], [])
    waits = [event["wait"] for event in events]
    # By hand: 0.02 * 2**n and up to 0.02 more, at most 0.1; then it is given up.
    for wait, low, high in zip(waits, (0.02, 0.04, 0.08, 0.1, 0), (0.04, 0.06, 0.1, 0.1, 0), strict=True):
        assert low <= wait <= high


def test_the_endpoint_s_own_wait_is_kept_and_holds_up_the_other_trials() -> None:
    endpoint = Endpoint("m")
    caller, (*_,) = caller_of(
        ListModel(fault(FaultKind.RATE_LIMIT, retry_after=0.25), HELLO), endpoint=endpoint
    )
    other, _ = caller_of(ListModel(HELLO), endpoint=endpoint)
    waiting = threading.Thread(target=caller.complete, args=([], []))
    waiting.start()
    while not caller.faults and waiting.is_alive():
        time.sleep(0.002)
    assert other.complete([], []).waited > 0.05
    waiting.join(30)
    assert caller.meter.waited() >= 0.25


def test_a_wait_beyond_the_longest_is_cut_and_the_record_says_so() -> None:
    caller, events = caller_of(ListModel(fault(FaultKind.RATE_LIMIT, retry_after=3600.0), HELLO))
    assert caller.complete([], []).waited >= 0.3
    assert events[0]["wait"] == 0.3
    assert "it asks to wait 3600 s; 0.3 s is the longest wait" in events[0]["message"]


def test_a_bug_is_not_retried_and_surfaces() -> None:
    caller, events = caller_of(ListModel(ZeroDivisionError("a bug"), HELLO))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        caller.complete([], [])
    assert (caller.calls, events) == (1, [])


def test_an_end_that_the_client_itself_tells_is_no_call_that_was_given_up() -> None:
    caller, events = caller_of(ListModel(ProviderError("the record ends here"), HELLO))
    with pytest.raises(ProviderError, match="the record ends here"):
        caller.complete([], [])
    assert (caller.calls, caller.faults, events) == (1, {}, [])


@pytest.mark.parametrize(
    ("limits", "end"), [({"seconds": 0.3}, TimeLimit), ({"working_seconds": 0.3}, WorkingTimeLimit)]
)
def test_a_call_that_hangs_ends_with_the_trial_s_time(limits: dict[str, float], end: type[TrialEnd]) -> None:
    model = Hanging()
    caller, events = caller_of(model, **limits)
    with pytest.raises(end, match=r"the 0\.3 s"):
        caller.complete([], [], step=7)
    model.go_on.set()  # what comes too late is dropped, and the record says that its cost is unknown
    assert (caller.meter.usage, caller.faults) == (Usage(), {ABANDONED: 1})
    assert [(e["event"], e["kind"], e["step"], e["attempt"]) for e in events] == [("fault", ABANDONED, 7, 1)]
    assert events[0]["seconds"] > 0.2
    assert events[0]["message"].endswith("of working time are used); its cost is unknown") == (
        end is WorkingTimeLimit
    )


def test_a_call_that_hangs_beyond_its_timeout_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.models.calling._GRACE_SECONDS", 0.0)
    caller, events = caller_of(Hanging(), Settings(timeout_seconds=0.05))
    with pytest.raises(ProviderError, match=r"no answer within 0\.05 s"):
        caller.complete([], [])
    assert [event["kind"] for event in events] == ["timeout"] * QUICK.attempts
    assert caller.meter.waited() >= 0.05 * QUICK.attempts


@pytest.mark.parametrize("when", ["calling", "backing off", "in line"])
def test_an_interrupt_ends_whatever_is_waited_for(when: str) -> None:
    cancelled, endpoint = threading.Event(), Endpoint("m", start=1)
    patient = Retries(first_seconds=60)
    model = ListModel(fault(FaultKind.OVERLOADED)) if when == "backing off" else Hanging()
    meter = BudgetMeter(Budget(), cancelled=cancelled)
    caller, _ = caller_of(model, meter=meter, endpoint=endpoint, retries=patient)
    if when == "in line":
        endpoint.enter(lambda: None)
    threading.Timer(0.2, cancelled.set).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        caller.complete([], [])
    assert caller.faults[ABANDONED] == (1 if when == "calling" else 0)
    assert time.monotonic() - started < 30  # far less than the waits themselves


def test_waiting_for_the_next_attempt_ends_with_the_wall_time_but_is_no_work() -> None:
    patient = Retries(first_seconds=60)
    caller, events = caller_of(
        ListModel(fault(FaultKind.RATE_LIMIT)), retries=patient, seconds=0.5, working_seconds=0.4
    )
    with pytest.raises(TimeLimit):
        caller.complete([], [])
    assert caller.meter.working_seconds_left() > 0
    assert events[0]["wait"] <= 0.5


def test_time_waited_is_booked_while_it_passes() -> None:
    meter = BudgetMeter(Budget(working_seconds=10.0))
    with meter.waiting():
        left = meter.working_seconds_left()
        time.sleep(0.1)
        assert meter.waited() >= 0.1
        assert meter.working_seconds_left() == pytest.approx(left, abs=1e-3)


def test_an_endpoint_that_closes_ends_a_backing_off() -> None:
    endpoint = Endpoint("m")
    caller, _ = caller_of(
        ListModel(fault(FaultKind.OVERLOADED)), endpoint=endpoint, retries=Retries(first_seconds=60)
    )
    threading.Timer(0.2, endpoint.failed, args=(fault(FaultKind.KEY), 0)).start()
    with pytest.raises(EndpointClosed, match="the endpoint's key"):
        caller.complete([], [])


class TestTheNextCallStaysWithinTheBudget:
    @pytest.mark.parametrize(
        ("limits", "own", "expected_input", "sent"),
        [
            ({}, None, 0, None),
            ({}, 500, 0, 500),
            ({"tokens": 1000}, 500, 0, 500),
            ({"tokens": 1000}, 5000, 0, 1000),
            ({"tokens": 1000}, 5000, 300, 700),
            ({"tokens": 1000}, None, 300, 700),
            ({"output_tokens": 800}, 5000, 300, 800),
            ({"output_tokens": 800, "tokens": 1000}, None, 300, 700),
            ({"input_tokens": 400}, 5000, 300, 5000),
            # More than some models can write is not sent where nobody asked for a bound.
            ({"tokens": SAFE_OUTPUT + 1}, None, 0, None),
            # 0.001 USD at 1 and 2 USD per million: 1000 input tokens leave nothing, 500 leave 250 of output.
            ({"cost_usd": 0.001}, 5000, 500, 250),
            ({"cost_usd": 0.001}, 5000, 0, 500),
        ],
    )
    def test_a_reply_is_bounded_by_what_is_left(
        self, limits: dict[str, Any], own: int | None, expected_input: int, sent: int | None
    ) -> None:
        model = Noting(HELLO)
        caller, _ = caller_of(model, Settings(max_output_tokens=own), price=price, **limits)
        caller.complete([], [], expected_input=expected_input)
        assert model.asked[0].max_output_tokens == sent

    @pytest.mark.parametrize(
        ("limits", "expected_input", "end", "said"),
        [
            ({"tokens": 300}, 300 - LEAST_OUTPUT + 1, TokenLimit, "300 tokens are left"),
            ({"input_tokens": 300}, 301, TokenLimit, "300 input tokens are left"),
            ({"output_tokens": LEAST_OUTPUT - 1}, 0, TokenLimit, "15 output tokens are left"),
            ({"cost_usd": 0.001}, 970, CostLimit, "is left; the next call costs at least"),
        ],
    )
    def test_a_call_that_would_go_beyond_a_limit_is_not_begun(
        self, limits: dict[str, Any], expected_input: int, end: type[TrialEnd], said: str
    ) -> None:
        caller, _ = caller_of(Noting(HELLO), price=price, **limits)
        with pytest.raises(end, match=said):
            caller.complete([], [], expected_input=expected_input)
        assert caller.calls == 0

    def test_the_call_s_own_timeout_is_no_longer_than_the_trial_s_time(self) -> None:
        model = Noting(HELLO, HELLO)
        caller_of(model)[0].complete([], [])
        caller_of(model, seconds=30.0)[0].complete([], [])
        assert model.asked[0].timeout_seconds == 600
        assert model.asked[1].timeout_seconds <= 32

    def test_an_unknown_price_bounds_nothing(self) -> None:
        model = Noting(HELLO)
        caller_of(model, cost_usd=0.001)[0].complete([], [])
        assert model.asked[0].max_output_tokens is None


LIMITS = [{"tokens": 9999}, {"input_tokens": 9999}, {"output_tokens": 9999}, {"cost_usd": 9.0}]
UNTOLD = [Usage(), Usage(output=10), Usage(input=100)]


class TestAReplyThatDoesNotTellItsTokens:
    @pytest.mark.parametrize("limit", LIMITS, ids=str)
    @pytest.mark.parametrize("usage", UNTOLD, ids=str)
    def test_ends_a_trial_that_limits_them_and_closes_the_endpoint(
        self, limit: dict[str, Any], usage: Usage
    ) -> None:
        caller, events = caller_of(ListModel(Reply("Hello.", usage=usage)), price=price, **limit)
        with pytest.raises(EndpointClosed, match="does not tell how many tokens"):
            caller.complete([], [])
        assert [event["kind"] for event in events] == ["usage"]
        assert caller.endpoint.closed is not None and "limit steps and time" in caller.endpoint.closed

    @pytest.mark.parametrize("usage", UNTOLD, ids=str)
    def test_is_asked_again_where_another_told_them(self, usage: Usage) -> None:
        caller, events = caller_of(ListModel(HELLO, Reply("Hello.", usage=usage), HELLO), tokens=9999)
        caller.complete([], [])
        assert caller.complete([], []).attempts == 2
        assert [event["kind"] for event in events] == ["garbled"]

    @pytest.mark.parametrize("limits", [{}, {"steps": 5, "seconds": 60.0}], ids=str)
    def test_is_a_reply_like_any_other_where_none_are_limited(self, limits: dict[str, Any]) -> None:
        caller, _ = caller_of(ListModel(Reply("Hello.")), **limits)
        assert caller.complete([], []).reply.text == "Hello."

    @pytest.mark.parametrize(
        ("name", "reply"),
        [
            ("scripted/forest", Reply("Hello.")),  # calls no model
            ("openai/m", Reply("", finish=Finish.REFUSAL)),  # stopped before it cost anything
            ("openai/m", Reply("", usage=Usage(input=100))),  # nothing was written
        ],
    )
    def test_is_taken_where_it_took_none(self, name: str, reply: Reply) -> None:
        caller, _ = caller_of(ListModel(reply, name=name), tokens=9999)
        assert caller.complete([], []).reply is reply


def price(usage: Usage) -> float:
    """1 USD per million input tokens, 2 per million output tokens."""
    return (usage.input + 2 * usage.output) / 1e6


def test_an_overflow_can_be_answered_by_a_shorter_conversation() -> None:
    caller, _ = caller_of(ListModel(fault(FaultKind.CONTEXT), HELLO))
    with pytest.raises(ContextOverflow):
        caller.complete([], [])
    assert caller.complete([], []).reply == HELLO
    assert caller.endpoint.closed is None
