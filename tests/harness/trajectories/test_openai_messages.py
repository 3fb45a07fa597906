"""Exports to Chat Completions messages: valid for OpenAI's own SDK, and as the model saw them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter
from pydantic_core import from_json

from harness.actions import TOOLS as OFFERED
from harness.errors import InputError
from harness.models.faults import Fault, FaultKind
from harness.trajectories.conversation import exchanges
from harness.trajectories.events import PromptEvent
from harness.trajectories.openai_messages import to_documents, to_lines
from harness.trajectories.trials import RecordedTrial
from tests.harness.trajectories.conftest import Troubled

MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionToolParam])


@pytest.mark.parametrize("which", ["troubled", "written", "odd"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_sdk_takes_every_line(which: str, reasoning: bool, request: pytest.FixtureRequest) -> None:
    trial: Troubled = request.getfixturevalue(which)
    lines = list(to_lines(trial.trial, reasoning=reasoning))
    assert lines
    for line in lines:
        assert line.isascii() and "\n" not in line
        document = from_json(line)  # stricter than the standard library's
        for message in MESSAGES.validate_python(document["messages"]):
            if message["role"] == "assistant":
                list(message.get("tool_calls", ()))  # the SDK's iterables are checked when they are read
        TOOLS.validate_python(document.get("tools", []))
        assert document["messages"][-1]["role"] == "assistant"


def test_what_is_no_message_is_refused_by_that_check() -> None:
    with pytest.raises(ValueError, match="tool_call_id"):
        MESSAGES.validate_python([{"role": "tool", "content": "an answer to nothing"}])


def test_every_tool_call_but_the_last_is_answered_at_once(troubled: Troubled) -> None:
    for document in to_documents(troubled.trial):
        messages = document["messages"]
        for position, message in enumerate(messages[:-1]):
            asked = [call["id"] for call in message.get("tool_calls", [])]
            answers = messages[position + 1 : position + 1 + len(asked)]
            assert [answer.get("tool_call_id") for answer in answers] == asked


def test_a_compaction_starts_a_line_and_marks_what_is_new(troubled: Troubled) -> None:
    first, second = to_documents(troubled.trial)
    assert [d["metadata"]["segment"] for d in (first, second)] == [1, 2]
    assert {d["metadata"]["segments"] for d in (first, second)} == {2}
    assert (first["metadata"]["new_from"], second["metadata"]["new_from"]) == (
        0,
        len(list(exchanges(troubled.trial.log))[4].sent),
    )
    # Six replies: each is an answer to train on in exactly one line.
    fresh = [
        message
        for document in (first, second)
        for message in document["messages"][document["metadata"]["new_from"] :]
        if message["role"] == "assistant"
    ]
    assert len(fresh) == 6
    assert first["messages"][0] == second["messages"][0]
    assert first["messages"][1] != second["messages"][1]


def test_a_line_holds_what_the_model_was_sent_word_for_word(troubled: Troubled) -> None:
    last = to_documents(troubled.trial)[-1]["messages"]
    assert [(m["role"], m["content"] or "") for m in last[:-1]] == [
        (message.role, message.text) for message in troubled.sent[-1]
    ]
    assert last[-1]["tool_calls"][0]["function"] == {"name": "submit", "arguments": "{}"}


def test_answers_that_could_not_be_sent_back_as_they_were_are_named(troubled: Troubled) -> None:
    first = to_documents(troubled.trial)[0]
    (position,) = first["metadata"]["altered"]
    broken = first["messages"][position]["tool_calls"][0]
    assert broken["id"] == "call-5" and broken["function"]["arguments"] == "{}"


def test_reasoning_is_there_when_asked_for(troubled: Troubled) -> None:
    def reasons(document: dict[str, Any]) -> list[str]:
        return [m["reasoning_content"] for m in document["messages"] if "reasoning_content" in m]

    assert [reasons(document) for document in to_documents(troubled.trial)] == [[], []]
    assert reasons(to_documents(troubled.trial, reasoning=True)[0]) == ["Look.", "The sample first."]


def test_metadata_says_what_the_trial_was_worth(troubled: Troubled) -> None:
    record = troubled.trial.record
    assert record
    for document in to_documents(troubled.trial):
        about = document["metadata"]
        assert (about["task"], about["model"], about["attempt"]) == ("iris", "openai/gpt-4o", 1)
        assert (about["score"], about["valid"], about["status"]) == (record.score, True, "submitted")
        assert (about["version"], about["metric"]) == ("listed-model-2026-01-02", "accuracy")


def test_actions_written_as_text_stay_text_and_offer_no_tools(written: Troubled) -> None:
    (document,) = to_documents(written.trial)
    assert "tools" not in document
    assert {message["role"] for message in document["messages"]} == {"system", "user", "assistant"}
    assert all("tool_calls" not in message for message in document["messages"])


def test_the_tools_are_those_that_were_offered(troubled: Troubled) -> None:
    logged = troubled.trial.log.first(PromptEvent)
    assert logged and [tool.name for tool in logged.tools] == [tool.name for tool in OFFERED]
    (first, _) = to_documents(troubled.trial)
    assert [t["function"]["parameters"] for t in first["tools"]] == [tool.parameters for tool in OFFERED]


def test_a_trial_without_an_answer_has_no_lines(run_listed: Callable[..., Troubled]) -> None:
    lost = run_listed([Fault(FaultKind.REQUEST, "no such setting", status=400)])
    assert list(to_lines(lost.trial)) == []


def test_an_unfinished_trial_is_refused(troubled: Troubled) -> None:
    with pytest.raises(InputError, match="not finished"):
        list(to_lines(RecordedTrial(troubled.trial.paths, None, troubled.trial.log)))
