"""The options of ``mlesmith run`` about agents, models and budgets: what reaches the job, and the model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness.tasks.package import Task
from tests.harness.models import chat_server
from tests.harness.models.chat_server import ChatServer
from tests.harness.models.loopback import Said
from tests.mlesmith.test_commands import ROOT, RUN, document, mlesmith

CANARY = "sk-canary-42"


def dry_run(*command: object, **environment: str) -> dict[str, Any]:
    done = mlesmith("run", *command, "--dry-run", "--json", env=environment)
    assert done.returncode == 0, done.stderr
    return document(done)


def written(out: Path) -> dict[str, Any]:
    """What the job was asked."""
    config: dict[str, Any] = json.loads((out / "config.json").read_text(encoding="utf-8"))
    return config


def test_a_dry_run_shows_how_each_model_will_be_called(iris: Task, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('schema_version = 1\n[models."openai/qwen"]\ninput = 0.5\noutput = 1.5\n')
    with ChatServer() as server:
        server.pages = {"/v1/models": {"data": [{"id": "qwen", "max_model_len": 32768}]}}
        command = (
            "run", "--tasks", iris.root, "--model", "openai/qwen", "scripted/forest",
            "--base-url", server.url, "--effort", "low", "--temperature", 0.2, "--action-format",
            "json", "--prices", prices, "--out", tmp_path / "out", "--dry-run",
        )  # fmt: skip
        done = mlesmith(*command)
        assert done.returncode == 0, done.stderr
        shown = document(mlesmith(*command, "--json"))["models"]
        assert server.asked == [], "nothing was generated"
        assert done.stdout.splitlines()[:3] == [
            "2 trials, 0 done; 2 would run",
            f"model openai/qwen: {server.url} by chat; asked: temperature 0.2, effort low, "
            "action_format json; context window: 32768 tokens (the server); "
            "price: 0.5 USD in, 1.5 USD out per million tokens "
            f"({shown[0]['prices']})",
            "model scripted/forest: scripted, calls no model",
        ]
    assert shown[0]["context_window"] == {"tokens": 32768, "source": "the server"}
    assert shown[0]["settings"]["effort"] == "low"
    assert shown[1]["endpoint"] is None
    assert not (tmp_path / "out").exists()


def test_settings_given_reach_the_model_and_the_record(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ChatServer(key=CANARY) as server:
        server.queue(chat_server.completion(None, calls=[chat_server.call("submit", {})]))
        done = mlesmith(
            "run", "--tasks", iris.root, "--model", "openai/qwen", "--base-url", server.url,
            "--key-variable", "MY_KEY", "--temperature", 0.2, "--max-output-tokens", 500,
            "--context-window", 9000, "--steps", 2, "--working-hours", 0.5, "--input-tokens", 80000,
            "--output-tokens", 4000, "--retries", 1, "--out", out, "--json", env={"MY_KEY": CANARY},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        body = server.bodies[0]
    assert (body["temperature"], body["max_tokens"]) == (0.2, 500)
    asked = written(out)
    assert asked["budget"]["steps"] == 2 and asked["budget"]["working_seconds"] == 1800
    assert (asked["budget"]["input_tokens"], asked["budget"]["output_tokens"]) == (80000, 4000)
    assert asked["retries"]["attempts"] == 2
    [result] = [json.loads(path.read_text(encoding="utf-8")) for path in out.rglob("result.json")]
    assert result["settings"]["temperature"] == 0.2 and result["settings"]["context_window"] == 9000
    assert document(done)["closed"] == []
    for path in out.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def test_a_profiles_values_hold_unless_an_option_is_given(iris: Task, tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(
        'summary = "for a test"\n[budget]\nsteps = 3\nseconds = 600\n'
        "[agent.settings]\ntemperature = 0.7\nmax_output_tokens = 900\n"
    )
    run = ("run", "--tasks", iris.root, "--model", "scripted/nop", "--agent", profile, "--json")
    assert mlesmith(*run, "--out", tmp_path / "a").returncode == 0
    budget = written(tmp_path / "a")["budget"]
    assert (budget["steps"], budget["seconds"]) == (3, 600)
    assert mlesmith(*run, "--steps", 15, "--hours", 0, "--out", tmp_path / "b").returncode == 0
    budget = written(tmp_path / "b")["budget"]
    assert (budget["steps"], budget["seconds"]) == (15, None), "15 is the default, but was asked for"
    [model] = dry_run(
        "--tasks", iris.root, "--model", "vllm/qwen", "--agent", profile, "--temperature", "default"
    )["models"]
    assert model["settings"]["temperature"] == "default"
    assert model["settings"]["max_output_tokens"] == 900


def test_the_papers_profile_is_known_by_name(iris: Task) -> None:
    [model] = dry_run("--tasks", iris.root, "--model", "vllm/qwen", "--agent", "paper")["models"]
    assert model["settings"]["temperature"] == 0.0


def test_a_refused_key_ends_the_model_at_once_and_is_said_with_the_fix(iris: Task, tmp_path: Path) -> None:
    with ChatServer(key="another") as server:
        command = (
            "run", "--tasks", iris.root, "--attempts", 3, "--workers", 1, "--model", "vllm/qwen",
            "--base-url", server.url, "--key-variable", "MY_KEY", "--out", tmp_path / "out",
        )  # fmt: skip
        server.queue(chat_server.completion("never said"))
        done = mlesmith(*command, env={"MY_KEY": CANARY})
        calls = len(server.asked)
        shown = document(mlesmith(*command, "--json", env={"MY_KEY": CANARY}))
    assert done.returncode == 1
    assert calls == 1, "one call, not one for each trial"
    assert done.stderr.count("check the key in MY_KEY") == 1, "and it is said once"
    [closed] = shown["closed"]
    ended = "1 failed for reasons that are not the candidate's; run again\n2 not begun; run again\n"
    assert done.stdout.endswith(ended), "and there is nothing to build a board of"
    assert closed["model"] == "vllm/qwen" and closed["not_run"] == 2 and "MY_KEY" in closed["reason"]
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_exit_code_130_and_says_that_nothing_is_lost(
    iris: Task, tmp_path: Path, sent: signal.Signals
) -> None:
    with ChatServer() as server:
        server.queue(Said(chat_server.completion("Too late."), delay=60))
        command = ("run", "--tasks", iris.root, "--model", "vllm/x", "--base-url", server.url)
        running = subprocess.Popen(
            [*RUN, *map(str, command), "--out", str(tmp_path / "out")],
            stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while not server.asked and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(sent)
        _, said = running.communicate(timeout=120)
    assert running.returncode == 130, said
    assert "interrupted; what was finished is kept" in said and "Traceback" not in said


WRONG = {
    "effort": (("--model", "openrouter/x", "--effort", "turbo"), ("settings.effort = turbo", "minimal, low")),
    "unpriced": (("--model", "vllm/x", "--cost-usd", "1"), ("cost_usd", "vllm/x", "price")),
    "prices": (("--model", "vllm/x", "--prices", "no.toml"), ("no.toml: cannot be read",)),
    "profile": (("--model", "vllm/x", "--agent", "papre"), ("papre", "paper")),
    "same model": (("--model", "vllm/x", "--model", "vllm/x"), ("vllm/x is named twice", "label")),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_is_refused_before_anything_runs(kind: str, iris: Task, tmp_path: Path) -> None:
    options, words = WRONG[kind]
    out = tmp_path / "out"
    done = mlesmith("run", "--tasks", iris.root, *options, "--out", out, env={"OPENROUTER_API_KEY": CANARY})
    assert done.returncode == 2, done.stdout
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr and CANARY not in done.stderr
    assert not out.exists()
