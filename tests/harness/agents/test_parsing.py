"""Reading actions from replies: many shapes that models write, and never another error than FormatError."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.actions import Action
from harness.agents.parsing import FormatError, read_action, read_text_action
from harness.models.base import Reply, ToolCall

SUBMIT = '{"action": "submit", "params": {}}'
FENCED = "import re\ntext = '''```python\nx = {1: 2}\n```'''\nprint(f\"{text}\")\n"


def call(arguments: str, name: str = "execute_code") -> Reply:
    return Reply("thinking", (ToolCall("1", name, arguments),))


def execute(code: object) -> Action:
    return Action("execute_code", {"code": code})


def written(code: str) -> str:
    return json.dumps({"action": "execute_code", "params": {"code": code}})


GOOD: list[tuple[str, str, Action]] = [
    ("bare", SUBMIT, Action("submit")),
    ("no params", '{"action": "submit"}', Action("submit")),
    ("null params", '{"action": "submit", "params": null}', Action("submit")),
    ("prose before", f"I am done.\n\n{SUBMIT}", Action("submit")),
    ("prose after", f"{SUBMIT}\n\nThat is all.", Action("submit")),
    ("prose with braces", f"The set {{a, b}} is fine, and so is {{}}.\n{SUBMIT}", Action("submit")),
    ("json fence", f"```json\n{SUBMIT}\n```", Action("submit")),
    ("bare fence", f"```\n{SUBMIT}\n```", Action("submit")),
    ("odd fence", f"~~~JSON5\n{SUBMIT}\n~~~", Action("submit")),
    ("unclosed fence", f"```json\n{SUBMIT}", Action("submit")),
    ("thought key", '{"thought": "enough", "action": "submit", "params": {}}', Action("submit")),
    ("key order", '{"params": {"code": "1"}, "action": "execute_code"}', execute("1")),
    ("pretty", json.dumps({"action": "reset", "params": {}}, indent=4), Action("reset")),
    ("think block", f"<think>{{\"action\": \"reset\"}} or not?</think>\n{SUBMIT}", Action("submit")),
    ("thinking block", f"<THINKING>no</THINKING>{SUBMIT}", Action("submit")),
    ("unclosed think", f"<think>I will {SUBMIT}", Action("submit")),
    ("two think blocks", f"<think>a</think> b <think>c</think> {SUBMIT}", Action("submit")),
    ("raw newlines", '{"action": "execute_code", "params": {"code": "a = 1\nprint(a)"}}',
     execute("a = 1\nprint(a)")),
    ("tabs", '{"action": "execute_code", "params": {"code": "if 1:\n\tpass"}}',
     execute("if 1:\n\tpass")),
    ("code with fences", written(FENCED),
     execute(FENCED)),
    ("fenced code with fences", "```json\n" + written(FENCED) + "\n```",
     execute(FENCED)),
    ("code that holds an action", written(f"x = {SUBMIT!r}"),
     execute(f"x = {SUBMIT!r}")),
    ("other objects around", f'{{"plan": 1}} then {SUBMIT} then {{"plan": 2}}', Action("submit")),
    ("unicode", '{"action": "execute_code", "params": {"code": "print(\'é 漢 😀\')"}}',
     execute("print('é 漢 😀')")),
    ("unknown name", '{"action": "fly", "params": {"to": "moon"}}', Action("fly", {"to": "moon"})),
    ("odd parameter", '{"action": "execute_code", "params": {"code": 3}}', execute(3)),
    ("lone surrogate", '{"action": "\\ud800"}', Action("\\ud800")),
    ("endless name", json.dumps({"action": "x" * 9999}), Action("x" * 200)),
]  # fmt: skip

BAD: list[tuple[str, str, str]] = [
    ("nothing", "", "No action was found"),
    ("prose", "I would like to see the data first.", "No action was found"),
    ("only python", "```python\nprint({'action': 1})\n```", "No action was found"),
    ("cut off", SUBMIT[:-3], "No action was found"),
    ("single quotes", "{'action': 'submit', 'params': {}}", "No action was found"),
    ("a list", '["submit"]', "No action was found"),
    ("two actions", f"{SUBMIT}\n{SUBMIT}", "More than one action"),
    ("action no string", '{"action": ["submit"]}', "'action' must be a string"),
    ("params no object", '{"action": "submit", "params": "x"}', "'params' must be an object"),
    ("parameters outside", '{"action": "execute_code", "code": "1"}', "Unknown keys ['code']"),
    ("deep", '{"a":' * 100_000, "No action was found"),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in GOOD], ids=[case[0] for case in GOOD])
def test_shapes_that_are_understood(text: str, expected: Action) -> None:
    assert read_text_action(text)[1] == expected


@pytest.mark.parametrize(("text", "said"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_shapes_that_are_answered_with_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text_action(text)
    assert said in str(caught.value)


def test_the_thought_is_the_prose_around() -> None:
    assert read_text_action(f"First look.\n```json\n{SUBMIT}\n```")[0] == "First look."
    assert read_text_action(f"```json\n{SUBMIT}\n```\nSo much for that.")[0] == "So much for that."
    assert read_text_action(f"<think>secret</think>Look.\n{SUBMIT}")[0] == "Look."


def test_a_tool_call_comes_before_text() -> None:
    reply = Reply(f"I say {SUBMIT}", (ToolCall("1", "reset", "{}"),))
    assert read_action(reply) == (reply.text, Action("reset"))


def test_tool_arguments_are_read_tolerantly() -> None:
    assert read_action(call(""))[1] == Action("execute_code")
    assert read_action(call('{"code": "a\nb"}'))[1] == Action("execute_code", {"code": "a\nb"})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (call("{"), "arguments of execute_code are not valid JSON"),
        (call("[1]"), "must be a JSON object"),
        (call("[" * 100_000), "not valid JSON"),
        (Reply("", (ToolCall("1", "submit", "{}"), ToolCall("2", "reset", "{}"))), "one tool at a time"),
    ],
    ids=["cut off", "a list", "deep", "two calls"],
)
def test_tool_calls_that_are_answered_with_what_is_wrong(reply: Reply, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_action(reply)
    assert said in str(caught.value)


FRAGMENTS = st.sampled_from(
    [
        '{"action": ',
        '"submit"',
        ', "params": ',
        "{",
        "}",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "\\ud800",
        "\0",
        "null",
    ]
)


@given(st.text() | st.lists(FRAGMENTS | st.text(max_size=5), max_size=20).map("".join))
def test_no_text_raises_anything_but_a_format_error(text: str) -> None:
    for reply in (Reply(text), call(text), call("{}", text)):
        try:
            _, action = read_action(reply)
        except FormatError as error:
            assert str(error)
        else:
            action.name.encode()
            assert isinstance(action.params, dict)
