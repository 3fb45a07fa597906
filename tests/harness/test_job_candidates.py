"""The candidates of a job: endpoints that serve nobody, settings, prices and profiles."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import InputError, Status
from harness.job import run_job
from harness.jobconfig import JobConfig, read_job_config
from harness.models.registry import ModelConfig
from harness.progress import Silent
from harness.records import read_job
from harness.tasks.package import Task
from tests.harness.jobs import config_of, names, stamps
from tests.harness.models.chat_server import ChatServer, call, completion, error
from tests.harness.models.loopback import Said
from tests.harness.replies import SAMPLE, ListModel, run


class TestEndpointsThatServeNobody:
    """A job of two models, of which one is refused by its endpoint."""

    KEY = "sk-canary-0123456789abcdef"
    SUBMIT = completion(None, calls=[call("submit", {})])

    @pytest.fixture
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0123456789abcdef")
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with ChatServer(key=self.KEY) as opened:
            yield opened

    def config(self, server: ChatServer, *tasks: Task, **more: Any) -> JobConfig:
        models = [{"name": "openai/m", "base_url": server.url}, {"name": names()[0]}]
        return config_of(*tasks, attempts=4, **more).model_copy(
            update={"models": tuple(ModelConfig.model_validate(model) for model in models)}
        )

    def test_a_wrong_key_is_told_once_and_the_same_command_finishes_once_it_is_right(
        self,
        iris: Task,
        tmp_path: Path,
        server: ChatServer,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        server.queue(self.SUBMIT)
        out, config = tmp_path / "job", self.config(server, iris)
        first = run_job(config, out)
        # No more than one trial of each of the two workers had begun before the first was refused.
        begun = first.statuses.pop(Status.PROVIDER_ERROR)
        assert 1 <= len(server.asked) <= begun <= 2
        assert first.statuses == {Status.SUBMITTED: 4}
        (closed,) = first.closed
        assert (closed.model, closed.not_run) == ("openai/m", 4 - begun)
        assert "check the key in OPENAI_API_KEY" in closed.reason
        told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
        assert told == [str(closed)]
        done = [path for path in stamps(out) if "openai--m" not in str(path)]
        before = stamps(out)
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY)
        second = run_job(config, out)
        assert (second.statuses, second.kept, second.closed) == ({Status.SUBMITTED: 8}, 4, ())
        assert {path: stamps(out)[path] for path in done} == {path: before[path] for path in done}
        for path in out.rglob("*"):
            assert not path.is_file() or b"0123456789abcdef" not in path.read_bytes()

    def test_trials_that_fail_in_a_row_without_an_answer_close_it_too(
        self, iris: Task, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY)
        server.queue(error(400, "Unsupported value.", param="temperature"))
        summary = run_job(self.config(server, iris, workers=1), tmp_path / "job")
        assert summary.statuses == {Status.SUBMITTED: 4, Status.PROVIDER_ERROR: 3}
        assert [(closed.model, closed.not_run) for closed in summary.closed] == [("openai/m", 1)]
        assert "3 trials in a row" in summary.closed[0].reason
        assert len(server.asked) == 3

    def test_an_interrupt_does_not_wait_for_an_endpoint_that_hangs(
        self, iris: Task, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY)
        server.queue(Said(self.SUBMIT, delay=600.0))
        out = tmp_path / "job"
        code = (
            "import sys, pathlib, harness.job as job\n"
            "config = job.JobConfig.model_validate_json(pathlib.Path(sys.argv[1]).read_text())\n"
            "job.run_job(config, pathlib.Path(sys.argv[2]))"
        )
        asked = tmp_path / "asked.json"
        asked.write_text(self.config(server, iris, workers=1).model_dump_json())
        command = [sys.executable, "-c", code, str(asked), str(out)]
        project = Path(__file__).parents[2]
        running = subprocess.Popen(command, cwd=project, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not server.asked and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(120) != 0  # far less than the 600 seconds of the call
        assert [record.status for record in read_job(out)] == [Status.CANCELLED]

    def test_a_job_tells_what_slows_it_down(
        self, iris: Task, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY)
        server.queue(error(429, "Slow down.", retry_after="0"), self.SUBMIT)
        told: list[tuple[str, str]] = []
        progress = Silent()
        progress.noted = lambda model, note: told.append((model, note))  # type: ignore[method-assign]
        config = self.config(server, iris, retries={"first_seconds": 0.0})
        assert run_job(config, tmp_path / "job", progress=progress).statuses == {Status.SUBMITTED: 8}
        assert told[0] == ("openai/m", "rate limited, 8 calls at a time")


def test_two_settings_of_a_model_are_two_candidates_and_never_mixed(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    out = tmp_path / "job"
    with ChatServer() as server:
        server.queue(completion(None, calls=[call("submit", {})]))

        def asking(**settings: Any) -> JobConfig:
            plain = {"name": "openai/m", "base_url": server.url}
            models = [plain, plain | {"label": "cold", "settings": settings}]
            return config_of(iris).model_copy(
                update={"models": tuple(ModelConfig.model_validate(model) for model in models)}
            )

        run_job(asking(temperature=0.0), out)
        records = {record.model: record for record in read_job(out)}
        assert sorted(records) == ["openai/m", "openai/m@cold"]
        settings = records["openai/m@cold"].settings
        assert settings is not None and settings.temperature == 0.0
        assert sorted(body.get("temperature", -1) for body in server.bodies) == [-1, 0.0]
        assert json.loads((out / "lock.json").read_text())["models"]["openai/m@cold"]["temperature"] == 0.0
        with pytest.raises(InputError, match=r"openai/m@cold has other .*\(temperature was 0\.0, now 1\.0\)"):
            run_job(asking(temperature=1.0), out)
        with pytest.raises(InputError, match=r"\(temperature was 0\.0, now not set\)"):
            run_job(asking(), out)
        with pytest.raises(InputError, match="temperature"):
            run_job(asking(temperature=9.0), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_cost_limit_counts_by_the_job_s_own_price_file(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setattr(
        "harness.candidates.make_model", lambda m, *_, **__: ListModel(run(SAMPLE), name=m.name)
    )
    budget = {"steps": 4, "execution_seconds": 30.0, "cost_usd": 0.0004}
    config = config_of(iris, models=["openai/unheard-of"], budget=budget)
    with pytest.raises(InputError, match=r"the price of openai/unheard-of is unknown; .*the key prices"):
        run_job(config, tmp_path / "job")
    prices = tmp_path / "prices.toml"
    # By hand: 100 input and 10 output tokens cost 300 millionths of a dollar, and 100 pay for no other call.
    prices.write_text('schema_version = 1\n[models."openai/unheard-of"]\ninput = 2.0\noutput = 10.0\n')
    summary = run_job(config.model_copy(update={"prices": prices}), tmp_path / "job")
    assert summary.statuses == {Status.COST_LIMIT: 1}


def test_a_job_begins_with_a_profile_and_its_own_words_stand(iris: Task, tmp_path: Path) -> None:
    base = {"tasks": [iris.root], "models": [{"name": names()[0]}]}
    paper = JobConfig.model_validate({**base, "agent": "paper"})
    assert (paper.profile, paper.attempts, paper.budget.steps) == ("paper", 2, 15)
    assert paper.agent.settings.temperature == 0.0
    own = JobConfig.model_validate(
        {
            **base,
            "agent": {"profile": "paper", "max_format_errors": 9, "settings": {"effort": "low"}},
            "budget": {"steps": 3},
            "attempts": 1,
        }
    )
    assert (own.attempts, own.budget.steps, own.budget.seconds) == (1, 3, paper.budget.seconds)
    assert (own.agent.max_format_errors, own.agent.settings.effort, own.agent.settings.temperature) == (
        9,
        "low",
        0.0,
    )
    (tmp_path / "mine.toml").write_text('summary = "mine"\n[budget]\nsteps = 7\n')
    (tmp_path / "job.toml").write_text(
        f'tasks = ["{iris.root}"]\nmodels = ["{names()[0]}"]\nagent = "mine.toml"\nprices = "p.toml"\n'
    )
    config = read_job_config(tmp_path / "job.toml")
    assert (config.budget.steps, config.prices) == (7, tmp_path / "p.toml")
    assert config.profile == str(tmp_path / "mine.toml")
    with pytest.raises(InputError, match="there is no such profile"):
        JobConfig.model_validate({**base, "agent": "papre"})
    with pytest.raises(ValidationError, match=r"agent\.profile: write the name"):
        JobConfig.model_validate({**base, "agent": {"profile": 3}})
    again = JobConfig.model_validate_json(paper.model_dump_json())
    assert again == paper


def test_a_profile_beside_the_agent_s_table_is_refused_and_not_passed_over(
    iris: Task, tmp_path: Path
) -> None:
    path = tmp_path / "job.toml"
    path.write_text(f'profile = "paper"\ntasks = ["{iris.root}"]\nmodels = ["{names()[0]}"]\n')
    with pytest.raises(InputError, match=r'job\.toml: profile: .*write agent = "paper"'):
        read_job_config(path)
