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

At another endpoint than its provider's own, a model is ``<provider>@<host>/<model>``, for example
``openai@localhost:8000/my-model``. It is priced by the published prices of whoever is known to serve there,
else not at all; an override may name it so, or plainly ``openai/my-model``.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import InputError
from harness.models.base import Usage
from harness.tasks.package import describe_validation

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

FREE_PROVIDERS = frozenset({"scripted", "replay"})
"""Providers that cost nothing by construction: they call no model."""


class Rates(BaseModel):
    """Prices in USD per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)

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
    """Prices of models, such as ``openai/gpt-4o-mini``.

    Attributes:
        overrides: prices that come before the published ones, by model.
        overrides_hash: the SHA-256 of the file they are from, in hex; empty without one.
    """

    overrides: Mapping[str, Rates] = field(default_factory=dict)
    overrides_hash: str = ""

    @property
    def version(self) -> str:
        """Which prices are used: ``genai-prices 0.2.3``, then the override file's hash if there is one."""
        published = f"genai-prices {version('genai-prices')}"
        return f"{published}, overrides {self.overrides_hash[:12]}" if self.overrides_hash else published

    def price(self, model: str, calls: Usage | Iterable[Usage], when: datetime | None = None) -> float | None:
        """USD for model calls, each priced by itself.

        Args:
            model: ``<provider>/<model>`` or ``<provider>@<host>/<model>``, without a label.
            calls: the usage of one call, or of each of several.
            when: when the calls were made (UTC if it has no zone), as prices change by date and time of day;
                ``None`` for now.

        Returns:
            The price, 0.0 for providers that are free by construction, ``None`` when the price is unknown.
        """
        usages = [calls] if isinstance(calls, Usage) else list(calls)
        if model.partition("/")[0] in FREE_PROVIDERS:
            return 0.0
        if (rates := self._override(model)) is not None:
            return sum((rates.price(usage) for usage in usages), 0.0)
        return _listed_price(model, usages, when)

    def per_million(self, model: str, when: datetime | None = None) -> tuple[float, float] | None:
        """USD per million input and per million output tokens, of small calls; ``None`` when unknown."""
        if (rates := self._override(model)) is not None:
            return rates.input, rates.output
        # A hundredth of a million: some models cost more in calls beyond a number of tokens.
        share = 10_000
        prices = (
            self.price(model, Usage(input=share), when),
            self.price(model, Usage(output=share), when),
        )
        if prices[0] is None or prices[1] is None:
            return None
        return round(prices[0] * 1e6 / share, 6), round(prices[1] * 1e6 / share, 6)

    def _override(self, model: str) -> Rates | None:
        return self.overrides.get(model) or self.overrides.get(re.sub(r"^([^/@]+)@[^/]+/", r"\1/", model))


def read_price_table(path: Path | None = None) -> PriceTable:
    """The published table, with the overrides of a file if one is given.

    Raises:
        InputError: names the file, the key and what is wrong.
    """
    if path is None:
        return PriceTable()
    try:
        raw = path.read_bytes()
        data = tomllib.loads(raw.decode())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; pass an existing TOML price file"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    try:
        return PriceTable(_OverrideFile.model_validate(data).models, hashlib.sha256(raw).hexdigest())
    except ValidationError as error:
        raise InputError(
            f"{path}: {describe_validation(error)}; prices are USD per million tokens"
        ) from error


def listed_context_window(model: str) -> int | None:
    """Tokens that a model holds, as the package of published prices tells; ``None`` when it does not."""
    found = _look_up(model, Usage(), None)
    return None if found is None else found.model.context_window


def _listed_price(model: str, usages: list[Usage], when: datetime | None) -> float | None:
    total = 0.0
    for usage in usages or [Usage()]:
        found = _look_up(model, usage, when)
        # The package lists models without token prices too, and would price their tokens at 0.
        if found is None or found.model_price.input_mtok is None or found.model_price.output_mtok is None:
            return None
        total += float(found.total_price)
    return total


def _look_up(model: str, usage: Usage, when: datetime | None) -> PriceCalculation | None:
    # A table of more than a thousand models: loaded only when it is asked.
    import genai_prices

    owner, _, name = model.partition("/")
    provider, _, host = owner.partition("@")
    moment = datetime.now(tz=UTC) if when is None else when if when.tzinfo else when.replace(tzinfo=UTC)
    counted = genai_prices.Usage(
        input_tokens=usage.input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    try:
        if host:
            return genai_prices.calc_price(
                counted, name, provider_api_url=f"https://{host}/", genai_request_timestamp=moment
            )
        return genai_prices.calc_price(counted, name, provider_id=provider, genai_request_timestamp=moment)
    except LookupError:
        return None
