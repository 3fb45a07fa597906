"""A trial: one agent, one task, one attempt, one record."""

from __future__ import annotations

import logging
import shutil
import threading
import time
import traceback
from typing import Any

from harness.agents.react import NAME, run_agent
from harness.budget import BudgetMeter
from harness.environment import Environment
from harness.errors import EndpointClosed, ProviderError, Status, policy_of
from harness.models.base import Model
from harness.models.calling import Caller
from harness.models.endpoint import Endpoint
from harness.models.pricing import PriceTable
from harness.outcome import Tally, build_result, resources_of
from harness.records import Timings, TrialPaths, TrialResult, write_record
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.trajectories.writing import Trajectory, utc_now
from harness.trialspec import TrialSpec

log = logging.getLogger(__name__)

#: How long after its time limit a trial may still be grading and writing.
_CLOSING_SECONDS = 3600.0


def run_trial(
    spec: TrialSpec,
    model: Model,
    grader: Grader,
    provider: SandboxProvider,
    paths: TrialPaths,
    cancelled: threading.Event | None = None,
    gpus: tuple[str, ...] = (),
    *,
    endpoint: Endpoint | None = None,
    prices: PriceTable | None = None,
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
        endpoint: shared with the other trials of the model; without one the trial has its own.
        prices: what the cost limit counts by; the published prices when left out.
    """
    if paths.root.exists():
        shutil.rmtree(paths.root)
    started, clock = utc_now(), time.monotonic()
    made_of = provider.describe()
    meter = BudgetMeter(spec.budget, cancelled=cancelled or threading.Event())
    table = prices or PriceTable()
    with Trajectory(paths) as trajectory:
        trajectory.record("start", _start_event(spec, model))
        caller = Caller(
            model,
            spec.model_settings,
            meter=meter,
            endpoint=endpoint,
            retries=spec.retries,
            price=lambda usage: table.price(spec.priced_as or model.name, usage),
            record=trajectory.record,
        )
        tally = Tally(meter)
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
                run_agent(caller, environment, meter, spec.agent, trajectory.record, tally.add)
        except Exception as error:  # noqa: BLE001 - every end of a trial is a record, never a crash of the job
            end = error
        policy = policy_of(end)
        if isinstance(end, ProviderError) and not isinstance(end, EndpointClosed):
            caller.endpoint.trial_failed(str(end))
        if policy.status is Status.INTERNAL_ERROR:
            log.error("trial %s failed inside the harness", paths.root, exc_info=end)
            trajectory.record("internal_error", {"traceback": "".join(traceback.format_exception(end))})
        trajectory.record("end", {"status": str(policy.status), "reason": str(end)})
    shutil.rmtree(paths.work, ignore_errors=True)
    total = time.monotonic() - clock
    timings = Timings(
        total=round(total, 3),
        model=round(caller.seconds, 3),
        execution=round(environment.seconds_executing, 3),
        grading=round(environment.seconds_grading, 3),
        waiting=round(meter.waited(), 3),
        working=round(total - meter.waited(), 3),
    )
    result = build_result(
        spec,
        caller,
        tally.steps,
        policy,
        end,
        sandbox=provider.name,
        resources=resources_of(spec, provider, made_of, gpus, environment.connections),
        timings=timings,
        started=started,
        finished=utc_now(),
    )
    write_record(paths.result, result)
    return result


def _start_event(spec: TrialSpec, model: Model) -> dict[str, Any]:
    return {
        "task_set": spec.task.spec.set,
        "task": spec.task.id,
        "model": model.name,
        "attempt": spec.attempt,
        "agent": NAME,
        "spec_hash": spec.spec_hash,
        "settings": spec.model_settings.model_dump(mode="json", exclude_none=True),
    }


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
