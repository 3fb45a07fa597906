"""A key that must never be seen, and a backend that asks a scripted endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from generator.agents.backend import LanguageModelBackend
from generator.agents.config import AgentsConfig
from harness.budget import Budget
from harness.models.calling import Retries
from harness.models.pricing import PriceTable, Rates
from harness.models.registry import ModelConfig
from tests.generator.agents.endpoint import Player

KEY = "sk-canary-0123456789abcdef"
QUICK = Retries(attempts=2, first_seconds=0.0, longest_seconds=0.01)
Backed = Callable[..., LanguageModelBackend]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def backed() -> Backed:
    """A backend for a player; further arguments are those of the configuration."""

    def build(
        player: Player, *, budget: dict[str, Any] | None = None, **options: Any
    ) -> LanguageModelBackend:
        config = AgentsConfig.of(
            ModelConfig(name="openai/small", base_url=player.url),
            Budget(**{"steps": 20, "seconds": None, "execution_seconds": 60.0} | (budget or {})),
            **options,
        )
        prices = PriceTable({"openai/small": Rates(input=2.0, output=10.0)})
        return LanguageModelBackend(config, prices=prices, retries=QUICK)

    return build
