"""Calls share the room at an endpoint: it shrinks and grows, waits when asked, and closes for good."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from harness.errors import Cancelled, EndpointClosed
from harness.models.endpoint import START, TRIALS_IN_A_ROW, Endpoint
from harness.models.faults import FAULTS, Fault, FaultKind

RATE_LIMIT = Fault(FaultKind.RATE_LIMIT, "slow down")
OVERLOADED = Fault(FaultKind.OVERLOADED, "busy")


def forever() -> None:
    """There is always time to wait."""


@contextmanager
def within(endpoint: Endpoint) -> Iterator[int]:
    episode = endpoint.enter(forever)
    try:
        yield episode
    finally:
        endpoint.leave()


def limited_once(endpoint: Endpoint) -> None:
    with within(endpoint) as episode:
        endpoint.failed(RATE_LIMIT, episode)


def eventually(true: Callable[[], bool]) -> None:
    """Wait until something holds that other threads bring about."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_no_more_calls_go_out_than_there_are_places() -> None:
    endpoint, lock = Endpoint("m", start=3), threading.Lock()
    running = most = 0

    def call(number: int) -> None:
        nonlocal running, most
        with within(endpoint):
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with lock:
                running -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(call, range(60)))
    assert (most, running) == (3, 0)


def test_who_comes_first_is_served_first() -> None:
    endpoint, served = Endpoint("m", start=1), list[int]()

    def call(number: int) -> None:
        with within(endpoint):
            served.append(number)

    with within(endpoint):
        threads = []
        for number in range(8):
            threads.append(threading.Thread(target=call, args=(number,)))
            threads[-1].start()
            eventually(lambda: len(endpoint._line) == len(threads))
    for thread in threads:
        thread.join(30)
    assert served == list(range(8))


def test_a_rate_limit_takes_a_fifth_of_the_room_down_to_one_place() -> None:
    endpoint, places = Endpoint("m"), [START]
    while endpoint.places > 1:
        limited_once(endpoint)
        places.append(endpoint.places)
    # By hand: whole places of 0.8 times those before.
    assert places == [10, 8, 6, 4, 3, 2, 1]
    limited_once(endpoint)
    assert endpoint.places == 1


def test_a_burst_of_rate_limits_shrinks_the_room_once() -> None:
    endpoint = Endpoint("m")
    episodes = [endpoint.enter(forever) for _ in range(5)]
    for episode in episodes:
        endpoint.failed(RATE_LIMIT, episode)
        endpoint.leave()
    assert endpoint.places == 8
    limited_once(endpoint)  # a call that began after the decrease
    assert endpoint.places == 6


def test_a_full_round_of_successes_adds_a_place_if_the_room_was_full() -> None:
    endpoint = Endpoint("m", start=2)
    for _ in range(10):  # one call at a time never shows that more would have gone
        with within(endpoint):
            endpoint.succeeded()
    assert endpoint.places == 2
    with within(endpoint), within(endpoint):
        endpoint.succeeded()
        assert endpoint.places == 2
        endpoint.succeeded()
        assert endpoint.places == 3


def test_an_overloaded_endpoint_pauses_growth_but_keeps_its_room() -> None:
    endpoint = Endpoint("m", start=2)
    with within(endpoint), within(endpoint) as episode:
        endpoint.succeeded()
        endpoint.failed(OVERLOADED, episode)
        endpoint.succeeded()
        assert endpoint.places == 2
        endpoint.succeeded()
        assert endpoint.places == 3


def test_it_tells_when_it_slows_down_and_when_all_is_well_again() -> None:
    said: list[str] = []
    endpoint = Endpoint("m", start=3, told=said.append)
    limited_once(endpoint)
    with within(endpoint), within(endpoint):
        endpoint.succeeded()
        endpoint.succeeded()
    assert said == ["rate limited, 2 calls at a time", ""]


def test_all_wait_as_long_as_the_endpoint_asks() -> None:
    endpoint = Endpoint("m")
    with within(endpoint) as episode:
        asked = time.monotonic()
        endpoint.failed(RATE_LIMIT, episode, hold=0.3)

    def call(number: int) -> float:
        with within(endpoint):
            return time.monotonic() - asked

    with ThreadPoolExecutor(4) as pool:
        assert min(pool.map(call, range(4))) >= 0.3


@pytest.mark.parametrize("kind", [kind for kind, policy in FAULTS.items() if policy.closes])
def test_what_closes_it_ends_the_waiting_of_all_and_says_the_fix(kind: FaultKind) -> None:
    endpoint = Endpoint("openai/m", key_variable="MY_KEY", start=1)
    ends: list[str] = []

    def call() -> None:
        with pytest.raises(EndpointClosed) as caught, within(endpoint):
            pass
        ends.append(str(caught.value))

    threads = [threading.Thread(target=call) for _ in range(4)]
    with within(endpoint) as episode:
        for thread in threads:
            thread.start()
        eventually(lambda: len(endpoint._line) == 4)
        endpoint.failed(Fault(kind, "no, says the server"), episode)
    for thread in threads:
        thread.join(30)
    with pytest.raises(EndpointClosed), within(endpoint):
        pass
    assert endpoint.closed is not None
    assert ends == [endpoint.closed] * 4
    assert endpoint.closed.startswith("no, says the server; ")
    assert ("MY_KEY" in endpoint.closed) == (kind in (FaultKind.KEY, FaultKind.QUOTA))


def test_who_has_no_time_left_leaves_the_line_and_holds_nobody_up() -> None:
    endpoint, cancelled = Endpoint("m", start=1), threading.Event()

    def check() -> None:
        if cancelled.is_set():
            raise Cancelled("interrupted")

    def give_up() -> None:
        with pytest.raises(Cancelled):
            endpoint.enter(check)

    with ThreadPoolExecutor(2) as pool:
        with within(endpoint):
            gone = pool.submit(give_up)
            eventually(lambda: len(endpoint._line) == 1)
            next_one = pool.submit(endpoint.enter, forever)
            eventually(lambda: len(endpoint._line) == 2)
            cancelled.set()
            gone.result(30)
        next_one.result(30)


def test_trials_that_fail_in_a_row_close_it_unless_a_call_succeeds_in_between() -> None:
    endpoint = Endpoint("openai/m")
    for _ in range(3):
        for _ in range(TRIALS_IN_A_ROW - 1):
            endpoint.trial_failed("503")
        with within(endpoint):
            endpoint.succeeded()
    assert endpoint.closed is None
    for _ in range(TRIALS_IN_A_ROW):
        endpoint.trial_failed("503")
    assert endpoint.closed == (
        "3 trials in a row ended without one answer, the last with: 503; "
        "try it by `mlesmith models check openai/m`"
    )
