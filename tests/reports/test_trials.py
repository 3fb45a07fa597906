"""A trial in words and in the terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from harness.budget import Budget
from harness.models.base import Usage
from harness.records import TrialPaths
from harness.trajectories.events import ActionEvent, FaultEvent, ReplyEvent
from harness.trajectories.trials import read_trial
from harness.trajectories.turns import turns_of
from reports.trials.listing import chosen_turns
from reports.trials.terminal import LONGEST, TrialPrinter
from reports.trials.words import budget_words, cost_words, fault_words, said, shown, turn_words, usage_words
from tests.reports.jobs import sample_trial, write_trial

#: What rich itself writes: colours and weights, no other sequence.
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def printed(folder: Path, *, full: bool = False) -> str:
    """A trial as a colour terminal gets it."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=90, color_system="truecolor", markup=False)
    trial = read_trial(folder)
    TrialPrinter(console, full=full).trial(trial, chosen_turns(trial))
    return stream.getvalue()


def test_programs_are_coloured_for_people_and_texts_keep_their_brackets(tmp_path: Path) -> None:
    write_trial(
        TrialPaths(tmp_path), sample_trial("s", "t", "m", [None, 0.5]), thought="[red]no markup[/red] :smile:"
    )
    text = printed(tmp_path)
    assert re.search(STYLE.pattern + r"print", text)
    assert "[red]no markup[/red] :smile:" in STYLE.sub("", text)


def test_no_escape_sequence_of_a_model_reaches_a_terminal(tmp_path: Path) -> None:
    foul = "\x1b]0;owned\x07\x1b[2J\x1b[8mhidden\x1b[0m\x9b31m\u202eabc\ud800"
    write_trial(TrialPaths(tmp_path), sample_trial("s", "t", "m", [None, 0.5]), thought=foul)
    rest = STYLE.sub("", printed(tmp_path))
    assert "hidden" in rest and "owned" not in rest
    assert not {c for c in rest if (c < " " and c != "\n") or c in "\x7f\x9b\u202e\ud800"}


def test_long_texts_are_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    write_trial(TrialPaths(tmp_path), sample_trial("s", "t", "m", [None, 0.5]), thought="x" * 10_000 + "END")
    cut, full = printed(tmp_path), printed(tmp_path, full=True)
    left_out = 10_003 - LONGEST
    assert f"{left_out:,} characters left out" in cut and "characters left out" not in full
    assert cut.count("END") == full.count("END")  # what stands at the end is never cut


def test_texts_are_cut_between_lines() -> None:
    lines = "\n".join(f"line {number:03d}" for number in range(100))  # 899 characters
    # Half of 60 characters is three lines of nine and a part of one, which goes.
    assert shown(lines, 60) == (
        "line 000\nline 001\nline 002\n... 847 characters left out ...\nline 097\nline 098\nline 099"
    )


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (None, "unpriced"),
        (0.0, "$0.00"),
        (0.00123, "$0.0012"),
        (0.0000123, "$0.000012"),
        (0.25, "$0.25"),
        (12.345, "$12.35"),
    ],
)
def test_costs_in_words(cost: float | None, words: str) -> None:
    assert cost_words(cost) == words


def test_budgets_in_words_name_every_limit_that_is_set() -> None:
    assert budget_words(Budget()) == "15 steps, 12 h, 60 min per execution"
    limits = Budget(
        steps=1, seconds=None, working_seconds=120, execution_seconds=5, tokens=9000, input_tokens=8000,
        output_tokens=1000, cost_usd=0.5,
    )  # fmt: skip
    assert budget_words(limits) == (
        "1 step, 2 min of work, 5 s per execution, 9,000 tokens, 8,000 input tokens, "
        "1,000 output tokens, $0.5"
    )


def test_tokens_in_words_name_the_parts_that_there_are() -> None:
    assert usage_words(Usage(input=1200, output=80)) == "1,200 tokens in, 80 out"
    usage = Usage(input=1200, cache_read=1000, output=80, reasoning=50)
    assert usage_words(usage) == "1,200 tokens in (1,000 cached), 80 out (50 reasoning)"


def test_a_failed_call_in_words() -> None:
    fault = FaultEvent(event="fault", kind="connection", message="reset by peer", attempt=3, seconds=1.0)
    assert fault_words(fault) == "attempt 3: connection after 1 s: reset by peer"


def test_a_turn_in_words_tells_waiting_attempts_and_an_unusual_end() -> None:
    reply = ReplyEvent.model_validate(
        {"event": "reply", "step": 1, "finish": "length", "seconds": 2.0, "waited": 31.0, "attempts": 3}
    )
    (turn,) = turns_of([reply])
    assert turn_words(turn, "unpriced") == (
        "model 2 s, waited 31 s, 3 attempts, 0 tokens in, 0 out, unpriced, ended by length"
    )


def test_what_was_said_is_apart_from_reasoning_and_from_an_action_in_text() -> None:
    reply = ReplyEvent(event="reply", step=1, thought="Hm.", text='I look.\n{"action": "submit"}')
    action = ActionEvent(event="action", step=1, action="submit", thought="Hm.\n\nI look.")
    (turn,) = turns_of([reply, action])
    assert said(turn) == "I look."
