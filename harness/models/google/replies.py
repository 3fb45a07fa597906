"""What generateContent answers, read into a reply."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from harness.models.base import Finish, Reply, ToolCall, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.tokens import Tokens, usage_of
from harness.models.wire.bodies import read_json

# https://ai.google.dev/api/generate-content#FinishReason
_FINISHES: dict[str, Finish] = {
    "MAX_TOKENS": Finish.LENGTH,
    "CONTINUATION": Finish.LENGTH,
    "MALFORMED_FUNCTION_CALL": Finish.MALFORMED,
    "MALFORMED_RESPONSE": Finish.MALFORMED,
    "TOO_MANY_TOOL_CALLS": Finish.MALFORMED,
    "UNEXPECTED_TOOL_CALL": Finish.MALFORMED,
    "BLOCKLIST": Finish.REFUSAL,
    "ESCALATION": Finish.REFUSAL,
    "IMAGE_PROHIBITED_CONTENT": Finish.REFUSAL,
    "IMAGE_RECITATION": Finish.REFUSAL,
    "IMAGE_SAFETY": Finish.REFUSAL,
    "LANGUAGE": Finish.REFUSAL,
    "MODEL_ARMOR": Finish.REFUSAL,
    "PROHIBITED_CONTENT": Finish.REFUSAL,
    "RECITATION": Finish.REFUSAL,
    "SAFETY": Finish.REFUSAL,
    "SPII": Finish.REFUSAL,
}
#: Finish reasons that speak of the request or of the account.
_FAULTS = {
    "MISSING_THOUGHT_SIGNATURE": FaultKind.REQUEST,
    "PUP_LIMITED_DISABLED": FaultKind.KEY,
}
#: What a function can be called; models make up other names, which are refused in a conversation.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_ENDED = ("STOP", "FINISH_REASON_UNSPECIFIED", None)


class _Wire(BaseModel):
    """A part of an answer; what is not read here may be anything."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data


class _Call(_Wire):
    id: str | None = None
    name: str = ""
    args: dict[str, Any] = {}


class _Part(_Wire):
    text: str = ""
    thought: bool = False
    function_call: _Call | None = None


class _Content(_Wire):
    parts: tuple[_Part, ...] = ()


class _Candidate(_Wire):
    content: _Content = _Content()
    finish_reason: str | None = None
    finish_message: str = ""


class _Feedback(_Wire):
    block_reason: str | None = None
    block_reason_message: str = ""


class _Counts(_Wire):
    prompt_token_count: Tokens = 0
    tool_use_prompt_token_count: Tokens = 0
    cached_content_token_count: Tokens = 0
    candidates_token_count: Tokens = 0
    thoughts_token_count: Tokens = 0


class _Answer(_Wire):
    candidates: tuple[_Candidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _Counts = _Counts()
    model_version: str | None = None
    response_id: str | None = None


def read_reply(body: str, turn: int) -> Reply:
    """Read the body of a success.

    Args:
        body: as it was received.
        turn: number of the reply in its conversation, which names calls that Google gave no id.

    Raises:
        Fault: it is no answer, or it says that the request or the account is at fault.
    """
    try:
        data = read_json(body.encode())
        answer = _Answer.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the answer"
        raise Fault(
            FaultKind.GARBLED, f"another form than generateContent's: {where}: {first['msg']}"
        ) from None
    except ValueError:
        raise Fault(FaultKind.GARBLED, "the answer is not JSON") from None
    read: dict[str, Any] = {
        "usage": _usage(answer.usage_metadata),
        "usage_raw": data.get("usageMetadata"),
        "version": answer.model_version,
    }
    if not answer.candidates:
        feedback = answer.prompt_feedback
        if feedback.block_reason is None:
            raise Fault(FaultKind.GARBLED, "the endpoint answered without a candidate")
        why = feedback.block_reason_message or f"the provider blocked the prompt: {feedback.block_reason}"
        return Reply(why, finish=Finish.REFUSAL, **read)
    candidate = answer.candidates[0]
    reason, parts = candidate.finish_reason, candidate.content.parts
    why = candidate.finish_message or f"the provider stopped the reply: {reason}"
    if reason in _FAULTS:
        raise Fault(_FAULTS[reason], " ".join(why.split()))
    text = "".join(part.text for part in parts if not part.thought)
    calls = _calls(parts, answer.response_id or f"turn{turn}")
    finish = _finish(reason, bool(text), bool(calls))
    odd = [call.name for call in calls if not _NAME.fullmatch(call.name)]
    if odd and finish is not Finish.REFUSAL:
        finish, why = Finish.MALFORMED, f"no function can have the name {odd[0]!r}"
    thought = "".join(part.text for part in parts if part.thought)
    if finish in (Finish.REFUSAL, Finish.MALFORMED):
        # Its calls are not to be made, so the turn cannot be replayed: every call in it would want an answer.
        return Reply("\n".join(filter(None, (text, why))), thought, finish=finish, **read)
    raw = data["candidates"][0]["content"] if parts else None
    return Reply(text, thought, calls, finish=finish, raw=raw, **read)


def _finish(reason: str | None, says: bool, calls: bool) -> Finish:
    if reason in _FINISHES:
        return _FINISHES[reason]
    if reason not in _ENDED and not says and not calls:
        # OTHER, and what Google may add: without content, something else than the model ended the reply.
        return Finish.REFUSAL
    return Finish.TOOL_CALLS if calls else Finish.STOP


def _calls(parts: tuple[_Part, ...], prefix: str) -> tuple[ToolCall, ...]:
    wanted = [part.function_call for part in parts if part.function_call is not None]
    return tuple(
        ToolCall(call.id or f"{prefix}-{number}", call.name, json.dumps(call.args, ensure_ascii=False))
        for number, call in enumerate(wanted)
    )


def _usage(counts: _Counts) -> Usage:
    """Google counts thoughts beside the candidates, and cached tokens within the prompt."""
    return usage_of(
        counts.prompt_token_count + counts.tool_use_prompt_token_count,
        counts.candidates_token_count + counts.thoughts_token_count,
        cache_read=counts.cached_content_token_count,
        reasoning=counts.thoughts_token_count,
    )
