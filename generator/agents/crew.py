"""What the three agents share: who works, at which prices, and how a session begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from generator.agents.config import AgentsConfig
from generator.agents.fencing import fenced
from generator.agents.session import Session
from generator.agents.tools.base import Kit
from generator.agents.tools.kit import Hands
from generator.agents.workbench import Workbench, open_workbench
from generator.backend import Desk
from generator.defects.base import Finding
from generator.ledger import Effort
from harness.models.calling import Retries
from harness.models.pricing import PriceTable
from harness.sandboxes.base import GIB, Limits


@dataclass(frozen=True)
class Crew:
    """The agents' common equipment.

    Attributes:
        config: who works as which agent, and within which bounds.
        prices: what calls cost.
        retries: how patiently failed calls are repeated.
    """

    config: AgentsConfig
    prices: PriceTable = field(default_factory=PriceTable)
    retries: Retries | None = None

    @contextmanager
    def at_work(
        self, desk: Desk, agent: str, name: str, raw: Path, effort: Effort
    ) -> Iterator[tuple[Session, Workbench, Kit]]:
        """An attempt of an agent, with a workbench that shows ``raw`` and the tools that work on it."""
        session = Session(desk, agent, name, self.config, effort, self.prices, self.retries)
        characters = self.config.observation_characters
        limits = Limits(
            seconds=session.meter.budget.execution_seconds, memory_bytes=8 * GIB, cpus=2,
            output_bytes=4 * characters,
        )  # fmt: skip
        with open_workbench(desk.provider, raw, agent, name or desk.card.name, limits) as bench:
            yield session, bench, Hands(desk, bench, session.meter, limits, characters).kit()


def about(desk: Desk) -> str:
    """What is known of the dataset, marked as data."""
    card = desk.card
    told = [f"name: {card.name}", f"title: {card.title}", f"licence: {card.licence}", card.description]
    return fenced("what its card says", "\n".join(each for each in told if each))


def listed(findings: Iterable[Finding]) -> str:
    """Findings as an agent is told them, errors first; what they quote is data."""
    ranked = sorted(findings, key=lambda found: found.severity != "error")
    return "\n".join(
        f"- {found.code} ({found.severity}, found by {found.stage}): {found.evidence}\n  to do: {found.fix}"
        for found in ranked
    )
