"""The conversation within its window: what stays, what leaves, and that providers take what is left."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.history import Best, History, fingerprint, size, window_of
from harness.agents.prompting import render
from harness.models.base import Message, Settings, ToolCall, Usage

CHARACTERS_PER_TOKEN = 4


def summarise(lines: Sequence[str], best: Best | None) -> str:
    return render("summary", lines=lines, best=best)


class Talk:
    """A conversation with a model whose tokens are four characters each."""

    def __init__(self, window: int | None, recent: int = 8, task: str = "the task " * 20) -> None:
        self.history = History("the system " * 20, task, window, recent, summarise)
        self.step = 0
        self.dropped: list[int] = []
        self.largest = 0

    def turn(
        self, calls: int = 1, reply: int = 40, answer: int = 40, score: float | None = None, told: bool = True
    ) -> None:
        """One call as the agent makes it: fitted, answered, and carried out."""
        compaction = self.history.fit()
        if compaction:
            self.dropped += compaction.dropped
        sent = size(self.history.messages)
        self.largest = max(self.largest, sent)
        asked = tuple(ToolCall(f"{self.step}-{i}", "execute_code", "x" * reply) for i in range(calls))
        usage = Usage(
            input=sent // CHARACTERS_PER_TOKEN, output=1 + reply * max(1, calls) // CHARACTERS_PER_TOKEN
        )
        self.history.replied(Message("assistant", "so", asked), usage if told else Usage())
        for call in asked or (None,):
            self.step += 1
            best = None if score is None else Best(self.step, f"program {self.step}" + "#" * reply, score)
            result = (
                Message("tool", "y" * answer, tool_call_id=call.id) if call else Message("user", "y" * answer)
            )
            self.history.answered(self.step, f"{self.step}. execute_code: ok", result, best)

    def check(self) -> None:
        """What every provider wants of a conversation."""
        messages = self.history.messages
        assert [message.role for message in messages[:2]] == ["system", "user"]
        open_calls: list[str] = []
        for before, after in itertools.pairwise(messages[1:]):
            if after.role == "tool":
                assert after.tool_call_id == open_calls.pop(0)
            else:
                assert not open_calls
                assert (before.role, after.role) in {
                    ("user", "assistant"), ("assistant", "user"), ("tool", "assistant"),
                }  # fmt: skip
                open_calls = [call.id for call in after.tool_calls]
        assert not open_calls


@pytest.mark.parametrize(
    ("settings", "window"),
    [
        (Settings(), None),
        (Settings(max_input_tokens=50_000), 50_000),
        (Settings(context_window=128_000, max_output_tokens=8_000), 120_000),
        (Settings(context_window=128_000), 112_000),
        (Settings(context_window=128_000, max_output_tokens=8_000, max_input_tokens=50_000), 50_000),
    ],
)
def test_the_window_leaves_room_for_the_reply(settings: Settings, window: int | None) -> None:
    assert window_of(settings) == window


def test_nothing_is_expected_before_usage_is_told() -> None:
    talk = Talk(window=10)
    for _ in range(20):
        talk.turn(told=False)
    assert talk.history.expected_input == 0
    assert talk.dropped == []


def test_expected_input_is_counted_from_usage_and_the_conversations_own_tokens_per_character() -> None:
    history = History("s" * 500, "t" * 500, None, 8, summarise)
    history.replied(Message("assistant", "r" * 77), Usage(input=200, output=30, reasoning=10))
    # 200 input tokens for 1,000 characters; of the output, the reasoning is not sent back.
    assert history.expected_input == 200 + 20
    history.answered(1, "1.", Message("user", "o" * 50))
    assert history.expected_input == 200 + 20 + 50 * 200 // 1_000
    history = History("s" * 500, "t" * 500, None, 8, summarise)
    history.replied(Message("assistant", "r" * 77, raw={}), Usage(input=200, output=30, reasoning=10))
    assert history.expected_input == 230


def test_the_oldest_steps_leave_whole_down_to_half_of_the_window() -> None:
    talk = Talk(window=1_000, recent=50)
    while not talk.dropped:
        talk.turn(reply=150, answer=150)
    assert talk.dropped == list(range(1, len(talk.dropped) + 1))
    assert talk.history.expected_input < 1_000
    kept = talk.history.messages
    assert size(kept[:-2]) <= 500 * CHARACTERS_PER_TOKEN  # before the last turn was added
    assert kept[1].text.startswith("the task ")
    for number in talk.dropped:
        assert f"{number}. execute_code: ok" in kept[1].text
    talk.check()


def test_no_more_than_the_recent_steps_stay() -> None:
    talk = Talk(window=1_000, recent=2)
    while not talk.dropped:
        talk.turn(reply=20, answer=20)
    # Two of before, and the turn after.
    assert len(talk.history.messages) == 2 + 3 * 2


def test_the_best_program_stays_when_its_step_has_left() -> None:
    talk = Talk(window=1_000)
    talk.turn(score=0.5)
    while not talk.dropped:
        assert "program 1#" not in talk.history.messages[1].text
        talk.turn(reply=150, answer=150)
    assert "of step 1, with a score of 0.5:\n```python\nprogram 1####" in talk.history.messages[1].text
    talk.turn(score=0.9)
    better = talk.step
    while better not in talk.dropped:
        talk.turn(reply=150, answer=150)
    assert "program 1#" not in talk.history.messages[1].text
    assert f"of step {better}, with a score of 0.9:" in talk.history.messages[1].text


def test_no_program_is_called_the_best_where_no_scores_are_told() -> None:
    told = summarise(["1. execute_code: ok"], Best(1, "x = 1", None))
    assert "Your last program that made a valid submission, of step 1:\n```python\nx = 1\n```" in told
    assert "best" not in told and "score" not in told


def test_a_program_that_had_to_be_cut_says_so() -> None:
    talk = Talk(window=2_000)
    talk.turn(reply=6_000, score=0.5)
    while not talk.dropped:
        talk.turn(reply=150, answer=150)
    assert "characters left out ..." in talk.history.messages[1].text


def test_the_last_step_stays_even_where_it_fills_more_than_half() -> None:
    talk = Talk(window=1_000)
    for _ in range(10):
        talk.turn()
    talk.turn(answer=2_800)
    talk.turn()
    assert talk.dropped == list(range(1, 11))
    assert size(talk.history.messages) < 1_000 * CHARACTERS_PER_TOKEN


def test_a_step_larger_than_the_window_leaves_too() -> None:
    talk = Talk(window=1_000)
    talk.turn(answer=8_000)
    talk.turn()
    assert talk.dropped == [1]
    assert "1. execute_code: ok" in talk.history.messages[1].text


def test_many_dropped_steps_are_told_in_bounded_lines() -> None:
    talk = Talk(window=1_000)
    for _ in range(300):
        talk.turn(reply=150, answer=150)
    assert "earlier steps are left out)" in talk.history.messages[1].text
    assert talk.largest <= 1_000 * CHARACTERS_PER_TOKEN * 1.1


@pytest.mark.parametrize("told", [True, False])
def test_what_was_refused_as_too_long_is_halved_and_bounds_later_calls(told: bool) -> None:
    talk = Talk(window=None)
    for _ in range(20):
        talk.turn(told=told)
    refused = size(talk.history.messages)
    compaction = talk.history.halve()
    assert compaction is not None
    assert size(talk.history.messages) <= refused / 2
    talk.largest = 0
    for _ in range(40):
        talk.turn(told=told)
    assert talk.largest < refused
    talk.check()


def test_nothing_is_left_to_halve_at_the_beginning() -> None:
    assert Talk(window=None).history.halve() is None


def test_a_fingerprint_tells_conversations_apart() -> None:
    base = [Message("user", "a"), Message("assistant", "b", (ToolCall("1", "x", "{}"),))]
    others = [
        [Message("user", "ab"), Message("assistant", "", base[1].tool_calls)],
        [Message("system", "a"), base[1]],
        [base[0], Message("assistant", "b", (ToolCall("2", "x", "{}"),))],
        [base[0]],
    ]
    assert len({fingerprint(messages) for messages in (base, *others)}) == 5
    assert fingerprint(base) == fingerprint(
        [base[0], Message("assistant", "b", base[1].tool_calls, raw={"x": 1})]
    )
    assert fingerprint([Message("user", "\ud800")])


TURNS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 900),
        st.integers(0, 900),
        st.none() | st.floats(0, 1),
        st.booleans(),
    ),
    max_size=25,
)


@given(TURNS, st.none() | st.integers(300, 3_000), st.integers(1, 9), st.sets(st.integers(0, 24)))
def test_any_conversation_stays_one_that_providers_take(
    turns: list[tuple[int, int, int, float | None, bool]],
    window: int | None,
    recent: int,
    overflows: set[int],
) -> None:
    talk = Talk(window, recent)
    for number, (calls, reply, answer, score, told) in enumerate(turns):
        talk.turn(calls, reply, answer, score, told)
        talk.check()
        if number in overflows and (compaction := talk.history.halve()):
            talk.dropped += compaction.dropped
            talk.check()
    talk.history.fit()
    talk.check()
    assert talk.dropped == list(range(1, len(talk.dropped) + 1))


@given(TURNS, st.integers(400, 3_000), st.integers(1, 9))
def test_what_is_sent_fits_the_window_by_the_same_measure(
    turns: list[tuple[int, int, int, float | None, bool]], window: int, recent: int
) -> None:
    talk = Talk(window, recent)
    best: float | None = None
    for calls, reply, answer, score, _ in turns:
        talk.turn(calls, reply, answer, score)
        best = score if score is not None else best
        compaction = talk.history.fit()
        if compaction:
            talk.dropped += compaction.dropped
            sent = size(talk.history.messages)
            assert sent <= window * CHARACTERS_PER_TOKEN * 1.1
            assert talk.history.expected_input <= window
            if score is not None and talk.step in talk.dropped:
                assert f"of step {talk.step}, with a score of" in talk.history.messages[1].text
