"""Any endpoint that speaks OpenAI's Chat Completions, through the openai SDK.

The key comes from the environment only, and is never written anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.registry import ModelConfig
from harness.models.wire.tapes import Tape

_OVERFLOW = ("context_length_exceeded", "maximum context length", "context window", "exceed_context_size")


class ChatModel:
    """A model behind ``/chat/completions``.

    Args:
        config: which model, and where.
        tape: records the exchanges, or answers in the network's place.

    Raises:
        InputError: the key's variable is not set and the endpoint is not on this machine.
    """

    def __init__(self, config: ModelConfig, tape: Tape | None = None) -> None:
        import openai  # about half a second, so only for those who use it

        self.name = config.board_name
        self._model = config.model
        self._preset = config.preset
        self._key = config.key()
        # A local server wants no key, but the SDK insists on one.
        self._client = openai.OpenAI(api_key=self._key or "none", base_url=config.endpoint_url, max_retries=0)

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation. See :class:`harness.models.base.Model` for the errors."""
        import openai

        request: dict[str, Any] = {
            "model": self._model,
            "messages": [_to_wire(message) for message in messages],
            "timeout": settings.timeout_seconds,
        }
        if tools and settings.action_format is ActionFormat.TOOLS:
            request["tools"] = [_tool_to_wire(tool) for tool in tools]
        if settings.sent_temperature is not None:
            request["temperature"] = settings.sent_temperature
        if settings.max_output_tokens is not None:
            request[self._preset.output_limit_key] = settings.max_output_tokens
        if settings.effort is not None:
            request["reasoning_effort"] = settings.effort
        try:
            completion = self._client.chat.completions.create(**request)
        except openai.BadRequestError as error:
            text = self._without_key(error)
            if any(word in f"{text} {error.body}".lower() for word in _OVERFLOW):
                raise Fault(FaultKind.CONTEXT, text) from None
            raise Fault(FaultKind.REQUEST, text) from None
        except openai.OpenAIError as error:
            raise Fault(FaultKind.OVERLOADED, f"{type(error).__name__}: {self._without_key(error)}") from None
        except ValueError as error:
            raise Fault(FaultKind.GARBLED, f"not JSON: {self._without_key(error)}") from None
        try:
            return _from_wire(completion)
        except (AttributeError, TypeError, ValueError) as error:
            # The SDK does not check what it was sent.
            raise Fault(
                FaultKind.GARBLED, f"another form than a chat completion: {self._without_key(error)}"
            ) from None

    def _without_key(self, error: Exception) -> str:
        """An error's text; endpoints have been seen to repeat the key they refuse."""
        text = str(error)
        return text.replace(self._key, "[key]") if self._key else text


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
        raise Fault(FaultKind.GARBLED, "the endpoint answered without a choice")
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        return Reply("the provider's content filter stopped the answer", finish=Finish.REFUSAL)
    message = choice.message
    if getattr(message, "refusal", None):
        return Reply(str(message.refusal), finish=Finish.REFUSAL)
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
        if call.type == "function"
    )
    return Reply(
        text=message.content or "",
        tool_calls=calls,
        usage=_usage(completion.usage),
        finish=Finish.LENGTH if choice.finish_reason == "length" else Finish.STOP,
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
