"""Shapes of replies that models have been seen to write, and what each is to be read as.

The readings are written by hand. Programs are kept raw, so that what is expected can be compared by eye.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from harness.actions import Action
from harness.agents.format_errors import FormatErrorKind as Kind
from harness.models.base import Finish, Reply, ToolCall

SUBMIT = '{"action": "submit", "params": {}}'
FENCED = "import re\ntext = '''```python\nx = {1: 2}\n```'''\nprint(f\"{text}\")\n"


@dataclass(frozen=True)
class Shape:
    """One reply.

    Attributes:
        name: what is special about it.
        reply: as a client gives it.
        expected: the action, or the kind of error.
    """

    name: str
    reply: Reply
    expected: Action | Kind


def execute(code: object) -> Action:
    """The action to run a program."""
    return Action("execute_code", {"code": code})


def written(code: str) -> str:
    """The same as a well-behaved model writes it in text."""
    return json.dumps({"action": "execute_code", "params": {"code": code}})


def text(name: str, said: str, expected: Action | Kind, finish: Finish = Finish.STOP) -> Shape:
    """A reply without tool calls."""
    return Shape(name, Reply(said, finish=finish), expected)


def call(
    name: str,
    arguments: str,
    expected: Action | Kind,
    tool: str = "execute_code",
    finish: Finish = Finish.TOOL_CALLS,
) -> Shape:
    """A reply of one tool call."""
    return Shape(name, Reply("", tool_calls=(ToolCall("1", tool, arguments),), finish=finish), expected)


TEXTS = [
    # The object itself.
    text("bare", SUBMIT, Action("submit")),
    text("no params", '{"action": "submit"}', Action("submit")),
    text("null params", '{"action": "submit", "params": null}', Action("submit")),
    text("thought as a key", '{"thought": "enough", "action": "submit", "params": {}}', Action("submit")),
    text("keys in another order", '{"params": {"code": "1"}, "action": "execute_code"}', execute("1")),
    text("over several lines", json.dumps({"action": "reset", "params": {}}, indent=4), Action("reset")),
    text("in a list", f"[{SUBMIT}]", Action("submit")),
    text(
        "params as JSON in a string",
        '{"action": "execute_code", "params": "{\\"code\\": \\"1\\"}"}',
        execute("1"),
    ),
    text("unknown action", '{"action": "fly", "params": {"to": "moon"}}', Action("fly", {"to": "moon"})),
    text("parameter of another type", '{"action": "execute_code", "params": {"code": 3}}', execute(3)),
    text("infinity", '{"action": "execute_code", "params": {"code": -Infinity}}', execute("-Infinity")),
    text("huge number", '{"action": "execute_code", "params": {"code": 1e999}}', execute("1e999")),
    text("lone surrogate", '{"action": "\\ud800"}', Action("\\ud800")),
    text("endless name", json.dumps({"action": "x" * 9999}), Action("x" * 200)),
    # What stands around it.
    text("prose before", f"I am done.\n\n{SUBMIT}", Action("submit")),
    text("prose after", f"{SUBMIT}\n\nThat is all.", Action("submit")),
    text("prose with braces", f"The set {{a, b}} is fine, and so is {{}}.\n{SUBMIT}", Action("submit")),
    text("formula", f"$\\frac{{a}}{{b}}$ and {{'x': y}}. {SUBMIT}", Action("submit")),
    text("Chinese prose", f"我先看一下数据，然后提交。\n{SUBMIT}", Action("submit")),
    text("German prose", f"Ich gebe „das Beste“ ab:\n{SUBMIT}", Action("submit")),
    text("Arabic prose", f"سأرسل الإجابة الآن.\n{SUBMIT}", Action("submit")),
    text("emoji", f"🚀🚀 Let's go 👩‍💻\n{SUBMIT} ✅", Action("submit")),
    text("other objects around", f'{{"plan": 1}} then {SUBMIT} then {{"plan": 2}}', Action("submit")),
    text("an example of no known name", f'Not {{"action": "<name>"}} but\n{SUBMIT}', Action("submit")),
    text(
        "the grammar as an example",
        f'As {{"action": "<name>", "params": {{...}}}}:\n{SUBMIT}',
        Action("submit"),
    ),
    text("the same twice", f"{SUBMIT}\nSo, finally:\n{SUBMIT}", Action("submit")),
    # Fences.
    text("json fence", f"```json\n{SUBMIT}\n```", Action("submit")),
    text("bare fence", f"```\n{SUBMIT}\n```", Action("submit")),
    text("tildes", f"~~~JSON5\n{SUBMIT}\n~~~", Action("submit")),
    text("unclosed fence", f"```json\n{SUBMIT}", Action("submit")),
    text("python fence", f"```python\n{SUBMIT}\n```", Action("submit")),
    text(
        "fence of code before",
        f"I tried\n```python\nx = {{'a': b}}\n```\nand now\n```json\n{SUBMIT}\n```",
        Action("submit"),
    ),
    # Thinking.
    text("think block", f'<think>{{"action": "reset"}} or not?</think>\n{SUBMIT}', Action("submit")),
    text("thinking block", f"<THINKING>no</THINKING>{SUBMIT}", Action("submit")),
    text("two think blocks", f"<think>a</think> b <think>c</think> {SUBMIT}", Action("submit")),
    text("only the closing tag", f'Maybe {{"action": "reset"}}?\n</think>\n\n{SUBMIT}', Action("submit")),
    text("thinking that never closes", f"<think>I will {SUBMIT}", Action("submit")),
    text("action only in closed thinking", f"<think>{SUBMIT}</think>\nI wait.", Kind.NO_ACTION),
    text("thinking that was cut", f"<think>I could {SUBMIT} but", Kind.CUT_OFF, Finish.LENGTH),
    text(
        "tags in the program",
        written("print('<think>', '</think>')"),
        execute("print('<think>', '</think>')"),
    ),
    text(
        "broken thought, good action", f'<think>{{"action": "submit", "para</think>{SUBMIT}', Action("submit")
    ),
    # Programs.
    text(
        "raw line breaks",
        '{"action": "execute_code", "params": {"code": "a = 1\nprint(a)"}}',
        execute("a = 1\nprint(a)"),
    ),
    text("tabs", '{"action": "execute_code", "params": {"code": "if 1:\n\tpass"}}', execute("if 1:\n\tpass")),
    text("program with fences", written(FENCED), execute(FENCED)),
    text("fenced program with fences", f"```json\n{written(FENCED)}\n```", execute(FENCED)),
    text("program that holds an action", written(f"x = {SUBMIT!r}"), execute(f"x = {SUBMIT!r}")),
    text(
        "program with nested JSON",
        written('json.loads("{\\"a\\": {\\"b\\": [1]}}")'),
        execute('json.loads("{\\"a\\": {\\"b\\": [1]}}")'),
    ),
    text("many alphabets", written("print('é 漢 😀 ß')"), execute("print('é 漢 😀 ß')")),
    text(
        "escaped emoji",
        '{"action": "execute_code", "params": {"code": "\'\\ud83d\\ude80\'"}}',
        execute("'🚀'"),
    ),
    text("regular expression", written(r"re.sub(r'\d+\\', '', x)"), execute(r"re.sub(r'\d+\\', '', x)")),
    # JSON that is none, with one reading.
    text("trailing commas", '{"action": "execute_code", "params": {"code": "1",},}', execute("1")),
    text(
        "single quotes",
        "{'action': 'execute_code', 'params': {'code': 'print(\"a\\n\")'}}",
        execute('print("a\n")'),
    ),
    text("Python's None", "{'action': 'submit', 'params': None}", Action("submit")),
    text("keys without quotes", '{action: "execute_code", params: {code: "1"}}', execute("1")),
    text("typographic quotes", "{“action”: “submit”, “params”: {}}", Action("submit")),
    text("comments", '{"action": "submit", // at last\n "params": {} /* none */ # so\n}', Action("submit")),
    text(
        "escaped apostrophe",
        '{"action": "execute_code", "params": {"code": "print(\\\'a\\\')"}}',
        execute("print('a')"),
    ),
    text(
        "triple quotes",
        '{"action": "execute_code", "params": {"code": """a = "1"\nb = \'2\'\n"""}}',
        execute("a = \"1\"\nb = '2'\n"),
    ),
    text("last brace missing", '{"action": "execute_code", "params": {"code": "1"}', execute("1")),
    text(
        "last braces missing in a fence",
        '```json\n{"action": "execute_code", "params": {"code": "1"\n```',
        execute("1"),
    ),
    text("a brace too many", f"{SUBMIT}}}", Action("submit")),
    # Tool calls as text.
    text(
        "Hermes",
        '<tool_call>\n{"name": "execute_code", "arguments": {"code": "1"}}\n</tool_call>',
        execute("1"),
    ),
    text(
        "Hermes without its last brace",
        '<tool_call>{"name": "submit", "arguments": {}</tool_call>',
        Action("submit"),
    ),
    text("Llama", '<|python_tag|>{"name": "execute_code", "parameters": {"code": "1"}}', execute("1")),
    text("Mistral", '[TOOL_CALLS][{"name": "submit", "arguments": {}}]', Action("submit")),
    text(
        "OpenAI's form",
        '{"type": "function", "function": {"name": "execute_code", "arguments": "{\\"code\\": \\"1\\"}"}}',
        execute("1"),
    ),
    text(
        "Qwen3-Coder",
        "<tool_call>\n<function=execute_code>\n<parameter=code>\nif 1:\n    print({})\n</parameter>\n"
        "</function>\n</tool_call>",
        execute("if 1:\n    print({})"),
    ),
    text(
        "Qwen3-Coder, indented program",
        "<function=execute_code><parameter=code>\n  x\n</parameter></function>",
        execute("  x"),
    ),
    # Errors.
    text("nothing", "", Kind.EMPTY),
    text("only space", " \n\t", Kind.EMPTY),
    text("prose", "I would like to see the data first.", Kind.NO_ACTION),
    text("only a program", "```python\nprint({'action': 1})\n```", Kind.NO_ACTION),
    text("a list of words", '["submit"]', Kind.NO_ACTION),
    text("another object", '{"plan": ["load", "train"]}', Kind.NO_ACTION),
    text("a name that is no string", '{"action": ["submit"]}', Kind.NO_ACTION),
    text("deep", '{"a":' * 100_000, Kind.NO_ACTION),
    text("two actions", f'{SUBMIT}\n{{"action": "reset"}}', Kind.SEVERAL_ACTIONS),
    text("a plan of actions", f'[{{"action": "reset"}}, {SUBMIT}]', Kind.SEVERAL_ACTIONS),
    text("two programs", written("1") + written("2"), Kind.SEVERAL_ACTIONS),
    text("params that are no object", '{"action": "submit", "params": "x"}', Kind.BROKEN_ARGUMENTS),
    text("parameters outside", '{"action": "execute_code", "code": "1"}', Kind.BROKEN_ARGUMENTS),
    text("value missing", SUBMIT[:-3], Kind.BROKEN_ARGUMENTS),
    text(
        "quotes not escaped",
        '{"action": "execute_code", "params": {"code": "print("a")"}}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "an action inside of a broken one",
        '{"thought": "t", "action": "execute_code", "params": {"code": "x = {"action": "submit"}"}}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "an action after a broken one",
        f'{{"action": "execute_code", "params": {{"code": "a" + "b"}}}}\n{SUBMIT}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "regular expression not escaped",
        '{"action": "execute_code", "params": {"code": "re.sub(\'\\d\', x)"}}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "program named twice",
        '{"action": "execute_code", "params": {"code": "1", "code": "2"}}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "fence as a value",
        '{"action": "execute_code", "params": {"code": ```python\n1\n```}}',
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "nested too deep",
        '{"action": "execute_code", "params": {"code": ' + "[" * 99 + "]" * 99 + "}}",
        Kind.BROKEN_ARGUMENTS,
    ),
    text(
        "Qwen3-Coder, not closed",
        "<function=execute_code><parameter=code>\nx\n</function>",
        Kind.BROKEN_ARGUMENTS,
    ),
    # Cut at the limit of output tokens.
    text("cut in the program", written("print(1)")[:-8], Kind.CUT_OFF, Finish.LENGTH),
    text("cut before the last brace", written("print(1)")[:-1], Kind.CUT_OFF, Finish.LENGTH),
    text("cut in the prose", "First I would", Kind.CUT_OFF, Finish.LENGTH),
    text("cut before a word", "", Kind.CUT_OFF, Finish.LENGTH),
    text("cut after the action", f"{SUBMIT}\nThis sho", Action("submit"), Finish.LENGTH),
    text("cut in a second action", f"{written('1')}\n{SUBMIT[:-3]}", Kind.CUT_OFF, Finish.LENGTH),
    text("refusal", f"I cannot. {SUBMIT}", Kind.REFUSAL, Finish.REFUSAL),
    text("malformed", "execute_code(code=...)", Kind.MALFORMED, Finish.MALFORMED),
    text("malformed, but readable", SUBMIT, Action("submit"), Finish.MALFORMED),
    Shape("only in the reasoning", Reply("", f"I could {SUBMIT}"), Kind.EMPTY),
]

CALLS = [
    call("strict", '{"code": "print(1)"}', execute("print(1)")),
    call("no arguments", "", Action("submit"), "submit"),
    call("null", "null", Action("submit"), "submit"),
    call("space around", '\n {"code": "1"} \n', execute("1")),
    call("raw line breaks", '{"code": "a\nb"}', execute("a\nb")),
    call("trailing comma", '{"code": "1",}', execute("1")),
    call("single quotes", "{'code': 'print(\"1\")'}", execute('print("1")')),
    call("encoded twice", json.dumps('{"code": "1"}'), execute("1")),
    call("in a fence", '```json\n{"code": "1"}\n```', execute("1")),
    call("brace missing", '{"code": "1"', execute("1")),
    call("a brace too many", '{"code": "1"}}', execute("1")),
    call("unknown tool", '{"x": 1}', Action("fly", {"x": 1}), "fly"),
    call("quotes not escaped", '{"code": "print("1")"}', Kind.BROKEN_ARGUMENTS),
    call("only a brace", "{", Kind.BROKEN_ARGUMENTS),
    call("bare program", "print(1)", Kind.BROKEN_ARGUMENTS),
    call("a list", "[1]", Kind.BROKEN_ARGUMENTS),
    call("a word", '"x"', Kind.BROKEN_ARGUMENTS),
    call("two objects", '{"code": "1"}{"code": "2"}', Kind.BROKEN_ARGUMENTS),
    call("deep", "[" * 100_000, Kind.BROKEN_ARGUMENTS),
    call("cut in the program", '{"code": "pri', Kind.CUT_OFF, finish=Finish.LENGTH),
    call("cut before the last brace", '{"code": "print(1)"', Kind.CUT_OFF, finish=Finish.LENGTH),
    call("cut before the arguments", "", Kind.CUT_OFF, finish=Finish.LENGTH),
    call("cut after the arguments", '{"code": "1"}', execute("1"), finish=Finish.LENGTH),
    call("giant", '{"code": "' + "#" * 1_000_000 + '"}', Kind.TOO_LONG),
]
