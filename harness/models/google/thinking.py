"""How much a model thinks, in the words of its generation."""

from __future__ import annotations

import re

from google.genai.types import ThinkingConfig, ThinkingLevel

from harness.errors import InputError

#: Tokens of thought for Gemini 2.5, which takes no levels, as Google itself translates efforts for it
#: (https://ai.google.dev/gemini-api/docs/openai#thinking).
_BUDGETS = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}


def thinking_config(model: str, effort: str | None) -> ThinkingConfig | None:
    """What to ask of a model's thinking, its summaries included; ``None`` for nothing.

    Args:
        model: Google's name of the model.
        effort: ``minimal`` to ``xhigh``; ``None`` for the model's own.

    Raises:
        InputError: the model does not think, or not as asked.
    """
    name = model.removeprefix("models/")
    found = re.match(r"gemini-(\d+)\.?(\d*)", name)
    version = (int(found[1]), int(found[2] or 0)) if found else None
    if version is not None and version < (2, 5):
        if effort is not None:
            raise InputError(f"google/{model} does not think; leave its effort out")
        return None
    if version is not None and version < (3, 0) and effort is not None:
        if effort not in _BUDGETS:
            raise InputError(f"google/{model} takes no effort {effort!r}; it takes {', '.join(_BUDGETS)}")
        return ThinkingConfig(include_thoughts=True, thinking_budget=_BUDGETS[effort])
    if effort is not None:
        return ThinkingConfig(include_thoughts=True, thinking_level=ThinkingLevel(effort.upper()))
    # Other families, such as Gemma, may not know the word.
    return ThinkingConfig(include_thoughts=True) if name.startswith("gemini") else None
