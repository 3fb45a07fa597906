"""Rules for code, a language model for choices and prose: even a small model can serve.

Whatever the model says is checked; where it does not hold, the rules' words stand, and the ledger notes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generator.agents import prose
from generator.agents.backend import agents_hash
from generator.agents.config import AgentsConfig, check_staff, described
from generator.agents.declaration import written_by
from generator.agents.idea import Work
from generator.agents.prompts import NEWEST, prompts_hash
from generator.agents.questions import choose, find_introduction, find_title
from generator.agents.session import Session
from generator.backend import Brainstorm, Desk, GaveUp, Tried
from generator.defects.base import Finding
from generator.ledger import Effort
from generator.proposals import Formulation, Proposal, Refusal
from generator.rules.backend import RulesBackend
from generator.selection.toml import to_toml
from harness.models.calling import Retries
from harness.models.pricing import PriceTable

#: More candidates than are wanted, for the model to choose from.
_SPARE = 3
_AGENTS = ("brainstormer", "designer")


class Worded(Proposal):
    """A proposal of the rules that a model chose or gave a title.

    Attributes:
        rules_title: the rules' own title, where the model's stands in its place.
        works: the attempts of models that led here.
    """

    rules_title: str = ""
    works: tuple[Work, ...] = ()


class MixedBackend:
    """The rules, with a model that chooses among their candidates and words title and introduction.

    Args:
        config: the models of ``brainstormer`` (choices, titles) and ``designer`` (introductions).
        prices: what calls cost.
        retries: how patiently failed calls are repeated.

    Raises:
        InputError: as :class:`generator.agents.backend.LanguageModelBackend`.
    """

    name = "mixed"
    parts = RulesBackend.parts

    def __init__(
        self, config: AgentsConfig, *, prices: PriceTable | None = None, retries: Retries | None = None
    ) -> None:
        self._config, self._prices, self._retries = config, prices or PriceTable(), retries
        self._rules = RulesBackend()
        for agent in _AGENTS:
            check_staff(config.staff(agent).model, config.staff(agent).budget, config.settings, self._prices)

    @property
    def identity(self) -> dict[str, Any]:
        """The rules' own, and models, budgets and prompts."""
        return {
            "backend": self.name,
            "rules": self._rules.identity,
            "agents": {agent: described(self._config.staff(agent)) for agent in _AGENTS},
            "settings": self._config.settings.model_dump(mode="json"),
            "prompts": f"{NEWEST} {prompts_hash()}",
            "code": agents_hash(),
        }

    def remembered(self, data: dict[str, Any]) -> Worded:
        """A proposal from its plain data."""
        return Worded.model_validate(data)

    def brainstorm(self, desk: Desk, most: int, tried: Sequence[Tried], effort: Effort) -> Brainstorm:
        """The rules' candidates, of which the model chooses, with titles of its own where these hold."""
        found = self._rules.brainstorm(desk, most + _SPARE, tried, effort)
        candidates = [each for each in found.formulations if isinstance(each, Proposal)]
        if not candidates:
            return found
        session = self._session(desk, "brainstormer", "", effort)
        notes: list[str] = []
        chosen = self._chosen(session, candidates, most, notes)
        titles = [find_title(session, each, _title_check(desk, each)) for each in chosen]
        notes += [
            f"the rules' title of {each.id}"
            for each, title in zip(chosen, titles, strict=True)
            if title is None
        ]
        effort.note = "; ".join(notes)
        work = session.work()
        worded = [_worded(each, title, work) for each, title in zip(chosen, titles, strict=True)]
        left = [each for each in candidates if each.id not in {one.id for one in chosen}]
        return Brainstorm(tuple(worded), (*found.refusals, *(_not_chosen(each) for each in left)))

    def design(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> Proposal:
        """The rules' package, with an introduction by the model where it holds."""
        assert isinstance(formulation, Worded)
        formulation = self._rules.design(desk, formulation, root, findings, effort)
        assert isinstance(formulation, Worded)
        session = self._session(desk, "designer", formulation.id, effort)
        text = (root / "description.txt").read_text(encoding="utf-8")
        known = prose.Known(text, _names(formulation, text), f"{_asked(formulation)} {desk.card.name}")
        introduction = find_introduction(
            session, text, _asked(formulation), lambda said: prose.problems(said, known, prose.INTRODUCTION)
        )
        made = formulation.model_copy(update={"works": (*formulation.works, session.work())})
        if introduction is None:
            effort.note = "the rules' description without an introduction"
        else:
            _introduce(root, text, introduction)
        _sign(root, made, introduced=introduction is not None)
        return made

    def check_draft(self, desk: Desk, formulation: Formulation, root: Path) -> Iterable[Finding]:
        """What the rules check."""
        return self._rules.check_draft(desk, formulation, root)

    def refactor(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> None:
        """Nothing, but where something was found: then the rules' words take the place of the model's."""
        assert isinstance(formulation, Worded)
        if not findings:
            return
        if not (_says(root, "introduced") or _says(root, "rules_title")):
            raise GaveUp("not_mended", "the rules know no other form of it")
        title = formulation.rules_title or formulation.title
        plain = formulation.model_copy(update={"title": title, "rules_title": ""})
        self._rules.design(desk, plain, root, (), effort)
        _sign(root, plain, introduced=False)
        effort.note = "the rules' words in place of the model's"

    def _session(self, desk: Desk, agent: str, name: str, effort: Effort) -> Session:
        return Session(desk, agent, name, self._config, effort, self._prices, self._retries)

    @staticmethod
    def _chosen(session: Session, candidates: list[Proposal], most: int, notes: list[str]) -> list[Proposal]:
        """As many as are wanted, one question for each; the rules' order where answers are of no use."""
        left, chosen = list(candidates), list[Proposal]()
        while left and len(chosen) < most:
            if len(left) + len(chosen) <= most:
                return [*chosen, *left]
            number = choose(session, left)
            if number is None:
                notes.append(f"the rules' choice of {left[0].id}")
            chosen.append(left.pop(number or 0))
        return chosen


def _worded(proposal: Proposal, title: str | None, work: Work) -> Worded:
    data = proposal.model_dump() | {"works": (work,)}
    if title is not None and title != proposal.title:
        data |= {"title": title, "rules_title": proposal.title}
    return Worded.model_validate(data)


def _not_chosen(proposal: Proposal) -> Refusal:
    return Refusal(
        target=", ".join(proposal.targets), objective=proposal.objective,
        reason="the model chose other candidates", code="not_chosen",
    )  # fmt: skip


def _title_check(desk: Desk, proposal: Proposal) -> Any:
    known = prose.Known(
        f"{desk.card.title} {desk.card.description} {proposal.title}",
        (*proposal.features, *proposal.targets),
        f"{_asked(proposal)} {desk.card.name}",
    )
    return lambda said: prose.problems(said, known, prose.TITLE)


def _asked(proposal: Proposal) -> str:
    return ", ".join(proposal.targets[:4])


def _names(proposal: Proposal, description: str) -> Iterator[str]:
    """What may be named: columns, and the files that the description names."""
    yield from (*proposal.features, *proposal.targets)
    yield from (part for part in description.split("`")[1::2] if "\n" not in part)


def _introduce(root: Path, text: str, introduction: str) -> None:
    """Set the introduction after the heading, in the description and in what participants read."""
    heading, rule, rest = text.split("\n", 2)
    for path in (root / "description.txt", root / "public" / "description.txt"):
        path.write_text(f"{heading}\n{rule}\n\n{introduction}\n{rest}", encoding="utf-8")


def _sign(root: Path, proposal: Worded, *, introduced: bool) -> None:
    """Say in task.toml which models had a part in it."""
    path = root / "task.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    own = {"backend": MixedBackend.name, "introduced": introduced, "rules_title": proposal.rules_title}
    document["provenance"] |= own | written_by(proposal.works)
    path.write_text(to_toml(document), encoding="utf-8")


def _says(root: Path, key: str) -> Any:
    """What task.toml says of the model's part."""
    document = tomllib.loads((root / "task.toml").read_text(encoding="utf-8"))
    return document.get("provenance", {}).get(key)
