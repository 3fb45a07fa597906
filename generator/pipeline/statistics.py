"""Statistics of a generation: a pure function of how far formulations came and what the attempts took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from generator.ledger import Attempt
from generator.pipeline.funnel import STAGES, Funnel, Passage, Stage
from generator.pipeline.labour import MACHINE, AgentWork, Spending, spending_of, works_of
from generator.pipeline.routing import Agent
from generator.pipeline.shares import Share, Spread, share_of, spread_of, tally

#: Fields of a passage whose distributions are told.
FIELDS = ("modality", "objective", "metric")


@dataclass(frozen=True)
class StageCount:
    """One stage of the funnel.

    Attributes:
        stage: which.
        passed: formulations that passed it.
        undecided: those that passed the stage before and were not judged by this one: the machine interrupted
            them, or nobody verified them.
        of_before: of those that were judged by it, the share that passed; ``None`` for the first.
        of_considered: of all that were considered, the share that passed; those that are undecided, here or
            earlier, are left out; ``None`` for the first.
        reasons: why others did not pass, by code, most frequent first.
    """

    stage: Stage
    passed: int
    undecided: int
    of_before: Share | None
    of_considered: Share | None
    reasons: Mapping[str, int]


@dataclass(frozen=True)
class Tagged:
    """Formulations of one modality, objective or metric; empty where that was never settled."""

    value: str
    considered: int
    verified: int


@dataclass(frozen=True)
class TaskSpending:
    """What the attempts at one verified task took, without brainstorming, which is for a whole dataset."""

    dataset: str
    task: str
    spent: Spending


@dataclass(frozen=True)
class Statistics:
    """What a generation came to.

    Attributes:
        datasets: how many were worked on.
        undecided: those without a verified task of which nobody can say yet whether they would give one, as
            the machine interrupted them or nobody verified their tasks.
        giving: those that gave a verified task, of those that are not undecided.
        verified: verified tasks.
        of_proposed: of the formulations that were proposed and judged, those that became verified tasks.
        funnel: the stages in order.
        agents: the work of each.
        spent: all of it, on what failed, too.
        spent_well: on verified tasks, and on brainstorming over the datasets that gave one.
        tasks: the same for each verified task that there are attempts of, but for brainstorming.
        task_seconds: their seconds, preparing and verifying.
        task_cost: their cost in US dollars, of those whose attempts all have a price.
        tasks_per_dataset: verified tasks, and how many datasets gave so many; without those undecided.
        distributions: for each of :data:`FIELDS` its values, most frequent first.
    """

    datasets: int
    undecided: int
    giving: Share
    verified: int
    of_proposed: Share
    funnel: tuple[StageCount, ...]
    agents: tuple[AgentWork, ...]
    spent: Spending
    spent_well: Spending
    tasks: tuple[TaskSpending, ...]
    task_seconds: Spread | None
    task_cost: Spread | None
    tasks_per_dataset: Mapping[int, int]
    distributions: Mapping[str, tuple[Tagged, ...]]

    def per_task(self, amount: float | None) -> float | None:
        """An amount for each verified task; ``None`` without one, or if it is unknown."""
        return amount / self.verified if amount is not None and self.verified else None

    def per_dataset(self, amount: float | None) -> float | None:
        """An amount for each dataset that gave a verified task; ``None`` without one, or if it is unknown."""
        return amount / self.giving.count if amount is not None and self.giving.count else None

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain data."""
        document = asdict(self)
        document["distributions"] = {
            name: [asdict(each) for each in values] for name, values in self.distributions.items()
        }
        return _plain(document)  # type: ignore[no-any-return]


def statistics_of(funnel: Funnel, attempts: Iterable[Attempt]) -> Statistics:
    """The statistics of a generation.

    Args:
        funnel: every formulation that was considered.
        attempts: of the same datasets; may hold attempts of earlier runs and of formulations that are not
            made any more, which count as spent.
    """
    passages, attempts = funnel.passages, tuple(attempts)
    good = {(each.dataset, each.task) for each in passages if each.reached is Stage.VERIFIED}
    counts = verified_by_dataset(passages, attempts)
    open_ = undecided_datasets(passages, attempts)
    giving = share_of((name, count > 0) for name, count in counts.items() if name not in open_)
    well = [
        each
        for each in attempts
        if (each.dataset, each.task) in good
        or (each.agent == Agent.BRAINSTORMER and counts[each.dataset] > 0)
    ]
    spending = (
        TaskSpending(*key, spending_of(each for each in attempts if (each.dataset, each.task) == key))
        for key in sorted(good)
    )
    tasks = tuple(each for each in spending if each.spent.attempts)
    return Statistics(
        datasets=len(counts),
        undecided=len(open_),
        giving=giving,
        verified=len(good),
        of_proposed=_share_passed(passages, Stage.PROPOSED, Stage.VERIFIED),
        funnel=tuple(_stage(stage, funnel) for stage in STAGES),
        agents=works_of(passages, attempts),
        spent=spending_of(attempts),
        spent_well=spending_of(well),
        tasks=tasks,
        task_seconds=spread_of([each.spent.seconds for each in tasks]),
        task_cost=spread_of([each.spent.money.known for each in tasks if not each.spent.money.unpriced]),
        tasks_per_dataset=tally(count for name, count in counts.items() if name not in open_),
        distributions={field: _distribution(field, passages) for field in FIELDS},
    )


def verified_by_dataset(passages: Iterable[Passage], attempts: Iterable[Attempt]) -> dict[str, int]:
    """Verified tasks of each dataset that was worked on, in the order in which they are met."""
    counts: dict[str, int] = {}
    for passage in passages:
        counts[passage.dataset] = counts.get(passage.dataset, 0) + (passage.reached is Stage.VERIFIED)
    for attempt in attempts:
        counts.setdefault(attempt.dataset, 0)
    return counts


def undecided_datasets(passages: Iterable[Passage], attempts: Iterable[Attempt]) -> frozenset[str]:
    """Datasets without a verified task of which nobody can say yet whether they give one."""
    passages = tuple(passages)
    done = {passage.dataset for passage in passages if passage.reached is Stage.VERIFIED}
    last = {each.dataset: each.outcome for each in attempts if each.agent == Agent.BRAINSTORMER}
    cut = {name for name, outcome in last.items() if outcome == "machine"}
    return frozenset(({each.dataset for each in passages if is_undecided(each)} | cut) - done)


def is_undecided(passage: Passage) -> bool:
    """Whether a formulation was neither verified nor stopped by anything that says something about it."""
    return passage.reached is not Stage.VERIFIED and passage.code in ("", MACHINE)


def _stage(stage: Stage, funnel: Funnel) -> StageCount:
    number, passages = STAGES.index(stage), funnel.passages
    before = STAGES[number - 1] if number else None
    stopped = [each for each in passages if each.reached is before]
    codes = Counter(each.code for each in stopped if not is_undecided(each))
    return StageCount(
        stage=stage,
        passed=sum(_passed(each, stage) for each in passages),
        undecided=sum(map(is_undecided, stopped)),
        of_before=None if before is None else _share_passed(passages, before, stage),
        of_considered=None if before is None else _share_passed(passages, Stage.CONSIDERED, stage),
        reasons=dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
    )


def _share_passed(passages: Iterable[Passage], start: Stage, end: Stage) -> Share:
    """Of those that passed ``start``, the share that passed ``end``, without those undecided in between."""
    return share_of(
        (each.dataset, _passed(each, end))
        for each in passages
        if _passed(each, start) and (_passed(each, end) or not is_undecided(each))
    )


def _passed(passage: Passage, stage: Stage) -> bool:
    return STAGES.index(passage.reached) >= STAGES.index(stage)


def _distribution(field: str, passages: Iterable[Passage]) -> tuple[Tagged, ...]:
    considered, verified = Counter[str](), Counter[str]()
    for passage in passages:
        value = getattr(passage, field)
        considered[value] += 1
        verified[value] += passage.reached is Stage.VERIFIED
    # What is not settled comes last.
    order = sorted(considered, key=lambda value: (not value, -verified[value], -considered[value], value))
    return tuple(Tagged(value, considered[value], verified[value]) for value in order)


def _plain(value: Any) -> Any:
    """The same with keys of text and without what only Python knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.model_dump() if hasattr(value, "model_dump") else value
