"""Logs are read as far as they can be, of both schemas, and what is no log is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.models.base import Finish, Usage
from harness.records import TrialPaths
from harness.trajectories.conversation import exchanges
from harness.trajectories.events import (
    ActionEvent,
    EndEvent,
    FaultEvent,
    ObservationEvent,
    OtherEvent,
    PromptEvent,
    ReplyEvent,
    StartEvent,
)
from harness.trajectories.reading import read_events
from harness.trajectories.turns import turns_of
from harness.trajectories.writing import SCHEMA_VERSION, Trajectory
from tests.harness.trajectories.conftest import USAGE, Troubled


def write(path: Path, *documents: object, end: str = "\n") -> Path:
    path.write_text("\n".join(map(json.dumps, documents)) + end, encoding="utf-8")
    return path


def test_a_real_log_is_read_whole_as_typed_events(troubled: Troubled) -> None:
    log = troubled.trial.log
    assert (log.schema_version, log.notes) == (SCHEMA_VERSION, ())
    assert not log.all(OtherEvent)
    start, end = log.first(StartEvent), log.first(EndEvent)
    assert start and (start.task_set, start.task, start.model) == ("reference", "iris", "openai/gpt-4o")
    assert start.settings["effort"] == "low"
    assert end and end.status == "submitted"
    first = log.all(ReplyEvent)[0]
    assert (first.thought, first.text, first.usage, first.version) == (
        "Look.",
        "Two things.",
        USAGE,
        "listed-model-2026-01-02",
    )
    assert [(fault.kind, fault.status) for fault in log.all(FaultEvent)] == [
        ("rate_limit", 429),
        ("context", 400),
    ]


def test_the_events_of_a_real_trial_make_turns(troubled: Troubled) -> None:
    turns = turns_of(troubled.trial.log.events)
    assert [list(turn.steps) for turn in turns] == [[1, 2], [3], [4], [5, 6], [7], [8]]
    assert [len(turn.faults) for turn in turns] == [1, 0, 0, 0, 1, 0]
    assert [len(turn.compactions) for turn in turns] == [0, 0, 0, 0, 1, 0]
    words = [[a.action.action if a.action else a.error and a.error.kind for a in t.acts] for t in turns]
    assert words == [
        ["request_info", "get_history"],
        ["no_action"],
        ["execute_code"],
        ["broken_arguments", "get_history"],
        ["execute_code"],
        ["submit"],
    ]  # fmt: skip
    assert turns[-1].acts[0].answer is None  # the trial ended with it


def test_a_log_torn_by_a_kill_is_read_up_to_the_tear(troubled: Troubled, tmp_path: Path) -> None:
    whole = troubled.trial.paths.trajectory.read_bytes()
    torn = tmp_path / "trajectory.jsonl"
    torn.write_bytes(whole[: len(whole) - 20])
    log = read_events(torn)
    assert len(log.events) == len(troubled.trial.log.events) - 1
    assert [note.split(":")[0] for note in log.notes] == [f"line {len(whole.splitlines())} is torn"]


def test_lines_that_are_no_events_are_noted_with_the_field(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        {"schema_version": 2},
        {"event": "action", "step": "first"},
        [1],
        {"step": 3},
        {"event": "end", "status": "submitted", "reason": "done"},
    )
    log = read_events(path)
    assert [event.event for event in log.events] == ["end"]
    assert "line 2 is left out: step" in log.notes[0]
    assert log.notes[1:] == (
        "line 3 is left out: not a JSON object",
        "line 4 is left out: no event: it names no kind",
    )


def test_fields_and_kinds_of_later_versions_hide_nothing(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        {"schema_version": 2},
        {"event": "action", "step": 1, "action": "submit", "mood": "good"},
        {"event": "weather", "sun": True, "time": "now"},
    )
    action, weather = read_events(path).events
    assert isinstance(action, ActionEvent) and action.action == "submit"
    assert isinstance(weather, OtherEvent) and weather.fields["sun"] is True


def test_separators_that_models_write_do_not_end_a_line(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\x0bfour\ud800"
    with Trajectory(TrialPaths(tmp_path)) as trajectory:
        trajectory.record("observation", {"step": 1, "text": text})
    (event,) = read_events(TrialPaths(tmp_path).trajectory).events
    assert isinstance(event, ObservationEvent) and event.text == text


def test_numbers_without_a_json_form_are_written_as_text(tmp_path: Path) -> None:
    params = {"code": float("nan"), "more": [float("-inf"), 1.5]}
    with Trajectory(TrialPaths(tmp_path)) as trajectory:
        trajectory.record("action", {"step": 1, "action": "execute_code", "params": params})
    (event,) = read_events(TrialPaths(tmp_path).trajectory).events
    assert isinstance(event, ActionEvent) and event.params == {"code": "nan", "more": ["-inf", 1.5]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version": 3}\n', "schema_version 3 is unknown; this version reads 1 to 2"),
        ('{"schema_version": true}\n', "schema_version True is unknown"),
        ('{"event": "end"}\n', "schema_version None is unknown"),
        ("", "not a trajectory"),
        ("task,model\n", "not a trajectory"),
        ("[" * 100_000, "not a trajectory"),
    ],
)
def test_what_is_no_log_or_an_unknown_one_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trajectory.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        read_events(path)
    assert str(path) in str(raised.value)


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not found"):
        read_events(tmp_path / "none.jsonl")


#: Lines as the first version of this project wrote them.
OLD: list[dict[str, Any]] = [
    {"schema_version": 1},
    {"event": "prompt", "time": "2026-11-29T18:10:43.073+00:00", "text": "You are an engineer."},
    {"event": "reply", "time": "2026-11-29T18:10:43.073+00:00", "step": 1, "text": "First I read.",
     "tool_calls": [{"id": "call-1", "name": "request_info", "arguments": '{"info_type": "data_path"}'}],
     "finish": "tool_calls", "seconds": 0.25,
     "usage": {"input": 3, "cache_read": 0, "cache_write": 0, "output": 2, "reasoning": 0}},
    {"event": "action", "step": 1, "thought": "First I read.", "action": "request_info",
     "params": {"info_type": "data_path"}},
    {"event": "observation", "step": 1, "ok": True, "text": "/data", "valid": None, "reason_code": None,
     "score": None, "feedback_score": None, "seconds": 0.1, "budget_left": "9 steps, 600 s"},
    {"event": "reply", "step": 2, "text": "Hm.", "tool_calls": [], "finish": "stop", "usage": {},
     "seconds": 0.1},
    {"event": "format_error", "step": 2, "text": "No action was found."},
    {"event": "end", "status": "time_limit", "reason": "over"},
]  # fmt: skip


def test_logs_of_schema_1_are_read_as_those_of_schema_2(tmp_path: Path) -> None:
    log = read_events(write(tmp_path / "t.jsonl", *OLD))
    assert (log.schema_version, log.notes) == (1, ())
    prompt, (first, second) = log.first(PromptEvent), log.all(ReplyEvent)
    assert prompt and (prompt.system, prompt.user) == ("You are an engineer.", "Begin.")
    assert (first.usage, first.finish, second.usage) == (Usage(input=3, output=2), Finish.TOOL_CALLS, Usage())
    # What that version sent: the word, the text and the budget; its one answer went to the reply's call.
    sent = list(exchanges(log))[1].sent
    assert [(m.role, m.text, m.tool_call_id) for m in sent] == [
        ("system", "You are an engineer.", None),
        ("user", "Begin.", None),
        ("assistant", "First I read.", None),
        ("tool", "ok: /data\n\n[left: 9 steps, 600 s]", "call-1"),
    ]
    assert list(exchanges(log))[1].is_as_sent is None
