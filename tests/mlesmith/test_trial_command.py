"""``mlesmith trial`` as people and scripts use it: tables, steps, conversations, exports, and bad input."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import Status
from harness.records import JobPaths, write_atomically
from tests.reports.jobs import HOSTILE, sample_trial, write_trial

ROOT = Path(__file__).parents[2]
#: What a model can write to fool whoever reads it in a terminal, and rich's own markup.
FOUL = (
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eright to left \ud800 [bold]loud[/bold] [/no-tag]"
    + HOSTILE
)


def run_trial_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own, into a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "mlesmith", "trial", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def read(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document; strict, so that a NaN fails the test."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    assert document["schema_version"] == 1
    return document


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished trials of a free and an unpriced model, a lost one, and one that has only begun."""
    root = tmp_path_factory.mktemp("job")
    paths = JobPaths(root)
    write_atomically(paths.config, '{"schema_version": 1}\n')
    for task, model, status in (
        ("flowers", "scripted/linear", Status.SUBMITTED),
        ("flowers", "local/mine", Status.STEP_LIMIT),
        ("houses", "local/mine", Status.PROVIDER_ERROR),
    ):
        record = sample_trial("reference", task, model, [None, 0.25, 0.5], status=status)
        thought = FOUL if model == "local/mine" else "Try something simple."
        write_trial(paths.trial("reference", task, model, 1), record, thought=thought)
    begun = paths.trial("reference", "houses", "scripted/linear", 1)
    write_trial(begun, sample_trial("reference", "houses", "scripted/linear", [None, 0.5]))
    begun.result.unlink()
    begun.trajectory.write_bytes(begun.trajectory.read_bytes()[:-150])
    return root


@pytest.fixture(scope="module")
def trial(job: Path) -> Path:
    return JobPaths(job).trial("reference", "flowers", "scripted/linear", 1).root


@pytest.fixture(scope="module")
def foul(job: Path) -> Path:
    return JobPaths(job).trial("reference", "flowers", "local/mine", 1).root


def test_the_bare_command_is_its_help() -> None:
    done = run_trial_command()
    assert all(name in done.stdout + done.stderr for name in ("list", "show", "export", "replay"))


def test_list_shows_every_trial_also_the_one_that_is_not_finished(job: Path) -> None:
    done = run_trial_command("list", job)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "reference" in line]
    assert rows == [
        # Three steps of 900 and 150 tokens.
        [
            "reference",
            "flowers",
            "local/mine",
            "1",
            "step",
            "limit",
            "yes",
            "0.5",
            "3",
            "3,150",
            "unpriced",
            "12",
            "s",
        ],
        [
            "reference",
            "flowers",
            "scripted/linear",
            "1",
            "submitted",
            "yes",
            "0.5",
            "3",
            "3,150",
            "$0.00",
            "12",
            "s",
        ],
        [
            "reference",
            "houses",
            "local/mine",
            "1",
            "provider",
            "error",
            "yes",
            "0.5",
            "3",
            "3,150",
            "unpriced",
            "12",
            "s",
        ],
        ["reference", "houses", "scripted/linear", "1", "unfinished", "-", "-", "-", "-", "-", "-"],
    ]


def test_a_narrow_terminal_gets_two_whole_lines_a_trial(job: Path) -> None:
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "mlesmith", "trial", "list", str(job)],
        stdout=theirs, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
    )  # fmt: skip
    os.close(theirs)
    lines = os.read(ours, 65536).decode().splitlines()
    os.close(ours)
    assert lines[:2] == [
        "reference/flowers  local/mine  attempt 1",
        "  step limit, 0.5, 3 steps, 3,150 tokens, unpriced, 12 s",
    ]
    assert lines[-3:] == ["reference/houses  scripted/linear  attempt 1", "  unfinished", "4 trials"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--model", "local/*"), [("flowers", "local/mine"), ("houses", "local/mine")]),
        (("--task", "houses", "--status", "unfinished"), [("houses", "scripted/linear")]),
        (("--status", "*_limit"), [("flowers", "local/mine")]),
        (("--model", "nobody"), []),
    ],
)
def test_list_filters(job: Path, options: tuple[str, ...], found: list[tuple[str, str]]) -> None:
    trials = read(run_trial_command("list", job, *options, "--json"))["trials"]
    assert [(trial["task"], trial["model"]) for trial in trials] == found
    for trial in trials:
        if trial["model"] == "local/mine":
            assert trial["cost_usd"] is None and trial["usage"]["input"] == 2700


def test_show_tells_what_was_thought_done_and_seen(trial: Path) -> None:
    shown = run_trial_command("show", trial).stdout
    for expected in (
        "reference/flowers, attempt 1",
        "submitted: the agent submitted",
        "0.5 (accuracy, higher is better), from step 3",
        "8 steps, 10 min, 1 min per execution"
        if "1 min per" in shown
        else "8 steps, 10 min, 60 s per execution",
        "temperature 0.5, action format tools",
        "3 steps, 2,700 tokens in, 450 out, $0.00",
        "Step 1 left the conversation.",
        "attempt 1: rate limit (429) after 0.2 s, then waited 30 s: slow down",
        "thought\n  Try something simple.",
        "action  execute_code\n  print(2 < 10)",
        "observation: ok, score 0.25",
        "900 tokens in, 150 out",
    ):
        assert expected in shown, expected


def test_show_one_step_and_the_prompts(trial: Path) -> None:
    shown = run_trial_command("show", trial, "--step", 3, "--prompts").stdout
    assert "step 3" in shown and "step 2" not in shown
    assert "message 0: system" in shown and "You are a machine-learning engineer." in shown


def test_show_the_conversation_of_a_step(trial: Path) -> None:
    done = run_trial_command("show", trial, "--messages", 2)
    assert "message 1: user\n" in done.stdout.replace("─", "").replace(" \n", "\n")
    assert "In short: Try something simple." in done.stdout and "request_info" not in done.stdout
    document = read(run_trial_command("show", trial, "--messages", 2, "--json"))
    # The log was written by hand: its fingerprints are no conversation's, and that is noticed.
    assert document["verified"] is False and "not what was sent" in done.stderr
    assert [message["role"] for message in document["messages"]] == ["system", "user"]


def test_show_as_json_has_every_event_of_a_step(trial: Path) -> None:
    document = read(run_trial_command("show", trial, "--step", 2, "--json"))
    (turn,) = document["turns"]
    assert (turn["steps"], len(turn["faults"]), len(turn["compactions"])) == ([2], 1, 1)
    assert turn["acts"][0]["observation"]["score"] == 0.25
    assert document["record"]["status"] == "submitted" and document["end"]["reason"] == "the agent submitted"


def test_show_reads_a_trial_that_was_stopped_while_it_wrote(job: Path) -> None:
    torn = JobPaths(job).trial("reference", "houses", "scripted/linear", 1).root
    done = run_trial_command("show", torn)
    assert done.returncode == 0, done.stderr
    assert "no record yet" in done.stdout and "is torn" in done.stdout and "step 2" in done.stdout
    assert "$" not in done.stdout and "unpriced" not in done.stdout


def test_what_a_model_writes_has_no_effect_on_the_terminal(foul: Path) -> None:
    for arguments in (("show", foul, "--full"), ("show", foul, "--messages", 3)):
        done = run_trial_command(*arguments)
        assert done.returncode == 0, done.stderr
        assert "[bold]loud[/bold] [/no-tag]" in done.stdout
        assert not {c for c in done.stdout if (c < " " and c != "\n") or c in "\x7f\x9b\u202e\ud800"}


def test_exports_are_written_and_counted(job: Path, trial: Path, tmp_path: Path) -> None:
    one = read(run_trial_command("export", trial, "--out", tmp_path / "one.json", "--json"))
    assert one["trials"] == 1 and json.loads((tmp_path / "one.json").read_text())["steps"]
    all_trials = read(run_trial_command("export", job, "--out", tmp_path / "atif", "--json"))
    assert (all_trials["trials"], all_trials["left_out"]) == (3, [])
    assert (tmp_path / "atif" / "reference" / "flowers" / "local--mine" / "1.json") in map(
        Path, all_trials["files"]
    )
    lines = run_trial_command(
        "export", job, "--format", "openai", "--reasoning", "--out", tmp_path / "all.jsonl"
    )
    assert lines.stdout == f"3 trials -> {tmp_path / 'all.jsonl'}\n"
    documents = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    # Each trial has one compaction, so two conversations.
    assert [d["metadata"]["segment"] for d in documents] == [1, 2] * 3
    assert any("reasoning_content" in message for message in documents[0]["messages"])


def test_a_broken_log_in_a_job_is_left_out_and_said(tmp_path: Path) -> None:
    paths = JobPaths(tmp_path / "job")
    write_atomically(paths.config, '{"schema_version": 1}\n')
    for task in ("good", "bad"):
        record = sample_trial("mine", task, "scripted/linear", [None, 0.5])
        write_trial(paths.trial("mine", task, record.model, 1), record)
    paths.trial("mine", "bad", "scripted/linear", 1).trajectory.write_text('{"schema_version": 9}\n')
    done = run_trial_command("export", tmp_path / "job", "--format", "openai", "--out", tmp_path / "x.jsonl")
    assert done.returncode == 0 and "1 trial ->" in done.stdout
    assert "left out: " in done.stderr and "schema_version 9 is unknown" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "{tmp}"), "not a trial folder"),
        (("show", "{job}"), "it is a job's folder"),
        (("show", "{trial}", "--step", "7"), "no step 7; its steps are 1 to 3"),
        (("show", "{trial}", "--messages", "7"), "step 7 is not in the trajectory"),
        (("list", "{tmp}"), "not a job folder"),
        (("list", "{job}", "--status", "finished"), "there are submitted, step_limit"),
        (("export", "{tmp}", "--out", "x"), "neither a job folder"),
        (("export", "{trial}", "--out", "{tmp}"), "is a folder; name the file"),
        (("export", "{trial}", "--format", "csv", "--out", "x"), "'csv' is not one of 'atif', 'openai'"),
        (("export", "{trial}", "--reasoning", "--out", "x"), "--reasoning belongs to --format openai"),
    ],
)
def test_bad_input_is_named_with_its_fix(
    job: Path, trial: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    filled = [a.format(job=job, trial=trial, tmp=tmp_path) for a in arguments]
    done = run_trial_command(*filled)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_an_unfinished_trial_is_not_exported(job: Path, tmp_path: Path) -> None:
    torn = JobPaths(job).trial("reference", "houses", "scripted/linear", 1).root
    done = run_trial_command("export", torn, "--out", tmp_path / "x.json")
    assert done.returncode == 2 and "not finished" in done.stderr
