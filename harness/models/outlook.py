"""How a candidate will be called and priced, as shown before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.models.base import ActionFormat, Settings
from harness.models.presets import Api
from harness.models.pricing import FREE_PROVIDERS, PriceTable
from harness.models.registry import ModelConfig
from harness.models.windows import Window, context_window, crowded


@dataclass(frozen=True)
class Outlook:
    """What is known of a candidate without calling it.

    Attributes:
        config: which model.
        settings: what is asked of its calls.
        window: tokens it holds; ``None`` when nobody knows.
        usd_per_million: price of a million input and of a million output tokens; ``None`` when unpriced.
        prices: the version of the price table.
    """

    config: ModelConfig
    settings: Settings
    window: Window | None
    usd_per_million: tuple[float, float] | None
    prices: str

    @property
    def endpoint(self) -> str | None:
        """Where it is called; ``None`` for candidates that call nothing."""
        config = self.config
        if config.preset.api is Api.SCRIPTED:
            return None
        return config.endpoint_url or f"{config.provider}'s API"

    @property
    def price(self) -> str:
        """What it costs, for people."""
        if self.config.provider in FREE_PROVIDERS:
            return "free"
        if self.usd_per_million is None:
            return "unpriced"
        price = "{:g} USD in, {:g} USD out per million tokens".format(*self.usd_per_million)
        return f"{price} ({self.prices})"

    def line(self) -> str:
        """All of it in a line."""
        if self.endpoint is None:
            return f"model {self.config.board_name}: scripted, calls no model"
        window = f"{self.window.tokens} tokens ({self.window.source})" if self.window else "unknown"
        wrong = crowded(self.settings, self.window) if self.window else None
        return (
            f"model {self.config.board_name}: {self.endpoint} by {self.config.spoken_api}; "
            f"asked: {sent(self.settings) or 'nothing beyond its defaults'}; "
            f"context window: {window}; price: {self.price}" + (f"; mind: {wrong}" if wrong else "")
        )

    def to_document(self) -> dict[str, Any]:
        """As plain JSON data."""
        rates, window = self.usd_per_million, self.window
        return {
            "model": self.config.board_name,
            "endpoint": self.endpoint,
            "api": str(self.config.spoken_api),
            "settings": self.settings.model_dump(mode="json", exclude_none=True),
            "context_window": window and {"tokens": window.tokens, "source": window.source},
            "usd_per_million": rates and {"input": rates[0], "output": rates[1]},
            "prices": self.prices,
        }


def look_ahead(
    config: ModelConfig, settings: Settings, prices: PriceTable, *, ask_any: bool = False
) -> Outlook:
    """What is known of a candidate; nothing is generated.

    Args:
        config: which model.
        settings: the resolved settings of its calls.
        prices: what its calls cost.
        ask_any: ask endpoints elsewhere than on this machine for the context window, too.
    """
    return Outlook(
        config,
        settings,
        context_window(config, settings, ask_any=ask_any),
        prices.per_million(config.priced_as),
        prices.version,
    )


def sent(settings: Settings) -> str:
    """The settings that reach the endpoint, in a line for people; empty when it is left to its defaults."""
    values = {
        "temperature": settings.sent_temperature,
        "effort": settings.effort,
        "max_output_tokens": settings.max_output_tokens,
        "action_format": None if settings.action_format is ActionFormat.TOOLS else settings.action_format,
    }
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
