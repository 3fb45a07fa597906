"""A trial's record: every ending has its status, submissions before it count, and nothing is raised."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import ProviderError, Status
from harness.models.base import Finish, Message, Reply, Settings, Tool, ToolCall, Usage
from harness.models.calling import Retries
from harness.models.faults import Fault, FaultKind
from harness.models.pricing import PriceTable, Rates
from harness.records import Feedback, TrialPaths, TrialResult, read_record
from harness.resources import Contact
from harness.sandboxes.base import ROOT, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.grading import Grader
from harness.tasks.package import SandboxNeeds, Task, load_task, task_hash
from harness.trajectories.reading import read_events
from harness.trial import run_trial
from harness.trialspec import TrialSpec
from tests.harness.dying import LONG, dying_sandboxes
from tests.harness.replies import SAMPLE, ListModel, run, say

BETTER = """
import pandas as pd
test = pd.read_csv('/mlesmith/public/test.csv', dtype={'flower': str})
test['species'] = ['setosa' if width < 0.8 else 'virginica' for width in test['petal width (cm)']]
test[['flower', 'species']].to_csv('submission.csv', index=False)
"""


@pytest.fixture(scope="module")
def grader(_prepared_iris: Path, sandbox: SandboxProvider) -> Iterator[Grader]:
    with Grader(load_task(_prepared_iris), sandbox) as opened:
        yield opened


def spec_of(task: Task, feedback: Feedback = Feedback.TEST, **budget: Any) -> TrialSpec:
    limits = Budget.model_validate({"steps": 4, "execution_seconds": 20.0, **budget})
    agent = AgentConfig.model_validate({})
    return TrialSpec(task, task_hash(task), 1, limits, agent, feedback, SandboxConfig(warm=False))


def trial(
    grader: Grader,
    sandbox: SandboxProvider,
    tmp_path: Path,
    model: ListModel,
    cancelled: threading.Event | None = None,
    **spec: Any,
) -> TrialResult:
    """Run one and check what holds for every trial: the record on disk is strict JSON and the same."""
    paths = TrialPaths(tmp_path / "trial")
    result = run_trial(spec_of(grader.task, **spec), model, grader, sandbox, paths, cancelled)
    assert read_record(TrialResult, paths.result) == result

    def strict(word: str) -> None:
        raise AssertionError(word)

    json.loads(paths.result.read_text(), parse_constant=strict)
    lines = [json.loads(line, parse_constant=strict) for line in paths.trajectory.read_text().splitlines()]
    assert lines[0] == {"schema_version": 2}
    assert lines[-1]["event"] == "end"
    assert lines[-1]["status"] == result.status
    assert not paths.work.exists()
    assert sum((step.usage for step in result.steps), Usage()) == result.usage
    assert [step.step for step in result.steps] == list(range(1, len(result.steps) + 1))
    times = result.timings
    assert times.working == pytest.approx(times.total - times.waiting, abs=0.01)
    assert sum(step.waited_seconds for step in result.steps) <= times.waiting + 0.01
    return result


class Hang(Exception):
    """A call that is not answered."""


class HangingModel(ListModel):
    """A list model that never answers where a :class:`Hang` is listed."""

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        try:
            return super().complete(messages, tools, settings)
        except Hang:
            threading.Event().wait(60)
            raise


ENDLESS = run("while True: pass")
LATE = Fault(FaultKind.RATE_LIMIT, "not today", retry_after=3600.0)
DECLINED = Reply("no", finish=Finish.REFUSAL)

#: How it ends, what the model does after its first submission, and the budget. A reply takes 100 tokens of
#: input and 10 of output; 20 are too few for another reply after it, of 16 at least.
ENDS: dict[str, tuple[Status, list[Reply | Exception], dict[str, Any]]] = {
    "submitted": (Status.SUBMITTED, [], {}),
    "steps": (Status.STEP_LIMIT, [say("get_history")] * 9, {"steps": 2}),
    "wall time in a program": (Status.TIME_LIMIT, [ENDLESS] * 9, {"seconds": 6.0}),
    "wall time in a call": (Status.TIME_LIMIT, [Hang()], {"seconds": 6.0}),
    "wall time waiting for the endpoint": (Status.TIME_LIMIT, [LATE], {"seconds": 6.0}),
    "working time in a program": (Status.WORKING_TIME_LIMIT, [ENDLESS] * 9, {"working_seconds": 6.0}),
    "working time in a call": (Status.WORKING_TIME_LIMIT, [Hang()], {"working_seconds": 6.0}),
    "tokens": (Status.TOKEN_LIMIT, [say("get_history")] * 9, {"tokens": 200}),
    "input tokens": (Status.TOKEN_LIMIT, [say("get_history")] * 9, {"input_tokens": 150}),
    "output tokens": (Status.TOKEN_LIMIT, [say("get_history")] * 9, {"output_tokens": 20}),
    "format errors": (Status.FORMAT_ERRORS, [Reply("hm")] * 3, {}),
    "refusal": (Status.REFUSAL, [DECLINED] * 3, {}),
    "context": (Status.CONTEXT_OVERFLOW, [Fault(FaultKind.CONTEXT, "too long")] * 9, {}),
}  # fmt: skip


@pytest.mark.parametrize(("status", "replies", "budget"), ENDS.values(), ids=ENDS)
def test_every_end_of_the_candidate_still_scores_what_was_submitted(
    grader: Grader,
    sandbox: SandboxProvider,
    tmp_path: Path,
    status: Status,
    replies: list[Any],
    budget: dict[str, Any],
) -> None:
    first = run(SAMPLE)
    result = trial(grader, sandbox, tmp_path, HangingModel(first, *replies), **budget)
    assert (result.status, result.valid, result.score_step, result.counts) == (status, True, 1, True)
    assert result.score == result.best_score == result.last_score is not None
    assert (result.error is None) == (status in ("submitted", "step_limit"))


def test_money_ends_a_trial_of_a_priced_model_which_is_scored(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    # By hand: a reply costs 100 * 2 + 10 * 10 = 300 millionths of a dollar; 100 pay for no other.
    prices = PriceTable({"openai/m": Rates(input=2.0, output=10.0)})
    model = ListModel(run(SAMPLE), *[say("get_history")] * 9, name="openai/m@low")
    spec = replace(spec_of(grader.task, cost_usd=0.0004), priced_as="openai/m")
    paths = TrialPaths(tmp_path / "trial")
    result = run_trial(spec, model, grader, sandbox, paths, prices=prices)
    assert (result.status, len(result.steps), result.score_step) == (Status.COST_LIMIT, 1, 1)
    assert (result.cost_usd, result.priced_as, result.calls) == (None, "openai/m", 1)


def test_a_program_that_is_stopped_ends_no_trial_and_what_it_wrote_counts(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    endless = run(f"{SAMPLE}\nwhile True: pass")
    result = trial(grader, sandbox, tmp_path, ListModel(endless), execution_seconds=3.0)
    assert (result.status, result.score_step, len(result.steps)) == (Status.SUBMITTED, 1, 2)
    assert (result.steps[0].ok, result.steps[0].valid) == (False, True)


def test_waiting_for_the_endpoint_is_no_work(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    busy = Fault(FaultKind.OVERLOADED, "busy", retry_after=1.0)
    result = trial(grader, sandbox, tmp_path, ListModel(say("get_history"), busy))
    times = result.timings
    assert (result.status, result.calls, result.faults) == (Status.SUBMITTED, 3, {"overloaded": 1})
    assert [step.waited_seconds >= 1.0 for step in result.steps] == [False, True]
    assert times.waiting >= 1.0
    log = read_events(tmp_path / "trial" / "trajectory.jsonl")
    assert [event.event for event in log.events][:2] == ["start", "prompt"]
    assert "fault" in [event.event for event in log.events]
    assert log.notes == ()


@pytest.mark.parametrize(
    ("status", "replies"),
    [
        (Status.PROVIDER_ERROR, [run(SAMPLE), Fault(FaultKind.REQUEST, "no such setting", status=400)]),
        (Status.INTERNAL_ERROR, [run(SAMPLE), ZeroDivisionError("a bug")]),
    ],
)
def test_infrastructure_failures_are_recorded_and_never_scored(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path, status: Status, replies: list[Any]
) -> None:
    result = trial(grader, sandbox, tmp_path, ListModel(*replies), steps=9)
    assert (result.status, result.valid, result.score, result.counts) == (status, False, None, False)
    assert result.error
    assert len(result.steps) >= 1
    if status is Status.INTERNAL_ERROR:
        assert "ZeroDivisionError: a bug" in (tmp_path / "trial" / "trajectory.jsonl").read_text()


def test_a_sandbox_that_cannot_start_any_more_is_infrastructure(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    class Breaks(Bubblewrap):
        """A real bubblewrap that is to mount something inside a read-only mount from its second on."""

        started = 0

        def start(self, spec: SandboxSpec) -> Sandbox:
            self.started += 1
            bad = Mount(grader.task.public, f"{ROOT}/public/again")
            return super().start(spec if self.started == 1 else replace(spec, mounts=(*spec.mounts, bad)))

    with dying_sandboxes(again=True):
        result = trial(grader, Breaks(), tmp_path, ListModel(run(SAMPLE), run(LONG), run(SAMPLE)), steps=9)
    assert (result.status, result.score, result.counts) == (Status.SANDBOX_LOST, None, False)


def test_a_cancelled_trial_says_so(grader: Grader, sandbox: SandboxProvider, tmp_path: Path) -> None:
    event = threading.Event()
    event.set()
    result = trial(grader, sandbox, tmp_path, ListModel(), cancelled=event)
    assert (result.status, result.counts, result.steps) == (Status.CANCELLED, False, ())


def test_the_best_shown_step_counts_and_the_last_without_feedback(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    replies = [run(BETTER), run(SAMPLE), run("1 / 0")]
    told = trial(grader, sandbox, tmp_path, ListModel(*replies))
    assert (told.score_step, told.score) == (1, told.steps[0].score)
    assert told.last_score == told.steps[1].score
    assert told.best_score == told.steps[0].score
    assert told.score is not None and told.last_score is not None and told.score > told.last_score
    assert [step.submitted for step in told.steps] == [True, True, False, False]
    blind = trial(grader, sandbox, tmp_path, ListModel(*replies), feedback=Feedback.NONE)
    assert (blind.score_step, blind.score) == (2, told.last_score)
    assert blind.best_score == told.best_score
    assert all(step.feedback_score is None for step in blind.steps)
    assert told.spec_hash != blind.spec_hash


def test_usage_and_time_add_up(grader: Grader, sandbox: SandboxProvider, tmp_path: Path) -> None:
    result = trial(grader, sandbox, tmp_path, ListModel(run("print(1)"), seconds=0.05))
    assert (result.usage.input, result.usage.output) == (100 * 2, 10 * 2)
    assert result.timings.model >= 0.1
    assert result.timings.total >= result.timings.model + result.timings.execution
    assert result.cost_usd is None


def test_what_an_interrupted_run_left_is_removed(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    left = tmp_path / "trial" / "steps" / "009"
    left.mkdir(parents=True)
    (tmp_path / "trial" / "trajectory.jsonl").write_text('{"half')
    trial(grader, sandbox, tmp_path, ListModel())
    assert not left.exists()


def test_whatever_a_model_writes_can_be_recorded(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    odd = "\ud800 \0 \x1b[31m \u2028"
    replies: list[Reply | Exception] = [
        Reply(odd),
        Reply(odd, tool_calls=(ToolCall("1", odd, "{}"),)),
        Reply("", tool_calls=(ToolCall("1", "execute_code", json.dumps({"code": odd})),)),
        Reply(json.dumps({"action": odd, "params": {odd: odd}})),
        ProviderError(odd),
    ]
    result = trial(grader, sandbox, tmp_path, ListModel(*replies), steps=9)
    assert result.status is Status.PROVIDER_ERROR
    assert len(result.steps) == 4


def sandboxed(task: Task, **sandbox: Any) -> TrialSpec:
    return replace(spec_of(task), sandbox=SandboxConfig.model_validate(sandbox))


def test_the_identity_of_a_trial_depends_on_what_must_be_equal(iris: Task) -> None:
    base = spec_of(iris)
    assert base.spec_hash == spec_of(iris).spec_hash
    others = [
        spec_of(iris, Feedback.SPLIT),
        spec_of(iris, steps=5),
        spec_of(iris, tokens=9),
        sandboxed(iris, allow_hosts=["a.example.org"]),
        sandboxed(iris, allow_hosts=["*"]),
        sandboxed(iris, gpus=["0"]),
        sandboxed(iris, gpus=["0", "1"], gpus_per_trial=2),
    ]
    assert len({base.spec_hash, *(other.spec_hash for other in others)}) == 8


def test_the_identity_of_a_trial_knows_the_profile_s_settings_but_not_the_candidate_s(iris: Task) -> None:
    base = spec_of(iris)
    cold = Settings(temperature=0.0)
    own = replace(base, settings=cold, priced_as="openai/m", profile="paper", retries=Retries(attempts=1))
    assert own.spec_hash == base.spec_hash
    of_profile = replace(base, agent=AgentConfig(settings=cold))
    assert of_profile.spec_hash != base.spec_hash
    assert of_profile.model_settings == cold


def test_a_limit_that_is_not_set_is_no_part_of_the_identity(iris: Task) -> None:
    base = spec_of(iris)
    assert spec_of(iris, working_seconds=None, input_tokens=None).spec_hash == base.spec_hash
    assert spec_of(iris, working_seconds=9.0).spec_hash != base.spec_hash
    assert spec_of(iris, seconds=None).spec_hash != base.spec_hash


def test_the_identity_of_a_trial_does_not_depend_on_where_it_ran(iris: Task) -> None:
    """What a task opens itself is part of the task; the order of hosts and which GPU it was mean nothing."""
    base = spec_of(iris).spec_hash
    assert sandboxed(iris, kind="docker", memory_gb=2, cpus=4, warm=False, trust=True).spec_hash == base
    needs = iris.spec.model_copy(update={"sandbox": SandboxNeeds(allow_hosts=("a.example.org",))})
    opens = spec_of(Task(iris.root, needs))
    assert (opens.spec_hash, opens.allow_hosts) == (base, ("a.example.org",))
    two = [sandboxed(iris, allow_hosts=hosts).spec_hash for hosts in (["a.org", "b.org"], ["b.org", "a.org"])]
    assert two[0] == two[1]
    assert sandboxed(iris, gpus=["0"]).spec_hash == sandboxed(iris, gpus=["1"]).spec_hash


def test_the_record_says_what_the_trial_had_to_work_with(
    grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    settings = {
        "memory_gb": 2.0,
        "disk_gb": 1.0,
        "processes": 99,
        "cpus": 2,
        "allow_hosts": ["a.example.org"],
    }
    ask = """
import urllib.request
for url in ("http://example.org/", "http://example.org/again"):
    try:
        urllib.request.urlopen(url, timeout=20)
    except OSError as error:
        print(error)
"""
    result = run_trial(
        sandboxed(grader.task, **settings),
        ListModel(run(ask)),
        grader,
        sandbox,
        TrialPaths(tmp_path / "trial"),
    )
    found = result.resources
    assert found is not None
    assert (found.memory_gb, found.disk_gb, found.processes, found.cpus) == (2.0, 1.0, 99, 2)
    assert (found.allow_hosts, found.warm, found.gpus, found.image) == (("a.example.org",), True, (), None)
    assert found.gaps == sandbox.capabilities.gaps()
    assert found.egress == (Contact(host="example.org", port=80, allowed=False, count=2),)
