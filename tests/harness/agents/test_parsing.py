"""Reading actions from replies: many shapes that models write, and never another error than a defined one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.actions import Action
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.parsing import Reading, read_actions
from harness.models.base import Finish, Reply, Tool, ToolCall
from tests.harness.agents.corpus import CALLS, SUBMIT, TEXTS, Shape, execute, written


def only(reading: Reading) -> Action | FormatErrorKind:
    """What the one thing asked for is, or the kind of its error."""
    (ask,) = reading.asks
    return ask.wish.kind if isinstance(ask.wish, FormatError) else ask.wish


def detail(reply: Reply) -> str:
    """What exactly is wrong."""
    wish = read_actions(reply).asks[0].wish
    assert isinstance(wish, FormatError)
    return wish.detail


@pytest.mark.parametrize("shape", TEXTS, ids=lambda shape: shape.name)
def test_texts(shape: Shape) -> None:
    assert only(read_actions(shape.reply)) == shape.expected


@pytest.mark.parametrize("shape", CALLS, ids=lambda shape: shape.name)
def test_tool_calls(shape: Shape) -> None:
    reading = read_actions(shape.reply)
    assert only(reading) == shape.expected
    assert reading.asks[0].call == shape.reply.tool_calls[0]


def test_the_corpus_is_large_and_names_its_shapes() -> None:
    for shapes in (TEXTS, CALLS):
        assert len({shape.name for shape in shapes}) == len(shapes)
    assert len(TEXTS) + len(CALLS) >= 120


def test_the_thought_is_the_reasoning_and_the_prose_around() -> None:
    def thought(text: str, reasoning: str = "") -> str:
        return read_actions(Reply(text, reasoning)).thought

    assert thought(f"First look.\n```json\n{SUBMIT}\n```") == "First look."
    assert thought(f"```json\n{SUBMIT}\n```\nSo much for that.") == "So much for that."
    assert thought(f"<think>Well.</think>Look.\n{SUBMIT}", "Hm.") == "Hm.\n\nWell.Look."
    assert thought('{"thought": "Enough.", "action": "submit"}') == "Enough."
    assert thought("No action.", "Hm.") == "Hm.\n\nNo action."


def test_several_calls_are_read_one_by_one() -> None:
    reply = Reply("Go.", tool_calls=(ToolCall("a", "reset", "{}"), ToolCall("b", "submit", "{")))
    first, second = read_actions(reply).asks
    assert first.wish == Action("reset")
    assert isinstance(second.wish, FormatError)
    assert second.call is not None and second.call.id == "b"


def test_a_tool_call_comes_before_text() -> None:
    reading = read_actions(Reply(f"I say {SUBMIT}", tool_calls=(ToolCall("1", "reset", "{}"),)))
    assert only(reading) == Action("reset")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"action": "execute_code",\n"params": {"code": "print("a")"}}',
         "a ',' or '}' is expected at line 2, column 28, near "),
        ('{"action": "execute_code", "params": {"code": "a', "does not end at line 1, column 47"),
        ('{"action": "execute_code", "params": {"code": "\\d"}}', "a backslash that JSON does not know"),
        ('{"action": "execute_code", "code": "1"}', "unknown keys ['code']; parameters belong into 'params'"),
        (f'{SUBMIT}{{"action": "reset"}}', "submit, reset"),
    ],
)  # fmt: skip
def test_an_error_says_what_is_wrong_and_where(text: str, said: str) -> None:
    assert said in detail(Reply(text))


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        '{"a":',
        '{"action": "submit", "params": {"code": "',
        '{"a":/*',
        "{a: “",
        "<function=a><parameter=b>",
        "<think>",
    ],
)
def test_no_reply_keeps_the_reader_busy(unit: str) -> None:
    text = unit * (999_000 // len(unit))
    started = time.process_time()
    only(read_actions(Reply(text)))
    only(read_actions(Reply(text * 11)))
    # Seconds on the slowest machines; without bounds it is minutes to hours.
    assert time.process_time() - started < 30


FRAGMENTS = st.sampled_from(
    ['{"action": ', '"submit"', ', "params": ', '"code": "', "'", '"', "{", "}", "[", "]", ",", ":", "\\",
     "\n",
     "```json\n", "```", "<think>", "</think>", "<function=", "<parameter=code>", "</parameter>",
     "</function>", "\\ud800", "\ud800", "\0", "null", "NaN", "1e999", "/*", "//", "“", "”", '"""']
)  # fmt: skip
JUNK = st.text(st.characters()) | st.lists(FRAGMENTS | st.text(max_size=5), max_size=25).map("".join)


@given(JUNK, JUNK, st.sampled_from(Finish))
def test_every_reply_is_read_as_something_that_can_be_recorded(text: str, other: str, finish: Finish) -> None:
    calls = (ToolCall("1", "execute_code", text), ToolCall("2", other, '{"code": ' + text))
    for reply in (Reply(text, other, finish=finish), Reply(other, tool_calls=calls, finish=finish)):
        reading = read_actions(reply)
        assert reading.asks
        for ask in reading.asks:
            if isinstance(ask.wish, Action):
                ask.wish.name.encode()
                json.dumps(ask.wish.params, allow_nan=False)


PROSE = st.text(st.characters(exclude_characters="{}<>", exclude_categories=["Cs"]))


@given(PROSE, st.text(), PROSE)
def test_an_action_is_read_exactly_in_any_prose_without_braces(before: str, code: str, after: str) -> None:
    assert only(read_actions(Reply(f"{before}{written(code)}{after}"))) == execute(code)


@given(st.text(), st.sampled_from(["'", '"']), st.booleans())
def test_any_program_survives_the_quotes_it_is_written_in(code: str, quote: str, trailing: bool) -> None:
    inner = json.dumps(code)[1:-1]
    body = inner if quote == '"' else inner.replace('\\"', '"').replace("'", "\\'")
    comma = "," if trailing else ""
    arguments = f"{{{quote}code{quote}: {quote}{body}{quote}{comma}}}"
    assert only(read_actions(Reply("", tool_calls=(ToolCall("1", "execute_code", arguments),)))) == execute(
        code
    )


@given(st.text(min_size=1), st.data())
def test_a_cut_reply_never_becomes_a_shorter_program(code: str, data: st.DataObject) -> None:
    whole = written(code)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert only(read_actions(Reply(cut, finish=Finish.LENGTH))) is FormatErrorKind.CUT_OFF
    read = only(read_actions(Reply(cut)))  # where the provider does not say that it cut
    assert not isinstance(read, Action) or read == execute(code) or "code" not in read.params


def test_other_tools_are_found_among_objects_of_the_data_and_broken_calls_of_them_are_told() -> None:
    tools = [Tool("read_file", "Read a file.", {}), Tool("finish", "End.", {})]
    shown = '{"action": "execute_code", "params": {}}'
    asked = '{"action": "read_file", "params": {"path": "a.csv"}}'
    reply = Reply(f"The cell says {shown}. {asked}")
    assert only(read_actions(reply, tools)) == Action("read_file", {"path": "a.csv"})
    assert only(read_actions(reply)) == Action("execute_code")
    broken = Reply('{"action": "finish", "params": {"ideas": [}}')
    assert only(read_actions(broken, tools)) is FormatErrorKind.BROKEN_ARGUMENTS
