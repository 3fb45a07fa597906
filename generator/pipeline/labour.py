"""What the agents' work took: attempts, steps, time, tokens and money, read from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from generator.ledger import Attempt
from generator.pipeline.funnel import STAGES, Passage, Stage
from generator.pipeline.routing import Agent
from generator.pipeline.shares import Share, Spread, share_of, spread_of, tally
from harness.models.base import Usage

#: The order in which they are told of.
AGENTS = (*map(str, Agent), "reviewer", "verifier")
#: Code of a passage that the machine interrupted.
MACHINE = "machine"
#: Steps that the paper counts its Designer's attempts by.
WITHIN = 15
_INTERRUPTED = ("machine", "error")
_SUCCESS = ("done", "verified")
_VERIFYING = ("verifier", "reviewer")
#: The stage that the work of an agent has to pass.
_HAS_TO_PASS = {str(Agent.DESIGNER): Stage.DESIGNED, str(Agent.REFACTOR): Stage.REFACTORED}


@dataclass(frozen=True)
class Money:
    """US dollars.

    Attributes:
        known: of the attempts that have a price.
        unpriced: how many attempts have none; what they cost is unknown, not nothing.
    """

    known: float
    unpriced: int

    @property
    def total(self) -> float | None:
        """All of it; ``None`` while a part is unknown."""
        return None if self.unpriced else self.known


@dataclass(frozen=True)
class Spending:
    """What some attempts took together.

    Attributes:
        attempts: how many.
        preparing: seconds of Brainstormer, Designer and Refactor, added up also where they worked side
            by side.
        verifying: seconds of the verifier, its reviewer among them.
        usage: tokens.
        money: cost.
    """

    attempts: int
    preparing: float
    verifying: float
    usage: Usage
    money: Money

    @property
    def seconds(self) -> float:
        """All of them."""
        return self.preparing + self.verifying


@dataclass(frozen=True)
class AgentWork:
    """The work of one agent.

    Its rates are over formulations, for the Brainstormer over datasets, as they were worked on last. Those
    that the machine interrupted are left out of them.

    Attributes:
        agent: its name.
        interrupted: attempts that the machine ended.
        once: of all, those where one attempt was enough: it was the only one, the agent finished it, and what
            it made passed the agent's own stage.
        twice: those that needed a second attempt, or more.
        thrice: those that needed a third.
        steps: of single attempts of agents that take steps.
        histogram: the same, as steps and how many attempts took so many.
        within: attempts of at most :data:`WITHIN` steps.
        seconds: of single attempts that the machine did not end.
        total_seconds: of all attempts; a reviewer's are part of the verifier's.
        calls: replies of a model.
        spent: by all attempts, those of earlier runs into the folder included.
    """

    agent: str
    interrupted: int
    once: Share
    twice: Share
    thrice: Share
    steps: Spread | None
    histogram: Mapping[int, int]
    within: Share
    seconds: Spread | None
    total_seconds: float
    calls: int
    spent: Spending


def spending_of(attempts: Iterable[Attempt]) -> Spending:
    """What attempts took."""
    attempts = tuple(attempts)
    costs = [attempt.cost_usd for attempt in attempts]
    return Spending(
        attempts=len(attempts),
        preparing=sum(each.seconds for each in attempts if each.agent not in _VERIFYING),
        # The verifier waits for its reviewer, whose seconds are among its own.
        verifying=sum(each.seconds for each in attempts if each.agent == "verifier"),
        usage=sum((each.usage for each in attempts), Usage()),
        money=Money(sum(cost for cost in costs if cost is not None), costs.count(None)),
    )


def works_of(passages: Iterable[Passage], attempts: Iterable[Attempt]) -> tuple[AgentWork, ...]:
    """The work of each agent that there is an attempt of."""
    passed = {(passage.dataset, passage.task): passage for passage in passages}
    by_agent: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_agent.setdefault(attempt.agent, []).append(attempt)
    order = [*AGENTS, *(agent for agent in by_agent if agent not in AGENTS)]
    return tuple(_work(agent, by_agent[agent], passed) for agent in order if agent in by_agent)


def _work(agent: str, attempts: Sequence[Attempt], passed: Mapping[tuple[str, str], Passage]) -> AgentWork:
    latest = _latest(attempts, passed)
    last = [attempt for series in latest for attempt in series]
    stepping = [attempt for attempt in last if attempt.steps > 0]
    return AgentWork(
        agent=agent,
        interrupted=sum(attempt.outcome in _INTERRUPTED for attempt in attempts),
        once=share_of((series[0].dataset, _was_enough(series, passed)) for series in latest),
        twice=share_of((series[0].dataset, len(series) >= 2) for series in latest),
        thrice=share_of((series[0].dataset, len(series) >= 3) for series in latest),
        steps=spread_of([attempt.steps for attempt in stepping]),
        histogram=tally(attempt.steps for attempt in stepping),
        within=share_of((attempt.dataset, attempt.steps <= WITHIN) for attempt in stepping),
        seconds=spread_of([each.seconds for each in attempts if each.outcome not in _INTERRUPTED]),
        total_seconds=sum(attempt.seconds for attempt in attempts),
        calls=sum(attempt.calls for attempt in attempts),
        spent=spending_of(attempts),
    )


def _latest(attempts: Iterable[Attempt], passed: Mapping[tuple[str, str], Passage]) -> list[list[Attempt]]:
    """For each formulation the attempts since its work last began anew, but for what the machine ended."""
    series: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in attempts:
        key = (attempt.dataset, attempt.task)
        passage = passed.get(key)
        if attempt.task and (passage is None or passage.code == MACHINE):
            continue  # not made any more, or its work is not at an end
        if attempt.outcome in _INTERRUPTED:
            continue
        if attempt.number == 1:
            series[key] = []
        series.setdefault(key, []).append(attempt)
    return list(series.values())


def _was_enough(series: Sequence[Attempt], passed: Mapping[tuple[str, str], Passage]) -> bool:
    first = series[0]
    stage = _HAS_TO_PASS.get(first.agent)
    if len(series) > 1 or first.outcome not in _SUCCESS:
        return False
    return stage is None or STAGES.index(passed[first.dataset, first.task].reached) >= STAGES.index(stage)
