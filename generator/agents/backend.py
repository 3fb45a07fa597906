"""Language models as a backend: Brainstormer, Designer and Refactor by any configured model."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from generator.agents import designer, draft, refactor
from generator.agents.brainstormer import brainstorm
from generator.agents.config import AGENTS, AgentsConfig, check_staff, described
from generator.agents.crew import Crew
from generator.agents.declaration import VERSION
from generator.agents.idea import Idea
from generator.agents.prompts import NEWEST, prompts_hash
from generator.backend import Brainstorm, Desk, Tried
from generator.defects.base import Finding
from generator.ledger import Effort
from generator.proposals import Formulation
from generator.rules.backend import code_hash
from harness.models.calling import Retries
from harness.models.pricing import PriceTable
from harness.tasks.package import file_hash


class LanguageModelBackend:
    """The three agents by language models.

    Args:
        config: who works as which agent, and within which bounds.
        prices: what calls cost.
        retries: how patiently failed calls are repeated.

    Raises:
        InputError: there is no such model, its key is missing, its settings are not taken, or a cost limit
            cannot be held as nobody knows its price.
    """

    name = "llm"
    parts = frozenset({"probe", "diversity", "assertions", "refactor"})

    def __init__(
        self, config: AgentsConfig, *, prices: PriceTable | None = None, retries: Retries | None = None
    ) -> None:
        self._crew = Crew(config, prices or PriceTable(), retries)
        for agent in AGENTS:
            staff = config.staff(agent)
            check_staff(staff.model, staff.budget, config.settings, self._crew.prices)

    @property
    def identity(self) -> dict[str, Any]:
        """Models, budgets, prompts and code."""
        config = self._crew.config
        return {
            "backend": self.name,
            "version": VERSION,
            "agents": {agent: described(config.staff(agent)) for agent in AGENTS},
            "bounds": config.model_dump(mode="json", exclude=set(AGENTS)),
            "prompts": f"{NEWEST} {prompts_hash()}",
            "code": f"{agents_hash()} {code_hash()}",
        }

    def remembered(self, data: dict[str, Any]) -> Idea:
        """An idea from its plain data."""
        return Idea.model_validate(data)

    def brainstorm(self, desk: Desk, most: int, tried: Sequence[Tried], effort: Effort) -> Brainstorm:
        """Ideas that are derivable, traceable, learnable, not given away, and differ."""
        return brainstorm(self._crew, desk, most, tried, effort)

    def design(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> Idea:
        """Write a draft, or mend the one that is there."""
        assert isinstance(formulation, Idea)
        return designer.design(self._crew, desk, formulation, root, findings, effort)

    def check_draft(self, desk: Desk, formulation: Formulation, root: Path) -> Iterable[Finding]:
        """Whether the draft is whole, runs, and can be scored."""
        return draft.check(root, desk.provider)

    def refactor(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> None:
        """Bring the draft into the unified structure, prepared."""
        assert isinstance(formulation, Idea)
        refactor.refactor(self._crew, desk, formulation, root, findings, effort)


@functools.cache
def agents_hash() -> str:
    """Hash of the agents' code: work done by other code is done again."""
    home = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(home.glob("**/*.py")):
        digest.update(f"{path.relative_to(home).as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()
