"""``mlesmith models``: the real command against servers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.models.presets import PRESETS
from tests.harness.models import chat_server
from tests.harness.models.chat_server import ChatServer
from tests.mlesmith.test_commands import document, mlesmith

CANARY = "sk-canary-42"
NO_KEYS = {str(preset.key_variable): "" for preset in PRESETS.values() if preset.key_variable}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as opened:
        yield opened


def reported(number: int = 42) -> dict[str, object]:
    return chat_server.completion(None, calls=[chat_server.call("report", {"number": number})])


def test_the_list_names_candidates_and_providers_and_whether_their_keys_are_set() -> None:
    environment = {**NO_KEYS, "DEEPSEEK_API_KEY": CANARY}
    for command in (("models",), ("models", "list")):
        shown = mlesmith(*command, env=environment)
        assert shown.returncode == 0, shown.stderr
        assert all(name in shown.stdout for name in ("scripted/forest", *PRESETS))
        assert "DEEPSEEK_API_KEY, set" in shown.stdout and "OPENAI_API_KEY, not set" in shown.stdout
        done = mlesmith(*command, "--json", env=environment)
        listed = document(done)
        assert {"scripted/forest", "openai/<model>"} <= {model["name"] for model in listed["models"]}
        keys = {provider["name"]: provider["key_set"] for provider in listed["providers"]}
        assert keys["deepseek"] is True and keys["openai"] is False and keys["vllm"] is None
        assert CANARY not in shown.stdout + done.stdout


def test_a_check_shows_what_was_seen_and_exits_0(server: ChatServer) -> None:
    server.queue(reported())
    check = ("models", "check", "openai/qwen", "--base-url", server.url, "--key-variable", "MY_KEY")
    done = mlesmith(*check, "--temperature", 0, env={"MY_KEY": CANARY})
    assert done.returncode == 0, done.stderr
    for words in ("found in MY_KEY", "report(", "accepted: temperature 0", "unpriced", "ready for trials"):
        assert words in done.stdout
    assert server.asked[0].headers["authorization"] == f"Bearer {CANARY}"
    done = mlesmith(*check, "--json", env={"MY_KEY": CANARY})
    [checked] = document(done)["models"]
    assert checked["ok"] and checked["version"] == "small-2026-11-01"
    assert checked["usd_per_million"] is None and checked["cost_usd"] is None
    assert CANARY not in done.stdout + done.stderr


def test_a_check_that_falls_short_says_the_fix_and_exits_1(server: ChatServer) -> None:
    server.queue(chat_server.completion("It is 42."))
    done = mlesmith("models", "check", "vllm/qwen", "scripted/forest", "--base-url", server.url)
    assert done.returncode == 1
    assert "--action-format json" in done.stdout and "vllm/qwen: not ready for trials" in done.stdout
    done = mlesmith("models", "check", "openai/gpt-4o-mini", "google/gemini-2.5-pro", "--json", env=NO_KEYS)
    assert done.returncode == 1
    fixes = [checked["findings"][0]["fix"] for checked in document(done)["models"]]
    assert fixes == ["export OPENAI_API_KEY=<your key>", "export GEMINI_API_KEY=<your key>"]


def test_the_models_of_a_job_are_checked_with_its_settings_and_prices(
    server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "prices.toml").write_text(
        'schema_version = 1\n[models."vllm/qwen"]\ninput = 2.0\noutput = 4.0\n'
    )
    job = tmp_path / "job.toml"
    job.write_text(
        'schema_version = 1\ntasks = ["none-is-read"]\nprices = "prices.toml"\n'
        "[agent.settings]\ntemperature = 0.5\n"
        f'[[models]]\nname = "vllm/qwen"\nlabel = "short"\nbase_url = "{server.url}"\n'
        "settings = { max_output_tokens = 64 }\n"
    )
    server.queue(reported())
    done = mlesmith("models", "check", job, "--json")
    assert done.returncode == 0, done.stderr
    [checked] = document(done)["models"]
    assert checked["model"] == "vllm/qwen@short"
    assert checked["usd_per_million"] == {"input": 2.0, "output": 4.0}
    assert "overrides" in checked["prices"]
    body = server.bodies[0]
    assert (body["temperature"], body["max_tokens"]) == (0.5, 64)


WRONG = [
    (("opnai/x",), ("opnai/x", "did you mean openai/x?")),
    (("deepseek/x", "--effort", "medium"), ("settings.effort = medium", "low, high, max")),
    (("vllm/x", "--temperature", "hot"), ("--temperature hot",)),
    (("vllm/x", "--action-format", "xml"), ("action_format", "'tools', 'json' or 'schema'")),
    (("vllm/x", "--key-variable", CANARY), ("key_variable", "environment variable")),
    (("vllm/x", "ollama/y", "--base-url", "http://localhost/v1"), ("--base-url", "JOB.toml")),
    (("none.toml",), ("none.toml", "not found")),
    (("none.toml", "--effort", "low"), ("write them into none.toml",)),
]


def test_wrong_input_is_one_line_and_exit_code_2() -> None:
    for arguments, words in WRONG:
        done = mlesmith("models", "check", *arguments, env=NO_KEYS)
        assert done.returncode == 2, done.stdout
        [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert all(word in line for word in words), line
        assert CANARY not in done.stderr
