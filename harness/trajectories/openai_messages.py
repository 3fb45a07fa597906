"""Trials as conversations in OpenAI's Chat Completions form: one JSON document per line, for SFT and RL.

    {"messages": [...], "tools": [...], "metadata": {...}}

A line is a conversation as the model saw it, with its last answer. A compaction replaces the conversation's
beginning, so it starts a new line; ``metadata.new_from`` is the index of the first answer that no earlier
line of the trial holds: train on the answers from there on, and none counts twice. Every line ends with an
answer of the model; what came back after the trial's last answer was never sent, and is left out. ``tools``
is there when tools were offered natively. ``metadata.altered`` lists the answers that are not word for word
what the model wrote: arguments that were no JSON, and texts that were empty or endless, cannot be sent back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from harness.errors import InputError
from harness.models.base import ActionFormat, Message
from harness.trajectories.conversation import Exchange, exchanges
from harness.trajectories.events import ReplyEvent
from harness.trajectories.trials import RecordedTrial, encodable, tool_definitions


def to_lines(trial: RecordedTrial, *, reasoning: bool = False) -> Iterator[str]:
    """The lines of one trial, strict JSON in ASCII; none when the model never answered.

    Args:
        trial: a finished trial.
        reasoning: put the model's reasoning into ``reasoning_content`` of its turns, as DeepSeek and vLLM do.

    Raises:
        InputError: the trial is not finished, or its log has no prompt.
    """
    for document in to_documents(trial, reasoning=reasoning):
        yield json.dumps(document, allow_nan=False)


def to_documents(trial: RecordedTrial, *, reasoning: bool = False) -> list[dict[str, Any]]:
    """The lines of :func:`to_lines` as documents."""
    if trial.record is None:
        raise InputError(f"{trial.paths.root}: the trial is not finished (no result.json); run its job again")
    answered = [exchange for exchange in exchanges(trial.log) if exchange.answer]
    segments = _segments(answered)
    native = is_native(trial)
    documents = []
    # By identity: the conversations hold the very turns that are the answers.
    thoughts = {id(old.answer): old.turn.reply.thought for old in answered if old.turn.reply}
    altered = {id(old.answer) for old in answered if old.turn.reply and old.turn.reply.kept}
    for index, segment in enumerate(segments):
        last = segment[-1]
        messages = [*last.sent, *([last.answer] if last.answer else [])]
        document: dict[str, Any] = {
            "messages": [
                to_chat(message, thoughts.get(id(message), "") if reasoning else "") for message in messages
            ]
        }
        if native:
            document["tools"] = tool_definitions(trial.log)
        document["metadata"] = {
            **_metadata(trial),
            "segment": index + 1,
            "segments": len(segments),
            # The first call of a later line answers turns that are all in it; only its answer is new.
            "new_from": 0 if index == 0 else len(segment[0].sent),
            "altered": [position for position, message in enumerate(messages) if id(message) in altered],
        }
        documents.append(encodable(document))
    return documents


def is_native(trial: RecordedTrial) -> bool:
    """Whether actions were native tool calls; where the log does not say so, whether any was one."""
    action_format = trial.start.settings.get("action_format")
    if action_format is not None:
        return bool(action_format == ActionFormat.TOOLS)
    return any(reply.tool_calls for reply in trial.log.all(ReplyEvent))


def to_chat(message: Message, reasoning: str = "") -> dict[str, Any]:
    """A turn as a message of Chat Completions."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.text}
    chat: dict[str, Any] = {"role": message.role, "content": message.text}
    if reasoning:
        chat["reasoning_content"] = reasoning
    if message.tool_calls:
        chat["content"] = message.text or None
        chat["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    return chat


def _segments(answered: list[Exchange]) -> list[list[Exchange]]:
    """Calls whose conversations only grow, together: a compaction starts the next group."""
    number = 0

    def segment(exchange: Exchange) -> int:
        nonlocal number
        number += bool(exchange.turn.compactions)
        return number

    return [list(group) for _, group in groupby(answered, key=segment)]


def _metadata(trial: RecordedTrial) -> dict[str, Any]:
    record = trial.record
    assert record is not None
    return {
        "trial": trial.id,
        "task_set": record.task_set,
        "task": record.task,
        "task_hash": record.task_hash,
        "model": record.model,
        "version": next((r.version for r in trial.log.all(ReplyEvent) if r.version), None),
        "attempt": record.attempt,
        "agent": record.agent,
        "spec_hash": record.spec_hash,
        "feedback": str(record.feedback),
        "status": str(record.status),
        "counts": record.counts,
        "valid": record.valid,
        "score": record.score,
        "metric": record.metric,
        "higher_is_better": record.higher_is_better,
        "position_score": record.position_score,
    }
