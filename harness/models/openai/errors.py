"""What an endpoint says instead of an answer, and what follows: a fault, or a reply that is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.models.base import Finish, Reply
from harness.models.faults import Fault, FaultKind
from harness.models.wire.waits import retry_after

#: Told where the endpoint gives no reason.
FILTERED = "The provider's content filter stopped the answer."

_LONGEST = 600

#: Kinds by the words that OpenAI and llama.cpp use for ``code`` or ``type``; they say more than the status.
_WORDS = {
    "insufficient_quota": FaultKind.QUOTA,
    "billing_hard_limit_reached": FaultKind.QUOTA,
    "billing_not_active": FaultKind.QUOTA,
    "invalid_api_key": FaultKind.KEY,
    "account_deactivated": FaultKind.KEY,
    "unsupported_country_region_territory": FaultKind.KEY,
    "model_not_found": FaultKind.MODEL,
    "context_length_exceeded": FaultKind.CONTEXT,
    "exceed_context_size_error": FaultKind.CONTEXT,
    "rate_limit_exceeded": FaultKind.RATE_LIMIT,
    "server_error": FaultKind.OVERLOADED,
}

_STATUSES = {
    401: FaultKind.KEY,
    402: FaultKind.QUOTA,
    403: FaultKind.KEY,
    404: FaultKind.MODEL,
    408: FaultKind.OVERLOADED,
    409: FaultKind.OVERLOADED,
    425: FaultKind.OVERLOADED,
    429: FaultKind.RATE_LIMIT,
}

#: How servers say that a conversation is too long, in lower case. Most say it with status 400, but llama.cpp
#: also with 500, and OpenRouter passes on what its providers say with 502.
_TOO_LONG = (
    "maximum context length",  # OpenAI, DeepSeek, vLLM, OpenRouter: "... maximum context length is N tokens"
    "context length is only",  # vLLM since 2026: "... the model's context length is only N tokens"
    "longer than the model's context length",  # SGLang: "The input (N tokens) is longer than ..."
    "exceeds the context window",  # OpenAI's Responses: "Your input exceeds the context window of this model"
    "exceed context window",  # llama-cpp-python: "Requested tokens (N) exceed context window of M"
    "longer than the maximum model length",  # vLLM: "... is longer than the maximum model length of N"
    "too long to fit into the model",  # vLLM: "The prompt (total length N) is too long to fit into the model"
    "exceeds the available context size",  # llama.cpp: "request (N tokens) exceeds ... (M tokens)"
    "context size has been exceeded",  # llama.cpp, while it generates
    "exceeds the context length",  # Ollama: "the input length exceeds the context length"
    "tokens to keep from the initial prompt",  # LM Studio: "... is greater than the context length"
    "cannot truncate prompt with n_keep",  # LM Studio
    "trying to keep the first",  # LM Studio, older: "... tokens when context the overflows"
    "prompt is too long",  # Anthropic's models behind OpenRouter: "prompt is too long: N tokens > M maximum"
    "input token count exceeds",  # Gemini's models: "The input token count exceeds the maximum"
)

#: Codes by which a provider's filter declines a prompt: OpenAI's, and Azure's ``content_filter``.
_DECLINED = {
    "content_policy_violation",
    "content_filter",
    "bio_policy",
    "misalignment_policy_violation",
    "image_content_policy_violation",
}

#: How providers say that their filter declines a prompt, where the code does not tell, in lower case.
_DECLINING = (
    "flagged as potentially violating",  # OpenAI's reasoning models, with the code invalid_prompt
    "rejected as a result of our safety system",  # OpenAI
    "content management policy",  # Azure
    "content exists risk",  # DeepSeek
    "requires moderation",  # OpenRouter, with 403
    "violates usage guidelines",  # xAI, with 403
)


#: How servers say that they cannot read the tool call that their model wrote, in lower case.
_MALFORMED = (
    "failed to call a function",  # Groq, with the code tool_use_failed
    "error parsing tool call",  # Ollama, with 500
    "failed to parse input at pos",  # llama.cpp, with 500
)


@dataclass(frozen=True)
class Complaint:
    """An error as an endpoint words it.

    Attributes:
        status: the HTTP status, also where it is told inside the body of a success, as OpenRouter does.
        message: in the endpoint's words, on one line.
        words: its ``code`` and ``type``.
        param: the part of the request it is about.
        moderated: OpenRouter tells why its moderation declined.
    """

    status: int | None
    message: str
    words: frozenset[str] = frozenset()
    param: str | None = None
    moderated: bool = False

    @classmethod
    def read(cls, status: int | None, body: Any) -> Complaint:
        """From a body of any form: JSON data, or text where it is no JSON."""
        if isinstance(body, list) and body:  # Gemini's endpoint for this API
            body = body[0]
        if isinstance(body, dict):
            body = body.get("error") or body.get("detail") or body
        if not isinstance(body, dict):
            return cls(status, _one_line(body or "no message"))
        code, told = body.get("code"), body.get("metadata")
        metadata = told if isinstance(told, dict) else {}
        if status is None and isinstance(code, int) and 400 <= code < 600:
            status = code
        # OpenRouter's own message says no more than "Provider returned error".
        message = " ".join(str(part) for part in (body.get("message"), metadata.get("raw")) if part)
        param = body.get("param")
        return cls(
            status,
            _one_line(message or body),
            frozenset(str(word) for word in (code, body.get("type")) if word),
            str(param) if param else None,
            bool({"flagged_input", "reasons"} & set(metadata)),
        )

    @property
    def declines(self) -> bool:
        """Whether the provider's filter declines the conversation."""
        if self.status in (401, 429):
            return False
        return self.moderated or bool(self.words & _DECLINED) or self._says(_DECLINING)

    @property
    def malformed(self) -> bool:
        """Whether the model wrote a tool call that its own server cannot read."""
        return self._says(_MALFORMED)

    @property
    def kind(self) -> FaultKind:
        """The fault that it is."""
        if self.status not in (401, 402, 403, 429) and self._says(_TOO_LONG):
            return FaultKind.CONTEXT
        for word, kind in _WORDS.items():
            if word in self.words:
                return kind
        if self.status is None or self.status >= 500:
            return FaultKind.OVERLOADED
        if self.status == 404 and self.param not in (None, "model"):
            return FaultKind.REQUEST  # something else that the request names is not found
        return _STATUSES.get(self.status, FaultKind.REQUEST)

    def _says(self, patterns: tuple[str, ...]) -> bool:
        text = self.message.lower()
        return any(pattern in text for pattern in patterns)

    @property
    def text(self) -> str:
        """One line for people."""
        about = f" (about {self.param})" if self.param and self.param not in self.message else ""
        return f"{self.status or 'error'}: {self.message}{about}"


def outcome_of(complaint: Complaint, headers: Mapping[str, str] | None = None) -> Fault | Reply:
    """What follows from a complaint: a fault to raise, or a reply that says how the model failed."""
    if complaint.declines:
        return Reply(complaint.message, finish=Finish.REFUSAL)
    if complaint.malformed:
        return Reply(complaint.message, finish=Finish.MALFORMED)
    return Fault(
        complaint.kind,
        complaint.text,
        status=complaint.status,
        retry_after=retry_after(headers or {}),
    )


def garbled(what: str) -> Fault:
    """The fault of an answer that is none."""
    return Fault(FaultKind.GARBLED, _one_line(what))


def _one_line(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
