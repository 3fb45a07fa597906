"""A trial: one agent, one task, one attempt, one record."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.agents.prompting import prompts_hash
from harness.agents.react import NAME, AgentConfig, Step, run_agent
from harness.budget import Budget, BudgetMeter
from harness.environment import Environment
from harness.errors import Policy, policy_of
from harness.models.base import Model, Settings, Usage
from harness.models.calling import Caller
from harness.models.pricing import FREE_PROVIDERS, PriceTable
from harness.records import (
    Feedback,
    StepRecord,
    Timings,
    TrialPaths,
    TrialResult,
    write_record,
)
from harness.resources import Contact, LeasedGpu, Resources
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.gpus.discovery import names_of
from harness.sandboxes.network.egress import Connection
from harness.sandboxes.network.hosts import check_hosts
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.grading import Grader
from harness.tasks.package import Task
from harness.tasks.standing import position_score
from harness.trajectories.writing import Trajectory, utc_now

log = logging.getLogger(__name__)

#: How long after its time limit a trial may still be grading and writing.
_CLOSING_SECONDS = 3600.0


@dataclass(frozen=True)
class TrialSpec:
    """What makes two trials comparable, and which one this is.

    Attributes:
        settings: what is asked of the model's calls, resolved; ``None`` for what the agent's profile asks.
        priced_as: ``<provider>/<model>`` in price tables, where the board shows another name.
    """

    task: Task
    task_hash: str
    attempt: int
    budget: Budget
    agent: AgentConfig
    feedback: Feedback
    sandbox: SandboxConfig = field(default_factory=lambda: SandboxConfig.model_validate({}))
    job: str = ""
    settings: Settings | None = None
    priced_as: str | None = None

    @property
    def model_settings(self) -> Settings:
        """What is asked of the model's calls: its own settings, else those of the agent's profile."""
        return self.settings or self.agent.settings

    @property
    def allow_hosts(self) -> tuple[str, ...]:
        """The hosts that agent code may reach: those of the task, and those of the job."""
        return check_hosts((*self.task.spec.sandbox.allow_hosts, *self.sandbox.allow_hosts))

    @property
    def spec_hash(self) -> str:
        """Identity of agent, prompts, budget, feedback policy, open hosts and GPUs per trial.

        What the task itself opens is not in it: that is part of the task's hash.
        """
        identity: dict[str, Any] = {
            "agent": NAME,
            "config": self.agent.model_dump(mode="json"),
            "prompts": prompts_hash(),
            "budget": self.budget.model_dump(mode="json"),
            "feedback": str(self.feedback),
            "network": list(self.sandbox.allow_hosts) or False,
        }
        if self.sandbox.gpus_per_trial:
            identity["gpus_per_trial"] = self.sandbox.gpus_per_trial
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]


@dataclass
class _Tally:
    """The steps of a trial as they happen."""

    steps: list[StepRecord] = field(default_factory=list)

    def add(self, step: Step) -> None:
        observation = step.observation
        scores = observation.scores if observation else None
        self.steps.append(
            StepRecord(
                step=step.number,
                action=step.action.name if step.action else "format_error",
                ok=bool(observation and observation.ok) or bool(step.action and step.action.name == "submit"),
                seconds=round(observation.seconds if observation else 0.0, 4),
                model_seconds=round(step.model_seconds, 4),
                submitted=scores is not None,
                valid=None if scores is None else scores.counted is not None,
                score=None if scores is None else scores.counted,
                feedback_score=None if scores is None else scores.shown,
                reason_code=None if scores is None else str(scores.grade.reason),
                usage=step.reply.usage,
            )
        )


def run_trial(
    spec: TrialSpec,
    model: Model,
    grader: Grader,
    provider: SandboxProvider,
    paths: TrialPaths,
    cancelled: threading.Event | None = None,
    gpus: tuple[str, ...] = (),
) -> TrialResult:
    """Run one trial to its end and write its record; whatever happens inside is in the record.

    What an interrupted run of the same trial left in the folder is removed first, so a trial is idempotent.

    Args:
        spec: task, budget, agent and sandbox.
        model: the candidate, used by this trial alone while it runs.
        grader: the task's grader.
        provider: opens the agent's sandbox.
        paths: the trial's folder.
        cancelled: once set, the trial ends as ``cancelled`` at the next chance.
        gpus: the devices leased for it.
    """
    if paths.root.exists():
        shutil.rmtree(paths.root)
    started, clock = utc_now(), time.monotonic()
    made_of = provider.describe()
    meter = BudgetMeter(spec.budget, cancelled=cancelled or threading.Event())
    tally = _Tally()
    prices = PriceTable()

    def on_step(step: Step) -> None:
        tally.add(step)
        cost = prices.price(model.name, step.reply.usage) if spec.budget.cost_usd is not None else None
        meter.spend_usage(step.reply.usage, cost)

    with Trajectory(paths) as trajectory:
        environment = Environment(
            spec.task,
            grader,
            provider,
            paths,
            meter,
            spec.feedback,
            limits=spec.sandbox.limits(spec.budget.execution_seconds),
            allow_hosts=spec.allow_hosts,
            gpus=gpus,
            warm=spec.sandbox.warm,
            labels=_labels(spec, model),
        )
        end: BaseException
        try:
            with environment:
                caller = Caller(model, spec.model_settings)
                run_agent(caller, environment, meter, spec.agent, trajectory.record, on_step)
        except Exception as error:  # noqa: BLE001 - every end of a trial is a record, never a crash of the job
            end = error
        policy = policy_of(end)
        if policy.status == "internal_error":
            log.error("trial %s failed inside the harness", paths.root, exc_info=end)
            trajectory.record("internal_error", {"traceback": "".join(traceback.format_exception(end))})
        trajectory.record("end", {"status": str(policy.status), "reason": str(end)})
    shutil.rmtree(paths.work, ignore_errors=True)
    result = _result(spec, model, provider, tally.steps, policy, end, started)
    timings = Timings(
        total=round(time.monotonic() - clock, 3),
        model=round(sum(step.model_seconds for step in tally.steps), 3),
        execution=round(environment.seconds_executing, 3),
        grading=round(environment.seconds_grading, 3),
    )
    resources = _resources(spec, provider, made_of, gpus, environment.connections)
    result = result.model_copy(update={"timings": timings, "resources": resources, "finished": utc_now()})
    write_record(paths.result, result)
    return result


def _labels(spec: TrialSpec, model: Model) -> dict[str, str]:
    """What is written on the trial's sandboxes, for those who look for what they belong to."""
    labels = {
        "job": spec.job,
        "trial": f"{spec.task.spec.set}/{spec.task.id}/{model.name}",
        "attempt": str(spec.attempt),
    }
    if spec.budget.seconds is not None:
        labels["deadline"] = f"{time.time() + spec.budget.seconds + _CLOSING_SECONDS:.0f}"
    return labels


def _result(
    spec: TrialSpec,
    model: Model,
    provider: SandboxProvider,
    steps: list[StepRecord],
    policy: Policy,
    end: BaseException,
    started: str,
) -> TrialResult:
    task = spec.task.spec
    valid = [step for step in steps if step.score is not None] if policy.score else []
    sign = 1.0 if task.metric.higher_is_better else -1.0
    chosen = _counted_step(valid, spec.feedback, sign)
    score = chosen.score if chosen else None
    best = max((step.score for step in valid if step.score is not None), key=lambda s: sign * s, default=None)
    usage = sum((step.usage for step in steps), Usage())
    happy = policy.status in ("submitted", "step_limit")
    return TrialResult(
        task_set=task.set,
        task=task.id,
        task_hash=spec.task_hash,
        modality=task.modality,
        objective=task.objective,
        metric=task.metric.name,
        higher_is_better=task.metric.higher_is_better,
        metric_best=task.metric.best,
        model=model.name,
        agent=NAME,
        attempt=spec.attempt,
        feedback=spec.feedback,
        budget=spec.budget,
        sandbox=provider.name,
        spec_hash=spec.spec_hash,
        status=policy.status,
        valid=score is not None,
        score=score,
        score_step=chosen.step if chosen else None,
        last_score=valid[-1].score if valid else None,
        best_score=best,
        position_score=position_score(spec.task, score) if score is not None else None,
        steps=tuple(steps),
        usage=usage,
        cost_usd=0.0 if model.name.split("/")[0] in FREE_PROVIDERS else None,
        timings=Timings(total=0.0, model=0.0, execution=0.0, grading=0.0),
        started=started,
        finished=started,
        error=None if happy else _one_line(end),
    )


def _resources(
    spec: TrialSpec,
    provider: SandboxProvider,
    made_of: dict[str, Any],
    gpus: tuple[str, ...],
    asked: Iterable[Connection],
) -> Resources:
    """What the trial had; hosts that several of its sandboxes asked for are counted together."""
    counts: Counter[tuple[str, int, bool]] = Counter()
    for item in asked:
        counts[item.host, item.port, item.allowed] += item.count
    return Resources(
        image=made_of.get("image"),
        image_digest=made_of.get("image_id"),
        gpus=tuple(LeasedGpu(id=gpu, name=name) for gpu, name in names_of(gpus).items()),
        allow_hosts=spec.allow_hosts,
        memory_gb=spec.sandbox.memory_gb,
        disk_gb=spec.sandbox.disk_gb,
        processes=spec.sandbox.processes,
        cpus=spec.sandbox.cpus,
        warm=spec.sandbox.warm,
        gaps=provider.capabilities.gaps(),
        egress=tuple(
            Contact(host=host, port=port, allowed=allowed, count=count)
            for (host, port, allowed), count in sorted(counts.items())
        ),
    )


def _counted_step(valid: list[StepRecord], feedback: Feedback, sign: float) -> StepRecord | None:
    """The step that counts: the best by what the agent was told, or the last if it was told nothing."""
    if not valid:
        return None
    if feedback is Feedback.NONE:
        return valid[-1]
    return max(valid, key=lambda step: sign * (step.feedback_score or 0.0))


def _one_line(end: BaseException) -> str:
    text = f"{type(end).__name__}: {end}"[:2000]
    return text.encode("utf-8", "backslashreplace").decode()
