"""Prices: expected values are multiplied by hand from the prices that the genai-prices package lists."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import genai_prices
import pytest

from harness.errors import InputError
from harness.models.base import Usage
from harness.models.presets import PRESETS
from harness.models.pricing import FREE_PROVIDERS, PriceTable, Rates, read_price_table
from harness.models.registry import ModelConfig

NOON = datetime(2025, 11, 1, 12, tzinfo=UTC)
NIGHT = datetime(2025, 11, 1, 20, tzinfo=UTC)


def listed(provider: str, model: str, when: datetime = NOON) -> dict[str, Decimal]:
    """The package's own prices, in USD per million tokens."""
    found = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1, output_tokens=1),
        model,
        provider_id=provider,
        genai_request_timestamp=when,
    )
    price = found.model_price
    return {
        key: value
        for key in ("input_mtok", "cache_read_mtok", "output_mtok")
        if isinstance(value := getattr(price, key), Decimal)
    }


def test_cached_tokens_are_part_of_the_input_and_charged_once() -> None:
    p = listed("openai", "gpt-4o-mini")
    usage = Usage(input=1_000_000, cache_read=400_000, output=100_000, reasoning=50_000)
    # 600k plain + 400k cached + 100k generated; reasoning is part of the output.
    expected = (
        0.6 * float(p["input_mtok"]) + 0.4 * float(p["cache_read_mtok"]) + 0.1 * float(p["output_mtok"])
    )
    assert PriceTable().price("openai/gpt-4o-mini", usage, NOON) == pytest.approx(expected, rel=1e-12)
    # With 0.15, 0.075 and 0.60 USD per million: 0.09 + 0.03 + 0.06.
    assert expected == pytest.approx(0.18)


def test_price_depends_on_the_time_of_the_call() -> None:
    usage = Usage(input=2_000_000, output=1_000_000)
    day, night = listed("deepseek", "deepseek-chat", NOON), listed("deepseek", "deepseek-chat", NIGHT)
    assert day != night
    for when, p in ((NOON, day), (NIGHT, night)):
        expected = 2 * float(p["input_mtok"]) + float(p["output_mtok"])
        assert PriceTable().price("deepseek/deepseek-chat", usage, when) == pytest.approx(expected, rel=1e-12)
    assert PriceTable().price(
        "deepseek/deepseek-chat", usage, NOON.replace(tzinfo=None)
    ) == PriceTable().price("deepseek/deepseek-chat", usage, NOON)


def test_each_call_has_its_own_tier() -> None:
    # gemini-2.5-pro is dearer beyond 200k input tokens per call: five calls of 100k stay below it.
    calls = [Usage(input=100_000, output=1_000)] * 5
    table = PriceTable()
    one_by_one = table.price("google/gemini-2.5-pro", calls, NOON)
    single = table.price("google/gemini-2.5-pro", calls[0], NOON)
    as_one = table.price("google/gemini-2.5-pro", Usage(input=500_000, output=5_000), NOON)
    assert single is not None and one_by_one is not None and as_one is not None
    assert one_by_one == pytest.approx(5 * single)
    # 0.1 M x 1.25 + 0.001 M x 10
    assert single == pytest.approx(0.135)
    assert as_one > 1.5 * one_by_one


@pytest.mark.parametrize(
    "model",
    [
        "openai/no-such-model",
        "vllm/qwen3-8b",
        "gpt-4o-mini",
        "github-copilot/gpt-4o",  # listed by the package without any token price
        "openai/whisper-1",  # listed with a price per hour of audio only
    ],
)
def test_unknown_price_is_none_and_never_zero(model: str) -> None:
    assert PriceTable().price(model, Usage(input=1000, output=1000), NOON) is None
    assert PriceTable().price(model, [], NOON) is None


@pytest.mark.parametrize("model", ["scripted/forest", "replay/openai/gpt-4o-mini"])
def test_what_calls_no_model_is_free(model: str) -> None:
    assert PriceTable().price(model, Usage(input=10**9, output=10**9)) == 0.0
    assert PriceTable().per_million(model) == (0.0, 0.0)


# A model of each provider that can be named, with the package's own words for provider and model.
NAMED = {
    "openai/gpt-4o-mini": ("openai", "gpt-4o-mini"),
    "google/gemini-2.5-flash": ("google", "gemini-2.5-flash"),
    "deepseek/deepseek-chat": ("deepseek", "deepseek-chat"),
    "openrouter/openai/gpt-5": ("openrouter", "openai/gpt-5"),
    "openrouter/qwen/qwen3-8b": ("openrouter", "qwen/qwen3-8b"),
}
LOCAL = ("vllm", "ollama", "lmstudio")


@pytest.mark.parametrize("name", NAMED)
def test_models_of_the_presets_are_priced_as_the_package_lists_them_whatever_their_label(name: str) -> None:
    p = listed(*NAMED[name])
    expected = (float(p["input_mtok"]), float(p["output_mtok"]))
    assert PriceTable().per_million(ModelConfig(name=name, label="high").priced_as, NOON) == expected


def test_every_provider_is_priced_or_free_or_a_server_of_ones_own() -> None:
    priced = {name.partition("/")[0] for name in NAMED}
    assert priced | FREE_PROVIDERS | set(LOCAL) == {*PRESETS, "replay"}


@pytest.mark.parametrize("provider", LOCAL)
def test_a_server_of_ones_own_is_unpriced_until_it_is_said_to_be_free(provider: str) -> None:
    model = ModelConfig(name=f"{provider}/openai/gpt-4o-mini").priced_as
    assert PriceTable().per_million(model) is None
    free = PriceTable({f"{provider}/openai/gpt-4o-mini": Rates(input=0, output=0)})
    assert free.per_million(model) == (0.0, 0.0)
    assert free.price(model, Usage(input=1000)) == 0.0


def test_another_endpoint_is_not_priced_as_the_provider_whose_name_it_goes_by() -> None:
    def priced_as(url: str) -> str:
        return ModelConfig(name="openai/gpt-4o-mini", base_url=url).priced_as

    here = priced_as("http://localhost:8000/v1")
    assert here == "openai@localhost:8000/gpt-4o-mini"
    assert PriceTable().price(here, Usage(input=1000), NOON) is None
    own = priced_as("https://api.openai.com/v1")
    assert PriceTable().per_million(own, NOON) == (0.15, 0.6)
    plain, exact = Rates(input=1, output=2), Rates(input=3, output=4)
    assert PriceTable({"openai/gpt-4o-mini": plain}).per_million(here) == (1, 2)
    assert PriceTable({"openai/gpt-4o-mini": plain, here: exact}).per_million(here) == (3, 4)


def test_an_endpoint_is_priced_as_whoever_is_known_to_serve_there() -> None:
    by_url = ModelConfig(name="openai/deepseek-chat", base_url="https://api.deepseek.com").priced_as
    named = ModelConfig(name="deepseek/deepseek-chat").priced_as
    assert (by_url, named) == ("openai@api.deepseek.com/deepseek-chat", "deepseek/deepseek-chat")
    usage = Usage(input=2_000, output=1_000)
    assert PriceTable().price(by_url, usage, NOON) == PriceTable().price(named, usage, NOON) is not None


def test_the_price_of_a_million_is_that_of_small_calls() -> None:
    # gemini-2.5-pro: 1.25 and 10 USD up to 200k input tokens per call, 2.50 and 15 beyond.
    assert PriceTable().per_million("google/gemini-2.5-pro", NOON) == (1.25, 10.0)
    assert PriceTable().per_million("openai/no-such-model") is None


def test_a_known_model_without_calls_costs_nothing() -> None:
    assert PriceTable().price("openai/gpt-4o-mini", [], NOON) == 0.0


def test_overrides_come_first(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'schema_version = 1\n[models."openai/gpt-4o-mini"]\ninput = 1.0\noutput = 10.0\ncache_read = 0.5\n'
        '[models."vllm/qwen3-8b"]\ninput = 0.0\noutput = 0.0\n'
    )
    table = read_price_table(path)
    usage = Usage(input=1_000_000, cache_read=400_000, cache_write=100_000, output=200_000)
    # 500k plain x 1.0 + 400k read x 0.5 + 100k written x 1.0 (the input price) + 200k x 10.0
    assert table.price("openai/gpt-4o-mini", usage) == pytest.approx(0.5 + 0.2 + 0.1 + 2.0)
    assert table.price("openai/gpt-4o-mini", [usage, usage]) == pytest.approx(5.6)
    assert table.price("vllm/qwen3-8b", usage) == 0.0
    assert table.price("openai/o3-mini", usage, NOON) == PriceTable().price("openai/o3-mini", usage, NOON)
    assert table.overrides_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.version == f"{PriceTable().version}, overrides {table.overrides_hash[:12]}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("schema_version = 1\n[models.a]\ninput = 1\noutput = 1\ninptu = 3\n", "models.a.inptu: unknown key"),
        ("schema_version = 1\n[models.a]\ninput = 1\n", "models.a.output: required key is missing"),
        ("schema_version = 1\n[models.a]\ninput = -1\noutput = 1\n", "models.a.input"),
        ("schema_version = 1\n[models.a]\ninput = nan\noutput = 1\n", "models.a.input"),
        ("schema_version = 9\n[models]\n", "schema_version"),
        ("input = ", "not valid TOML"),
    ],
)
def test_bad_override_files_are_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_price_table(path)
    assert str(path) in str(caught.value) and named in str(caught.value)


def test_missing_override_file() -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        read_price_table(Path("nowhere.toml"))


def test_table_version_is_the_packages() -> None:
    assert PriceTable().version == f"genai-prices {genai_prices.__version__}"


def test_prices_are_loaded_only_when_asked_for() -> None:
    code = "import sys, harness.models.pricing; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
