"""What a trial came to: its steps as they happen, and the record they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness.agents.react import NAME, Step
from harness.budget import BudgetMeter
from harness.errors import Policy, Status
from harness.models.calling import Caller
from harness.models.pricing import FREE_PROVIDERS
from harness.records import Feedback, StepRecord, Timings, TrialResult
from harness.resources import Contact, LeasedGpu, Resources
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.gpus.discovery import names_of
from harness.sandboxes.network.egress import Connection
from harness.tasks.standing import position_score
from harness.trialspec import TrialSpec


class Tally:
    """The steps of a trial as they happen.

    Args:
        meter: says how long the trial has waited for its endpoint.
    """

    def __init__(self, meter: BudgetMeter) -> None:
        self.steps: list[StepRecord] = []
        self._meter = meter
        self._waited = 0.0

    def add(self, step: Step) -> None:
        """Book a step."""
        observation = step.observation
        scores = observation.scores if observation else None
        waited = self._meter.waited()
        self.steps.append(
            StepRecord(
                step=step.number,
                action=step.action.name if step.action else "format_error",
                ok=bool(observation and observation.ok) or bool(step.action and step.action.name == "submit"),
                seconds=round(observation.seconds if observation else 0.0, 4),
                model_seconds=round(step.model_seconds, 4),
                waited_seconds=round(waited - self._waited, 4),
                submitted=scores is not None,
                valid=None if scores is None else scores.counted is not None,
                score=None if scores is None else scores.counted,
                feedback_score=None if scores is None else scores.shown,
                reason_code=None if scores is None else str(scores.grade.reason),
                usage=step.usage,
            )
        )
        self._waited = waited


def build_result(
    spec: TrialSpec,
    caller: Caller,
    steps: list[StepRecord],
    policy: Policy,
    end: BaseException,
    *,
    sandbox: str,
    resources: Resources,
    timings: Timings,
    started: str,
    finished: str,
) -> TrialResult:
    """The record of a trial.

    Args:
        spec: which trial.
        caller: called the model.
        steps: its steps.
        policy: what follows from how it ended.
        end: how it ended.
        sandbox: the kind it ran in.
        resources: what its programs had to work with.
        timings: where its time went.
        started: when it began, in UTC as ISO 8601.
        finished: when it had ended.
    """
    task = spec.task.spec
    valid = [step for step in steps if step.score is not None] if policy.score else []
    sign = 1.0 if task.metric.higher_is_better else -1.0
    chosen = _counted_step(valid, spec.feedback, sign)
    score = chosen.score if chosen else None
    best = max((step.score for step in valid if step.score is not None), key=lambda s: sign * s, default=None)
    model = caller.model
    happy = policy.status in (Status.SUBMITTED, Status.STEP_LIMIT)
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
        sandbox=sandbox,
        resources=resources,
        spec_hash=spec.spec_hash,
        status=policy.status,
        valid=score is not None,
        score=score,
        score_step=chosen.step if chosen else None,
        last_score=valid[-1].score if valid else None,
        best_score=best,
        position_score=position_score(spec.task, score) if score is not None else None,
        steps=tuple(steps),
        usage=caller.meter.usage,
        cost_usd=0.0 if model.name.split("/")[0] in FREE_PROVIDERS else None,
        timings=timings,
        started=started,
        finished=finished,
        error=None if happy else _one_line(end),
        profile=spec.profile,
        settings=spec.model_settings,
        model_version=caller.version,
        priced_as=spec.priced_as,
        calls=caller.calls,
        faults=dict(sorted(caller.faults.items())),
    )


def resources_of(
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
