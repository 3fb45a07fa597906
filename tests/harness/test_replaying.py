"""Whole trials through a real client, recorded over real HTTP, and run again with the server gone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from harness.errors import InputError, Status
from harness.job import run_job
from harness.jobconfig import JobConfig
from harness.models.wire.exchanges import read_exchanges
from harness.records import JobPaths, TrialPaths, TrialResult, read_job, read_record
from harness.replaying import MOST_DIFFERENCES, Replay, replay_trial
from harness.tasks.package import Task, load_task
from tests.harness.models.chat_server import ChatServer, call, completion, error
from tests.harness.models.loopback import Said
from tests.harness.recorded import ANSWERS, CANARY, SUBMIT, record, trial_of


@pytest.fixture(scope="module")
def _job(_prepared_iris: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recorded") / "job"
    record(load_task(_prepared_iris), out, *ANSWERS)
    return out


@pytest.fixture
def trial(_job: Path, tmp_path: Path) -> TrialPaths:
    """A trial with those answers, in a job's folder of its own."""
    shutil.copytree(_job, tmp_path / "job")
    return trial_of(tmp_path / "job")


def test_a_trial_comes_out_the_same_with_server_and_key_gone(trial: TrialPaths, tmp_path: Path) -> None:
    recorded = read_record(TrialResult, trial.result)
    assert (recorded.status, recorded.valid, len(recorded.steps)) == (Status.SUBMITTED, True, 4)
    assert len(read_exchanges(trial.exchanges)) == len(ANSWERS)
    assert "CANARY_KEY" not in os.environ
    replay = replay_trial(trial.root, tmp_path / "replay", strict=True)
    assert replay == Replay(trial.root, tmp_path / "replay", 6, 6, (), ())
    replayed = read_record(TrialResult, replay.out / "result.json")
    assert (replayed.score, replayed.steps[0].usage) == (recorded.score, recorded.steps[0].usage)
    # What cannot be taken for a trial of the model itself, and costs nothing.
    assert (replayed.model, replayed.cost_usd) == ("replay/vllm/small@low", 0.0)


def test_an_endpoint_that_the_environment_named_needs_no_environment_again(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer() as server:
        server.queue(SUBMIT)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        config = {"tasks": [iris.root], "models": [{"name": "openai/small"}], "sandbox": "bubblewrap"}
        run_job(JobConfig.model_validate(config), tmp_path / "job")
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    trial = JobPaths(tmp_path / "job").trial("reference", "iris", "openai/small", 1)
    replay = replay_trial(trial.root, tmp_path / "replay", strict=True)
    assert (replay.same, replay.played) == (True, 1)


def test_nothing_of_a_recorded_trial_holds_the_key(trial: TrialPaths, tmp_path: Path) -> None:
    files = [path for path in (tmp_path / "job").rglob("*") if path.is_file()]
    assert {"exchanges.jsonl", "trajectory.jsonl", "result.json"} <= {path.name for path in files}
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    assert "slow down, [key]" in trial.exchanges.read_text()


def test_recorded_waits_are_not_waited_again(iris: Task, tmp_path: Path) -> None:
    """The endpoint asks for an hour; the recorded job waited 0.1 s at most, a replay not at all."""
    wait = error(429, "later", code="rate_limit_exceeded", retry_after="3600")
    trial = record(iris, tmp_path / "job", wait, SUBMIT, retries={"first_seconds": 0, "longest_seconds": 0.1})
    config = JobPaths(tmp_path / "job").config
    document = json.loads(config.read_text())
    config.write_text(json.dumps({**document, "retries": {"longest_seconds": 3600.0}}))
    replay = replay_trial(trial.root, tmp_path / "replay")
    assert (replay.same, replay.played) == (True, 2)


def test_a_trial_that_the_clock_ended_ends_so_again(iris: Task, tmp_path: Path) -> None:
    # No program runs, so that the seconds are enough also where everything is slow.
    asked = completion("", calls=[call("request_info", {"info_type": "overview"})])
    trial = record(iris, tmp_path / "job", asked, Said(SUBMIT, delay=60.0), budget={"seconds": 3.0})
    assert read_record(TrialResult, trial.result).status is Status.TIME_LIMIT
    replay = replay_trial(trial.root, tmp_path / "replay")
    assert (replay.same, replay.played) == (True, 1)
    assert read_record(TrialResult, replay.out / "result.json").status is Status.TIME_LIMIT


def altered(trial: TrialPaths, old: str, new: str) -> None:
    """Change what was recorded, which is what a changed harness or a forged record looks like."""
    text = trial.exchanges.read_text()
    assert old in text
    trial.exchanges.write_text(text.replace(old, new))


def test_a_replay_tells_what_came_out_otherwise(trial: TrialPaths, tmp_path: Path) -> None:
    altered(trial, "width < 0.8", "width < 0.0")
    replay = replay_trial(trial.root, tmp_path / "replay")
    assert not replay.same
    told = "\n".join(replay.differences)
    assert "step 3, reply: tool_calls[0].arguments, character" in told
    assert "step 3, observation: " in told
    assert "steps/003/submission.csv: recorded" in told
    assert "result: score: recorded" in told
    # The request after it repeats the call, so it is another one too.
    assert [difference.number for difference in replay.requests] == [6]


def test_a_strict_replay_ends_at_the_first_request_that_differs(trial: TrialPaths, tmp_path: Path) -> None:
    altered(trial, "width < 0.8", "width < 0.0")
    replay = replay_trial(trial.root, tmp_path / "replay", strict=True)
    assert (replay.same, replay.played) == (False, 5)
    assert "exchange 6 differs at messages[" in str(replay.requests[0])


def test_exchanges_that_are_lost_are_a_difference(trial: TrialPaths, tmp_path: Path) -> None:
    lines = trial.exchanges.read_text().splitlines(keepends=True)
    trial.exchanges.write_text("".join(lines[:-1]))
    replay = replay_trial(trial.root, tmp_path / "replay")
    assert not replay.same
    assert "all 5 recorded exchanges are played, and another is asked for" in "\n".join(replay.differences)


def test_differences_are_bounded(iris: Task, tmp_path: Path) -> None:
    infos = [completion("", calls=[call("request_info", {"info_type": f"here {n}"})]) for n in range(15)]
    trial = record(iris, tmp_path / "job", *infos, budget={"steps": 15})
    altered(trial, "here", "there")
    assert len(replay_trial(trial.root, tmp_path / "replay").differences) == MOST_DIFFERENCES


def test_what_cannot_be_replayed_is_refused_with_the_fix(iris: Task, tmp_path: Path) -> None:
    def said(folder: Path, out: Path = tmp_path / "replay") -> str:
        with pytest.raises(InputError) as caught:
            replay_trial(folder, out)
        assert not (tmp_path / "replay").exists()
        return str(caught.value)

    trial = record(iris, tmp_path / "job", SUBMIT)
    assert "exists already; choose another --out" in said(trial.root, trial.root)
    assert "not a trial folder" in said(tmp_path / "job")
    shutil.copytree(trial.root, tmp_path / "alone")
    assert "not inside its job's folder" in said(tmp_path / "alone")
    iris.description_path.write_text("Another task.")
    assert "the task has changed since" in said(trial.root)
    shutil.rmtree(iris.root)
    assert "begin in the folder where the job was begun" in said(trial.root)
    trial.exchanges.unlink()
    assert "no exchanges.jsonl" in said(trial.root)
    trial.result.unlink()
    assert "run its job again first" in said(trial.root)


def test_a_scripted_trial_is_to_be_run_again_instead(iris: Task, tmp_path: Path) -> None:
    config = {"tasks": [iris.root], "models": [{"name": "scripted/sample"}], "sandbox": "bubblewrap"}
    run_job(JobConfig.model_validate(config), tmp_path / "job")
    assert len(read_job(tmp_path / "job")) == 1
    trial = JobPaths(tmp_path / "job").trial("reference", "iris", "scripted/sample", 1)
    assert not trial.exchanges.exists()
    with pytest.raises(InputError, match="calls no model"):
        replay_trial(trial.root, tmp_path / "replay")
