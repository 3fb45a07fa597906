"""The conversation that a log gives back is the one that the model was sent, whatever happened in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.models.base import Message
from harness.trajectories.conversation import Exchange, exchange_at, exchanges
from harness.trajectories.reading import Log, read_events
from tests.harness.trajectories.conftest import Troubled


def said(messages: list[Message] | tuple[Message, ...]) -> list[tuple[object, ...]]:
    """All of a conversation but what only the provider's client reads."""
    return [(m.role, m.text, m.tool_calls, m.tool_call_id) for m in messages]


def answered_requests(trial: Troubled, rebuilt: list[Exchange]) -> list[list[Message]]:
    """The conversations that got a reply: of every turn, the request after its failed ones."""
    answered, position = [], 0
    for exchange in rebuilt:
        position += len(exchange.turn.faults)
        answered.append(trial.sent[position])
        position += 1
    assert position == len(trial.sent)
    return answered


@pytest.mark.parametrize("which", ["troubled", "written", "odd"])
def test_every_conversation_is_rebuilt_as_it_was_sent(which: str, request: pytest.FixtureRequest) -> None:
    trial: Troubled = request.getfixturevalue(which)
    rebuilt = list(exchanges(trial.trial.log))
    assert [said(exchange.sent) for exchange in rebuilt] == [
        said(messages) for messages in answered_requests(trial, rebuilt)
    ]
    assert all(exchange.is_as_sent for exchange in rebuilt)


def test_a_compaction_leaves_out_what_it_dropped_and_tells_it_in_the_first_turn(troubled: Troubled) -> None:
    before, after = exchange_at(troubled.trial.log, 5).sent, exchange_at(troubled.trial.log, 7).sent
    (compaction,) = exchange_at(troubled.trial.log, 7).turn.compactions
    assert before[0] == after[0] and before[1] != after[1]
    assert after[1].text == compaction.text
    assert set(compaction.dropped) >= {1, 2} and len(after) < len(before)


def test_calls_of_one_reply_share_its_conversation(troubled: Troubled) -> None:
    first, second = exchange_at(troubled.trial.log, 1), exchange_at(troubled.trial.log, 2)
    assert first.sent == second.sent and first.turn.steps == range(1, 3)
    after = exchange_at(troubled.trial.log, 3).sent
    assert [(m.role, m.tool_call_id) for m in after[2:]] == [
        ("assistant", None),
        ("tool", "call-1"),
        ("tool", "call-2"),
    ]


def test_a_changed_log_is_found_out_by_its_fingerprints(troubled: Troubled, tmp_path: Path) -> None:
    lines = troubled.trial.paths.trajectory.read_text(encoding="utf-8").splitlines()
    changed = tmp_path / "trajectory.jsonl"
    documents = [json.loads(line) for line in lines]
    first = next(event for event in documents if event.get("event") == "observation")
    first["text"] += " And the answers are 42."
    changed.write_text("\n".join(map(json.dumps, documents)) + "\n", encoding="utf-8")
    verdicts = [exchange.is_as_sent for exchange in exchanges(read_events(changed))]
    assert verdicts[:2] == [True, False]


def test_a_step_that_is_not_there_is_refused_with_those_that_are(troubled: Troubled) -> None:
    with pytest.raises(InputError, match="step 9 is not in the trajectory; its steps are 1 to 8"):
        exchange_at(troubled.trial.log, 9)


def test_a_log_without_its_prompt_is_refused(troubled: Troubled) -> None:
    kept = tuple(event for event in troubled.trial.log.events if event.event != "prompt")
    with pytest.raises(InputError, match="no prompt event"):
        list(exchanges(Log(2, kept)))
    assert list(exchanges(Log(2, ()))) == []
