"""The rules as a backend: real tasks without any model. The same inputs give the same bytes."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import generator
from generator.backend import Brainstorm, Desk, GaveUp, Tried
from generator.defects.base import Finding
from generator.ledger import Effort
from generator.proposals import Formulation, Proposal
from generator.rules.design import VERSION, design
from generator.rules.propose import propose
from generator.rules.repair import revise
from harness.tasks.package import file_hash


class RulesBackend:
    """Brainstormer, Designer and Refactor by rules."""

    name = "rules"
    #: Their packages have the unified structure from the beginning: no draft is to be checked or refactored.
    parts: frozenset[str] = frozenset({"probe", "diversity"})

    @property
    def identity(self) -> dict[str, Any]:
        """The version of the rules, and the hash of their code."""
        return {"backend": self.name, "version": VERSION, "code": code_hash()}

    def remembered(self, data: dict[str, Any]) -> Proposal:
        """A proposal from its plain data."""
        return Proposal.model_validate(data)

    def brainstorm(self, desk: Desk, most: int, tried: Sequence[Tried], effort: Effort) -> Brainstorm:
        """The most promising targets that can be learned; after a failure, the next ones."""
        gone = {(each.formulation.objective, each.formulation.targets) for each in tried}
        outcome = propose(
            desk.folder,
            desk.card,
            desk.profile,
            max_tasks=most,
            avoid=gone,
            probed="probe" not in desk.ablated,
            diverse="diversity" not in desk.ablated,
        )
        # What was refused before is refused again, and was told then.
        return Brainstorm(outcome.proposals, () if tried else outcome.refusals)

    def design(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> Proposal:
        """Write the package, with another design where findings call for one; its form is the unified one."""
        assert isinstance(formulation, Proposal)
        if findings:
            tables = {table.path: table for table in desk.profile.tables}
            formulation = revise(formulation, findings, tables.get(formulation.table))
            effort.note = f"mended {', '.join(dict.fromkeys(found.code for found in findings))}"
        design(formulation, desk.folder, desk.card, desk.profile, root, desk.provider)
        return formulation

    def check_draft(self, desk: Desk, formulation: Formulation, root: Path) -> Iterable[Finding]:
        """Nothing: the verifier's first gates ask more of the same package."""
        return ()

    def refactor(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> None:
        """Nothing has to be changed, and what was found cannot be mended here."""
        if findings:
            raise GaveUp("not_mended", "the rules know no other form of it")


@functools.cache
def code_hash() -> str:
    """Hash of the code that profiles, proposes and designs: work done by other code is done again."""
    home = Path(generator.__file__).parent
    own = [
        *home.glob("*.py"),
        *home.glob("rules/**/*.py"),
        *home.glob("rules/**/*.j2"),
        *home.glob("tables/*.py"),
        *home.glob("media/*.py"),
    ]
    digest = hashlib.sha256()
    for path in sorted(own):
        digest.update(f"{path.relative_to(home).as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()
