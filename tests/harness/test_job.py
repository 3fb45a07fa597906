"""Jobs over real scripted candidates: resumed, extended, shared, refused, and killed half-way."""

from __future__ import annotations

import itertools
import json
import resource
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from harness.budget import Budget
from harness.errors import InputError, SandboxUnavailable, Status
from harness.job import run_job
from harness.jobconfig import read_job_config
from harness.jobfolder import exclusive
from harness.models.registry import ModelConfig
from harness.records import TrialResult, find_results, read_job, read_record
from harness.sandboxes.gpus.discovery import discover
from harness.tasks.package import Task
from tests.harness.jobs import config_of, names, stamps
from tests.harness.replies import SAMPLE, ListModel, run


def test_a_job_runs_every_trial_once_and_repeating_it_runs_none(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    config = config_of(iris, attempts=2)
    counted = run_job(config, out, dry_run=True)
    assert (counted.total, counted.kept, counted.not_run, out.exists()) == (4, 0, 4, False)
    first = run_job(config, out)
    assert (first.total, first.kept, first.not_run, first.infrastructure_failures) == (4, 0, 0, 0)
    assert {(r.model, r.attempt) for r in read_job(out)} == {(name, n) for name in names() for n in (1, 2)}
    before = stamps(out)
    again = run_job(config, out)
    assert (again.total, again.kept, again.statuses) == (4, 4, first.statuses)
    assert stamps(out) == before
    lock = json.loads((out / "lock.json").read_text())
    assert lock["schema_version"] == 1
    assert list(lock["tasks"]) == ["reference/iris"]
    assert lock["sandbox"] == "bubblewrap"


def test_the_oracle_of_a_job_solves_every_task_and_is_refused_where_answers_say_too_little(
    iris: Task, tmp_path: Path
) -> None:
    config = config_of(iris, models=["scripted/oracle"])
    run_job(config, tmp_path / "job")
    assert [result.score for result in read_job(tmp_path / "job")] == [1.0]
    iris.answer_path.write_text(iris.answer_path.read_text().replace("species", "kind", 1))
    with pytest.raises(InputError, match="no column species, which a submission has"):
        run_job(config, tmp_path / "other", dry_run=True)


def test_partial_trials_are_done_again_and_finished_ones_kept(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    config = config_of(iris)
    run_job(config, out)
    kept, lost = list(find_results(out))
    lost.unlink()
    (lost.parent / "steps" / "099").mkdir(parents=True)
    infrastructure = json.loads(kept.read_text()) | {"status": "provider_error"}
    before = stamps(out)
    summary = run_job(config, out)
    assert (summary.kept, summary.not_run) == (1, 0)
    assert stamps(out)[kept] == before[kept]
    assert not (lost.parent / "steps" / "099").exists()
    kept.write_text(json.dumps(infrastructure))  # a failure that is not the candidate's is tried again
    assert run_job(config, out).kept == 1
    assert json.loads(kept.read_text())["status"] != "provider_error"


def test_models_and_attempts_may_be_added(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    before = stamps(out)
    summary = run_job(config_of(iris, attempts=2), out)
    assert (summary.total, summary.kept) == (4, 1)
    assert {path: stamps(out)[path] for path in before} == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"budget": {"steps": 9, "execution_seconds": 30.0}}, "(budget.steps was 4, now 9)"),
        ({"feedback": "none"}, "(feedback was 'test', now 'none')"),
        ({"agent": {"max_format_errors": 9}}, "(agent.max_format_errors was"),
        (
            {"sandbox": {"kind": "bubblewrap", "memory_gb": 16}},
            "(sandbox.memory_gb was 8.0, now 16.0)",
        ),
        (
            {"sandbox": {"kind": "bubblewrap", "allow_hosts": ["a.example.org"]}},
            "(sandbox.allow_hosts was [], now ['a.example.org'])",
        ),
        ({"network": True}, "(sandbox.allow_hosts was [], now ['*'])"),
    ],
)
def test_a_changed_configuration_is_refused_with_the_difference(
    iris: Task, tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    before = stamps(out), (out / "config.json").read_bytes()
    with pytest.raises(InputError) as caught:
        run_job(config_of(iris, models=names()[:1], **more), out)
    assert said in str(caught.value)
    assert "choose another --out" in str(caught.value)
    assert (stamps(out), (out / "config.json").read_bytes()) == before


@pytest.mark.parametrize("old", [{}, {"network": False, "sandbox": "bubblewrap"}])
def test_what_changes_no_result_may_change_and_older_folders_go_on(
    iris: Task, tmp_path: Path, old: dict[str, Any]
) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    written = json.loads((out / "config.json").read_text())
    assert "network" not in written
    (out / "config.json").write_text(json.dumps(written | old))
    more = {"kind": "bubblewrap", "warm": False, "trust": True}
    summary = run_job(config_of(iris, sandbox=more, workers=1), out)
    assert (summary.total, summary.kept, summary.not_run) == (2, 1, 0)
    resources = {r.model: r.resources for r in read_job(out)}
    assert [found.warm for name in names() if (found := resources[name])] == [True, False]


def test_a_folder_of_a_version_with_other_keys_is_refused_with_what_to_do(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    written = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(written | {"colour": "red"}))
    with pytest.raises(InputError, match=r"colour: unknown key; if another version .* choose another --out"):
        run_job(config_of(iris, models=names()[:1]), out)


def test_another_image_is_refused(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    lock = json.loads((out / "lock.json").read_text())
    assert lock["provider"]["name"] == "bubblewrap"
    lock["provider"]["image_id"] = "sha256:old"
    (out / "lock.json").write_text(json.dumps(lock))
    with pytest.raises(InputError, match=r"lock\.json: this job began with the image sha256:old"):
        run_job(config_of(iris), out)


@pytest.mark.skipif(bool(discover().gpus), reason="the pretend GPUs are not among those of this machine")
def test_8_trials_on_2_pretend_gpus_never_share_one(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs see the device of their trial and no other, and the record names it."""
    program = (
        "import os, time; begin = time.time(); time.sleep(0.2); "
        "print(os.environ['CUDA_VISIBLE_DEVICES'], begin, time.time())"
    )
    monkeypatch.setattr(
        "harness.candidates.make_model", lambda model, *_, **__: ListModel(run(program), name=model.name)
    )
    gpus = [f"GPU-{uuid.uuid4()}" for _ in range(2)]
    settings = {"kind": "process", "trust": True, "gpus": gpus}
    config = config_of(iris, models=["openai/a", "openai/b"], attempts=4, sandbox=settings, workers=0)
    assert run_job(config, tmp_path / "job", dry_run=True).ground.workers == 2
    run_job(config.model_copy(update={"workers": 8}), tmp_path / "job")
    used: dict[str, list[tuple[float, float]]] = {gpu: [] for gpu in gpus}
    for path in find_results(tmp_path / "job"):
        gpu, begin, end = (path.parent / "steps" / "001" / "output.txt").read_text().split()
        used[gpu].append((float(begin), float(end)))
        resources = read_record(TrialResult, path).resources
        assert resources and [(item.id, item.name) for item in resources.gpus] == [(gpu, None)]
    assert sum(map(len, used.values())) == 8
    for times in used.values():
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(sorted(times)))


def test_a_changed_task_is_refused(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    run_job(config_of(iris, models=names()[:1]), out)
    iris.answer_path.write_text(iris.answer_path.read_text().replace("setosa", "virginica"))
    with pytest.raises(InputError, match="task reference/iris has changed"):
        run_job(config_of(iris), out)


def test_only_one_run_works_in_a_folder(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    with exclusive(out), pytest.raises(InputError, match="another run works in this folder"):
        run_job(config_of(iris), out)
    assert run_job(config_of(iris, models=names()[:1]), out).not_run == 0


def test_shards_together_are_the_whole(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    parts = [run_job(config_of(iris, attempts=2, shard=(n, 3)), out) for n in (1, 2, 3)]
    assert sum(part.total for part in parts) == 4
    assert [part.kept for part in parts] == [0, 0, 0]
    assert run_job(config_of(iris, attempts=2), out).kept == 4
    for shard in ((0, 3), (4, 3)):
        with pytest.raises(InputError, match="--shard"):
            run_job(config_of(iris, attempts=2, shard=shard), out, dry_run=True)


def test_without_disk_space_nothing_is_begun(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 40, 1 << 40, 1 << 20))
    with pytest.raises(InputError, match="only 1 MiB free on its disk; at least 256 MiB"):
        run_job(config_of(iris), tmp_path / "job")
    assert not (tmp_path / "job").exists()


def test_what_cannot_be_used_is_refused_before_anything_runs(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    out = tmp_path / "job"

    def refused(said: str, **more: Any) -> None:
        with pytest.raises(InputError, match=said):
            run_job(config_of(iris, **more), out)
        assert not out.exists()

    refused("unknown model 'gpt'", models=["gpt"])
    refused("unknown scripted candidate", models=["scripted/genius"])
    refused("OPENAI_API_KEY is not set", models=["openai/gpt-4o"])
    refused("is named twice", models=[names()[0]] * 2)
    (iris.private / "public_leaderboard.csv").write_text("rank,points\n1,2\n")
    refused("needs a numeric column 'score'")
    (iris.private / "public_leaderboard.csv").unlink()
    iris.answer_path.write_text("flower,species\n")
    refused("its ids are not those of")
    iris.answer_path.unlink()
    refused("run `mlesmith task prepare")
    (iris.root / "task.toml").write_text("title = ")
    refused("not valid TOML")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError):
        run_job(config_of(iris), out)


def test_without_bubblewrap_only_trusted_code_runs(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The candidates are ours, but this task's prepare.py and metric.py are not."""
    monkeypatch.setenv("PATH", "")
    auto = config_of(iris, models=names()[:1], sandbox="auto")
    with pytest.raises(SandboxUnavailable, match=r"install the package bubblewrap.*--trust"):
        run_job(auto, tmp_path / "job")
    with pytest.raises(InputError, match=r"--sandbox process isolates nothing.*say --trust"):
        run_job(config_of(iris, models=names()[:1], sandbox="process"), tmp_path / "job")
    assert not (tmp_path / "job").exists()
    trusted = config_of(iris, models=names()[:1], sandbox={"trust": True})
    assert run_job(trusted, tmp_path / "job").not_run == 0
    assert [result.sandbox for result in read_job(tmp_path / "job")] == ["process"]


def test_an_error_inside_one_trial_does_not_stop_the_others(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(config: ModelConfig, *_: Any, **__: Any) -> Any:
        if config.name.endswith("broken"):
            return ListModel(ZeroDivisionError("a bug"), name=config.name)
        return ListModel(run(SAMPLE), name=config.name)

    monkeypatch.setattr("harness.candidates.make_model", make)
    out = tmp_path / "job"
    summary = run_job(config_of(iris, models=["openai/broken", "openai/fine"], attempts=2), out)
    assert summary.statuses == {Status.INTERNAL_ERROR: 2, Status.SUBMITTED: 2}
    assert summary.infrastructure_failures == 2
    assert all(result.valid is (result.model == "openai/fine") for result in read_job(out))


DRIVER = """
import sys
from pathlib import Path
import harness.candidates as candidates
import harness.job as job
from harness.models.registry import ModelConfig
from tests.harness.models.chat_server import ChatServer, call, completion, error
from tests.harness.models.loopback import Said
from tests.harness.replies import SAMPLE, ListModel, run, say

def make(config, *_, **__):
    return ListModel(say("get_history"), run(SAMPLE), name=config.name, seconds=0.15)

candidates.make_model = make
config = job.JobConfig(
    tasks=(Path(sys.argv[1]),), attempts=3, workers=2, sandbox="bubblewrap",
    models=tuple(ModelConfig(name=f"openai/m{n}") for n in range(4)),
)
print(job.run_job(config, Path(sys.argv[2])).kept)
"""


@pytest.mark.slow
def test_a_job_killed_half_way_loses_and_doubles_no_trial(iris: Task, tmp_path: Path) -> None:
    out = tmp_path / "job"
    command = [sys.executable, "-c", DRIVER, str(iris.root), str(out)]
    project = Path(__file__).parents[2]
    killed = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(stamps(out)) < 3 and time.monotonic() < deadline and killed.poll() is None:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = stamps(out)
    assert 3 <= len(done) < 12
    half = {path.parent for path in (out / "trials").glob("*/*/*/*/trajectory.jsonl")} - {
        p.parent for p in done
    }
    assert half, "the kill came between two trials"
    finished = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=120)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip() == str(len(done))
    results = read_job(out)
    assert sorted((r.model, r.attempt) for r in results) == [
        (f"openai/m{n}", a) for n in range(4) for a in (1, 2, 3)
    ]
    assert {r.status for r in results} == {Status.SUBMITTED}
    assert all(r.valid and len(r.steps) == 3 for r in results)
    assert {path: stamps(out)[path] for path in done} == done
    for path in find_results(out):
        events = [json.loads(line) for line in (path.parent / "trajectory.jsonl").read_text().splitlines()]
        assert [event.get("event") for event in events].count("end") == 1


def test_a_job_file_is_read_and_its_errors_are_named(iris: Task, tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('tasks = ["iris"]\nmodels = ["scripted/a", {name = "openai/b", base_url = "http://x"}]\n')
    config = read_job_config(path)
    assert config.sandbox.allow_hosts == ()
    assert config.tasks == (iris.root,)
    assert [model.name for model in config.models] == ["scripted/a", "openai/b"]
    assert not config.scripted
    for text, said in (
        ("tasks = [", "not valid TOML"),
        ('tasks = ["iris"]', "models: required key is missing"),
        ('tasks = []\nmodels = ["a/b"]', "tasks: "),
        ('tasks = ["iris"]\nmodels = ["a/b"]\nstep = 3', "step: unknown key"),
        ('tasks = ["iris"]\nmodels = ["a/b"]\n[budget]\nsteps = 0', "budget.steps: "),
        ('tasks = ["iris"]\nmodels = ["a/b"]\nschema_version = 2', "schema_version: "),
        ('tasks = ["iris"]\nmodels = ["a/b"]\nsandbox = 3', "sandbox: "),
        ('tasks = ["iris"]\nmodels = ["a/b"]\nnetwork = "yes"', "network: true or false"),
        (
            'tasks = ["iris"]\nmodels = ["a/b"]\nnetwork = true\n[sandbox]\nallow_hosts = ["x.org"]',
            "network and sandbox.allow_hosts exclude each other",
        ),
        ('tasks = ["iris"]\nmodels = ["a/b"]\n[sandbox]\nmemory = 3', "sandbox.memory: unknown key"),
        (
            'tasks = ["iris"]\nmodels = ["a/b"]\nagent = "papr"',
            "agent.profile: papr: there is no such profile",
        ),
    ):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            read_job_config(path)
        assert str(path) in str(caught.value) and said in str(caught.value)
    with pytest.raises(InputError, match="not found"):
        read_job_config(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_job_config(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema_version": 1}', '{"schema_version": 9}'])
def test_a_job_with_a_lock_that_is_none_is_refused(iris: Task, tmp_path: Path, text: str) -> None:
    config = config_of(iris, models=names()[:1])
    (tmp_path / "lock.json").write_text(text)
    with pytest.raises(InputError, match=r"lock\.json: .*"):
        run_job(config, tmp_path)
    assert (tmp_path / "lock.json").read_text() == text


def test_a_limit_that_json_cannot_hold_is_refused(iris: Task, tmp_path: Path) -> None:
    endless = Budget.model_construct(
        steps=1, seconds=float("inf"), execution_seconds=9.0, tokens=None, cost_usd=None
    )
    with pytest.raises(InputError, match="not finite"):
        run_job(config_of(iris, budget=endless), tmp_path / "job")


def test_records_of_a_job_are_trial_results(iris: Task, tmp_path: Path) -> None:
    run_job(config_of(iris, models=names()[:1]), tmp_path / "job")
    (result,) = read_job(tmp_path / "job")
    assert isinstance(result, TrialResult)
    assert (result.task_set, result.task, result.cost_usd, result.sandbox) == (
        "reference",
        "iris",
        0.0,
        "bubblewrap",
    )


def test_a_job_does_not_mix_sandboxes(iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun under bubblewrap, then found without it: `auto` would go on without isolation."""
    out = tmp_path / "job"
    auto = config_of(iris, sandbox={"trust": True})
    run_job(auto, out)
    before = stamps(out)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"lock\.json.*began in the sandbox bubblewrap.*process"):
        run_job(auto.model_copy(update={"attempts": 2}), out)
    assert stamps(out) == before


RAISE = """
import resource, sys
from harness.job import raise_open_files
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), hard))
raise_open_files()
print(resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard))
"""


@pytest.mark.parametrize("soft", [64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]])
def test_a_job_may_open_as_many_files_as_its_user(soft: int) -> None:
    command = [sys.executable, "-c", RAISE, str(soft)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
