"""The tokens that OpenAI's two APIs tell, in our words."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from harness.models.base import Usage
from harness.models.tokens import Tokens, usage_of


class _Details(BaseModel):
    cached_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    reasoning_tokens: Tokens | None = None


class _ChatUsage(BaseModel):
    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None
    total_tokens: Tokens | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: Tokens | None = None


class _ResponsesUsage(BaseModel):
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


def chat_usage(told: Any) -> Usage:
    """The usage of a chat completion; all zeros where none is told.

    Raises:
        ValidationError: it is of another form.
    """
    if told is None:
        return Usage()
    usage = _ChatUsage.model_validate(told)
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    input, output = usage.prompt_tokens or 0, usage.completion_tokens or 0
    reasoning = (completion and completion.reasoning_tokens) or 0
    if reasoning and usage.total_tokens == input + output + reasoning:
        # xAI and some others count reasoning beside the completion, which the total gives away.
        output += reasoning
    return usage_of(
        input,
        output,
        # DeepSeek tells it beside the details.
        cache_read=(prompt and prompt.cached_tokens) or usage.prompt_cache_hit_tokens or 0,
        cache_write=(prompt and prompt.cache_write_tokens) or 0,
        reasoning=reasoning,
    )


def responses_usage(told: Any) -> Usage:
    """The usage of a response; all zeros where none is told.

    Raises:
        ValidationError: it is of another form.
    """
    if told is None:
        return Usage()
    usage = _ResponsesUsage.model_validate(told)
    given, made = usage.input_tokens_details, usage.output_tokens_details
    return usage_of(
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        cache_read=(given and given.cached_tokens) or 0,
        cache_write=(given and given.cache_write_tokens) or 0,
        reasoning=(made and made.reasoning_tokens) or 0,
    )
