"""The tokens that OpenAI's two APIs tell, in our words."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from harness.models.base import Usage

_Tokens = int | None


class _Details(BaseModel):
    cached_tokens: _Tokens = Field(default=None, ge=0)
    cache_write_tokens: _Tokens = Field(default=None, ge=0)
    reasoning_tokens: _Tokens = Field(default=None, ge=0)


class _ChatUsage(BaseModel):
    prompt_tokens: _Tokens = Field(default=None, ge=0)
    completion_tokens: _Tokens = Field(default=None, ge=0)
    total_tokens: _Tokens = Field(default=None, ge=0)
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: _Tokens = Field(default=None, ge=0)


class _ResponsesUsage(BaseModel):
    input_tokens: _Tokens = Field(default=None, ge=0)
    output_tokens: _Tokens = Field(default=None, ge=0)
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
    return Usage(
        input=input,
        # DeepSeek tells it beside the details.
        cache_read=(prompt and prompt.cached_tokens) or usage.prompt_cache_hit_tokens or 0,
        cache_write=(prompt and prompt.cache_write_tokens) or 0,
        output=output,
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
    return Usage(
        input=usage.input_tokens or 0,
        cache_read=(given and given.cached_tokens) or 0,
        cache_write=(given and given.cache_write_tokens) or 0,
        output=usage.output_tokens or 0,
        reasoning=(made and made.reasoning_tokens) or 0,
    )
