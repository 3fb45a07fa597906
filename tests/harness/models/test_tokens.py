"""Usage as endpoints tell it, checked against what genai-prices reads from the same bodies."""

from __future__ import annotations

import json
from typing import Any

import genai_prices
import pytest

from harness.models.base import Usage
from harness.models.google.replies import read_reply
from harness.models.openai.usage import chat_usage, responses_usage
from harness.models.pricing import PriceTable
from harness.models.tokens import usage_of

CHAT = {
    "prompt_tokens": 100,
    "completion_tokens": 50,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 30},
}
RESPONSES = {
    "input_tokens": 100,
    "output_tokens": 50,
    "total_tokens": 150,
    "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
    "output_tokens_details": {"reasoning_tokens": 30},
}
GOOGLE = {
    "promptTokenCount": 100,
    "toolUsePromptTokenCount": 7,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 30,
    "totalTokenCount": 157,
}


def _google(told: dict[str, Any]) -> Usage:
    parts = {"role": "model", "parts": [{"text": "Hi."}]}
    return read_reply(json.dumps({"candidates": [{"content": parts}], "usageMetadata": told}), 0).usage


@pytest.mark.parametrize(
    ("provider", "flavor", "body", "ours"),
    [
        ("openai", "chat", {"model": "gpt-5", "usage": CHAT}, chat_usage(CHAT)),
        ("openrouter", "chat", {"model": "openai/gpt-5", "usage": CHAT}, chat_usage(CHAT)),
        # xAI counts reasoning beside the completion: the total is 30 more.
        ("x-ai", "chat", {"model": "grok-4", "usage": CHAT | {"total_tokens": 180}},
         chat_usage(CHAT | {"total_tokens": 180})),
        ("openai", "responses", {"model": "gpt-5", "usage": RESPONSES}, responses_usage(RESPONSES)),
        ("google", "default", {"modelVersion": "gemini-2.5-pro", "usageMetadata": GOOGLE}, _google(GOOGLE)),
    ],
    ids=["openai chat", "openrouter", "xai", "responses", "google"],
)  # fmt: skip
def test_counts_are_those_that_genai_prices_reads_from_the_same_body(
    provider: str, flavor: str, body: dict[str, Any], ours: Usage
) -> None:
    theirs = genai_prices.extract_usage(body, provider_id=provider, api_flavor=flavor).usage
    assert (theirs.input_tokens, theirs.output_tokens) == (ours.input, ours.output)
    assert (theirs.cache_read_tokens or 0) == ours.cache_read
    assert (theirs.cache_write_tokens or 0) in (0, ours.cache_write)


def test_a_part_that_is_larger_than_its_whole_was_counted_beside_it() -> None:
    """By hand: 5 + 50 tokens in, 3 + 7 out; less would be a negative number of tokens at the full price."""
    told = usage_of(5, 3, cache_read=50, reasoning=7)
    assert told == Usage(input=55, cache_read=50, output=10, reasoning=7)
    beside = CHAT | {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 50}}
    for usage in (told, chat_usage(beside), _google({"promptTokenCount": 5, "cachedContentTokenCount": 50})):
        assert usage.input == 55
        assert (PriceTable().price("openai/gpt-5", usage) or 0.0) > 0


@pytest.mark.parametrize("count", [-1, 1.5, "many", 10**13, 10**400, [1]])
def test_what_is_no_count_of_tokens_is_refused(count: Any) -> None:
    with pytest.raises(ValueError, match="prompt_tokens"):
        chat_usage({"prompt_tokens": count})
    with pytest.raises(ValueError, match="input_tokens"):
        responses_usage({"input_tokens": count})
    with pytest.raises(Exception, match="promptTokenCount"):
        _google({"promptTokenCount": count})
