"""The kinds of events in a trajectory, as :mod:`harness.trajectories.reading` gives them.

Every event has the kind's name in ``event`` and the time in UTC in ``time``. Fields that a kind does not know
are left out, so that one more field never hides an event.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.models.base import Finish, Usage


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    time: str = ""


class StartEvent(_Event):
    """Which trial this is; ``settings`` is what is asked of its model calls."""

    event: Literal["start"]
    task_set: str = ""
    task: str = ""
    model: str = ""
    attempt: int = 1
    agent: str = ""
    spec_hash: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class LoggedTool(BaseModel):
    """A tool that was offered."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class PromptEvent(_Event):
    """The first two turns of the conversation, as they were sent.

    Attributes:
        sha256: identity of the templates they were made from.
        tools: what was offered; empty in logs of schema 1.
    """

    event: Literal["prompt"]
    system: str
    user: str
    sha256: str = ""
    tools: tuple[LoggedTool, ...] = ()


class FaultEvent(_Event):
    """One call that got no reply.

    Attributes:
        step: the step the call was made for.
        attempt: which attempt at the same call failed, from 1.
        kind: see :class:`harness.models.faults.FaultKind`; ``abandoned`` when the trial ended first.
        status: the HTTP status, if there was one.
        seconds: wall time of the call.
        wait: seconds waited after it; 0 when the call was not tried again.
    """

    event: Literal["fault"]
    step: int = 0
    attempt: int = 1
    kind: str = ""
    status: int | None = None
    message: str = ""
    seconds: float = 0.0
    wait: float = 0.0


class LoggedCall(BaseModel):
    """A tool call; ``arguments`` is the JSON text as the model wrote it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    name: str
    arguments: str


class KeptTurn(BaseModel):
    """The model's turn as it is sent back, where that is not what it wrote."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: str = ""
    tool_calls: tuple[LoggedCall, ...] = ()


class ReplyEvent(_Event):
    """What the model answered.

    Attributes:
        step: number of the first action that it asks for.
        thought: its reasoning, as far as the provider shows it.
        text: what it said.
        kept: how it stays in the conversation, where that differs: arguments that are no JSON, and texts that
            are empty or endless, are not sent back.
        usage_raw: the provider's own usage object.
        version: the model's exact version, as the endpoint names it.
        seconds: wall time of the call that succeeded.
        waited: wall time of everything before it: rate limits, failed calls.
        attempts: calls made for this reply.
        messages: turns of the conversation that was sent.
        prompt_sha256: identity of that conversation.
    """

    event: Literal["reply"]
    step: int
    thought: str = ""
    text: str = ""
    tool_calls: tuple[LoggedCall, ...] = ()
    kept: KeptTurn | None = None
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    usage_raw: Any = None
    version: str | None = None
    seconds: float = 0.0
    waited: float = 0.0
    attempts: int = 1
    messages: int | None = None
    prompt_sha256: str | None = None


class ActionEvent(_Event):
    """What was read from a reply; ``call_id`` names its tool call, if it was one."""

    event: Literal["action"]
    step: int
    thought: str = ""
    action: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = None


class ObservationEvent(_Event):
    """What came back.

    Attributes:
        text: what the model was told.
        score: the raw score on the rows that count, whether it was told or not.
        feedback_score: the raw score that was told.
        seconds: wall time of the action.
    """

    event: Literal["observation"]
    step: int
    ok: bool = False
    text: str = ""
    valid: bool | None = None
    reason_code: str | None = None
    score: float | None = None
    feedback_score: float | None = None
    seconds: float | None = None
    budget_left: str = ""
    call_id: str | None = None


class FormatErrorEvent(_Event):
    """A reply, or one of its tool calls, that held no action; ``text`` is what the model was told."""

    event: Literal["format_error"]
    step: int
    kind: str = ""
    text: str = ""
    call_id: str | None = None


class CompactionEvent(_Event):
    """Older steps left the conversation; ``text`` is its new first user turn."""

    event: Literal["compaction"]
    step: int = 0
    dropped: tuple[int, ...] = ()
    text: str = ""


class InternalErrorEvent(_Event):
    """The harness itself failed."""

    event: Literal["internal_error"]
    traceback: str = ""


class EndEvent(_Event):
    """How the trial ended."""

    event: Literal["end"]
    status: str = ""
    reason: str = ""


class OtherEvent(_Event):
    """An event of a kind that this version does not know, whole."""

    event: str
    fields: dict[str, Any] = Field(default_factory=dict)


Event = (
    StartEvent
    | PromptEvent
    | FaultEvent
    | ReplyEvent
    | ActionEvent
    | ObservationEvent
    | FormatErrorEvent
    | CompactionEvent
    | InternalErrorEvent
    | EndEvent
    | OtherEvent
)
KINDS: dict[str, type[_Event]] = {
    "start": StartEvent,
    "prompt": PromptEvent,
    "fault": FaultEvent,
    "reply": ReplyEvent,
    "action": ActionEvent,
    "observation": ObservationEvent,
    "format_error": FormatErrorEvent,
    "compaction": CompactionEvent,
    "internal_error": InternalErrorEvent,
    "end": EndEvent,
}
