"""The candidates of a job: how each is called, and whether its endpoint can still be."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock

from harness.errors import InputError
from harness.jobconfig import JobConfig
from harness.models.base import Model, Settings, Usage
from harness.models.endpoint import Endpoint
from harness.models.presets import Api
from harness.models.pricing import PriceTable
from harness.models.registry import ModelConfig, check_models, make_model, resolve_settings
from harness.models.windows import with_context_window
from harness.models.wire.tapes import Tape
from harness.progress import JobProgress
from harness.tasks.package import Task

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Closed:
    """A model whose endpoint serves no trial any more.

    Attributes:
        model: its board name.
        reason: what is wrong, and what to do about it.
        not_run: trials that were not begun for it; a repeated command runs them.
    """

    model: str
    reason: str
    not_run: int

    def __str__(self) -> str:
        left = f"{self.not_run} of its trials were not begun; " if self.not_run else ""
        return f"{self.model}: {self.reason}. {left}run again once mended"


@dataclass
class Candidate:
    """One model of a job.

    Attributes:
        config: which model, and where.
        settings: what is asked of its calls, the agent's profile and its own settings together.
        endpoint: shared by its trials.
        left: trials not yet begun.
    """

    config: ModelConfig
    settings: Settings
    endpoint: Endpoint
    left: int = 0
    _lock: Lock = field(default_factory=Lock)
    _told: bool = False

    @property
    def name(self) -> str:
        """The name shown on boards."""
        return self.config.board_name

    @cached_property
    def call_settings(self) -> Settings:
        """Its settings, with the context window where that can be known.

        A server of one's own may hold the model with another window tomorrow, so this is no part of what a
        job is pinned to.
        """
        return with_context_window(self.settings, self.config)

    def client(self, tape: Tape, task: Task) -> Model:
        """A client of it for one trial.

        Args:
            tape: records what goes over HTTP.
            task: what the trial works on.
        """
        return make_model(self.config, tape, task)

    def begin(self) -> bool:
        """Whether a trial may begin; it counts as begun then."""
        with self._lock:
            if self.endpoint.closed is not None:
                return False
            self.left -= 1
            return True

    @property
    def closed(self) -> Closed | None:
        """Why no trial may begin any more, if none may."""
        reason = self.endpoint.closed
        return None if reason is None else Closed(self.name, reason, self.left)

    def tell_if_closed(self) -> None:
        """Say once that the endpoint is closed."""
        with self._lock:
            closed = self.closed
            if closed is not None and not self._told:
                self._told = True
                log.error("%s", closed)


def check_candidates(
    config: JobConfig, tasks: Sequence[Task], prices: PriceTable, progress: JobProgress
) -> dict[str, Candidate]:
    """The candidates by board name, all checked before the first call.

    Args:
        config: names them.
        tasks: what they will work on; the oracle must know all the answers.
        prices: must know each under a cost limit.
        progress: told when an endpoint slows down.

    Raises:
        InputError: one is named twice, is unknown, lacks its key or its price, or is asked what it does not
            take.
    """
    check_models(config.models, config.agent.settings)
    candidates: dict[str, Candidate] = {}
    for model in config.models:
        for task in tasks if model.preset.api is Api.SCRIPTED else tasks[:1]:
            make_model(model, None, task)
        settings = resolve_settings(config.agent.settings, model)
        if config.budget.cost_usd is not None and prices.price(model.priced_as, Usage()) is None:
            raise InputError(
                f"budget.cost_usd is set but the price of {model.board_name} is unknown; "
                "limit tokens instead, name a file of prices in the key prices, or choose a model with a "
                "known price"
            )
        endpoint = Endpoint(
            model.board_name,
            key_variable=model.key_name,
            told=partial(progress.noted, model.board_name),
        )
        candidates[model.board_name] = Candidate(model, settings, endpoint)
    return candidates


def count_trials(candidates: dict[str, Candidate], todo: Iterable[str]) -> None:
    """Tell each candidate how many trials it has to do, from the board name of every one."""
    for name, n in Counter(todo).items():
        candidates[name].left = n
