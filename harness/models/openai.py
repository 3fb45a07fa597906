"""Any endpoint that speaks OpenAI's Chat Completions, through the openai SDK.

The key comes from the environment only, and is never written anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from harness.errors import ContextOverflow, InputError, ProviderError, Refusal
from harness.models.base import Message, Reply, Settings, Tool, ToolCall, Usage

_RETRIES = 5
_OVERFLOW = ("context_length_exceeded", "maximum context length", "context window", "exceed_context_size")


class OpenAIModel:
    """A model behind ``/chat/completions``.

    Args:
        model: the endpoint's name of the model.
        base_url: the endpoint; ``None`` is the SDK's default (``OPENAI_BASE_URL``, else OpenAI's own).
        key_variable: the environment variable that holds the key.

    Raises:
        InputError: the variable is not set and the endpoint is not on this machine.
    """

    def __init__(self, model: str, base_url: str | None = None, key_variable: str = "OPENAI_API_KEY") -> None:
        import openai  # about half a second, so only for those who use it

        self.name = f"openai/{model}"
        self._model = model
        base_url = base_url or os.environ.get("OPENAI_BASE_URL")
        key = os.environ.get(key_variable)
        if not key and not _is_local(base_url):
            raise InputError(
                f"{key_variable} is not set; export the key of {base_url or 'the OpenAI API'} in it"
            )
        self._key = key
        self._own_api = base_url is None
        # A local server wants no key, but the SDK insists on one.
        self._client = openai.OpenAI(api_key=key or "none", base_url=base_url, max_retries=_RETRIES)

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation. See :class:`harness.models.base.Model` for the errors."""
        import openai

        request: dict[str, Any] = {
            "model": self._model,
            "messages": [_to_wire(message) for message in messages],
            "timeout": settings.timeout_seconds,
        }
        if tools:
            request["tools"] = [_tool_to_wire(tool) for tool in tools]
        if settings.temperature is not None:
            request["temperature"] = settings.temperature
        if settings.max_output_tokens is not None:
            # Compatible servers know the older word only.
            request["max_completion_tokens" if self._own_api else "max_tokens"] = settings.max_output_tokens
        if settings.effort is not None:
            request["reasoning_effort"] = settings.effort
        try:
            completion = self._client.chat.completions.create(**request)
        except openai.BadRequestError as error:
            text = self._without_key(error)
            if any(word in f"{text} {error.body}".lower() for word in _OVERFLOW):
                raise ContextOverflow(text) from None
            raise ProviderError(text) from None
        except openai.OpenAIError as error:
            raise ProviderError(f"{type(error).__name__}: {self._without_key(error)}") from None
        except ValueError as error:
            raise ProviderError(
                f"the endpoint did not answer with JSON: {self._without_key(error)}"
            ) from None
        try:
            return _from_wire(completion)
        except (AttributeError, TypeError, ValueError) as error:
            # The SDK does not check what it was sent.
            raise ProviderError(
                f"the endpoint's answer has another form than a chat completion: {self._without_key(error)}"
            ) from None

    def _without_key(self, error: Exception) -> str:
        """An error's text; endpoints have been seen to repeat the key they refuse."""
        text = str(error)
        return text.replace(self._key, "[key]") if self._key else text


def _is_local(base_url: str | None) -> bool:
    from urllib.parse import urlsplit

    return base_url is not None and urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")


def _to_wire(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return wire


def _tool_to_wire(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _from_wire(completion: Any) -> Reply:
    if not getattr(completion, "choices", None):
        raise ProviderError("the endpoint answered without a choice")
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        raise Refusal("the provider's content filter stopped the answer")
    message = choice.message
    if getattr(message, "refusal", None):
        raise Refusal(str(message.refusal))
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
        if call.type == "function"
    )
    return Reply(
        text=message.content or "",
        tool_calls=calls,
        usage=_usage(completion.usage),
        finish=choice.finish_reason or "stop",
        raw=message.model_dump(mode="json", exclude_none=True),
    )


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input=usage.prompt_tokens,
        cache_read=(prompt.cached_tokens or 0) if prompt else 0,
        output=usage.completion_tokens,
        reasoning=(completion.reasoning_tokens or 0) if completion else 0,
    )
