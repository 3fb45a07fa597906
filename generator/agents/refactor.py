"""The Refactor: brings a draft into the unified structure, prepared, with a description true to its files."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from generator.agents.assignment import Assignment
from generator.agents.crew import Crew, about, listed
from generator.agents.declaration import declare
from generator.agents.designer import mending
from generator.agents.draft import check, public_facts
from generator.agents.fencing import clipped, fenced
from generator.agents.idea import Idea, Work
from generator.agents.package import lay_out, take
from generator.agents.prompts import prompt
from generator.backend import Desk, GaveUp
from generator.defects.base import Finding, has_errors
from generator.ledger import Effort
from harness.errors import TaskError
from harness.sandboxes.kernel import leftovers
from harness.tasks.package import load_task
from harness.tasks.preparing import prepare_task, run_prepare

_FACTS, _FINDINGS = 6_000, 8_000


class Done(BaseModel):
    """A Refactor's answer: the files in its work folder are the package."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    changed: str = Field(max_length=2_000, description="what was changed, in a sentence or two")


def refactor(
    crew: Crew, desk: Desk, idea: Idea, root: Path, findings: Sequence[Finding], effort: Effort
) -> None:
    """Rewrite the package in ``root`` and prepare it: what is run is what is shipped.

    Raises:
        GaveUp: the model did not hand it in, or what it handed in cannot be prepared.
        TrialEnd: trouble of the machine or of the model's endpoint.
    """
    works = idea.works
    if "refactor" not in desk.ablated:
        works = (*works, _rewrite(crew, desk, idea, root, findings, effort))
    declare(desk, idea, root, works)
    try:
        prepare_task(load_task(root), desk.provider)
    except TaskError as error:
        raise GaveUp("prepare_failed", str(error).replace(f"{root}/", "")[:500], again=True) from error


def _rewrite(
    crew: Crew, desk: Desk, idea: Idea, root: Path, findings: Sequence[Finding], effort: Effort
) -> Work:
    """Let the model work on the three files."""
    assert idea.layout is not None
    facts = _facts(desk, idea, root)
    with crew.at_work(desk, "refactor", idea.id, root / "raw", effort) as (session, bench, kit):
        lay_out(bench, root)
        asserted = _Assertions(desk, idea, root, crew.config.rounds)

        def accept(done: Done) -> str:
            return "\n".join(take(bench, root)) or asserted.look()

        assignment = Assignment(
            system=prompt("refactor"),
            task=prompt("unify").format(
                about=about(desk), raw=bench.raw, work=bench.work, title=fenced("title", idea.title),
                problem=fenced("the problem", idea.problem),
                layout=fenced("the layout", idea.layout.model_dump_json(indent=1)),
                facts=fenced("what the draft's prepare.py makes under public", clipped(facts, _FACTS)),
                mending=mending(findings, idea.layout) if findings else "",
            ),
            form=Done, does="Hand in the package: its files are taken from the work folder, run and checked.",
            accept=accept,
        )  # fmt: skip
        session.run(assignment, kit)
        return session.work()


class _Assertions:
    """The assertions after the Refactor, which it is told of while it can still mend them."""

    def __init__(self, desk: Desk, idea: Idea, root: Path, rounds: int) -> None:
        self._desk, self._idea, self._root, self._left = desk, idea, root, rounds

    def look(self) -> str:
        """What is wrong with the package; nothing once the rounds are over, as the verifier looks again."""
        if "assertions" in self._desk.ablated:
            return ""
        self._left -= 1
        declare(self._desk, self._idea, self._root, self._idea.works)
        found = [each for each in check(self._root, self._desk.provider) if has_errors([each])]
        if not found or self._left <= 0:
            return ""
        told = fenced("what was found", clipped(listed(found), _FINDINGS))
        return prompt("assertions").format(findings=told, left=self._left)


def _facts(desk: Desk, idea: Idea, root: Path) -> str:
    """The public files that the draft makes."""
    declare(desk, idea, root, idea.works)
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("facts")) as folder:
        place = Path(folder)
        made = run_prepare(load_task(root), place, desk.provider)
        return "\n".join(public_facts(place / "public")) if made.ok else made.message
