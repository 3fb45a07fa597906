"""What a trial is: its task, agent, budget and conditions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from harness.agents.prompting import prompts_hash
from harness.agents.react import NAME, AgentConfig
from harness.budget import Budget
from harness.models.base import Settings
from harness.models.calling import Retries
from harness.records import Feedback
from harness.sandboxes.network.hosts import check_hosts
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.package import Task


@dataclass(frozen=True)
class TrialSpec:
    """What makes two trials comparable, and which one this is.

    Attributes:
        settings: what is asked of the model's calls, resolved; ``None`` for what the agent's profile asks.
        priced_as: ``<provider>/<model>`` in price tables, where the board shows another name.
        retries: how patiently failed model calls are repeated.
        profile: the name of the agent's profile, for the record; what counts is what it says.
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
    retries: Retries = field(default_factory=Retries)
    profile: str | None = None

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

        What the task itself opens is not in it: that is part of the task's hash. Nor are a model's own
        settings: they are part of the candidate. What is not set is left out, so that a limit or a setting
        that is new in this project does not change the identity of trials without it.
        """
        identity: dict[str, Any] = {
            "agent": NAME,
            "config": self.agent.model_dump(mode="json", exclude_none=True),
            "prompts": prompts_hash(self.agent.prompts),
            "budget": self.budget.model_dump(mode="json", exclude_none=True),
            "feedback": str(self.feedback),
            "network": list(self.sandbox.allow_hosts) or False,
        }
        if self.sandbox.gpus_per_trial:
            identity["gpus_per_trial"] = self.sandbox.gpus_per_trial
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
