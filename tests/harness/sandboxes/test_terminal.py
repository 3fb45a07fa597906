"""Output of untrusted programs as a plain terminal would show it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandboxes.warm.terminal import plain


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[2J\x1b[H",
        "\x1b[38;2;255;0;0m",
        "\x1b[?1049h",
        "\x1b[6n",
        "\x1b]0;a title\x07",
        "\x1b]52;c;cm0gLXJm\x1b\\",
        "\x1b]8;;http://example.org\x1b\\",
        "\x1bP0;0|17/78\x1b\\",
        "\x1b_an application's\x1b\\",
        "\x1b^privacy\x1b\\",
        "\x1bXstring\x1b\\",
        "\x1bc",
        "\x1b(0",
        "\x1b#8",
        "\x9b31m",
        "\x1b\x1b[31m",
        "\x00\x07\x08\x0b\x0c\x0e\x7f\x85",
        "\u202e\u2066\u2069\u200e\u200f\u061c",
    ],
)
def test_escape_sequences_and_controls_leave_nothing_that_acts(sequence: str) -> None:
    shown = plain(f"before{sequence}after")
    assert shown.startswith("before") and shown.endswith("after")
    assert shown.isprintable()


@pytest.mark.parametrize(
    "sequence", ["\x1b[31m", "\x1b]0;title\x07", "\x1bP1|x\x1b\\", "\x1b(0", "\x9b1m", "\x00"]
)
def test_nothing_of_a_whole_sequence_is_left(sequence: str) -> None:
    assert plain(f"a{sequence}b") == "ab"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r50%\r100%\n", "100%\n"),
        ("10%\r100%", "100%"),
        ("done\r\nnext\r\n", "done\nnext\n"),
        ("line\r", "line"),
        ("\rline", "line"),
        ("a\r\rb\n", "b\n"),
    ],
)
def test_an_overwritten_line_shows_its_last_state(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain\n",
        "tab\tand\n\nempty lines\n",
        "naïve 数据 🙂 ½",
        "a [31m b",
        "x" * 100_000,
        "50% | 3/6 [=>  ]",
    ],
)
def test_text_is_kept(text: str) -> None:
    assert plain(text) == text


@given(st.text(alphabet=st.sampled_from("\x1b\x9b[]P;0m\x07\\\r\n\t a~\u202e")))
def test_whatever_comes_no_control_character_is_left(text: str) -> None:
    assert all(character.isprintable() or character in "\n\t" for character in plain(text))


@pytest.mark.parametrize("part", ["\x1b[", "\x1b]", "\x1b[1;", "\x1bP", "\x1b ", "\r", "\x9b0"])
def test_unfinished_sequences_by_the_million_take_no_long_time(part: str) -> None:
    started = time.monotonic()
    plain(part * 300_000)
    assert time.monotonic() - started < 20


def test_the_answer_can_always_be_written_to_a_file() -> None:
    plain("half a pair: \ud800").encode()
