"""Naming models: what is refused before anything runs, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import InputError
from harness.models.base import ActionFormat, Settings
from harness.models.presets import PRESETS, Api
from harness.models.registry import ModelConfig, check_models, make_model, resolve_settings
from harness.models.scripted.model import ScriptedModel
from harness.records import JobPaths

CALLED = [name for name in PRESETS if name != "scripted"]


def config(name: str, **keys: Any) -> ModelConfig:
    return ModelConfig.model_validate({"name": name, **keys})


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without keys and without another OpenAI endpoint."""
    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


# Names


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opnai/gpt-4o-mini", "did you mean openai/gpt-4o-mini?"),
        ("Google/gemini-2.5-pro", "did you mean google/gemini-2.5-pro?"),
        ("deepsek/deepseek-chat", "did you mean deepseek/deepseek-chat?"),
        ("open-router/qwen/qwen3-8b", "did you mean openrouter/qwen/qwen3-8b?"),
        ("lm-studio/qwen", "did you mean lmstudio/qwen?"),
        ("scriptd/forest", "did you mean scripted/forest?"),
        ("forrest", "did you mean scripted/forest?"),
        ("anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"),
        ("openai", "the model is missing after openai/"),
        ("openai/", "the model is missing after openai/"),
    ],
)
def test_an_unknown_name_is_refused_with_what_was_probably_meant(name: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        make_model(config(name))
    assert repr(name) in str(caught.value) and hint in str(caught.value)
    assert all(provider in str(caught.value) for provider in PRESETS)


def test_an_unknown_policy_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean scripted/forest"):
        make_model(config("scripted/forrest"))
    assert isinstance(make_model(config("scripted/forest")), ScriptedModel)


def test_a_label_tells_two_candidates_of_one_model_apart() -> None:
    high = config("openai/gpt-5", label="high", settings={"effort": "high"})
    low = config("openai/gpt-5", label="low", settings={"effort": "low"})
    assert (high.board_name, low.board_name) == ("openai/gpt-5@high", "openai/gpt-5@low")
    assert high.priced_as == low.priced_as == "openai/gpt-5"
    check_models([high, low], Settings())
    for twice in ([high, high], [config("openai/gpt-5"), config("openai/gpt-5")]):
        with pytest.raises(InputError, match=r"named twice: give each its own label"):
            check_models(twice, Settings())


@pytest.mark.parametrize("name", ["vllm/a\nb", "vllm/a\0b", "vllm/\ud800", "vllm/" + "a" * 200, ""])
def test_a_name_that_can_be_no_folders_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        config(name)


@pytest.mark.parametrize("name", ["..", "../..", "a b", "a/b/c", "a?b#c", "模型", "a:b", "a\\b", "/"])
def test_any_other_name_stays_within_its_folder(name: str) -> None:
    folder = JobPaths(Path("job")).trial("set", "task", config(f"vllm/{name}").board_name, 1).root
    assert folder.parent.parent == Path("job/trials/set/task")


def test_names_that_would_share_a_folder_are_refused() -> None:
    with pytest.raises(InputError, match="give each its own label"):
        check_models([config("vllm/a/b"), config("vllm/a--b")], Settings())


# Endpoints and keys


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "http://",
        "ftp://host/v1",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://me:secret@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1#secret",
        "http://host/v1\n",
        "http://my host/v1",
        "http://a..b/v1",
        "http://" + "a" * 64 + ".org/v1",
    ],
)
def test_a_base_url_is_whole_and_holds_no_secret(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError) as caught:
        config("openai/x", base_url=url)
    assert "secret" not in caught.value.errors()[0]["msg"]
    if url.strip() == url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(InputError, match="OPENAI_BASE_URL") as told:
            make_model(config("openai/x"))
        assert "secret" not in str(told.value)


@pytest.mark.parametrize("key", ["sk-canary-42", "AIzaCanary42", "canary", "A-B", "A B", ""])
def test_a_key_in_the_place_of_its_variables_name_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        config("openai/x", key_variable=key)
    message = caught.value.errors()[0]["msg"]
    assert "the name of an environment variable" in message
    assert not key or key not in message


@pytest.mark.parametrize("name", [name for name in CALLED if PRESETS[name].key_variable])
def test_a_missing_key_is_refused_and_its_variable_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = str(PRESETS[name].key_variable)
    model = config(f"{name}/x")
    for missing in (None, "", "  \n"):
        if missing is not None:
            monkeypatch.setenv(variable, missing)
        with pytest.raises(InputError, match=f"{variable} is not set"):
            model.key()
    monkeypatch.setenv(variable, " canary-42\n")
    assert model.key() == "canary-42"


@pytest.mark.parametrize("name", ["vllm", "ollama", "lmstudio"])
def test_a_server_of_ones_own_wants_no_key_unless_one_is_named(name: str) -> None:
    assert config(f"{name}/x").key() is None
    assert config(f"{name}/x", base_url="http://gpu.example.org:8000/v1").key() is None
    with pytest.raises(InputError, match="MY_KEY is not set"):
        config(f"{name}/x", base_url="http://gpu.example.org:8000/v1", key_variable="MY_KEY").key()


@pytest.mark.parametrize("key", ["canary 42", "canary\n42", "canary\u201342", "canary\x0042"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    with pytest.raises(InputError, match="OPENAI_API_KEY holds") as caught:
        config("openai/x").key()
    assert "canary" not in str(caught.value)


def test_openai_models_speak_responses_at_openai_and_chat_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://localhost:8000/v1"
    assert config("openai/x").spoken_api is Api.RESPONSES
    assert config("openai/x", base_url=url).spoken_api is Api.CHAT
    assert config("openai/x", base_url=url, api="responses").spoken_api is Api.RESPONSES
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert config("openai/x").spoken_api is Api.CHAT
    assert config("openai/x").endpoint_url == url
    # What is OpenAI's own is so however it is named.
    for own in ("https://api.openai.com/v1", "https://eu.api.openai.com/v1/"):
        assert config("openai/x", base_url=own).spoken_api is Api.RESPONSES
        assert config("openai/x", base_url=own).priced_as == "openai/x"
        monkeypatch.setenv("OPENAI_BASE_URL", own)
        assert (config("openai/x").spoken_api, config("openai/x").priced_as) == (Api.RESPONSES, "openai/x")
    foreign = "https://api.openai.com.example.org/v1"
    assert config("openai/x", base_url=foreign).spoken_api is Api.CHAT
    assert config("openai/x", base_url=foreign).priced_as == "openai@api.openai.com.example.org/x"
    assert config("deepseek/x").endpoint_url == "https://api.deepseek.com"


@pytest.mark.parametrize("name", [name for name in CALLED if name != "openai"])
@pytest.mark.parametrize("api", list(Api))
def test_an_api_that_a_provider_does_not_speak_is_refused(name: str, api: Api) -> None:
    model = config(f"{name}/x", api=api)
    if api is PRESETS[name].api:
        assert model.spoken_api is api
    else:
        with pytest.raises(InputError, match=f"{name}/x: api = {api}"):
            check_models([model], Settings())


def test_scripted_candidates_take_no_endpoint_and_ignore_settings() -> None:
    extreme = Settings(temperature=9.0, effort="no such word", max_output_tokens=1)
    check_models([config("scripted/forest")], extreme)
    assert resolve_settings(extreme, config("scripted/forest")) == extreme
    for key in ({"base_url": "http://localhost/v1"}, {"key_variable": "KEY"}, {"api": "chat"}):
        with pytest.raises(InputError, match="scripted/forest: scripted candidates call no endpoint"):
            check_models([config("scripted/forest", **key)], Settings())


# Settings


def test_a_models_own_settings_come_before_the_profiles() -> None:
    profile = Settings(temperature=0.0, max_output_tokens=1000)
    own = config("openai/x", settings={"temperature": "default", "effort": "low"})
    resolved = resolve_settings(profile, own)
    assert resolved == Settings(temperature="default", max_output_tokens=1000, effort="low")
    assert resolved.sent_temperature is None


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "hot", True, [0.5]])
def test_a_temperature_is_a_number_from_0_up_or_default(value: object) -> None:
    with pytest.raises(ValidationError, match='write a number from 0 up, or "default"'):
        Settings.model_validate({"temperature": value})


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *[
        (f"{name}/x", {"effort": "turbo"}, f"settings.effort = turbo: {name} takes")
        for name in CALLED
        if PRESETS[name].efforts
    ],
    *[(f"{name}/x", {"temperature": 2.5}, "settings.temperature = 2.5") for name in CALLED],
    ("google/x", {"effort": "none"}, "google takes minimal, low, medium, high, xhigh"),
    ("google/gemini-2.5-flash", {"effort": "xhigh"}, "it takes minimal, low, medium, high"),
    ("google/gemini-2.0-flash", {"effort": "low"}, "does not think; leave its effort out"),
    ("deepseek/x", {"effort": "medium"}, "deepseek takes low, high, max"),
    (
        "deepseek/x",
        {"action_format": "schema"},
        "settings.action_format = schema: deepseek takes tools, json",
    ),
    ("openai/x", {"max_output_tokens": 15}, "the Responses API takes 16 or more"),
    (
        "vllm/x",
        {"max_output_tokens": 4096, "context_window": 4096},
        "it must leave room in the context window of 4096 tokens",
    ),
    (
        "vllm/x",
        {"max_input_tokens": 5000, "context_window": 4096},
        "settings.max_input_tokens = 5000: the context window holds 4096 tokens",
    ),
]


@pytest.mark.parametrize(("name", "settings", "message"), REFUSED)
def test_a_setting_that_a_provider_does_not_take_is_refused(
    name: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as own:
        resolve_settings(Settings(), config(name, label="b", settings=settings))
    assert str(own.value).startswith(f"{name}@b: ") and message in str(own.value)
    assert "the agent's settings" not in str(own.value)
    with pytest.raises(InputError) as shared:
        check_models([config("scripted/forest"), config(name)], Settings.model_validate(settings))
    assert message in str(shared.value)
    assert f"set settings.{next(iter(settings))}" in str(shared.value), "the fix is for that model alone"


def test_all_refused_settings_are_named_at_once_and_only_the_agents_blamed_on_it() -> None:
    with pytest.raises(InputError) as caught:
        resolve_settings(Settings(effort="medium"), config("deepseek/x", settings={"temperature": 3}))
    message = str(caught.value)
    assert "settings.effort = medium" in message and "settings.temperature = 3" in message
    assert message.endswith("so set settings.effort for that model")


@pytest.mark.parametrize("name", CALLED)
def test_what_a_provider_takes_is_taken(name: str) -> None:
    preset = PRESETS[name]
    for effort in preset.efforts or ("any word",):
        for form in preset.action_formats:
            asked = Settings(effort=effort, temperature=preset.max_temperature, action_format=form)
            assert resolve_settings(asked, config(f"{name}/x")) == asked
    assert ActionFormat.TOOLS in preset.action_formats
