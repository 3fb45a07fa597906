"""A server that speaks Gemini's generateContent, and refuses what the real one refuses.

The rules are those of Google's pages on generateContent, function calling and thought signatures. It is
stricter in one: the real server lets signatures of text, and of turns before the last user text, be dropped.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from harness.models.google.model import GoogleModel
from harness.models.registry import ModelConfig
from tests.harness.models.loopback import Asked, Loopback, Said, loopback

KEY = "AIza-canary-42"
MODEL = "gemini-3-flash-preview"
OLDER = "gemini-2.5-flash"
OLDEST = "gemini-2.0-flash"
UNSIGNED = "skip_thought_signature_validator"
Part = dict[str, Any]

_IDS = itertools.count(1)


def text(said: str, *, thought: bool = False) -> Part:
    """A part that says something, or thinks it."""
    return {"text": said} | ({"thought": True} if thought else {})


def call(name: str, args: dict[str, Any] | None = None, id: str | None = None) -> Part:
    """A part that asks for a function call."""
    return {"functionCall": {"name": name, "args": args or {}} | ({"id": id} if id else {})}


def answer(
    *parts: Part, finish: str | None = "STOP", usage: dict[str, Any] | None = None, **candidate: Any
) -> dict[str, Any]:
    """The body of a success.

    Args:
        parts: what the model says; with none, the candidate has no content, as with some cut-offs.
        finish: the finish reason.
        usage: the usage metadata; a small default.
        candidate: more fields of the candidate, such as ``finishMessage``.
    """
    content = {"content": {"role": "model", "parts": [*parts]}} if parts else {}
    ended = {"finishReason": finish} if finish else {}
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15}
    return {
        "candidates": [{**content, **ended, "index": 0, **candidate}],
        "usageMetadata": usage if usage is not None else counts,
        "modelVersion": "gemini-3-flash-preview-11-2026",
        "responseId": f"response{next(_IDS)}",
    }


def refused(status: int, word: str, message: str, *details: dict[str, Any], **headers: str) -> Said:
    """An error as Google's servers write it.

    Args:
        status: the HTTP status.
        word: the status in google.rpc's words, such as ``RESOURCE_EXHAUSTED``.
        message: for people.
        details: each with an ``@type`` such as ``RetryInfo``; the rest of the type's name is added.
        headers: HTTP headers, with ``_`` for ``-``.
    """
    error: dict[str, Any] = {"code": status, "message": message, "status": word}
    if details:
        error["details"] = [
            detail | {"@type": f"type.googleapis.com/google.rpc.{detail['@type']}"} for detail in details
        ]
    return Said({"error": error}, status, {name.replace("_", "-"): value for name, value in headers.items()})


class GeminiServer:
    """A loopback server that answers what is queued to requests that the real server would take.

    Attributes:
        loopback: the server below, with its ``asked`` and ``bodies``.
    """

    def __init__(self, opened: Loopback) -> None:
        self.loopback = opened
        self._issued: dict[str, str] = {}
        opened.judge = self._judge

    @property
    def url(self) -> str:
        """The base URL to configure a model with."""
        return self.loopback.root

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return self.loopback.bodies

    def model(self, name: str = MODEL) -> GoogleModel:
        """A client of one of the server's models; its key is in the environment."""
        return GoogleModel(ModelConfig(name=f"google/{name}", base_url=self.url))

    def queue(self, *answers: Any) -> None:
        """Add answers: bodies of :func:`answer`, or :class:`Said`; the last stays for ever."""
        self.loopback.queue(*answers)

    def signed(self, part: Part) -> Part:
        """The part with a thought signature, which must come back with exactly this part."""
        shown = _fingerprint(part)
        # Standard base64 with all of its characters, which url-safe encoders would change.
        signature = base64.b64encode(b"\xfb\xef\xbe\xff" + hashlib.sha256(shown.encode()).digest()).decode()
        self._issued[shown] = signature
        return part | {"thoughtSignature": signature}

    def _judge(self, asked: Asked) -> Said | None:
        try:
            model = _admit(asked)
            try:
                request = _Request.model_validate(asked.body)
            except ValidationError as error:
                where = ".".join(str(step) for step in error.errors()[0]["loc"])
                raise _Refused(
                    f"Invalid JSON payload received. {error.errors()[0]['msg']}: {where}"
                ) from error
            _check_settings(model, request)
            _check_turns(request.contents)
            if request.tools is not None:
                _check_names(request)
            for place, content in enumerate(request.contents):
                for part in content.parts:
                    self._check_signature(part.model_dump(by_alias=True, exclude_unset=True), place)
            if model.startswith("gemini-3"):
                _check_signed(request.contents)
        except _Refused as error:
            return refused(error.status, error.word, str(error), *error.details)
        return None

    def _check_signature(self, part: Part, place: int) -> None:
        sent = part.get("thoughtSignature")
        issued = self._issued.get(_fingerprint(part))
        if issued is not None and sent is None:
            raise _Refused(f"A thought signature was dropped in content {place}.")
        if sent is not None and sent not in (issued, UNSIGNED):
            raise _Refused("Thought signature is not valid.")


@contextmanager
def gemini() -> Iterator[GeminiServer]:
    """A running server; it ends with the block."""
    with loopback() as opened:
        yield GeminiServer(opened)


class _Refused(Exception):
    def __init__(
        self, message: str, status: int = 400, word: str = "INVALID_ARGUMENT", *details: dict[str, Any]
    ) -> None:
        super().__init__(message)
        self.status, self.word, self.details = status, word, details


class _Strict(BaseModel):
    """JSON of a protocol buffer: fields by either spelling of their names, and no others."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, strict=True
    )


class _Call(_Strict):
    id: str | None = None
    name: str = Field(min_length=1)
    args: dict[str, Any] = {}


class _Response(_Strict):
    id: str | None = None
    name: str = Field(min_length=1)
    response: dict[str, Any]


class _Part(_Strict):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None
    function_response: _Response | None = None


class _Content(_Strict):
    role: Literal["user", "model"] = "user"
    parts: list[_Part] = Field(min_length=1)

    @property
    def calls(self) -> list[_Call]:
        return [part.function_call for part in self.parts if part.function_call]

    @property
    def responses(self) -> list[_Response]:
        return [part.function_response for part in self.parts if part.function_response]


class _Declaration(_Strict):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$")
    description: str
    parameters_json_schema: dict[str, Any]


class _Tool(_Strict):
    function_declarations: list[_Declaration]


class _CallingConfig(_Strict):
    mode: Literal["AUTO", "ANY", "NONE"]


class _ToolConfig(_Strict):
    function_calling_config: _CallingConfig


class _Thinking(_Strict):
    include_thoughts: bool = False
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"] | None = None
    thinking_budget: int | None = Field(default=None, ge=-1, le=24576)


class _Generation(_Strict):
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_output_tokens: int | None = Field(default=None, ge=1, le=65536)
    response_mime_type: Literal["text/plain", "application/json"] = "text/plain"
    response_json_schema: dict[str, Any] | None = None
    thinking_config: _Thinking | None = None


class _Request(_Strict):
    contents: list[_Content] = Field(min_length=1)
    system_instruction: _Content | None = None
    tools: list[_Tool] | None = None
    tool_config: _ToolConfig | None = None
    generation_config: _Generation = _Generation()


def _fingerprint(part: Part) -> str:
    return json.dumps({key: part[key] for key in part if key != "thoughtSignature"}, sort_keys=True)


def _admit(asked: Asked) -> str:
    """The model that is asked, if the caller may ask it."""
    key = asked.headers.get("x-goog-api-key")
    if not key:
        raise _Refused("Method doesn't allow unregistered callers.", 403, "PERMISSION_DENIED")
    if key != KEY:
        info = {"@type": "ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        raise _Refused(
            f"API key not valid: {key}. Please pass a valid API key.", 400, "INVALID_ARGUMENT", info
        )
    found = re.fullmatch(r"/v1beta/models/([^/?]+):generateContent", asked.path)
    if found is None or found[1] not in (MODEL, OLDER, OLDEST):
        raise _Refused(f"{asked.path} is not found for API version v1beta.", 404, "NOT_FOUND")
    return found[1]


def _check_settings(model: str, request: _Request) -> None:
    generation = request.generation_config
    thinking = generation.thinking_config
    if thinking is not None:
        if model == OLDEST:
            raise _Refused(f"Thinking is not enabled for models/{model}")
        if thinking.thinking_level and model == OLDER:
            raise _Refused("Thinking level is not supported for this model.")
        if thinking.thinking_level and thinking.thinking_budget is not None:
            raise _Refused("You can only set only one of thinking budget and thinking level.")
    as_json = generation.response_mime_type == "application/json"
    if generation.response_json_schema is not None and not as_json:
        raise _Refused("A response schema needs the response mime type 'application/json'")
    if as_json and request.tools:
        raise _Refused("Function calling with a response mime type: 'application/json' is unsupported")


def _check_turns(contents: list[_Content]) -> None:
    """Function calls follow a user turn, and each is answered in the very next turn, in order."""
    if contents[0].role != "user":
        raise _Refused("Please ensure that function call turn comes immediately after a user turn.")
    for place, content in enumerate(contents):
        if (content.role == "user" and content.calls) or (content.role == "model" and content.responses):
            raise _Refused(f"Please use a valid role for the parts of content {place}.")
        for part in content.parts:
            data = (part.text, part.function_call, part.function_response)
            if sum(item is not None for item in data) != 1:
                raise _Refused("contents.parts: required oneof field 'data' must have one initialized field")
        before = contents[place - 1].calls if place else []
        if content.responses and len(content.responses) != len(before):
            raise _Refused(
                "Please ensure that the number of function response parts is equal to the number of function "
                "call parts of the function call turn."
            )
        for wanted, given in zip(before, content.responses, strict=False):
            if (wanted.name, wanted.id) != (given.name, given.id):
                raise _Refused(f"The function response {given.name} answers no call at its place.")
        if before and not content.responses:
            raise _Refused("Please ensure that a function response turn comes after a function call turn.")


def _check_names(request: _Request) -> None:
    known = {item.name for tool in request.tools or () for item in tool.function_declarations}
    for content in request.contents:
        for wanted in content.calls:
            if wanted.name not in known:
                raise _Refused(f"The function {wanted.name} is not declared.")


def _check_signed(contents: list[_Content]) -> None:
    """In the current turn, the first function call of every step is signed (Gemini 3)."""
    texts = [place for place, item in enumerate(contents) if item.role == "user" and not item.responses]
    for place, content in enumerate(contents[texts[-1] :] if texts else contents):
        first = next((part for part in content.parts if part.function_call), None)
        if first is not None and first.function_call is not None and not first.thought_signature:
            raise _Refused(
                "Function call is missing a thought_signature in functionCall parts. Additional data, "
                f"function call `default_api:{first.function_call.name}`, position {place + 1}."
            )
