"""One dataset on the line: brainstorm, make each formulation, and brainstorm again for ideas that failed."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.backend import GaveUp, Tried
from generator.ledger import Effort
from generator.pipeline.funnel import Passage, Stage
from generator.pipeline.making import MOST_ATTEMPTS, Interrupted, Making, Workshop
from generator.pipeline.memory import Places, Round, read_rounds, write_rounds
from generator.pipeline.routing import Agent
from generator.proposals import Formulation, Refusal
from harness.errors import TrialEnd
from harness.records import strict_json


@dataclass(frozen=True)
class Rejection:
    """A formulation or a package that did not become a verified task.

    Attributes:
        task: the id, or the target of a formulation that was refused.
        stage: the stage that it did not pass.
        reason: one line.
        path: the kept package, when there is one.
    """

    task: str
    stage: Stage
    reason: str
    path: Path | None = None


@dataclass(frozen=True)
class DatasetResult:
    """What one dataset gave. ``error`` is set when it could not be worked on to its end."""

    dataset: str
    verified: tuple[Path, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    passages: tuple[Passage, ...] = ()
    error: str | None = None


class Line:
    """The work on one dataset.

    Args:
        shop: the dataset and what works on it.
        home: where its work is remembered.
        most: most tasks.
    """

    def __init__(self, shop: Workshop, home: Path, most: int) -> None:
        self.shop = shop
        self.home = home
        self.most = most
        self._verified: list[Path] = []
        self._rejected: list[Rejection] = []
        self._passages: list[Passage] = []
        self._interrupted: list[str] = []
        self._made: set[str] = set()

    def run(self) -> DatasetResult:
        """Everything that is left to do."""
        rounds = read_rounds(self.home / "brainstorm.json", self._identity())
        tried: list[Tried] = []
        number = 0
        while number < MOST_ATTEMPTS and len(self._verified) < self.most:
            try:
                found = rounds[number] if number < len(rounds) else self._brainstorm(number, tried, rounds)
            except Interrupted as end:
                self._interrupted.append(f"brainstorm: {end}")
                break
            self._refuse(found.refusals)
            formulations = [self.shop.backend.remembered(each) for each in found.formulations]
            new = self._make_all(formulations)
            tried += new
            if not any(each.findings for each in new) or "repair" in self.shop.desk.ablated:
                break
            number += 1
        self._forget_others()
        return DatasetResult(
            self.shop.desk.card.name, tuple(self._verified), tuple(self._rejected), tuple(self._passages),
            "; ".join(self._interrupted) or None,
        )  # fmt: skip

    def _brainstorm(self, number: int, tried: Sequence[Tried], rounds: list[Round]) -> Round:
        desk, started, effort = self.shop.desk, time.monotonic(), Effort()
        desk.say("brainstorm", "looking for targets" if not number else "looking for others")
        outcome, reason = "done", ""
        findings = [found for each in tried for found in each.findings]
        try:
            found = self.shop.backend.brainstorm(desk, self.most - len(self._verified), tried, effort)
            formulations, refusals = found.formulations, found.refusals
        except GaveUp as end:
            outcome, reason, formulations = "gave_up", str(end), ()
            refusals = (Refusal(target=desk.card.name, objective="any", reason=str(end), code=end.code),)
        except TrialEnd as end:
            outcome, reason = "machine", f"{type(end).__name__}: {end}"
            raise Interrupted(reason) from end
        finally:
            self.shop.book(Agent.BRAINSTORMER, "", number + 1, outcome, started, effort, findings, reason)
        new = Round(
            tried=tuple(each.formulation.id for each in tried),
            formulations=tuple(each.model_dump(mode="json") for each in formulations),
            refusals=refusals,
        )
        write_rounds(self.home / "brainstorm.json", self._identity(), [*rounds, new])
        rounds.append(new)
        return new

    def _make_all(self, formulations: Sequence[Formulation]) -> list[Tried]:
        tried = []
        for formulation in formulations:
            if formulation.id in self._made:
                continue
            self._made.add(formulation.id)
            making = Making(self.shop, formulation, Places(self.home / formulation.id))
            try:
                path = making.run()
            except Interrupted as end:
                self._interrupted.append(f"{formulation.id}: {end}")
                self._record(making, "machine", str(end))
                continue
            state = making.state
            self._record(making, state.code, state.reason)
            if not state.code and path is not None:
                self.shop.desk.say("verified", formulation.id)
                self._verified.append(path)
            else:
                self.shop.desk.say("rejected", f"{formulation.id}: {state.code}")
                self._rejected.append(Rejection(formulation.id, _next(state.reached), state.reason, path))
            tried.append(making.tried())
        return tried

    def _record(self, making: Making, code: str, reason: str) -> None:
        made, state = making.formulation, making.state
        self._passages.append(
            Passage(
                self.shop.desk.card.name, made.id, state.reached, code, reason, state.seconds,
                made.modality, made.objective, made.metric,
            )
        )  # fmt: skip

    def _refuse(self, refusals: Sequence[Refusal]) -> None:
        name = self.shop.desk.card.name
        for each in refusals:
            passage = Passage(
                name, each.target, Stage.CONSIDERED, each.code, each.reason, objective=each.objective
            )
            self._passages.append(passage)
            self._rejected.append(Rejection(each.target, Stage.PROPOSED, each.reason))

    def _forget_others(self) -> None:
        """Remove what is left of formulations that are not made any more, such as of other settings."""
        for folder in self.home.iterdir() if self.home.is_dir() else ():
            if (folder / "state.json").is_file() and folder.name not in self._made:
                shutil.rmtree(folder, ignore_errors=True)

    def _identity(self) -> str:
        desk = self.shop.desk
        parts = {
            "backend": self.shop.backend.identity,
            "card": desk.card.model_dump(mode="json"),
            "dataset": desk.profile.sha256,
            "most": self.most,
            "ablated": sorted(desk.ablated),
        }
        return hashlib.sha256(strict_json(parts).encode()).hexdigest()


def _next(reached: Stage) -> Stage:
    order = tuple(Stage)
    return order[min(order.index(reached) + 1, len(order) - 1)]
