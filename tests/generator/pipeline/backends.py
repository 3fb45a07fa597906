"""Backends for tests of the line: the rules, with work that goes wrong in a way that is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from generator.backend import Desk, GaveUp
from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.ledger import Effort
from generator.proposals import Formulation, Proposal
from generator.rules.backend import RulesBackend
from harness.errors import ProviderError
from harness.tasks.package import load_task
from harness.tasks.preparing import prepare_task

LEAK = """
    # The target stays, under another name.
    test.rename(columns={TARGETS[0]: "note"}).to_csv(public / "test.csv", index=False)
"""


SPOILT = "\nThe column `phase_of_the_moon` of test.csv is a good place to begin.\n"


@dataclass
class Scripted(RulesBackend):
    """The rules, but for what the script says.

    Attributes:
        designs: for each attempt at a design: ``good``, ``leaks`` (the target stays in test under another
            name), ``unfinished`` (no metric), ``gives up``, ``offline`` (the endpoint fails).
        forms: for each attempt of the Refactor: ``good``, ``spoils`` (the description names a column that is
            not there), ``gives up``.
        mended: codes of the findings that each design and refactoring was given.
    """

    designs: list[str] = field(default_factory=lambda: ["good"])
    forms: list[str] = field(default_factory=lambda: ["good"])
    mended: list[list[str]] = field(default_factory=list)
    script: str = "scripted"

    @property
    def identity(self) -> dict[str, Any]:
        return {"backend": self.script}

    def design(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> Proposal:
        how = self.designs.pop(0)
        self.mended.append([found.code for found in findings])
        effort.steps, effort.calls = 5, 4
        if how == "gives up":
            raise GaveUp("step_limit", "all 5 steps are used", again=True)
        if how == "offline":
            raise ProviderError("503")
        made = super().design(desk, formulation, root, (), effort)
        prepare = root / "prepare.py"
        if how == "leaks":
            prepare.write_text(prepare.read_text().rstrip() + LEAK)
            prepare_task(load_task(root), desk.provider)
        if how == "unfinished":
            (root / "metric.py").unlink()
        return made

    def check_draft(self, desk: Desk, formulation: Formulation, root: Path) -> Iterable[Finding]:
        if not (root / "metric.py").is_file():
            yield finding("missing_file", "metric.py is not there", "write it")

    def refactor(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> None:
        how = self.forms.pop(0)
        self.mended.append([found.code for found in findings])
        if how == "gives up":
            raise GaveUp("no_answer", "it said nothing")
        for path in (root / "description.txt", root / "public" / "description.txt"):
            text = path.read_text(encoding="utf-8").replace(SPOILT, "")
            path.write_text(text + SPOILT if how == "spoils" else text, encoding="utf-8")


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a CSV file."""
    table = pd.read_csv(path, keep_default_na=False)
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
