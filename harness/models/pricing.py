"""What model calls cost in USD, at the prices of the genai-prices package or of an override file.

An unknown price is ``None``, shown as *unpriced*, and never 0. Calls are priced one by one: some models cost
more per token beyond a number of input tokens per call, which the sum over a trial would wrongly exceed.

The override file is TOML, in USD per million tokens; a model in it is priced by it alone:

    schema_version = 1
    [models."openai/my-model"]
    input = 0.15
    output = 0.60
    cache_read = 0.075      # optional: default is the input price
    cache_write = 0.15      # optional: default is the input price
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import InputError
from harness.models.base import Usage
from harness.tasks.package import describe_validation

FREE_PROVIDERS = frozenset({"scripted"})
"""Providers that cost nothing by construction: they call no model."""


class Rates(BaseModel):
    """Prices in USD per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, allow_inf_nan=False)

    def price(self, usage: Usage) -> float:
        """USD for one call; cached tokens are part of ``usage.input`` and are not charged twice."""
        plain = usage.input - usage.cache_read - usage.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        millionths = (
            plain * self.input
            + usage.cache_read * read
            + usage.cache_write * write
            + usage.output * self.output
        )
        return millionths / 1e6


class _OverrideFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1]
    models: dict[str, Rates]


@dataclass(frozen=True)
class PriceTable:
    """Prices of models by their board names, such as ``openai/gpt-4o-mini``."""

    overrides: Mapping[str, Rates] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Which published table is used, for example ``genai-prices 0.2.3``."""
        return f"genai-prices {version('genai-prices')}"

    def price(self, model: str, calls: Usage | Iterable[Usage], when: datetime | None = None) -> float | None:
        """USD for model calls, each priced by itself.

        Args:
            model: ``<provider>/<model>``.
            calls: the usage of one call, or of each of several.
            when: when the calls were made (UTC if it has no zone), as prices change by date and time of day;
                ``None`` for now.

        Returns:
            The price, 0.0 for providers that are free by construction, ``None`` when the price is unknown.
        """
        usages = [calls] if isinstance(calls, Usage) else list(calls)
        provider, _, name = model.partition("/")
        if provider in FREE_PROVIDERS:
            return 0.0
        if model in self.overrides:
            return sum((self.overrides[model].price(usage) for usage in usages), 0.0)
        return _listed_price(provider, name, usages, when)


def read_price_table(path: Path | None = None) -> PriceTable:
    """The published table, with the overrides of a file if one is given.

    Raises:
        InputError: names the file, the key and what is wrong.
    """
    if path is None:
        return PriceTable()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; pass an existing TOML price file"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    try:
        return PriceTable(_OverrideFile.model_validate(data).models)
    except ValidationError as error:
        raise InputError(
            f"{path}: {describe_validation(error)}; prices are USD per million tokens"
        ) from error


def _listed_price(provider: str, name: str, usages: list[Usage], when: datetime | None) -> float | None:
    # A table of more than a thousand models: loaded only when a price is asked for.
    import genai_prices

    moment = datetime.now(tz=UTC) if when is None else when if when.tzinfo else when.replace(tzinfo=UTC)
    total = 0.0
    for usage in usages or [Usage()]:
        counted = genai_prices.Usage(
            input_tokens=usage.input,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        )
        try:
            found = genai_prices.calc_price(
                counted, name, provider_id=provider, genai_request_timestamp=moment
            )
        except LookupError:
            return None
        # The package lists models without token prices too, and would price their tokens at 0.
        if found.model_price.input_mtok is None or found.model_price.output_mtok is None:
            return None
        total += float(found.total_price)
    return total
