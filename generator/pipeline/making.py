"""From a formulation to a verified task: design, refactor, verify, and mend what is found, step by step."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.backend import Backend, Desk, GaveUp, Tried
from generator.defects.base import Finding, Gate, Severity, has_errors
from generator.ledger import Attempt, Effort, Ledger
from generator.pipeline.funnel import Stage
from generator.pipeline.memory import Next, Places, State, read_state, write_state
from generator.pipeline.routing import Agent, route
from generator.proposals import Formulation
from generator.verifier.verification import Verdict, Verification
from generator.verifier.verify import Plan, verify_task
from harness.errors import InputError, TrialEnd
from harness.models.base import Usage
from harness.records import strict_json, write_atomically

FINDINGS = "findings.json"
#: How often an agent may work on one formulation. The paper's Refactor needs a third attempt in 1 % of tasks.
MOST_ATTEMPTS = 3
_STEP = {Agent.DESIGNER: Next.DESIGN, Agent.REFACTOR: Next.REFACTOR}
#: The last stage that a task with an error of this gate has passed.
_PASSED_BEFORE = {
    Gate.STRUCTURE: Stage.DESIGNED,
    Gate.PREPARATION: Stage.DESIGNED,
    Gate.EXECUTION: Stage.REVIEWED,
}


class Interrupted(Exception):
    """The machine or a model's endpoint got in the way: nothing is said about the formulation."""


@dataclass(frozen=True)
class Workshop:
    """What is the same for all formulations of a dataset.

    Attributes:
        out: where verified tasks go; those that did not pass are kept below it.
        backend: the agents.
        plan: how tasks are verified; ``None`` leaves that to others.
        desk: the dataset.
        ledger: where every attempt is written down.
        verdicts: the folder of remembered verdicts.
        claims: dataset by task id, of all datasets of a generation.
    """

    out: Path
    backend: Backend
    plan: Plan | None
    desk: Desk
    ledger: Ledger
    verdicts: Path
    claims: dict[str, str]

    def book(
        self,
        agent: str,
        task: str,
        number: int,
        outcome: str,
        started: float,
        effort: Effort,
        mending: Sequence[Finding] = (),
        reason: str = "",
    ) -> None:
        """Write an attempt down; ``started`` is by :func:`time.monotonic`."""
        self.ledger.book(
            Attempt(
                dataset=self.desk.card.name, task=task, agent=agent, number=number, outcome=outcome,
                mending=tuple(dict.fromkeys(found.code for found in mending)), reason=reason,
                seconds=round(time.monotonic() - started, 3), **vars(effort),
            )
        )  # fmt: skip


class Making:
    """The work on one formulation; :meth:`run` does what is left to do, :attr:`state` says what came of it.

    Args:
        shop: what all formulations share.
        formulation: what to make.
        places: where the work lies.
    """

    def __init__(self, shop: Workshop, formulation: Formulation, places: Places) -> None:
        self.shop = shop
        self.formulation = formulation
        self.places = places
        self.state = self._recalled()
        self._was_judged = self.state.next is Next.NOTHING and (
            self.state.reached is Stage.VERIFIED or bool(self.state.code)
        )

    def run(self) -> Path | None:
        """The package, verified or rejected, if there is one.

        Raises:
            Interrupted: the machine got in the way; running again goes on from there.
        """
        if self.state.next is Next.NOTHING and self.state.kept and self.shop.plan is not None:
            self.state.next = Next.VERIFY  # which costs nothing while the verdict is remembered
        steps: dict[Next, Callable[[], None]] = {
            Next.DESIGN: self._design,
            Next.REFACTOR: self._refactor,
            Next.VERIFY: self._verify,
        }
        while self.state.next is not Next.NOTHING:
            started = time.monotonic()
            try:
                steps[self.state.next]()
            finally:
                self.state.seconds += time.monotonic() - started
                write_state(self.places, self.state)
        return self._kept()

    def tried(self) -> Tried:
        """What a Brainstormer is told of it in the next round."""
        findings = self.state.given()
        at_fault = has_errors(findings) and route(findings)[0] is Agent.BRAINSTORMER
        return Tried(self.formulation, findings if at_fault else ())

    # -- the steps -------------------------------------------------------------------------------------

    def _design(self) -> None:
        backend, desk, findings = self.shop.backend, self.shop.desk, self.state.given()

        def work(root: Path, effort: Effort) -> None:
            (root / "raw").mkdir(parents=True, exist_ok=True)
            self.formulation = backend.design(desk, self.formulation, root, findings, effort)

        if not self._attempt(Agent.DESIGNER, Stage.PROPOSED, self.places.draft, None, work):
            return
        self.state.formulation = self.formulation.model_dump(mode="json")
        wrong: list[Finding] = []
        if "assertions" not in desk.ablated:
            wrong = list(backend.check_draft(desk, self.formulation, self.places.draft))
        if has_errors(wrong):
            self._found(wrong)
            if not self._goes_back(Agent.DESIGNER):
                self._end(Stage.PROPOSED, *_worst(wrong))
            return
        self._found(())
        self.state.reached, self.state.next = Stage.DESIGNED, Next.REFACTOR

    def _refactor(self) -> None:
        findings = self.state.given()

        def work(root: Path, effort: Effort) -> None:
            self.shop.backend.refactor(self.shop.desk, self.formulation, root, findings, effort)

        first = self.places.draft if not findings else None
        if self._attempt(Agent.REFACTOR, Stage.DESIGNED, self.places.package, first, work):
            self._found(())
            self.state.kept, self.state.next = True, Next.VERIFY

    def _verify(self) -> None:
        root = self._kept()
        assert root is not None
        if self.shop.plan is None:
            self._settle(root, self._home)
            self._end(Stage.REFACTORED, "", "")
            return
        self.shop.desk.say("verify", self.formulation.id)
        started = time.monotonic()
        result = verify_task(root, self.shop.desk.provider, self.shop.plan, cache=self.shop.verdicts)
        if not result.cached:
            self._book_verification(result, started)
        if result.verdict is Verdict.ERROR:
            raise Interrupted(result.error or "verification was interrupted")
        self._found(result.findings)
        if result.verdict is Verdict.VERIFIED:
            (self._settle(root, self._home) / FINDINGS).unlink(missing_ok=True)
            self._end(Stage.VERIFIED, "", "")
            return
        errors = [found for found in result.findings if found.severity is Severity.ERROR]
        self.state.reached = _PASSED_BEFORE.get(errors[0].stage, Stage.REFACTORED)
        agent = route(errors)[0]
        if self._was_judged or agent is Agent.BRAINSTORMER or not self._goes_back(agent):
            self._reject(*_worst(errors))
            return
        if root != self.places.package:
            self._settle(root, self.places.package)

    # -- what the steps share --------------------------------------------------------------------------

    def _attempt(
        self,
        agent: Agent,
        before: Stage,
        place: Path,
        first: Path | None,
        work: Callable[[Path, Effort], None],
    ) -> bool:
        """One attempt of an agent, on a copy of what is there, which takes its place when it succeeds.

        Args:
            agent: who works.
            before: the stage reached when it gives up.
            place: where its work lies.
            first: what to begin with instead of what lies in ``place``.
            work: does it in a folder.
        """
        findings, name = self.state.given(), self.formulation.id
        number = self.state.attempts.get(agent, 0) + 1
        self.shop.desk.say(_STEP[agent], name if number == 1 else f"{name}, attempt {number}")
        # A run that is killed must not leave half a repair behind.
        fresh = place.parent.with_name(f"{place.parent.name}-new") / place.name
        shutil.rmtree(fresh.parent, ignore_errors=True)
        begin = first or (place if findings else None)
        if begin is not None and begin.is_dir():
            shutil.copytree(begin, fresh, copy_function=_copy)
        else:
            fresh.mkdir(parents=True)
        started, effort, outcome, reason = time.monotonic(), Effort(), "done", ""
        try:
            work(fresh, effort)
        except GaveUp as end:
            outcome, reason = "gave_up", str(end)
            self.state.attempts[agent] = number
            if not (end.again and self._goes_back(agent)):
                self._give_up(before, end.code, reason)
            return False
        except InputError as error:
            outcome, reason = "gave_up", str(error)
            self._give_up(before, "unfit", reason)
            return False
        except TrialEnd as end:
            outcome, reason = "machine", f"{type(end).__name__}: {end}"
            raise Interrupted(reason) from end
        finally:
            self.shop.book(agent, name, number, outcome, started, effort, findings, reason)
        self.state.attempts[agent] = number
        shutil.rmtree(place.parent, ignore_errors=True)
        fresh.parent.rename(place.parent)
        return True

    def _goes_back(self, agent: Agent) -> bool:
        """Let an agent mend what was found, if it may."""
        if "repair" in self.shop.desk.ablated or self.state.attempts.get(agent, 0) >= MOST_ATTEMPTS:
            return False
        self.state.next = _STEP[agent]
        return True

    def _give_up(self, before: Stage, code: str, reason: str) -> None:
        """Nobody can go on; a package that was verified before says more than that it cannot be mended."""
        if self._kept() is not None and has_errors(self.state.given()):
            self._reject(*_worst(self.state.given()))
        else:
            self._end(before, code, reason)

    def _reject(self, code: str, reason: str) -> None:
        root = self._kept()
        assert root is not None
        root = self._settle(root, self._away)
        document = {"schema_version": 1, "task": root.name, "findings": self.state.findings}
        write_atomically(root / FINDINGS, strict_json(document) + "\n")
        self._end(self.state.reached, code, reason)

    def _found(self, findings: Sequence[Finding]) -> None:
        self.state.findings = [found.to_dict() for found in findings]

    def _end(self, reached: Stage, code: str, reason: str) -> None:
        self.state.reached, self.state.code, self.state.reason = reached, code, reason
        self.state.next = Next.NOTHING
        self.state.kept = self._kept() is not None
        if self.state.kept:
            shutil.rmtree(self.places.draft.parent, ignore_errors=True)

    def _settle(self, root: Path, target: Path) -> Path:
        """Move the package to where it belongs; it lies nowhere else then."""
        if root != target:
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            root.rename(target)
        return target

    def _book_verification(self, result: Verification, started: float) -> None:
        number = self.state.attempts["verifier"] = self.state.attempts.get("verifier", 0) + 1
        codes = " ".join(dict.fromkeys(found.code for found in result.findings if has_errors([found])))
        review = result.exhibits.get("review")
        if isinstance(review, dict):
            effort = Effort(
                calls=review["calls"], usage=Usage(**review["tokens"]), cost_usd=review["cost_usd"],
                model=review["model"],
            )  # fmt: skip
            seconds = result.gates.get(Gate.REVIEW, 0.0)
            self.shop.book(
                "reviewer", self.formulation.id, number, "done", time.monotonic() - seconds, effort
            )
        self.shop.book(
            "verifier", self.formulation.id, number, str(result.verdict), started, Effort(), reason=codes
        )

    # -- places ----------------------------------------------------------------------------------------

    @property
    def _home(self) -> Path:
        return self.shop.out / self.formulation.id

    @property
    def _away(self) -> Path:
        return self.shop.out / ".rejected" / self.formulation.id

    def _kept(self) -> Path | None:
        """The package, wherever it lies."""
        return next((path for path in (self.places.package, self._home, self._away) if path.is_dir()), None)

    def _recalled(self) -> State:
        """What is known of earlier work, or a beginning."""
        key, taken = self._key(), self._taken()
        known = None if taken else read_state(self.places, key)
        if known is not None and not (known.kept and self._kept() is None):
            self.formulation = self.shop.backend.remembered(known.formulation)
            return known
        state = State(key=key, formulation=self.formulation.model_dump(mode="json"))
        if taken is not None:
            state.next, state.code = Next.NOTHING, "name_taken"
            state.reason = f"{taken} is there already and was made of other data"
            return state
        for path in (self.places.home, self._home, self._away):
            shutil.rmtree(path, ignore_errors=True)
        return state

    def _taken(self) -> Path | None:
        """A task of that name that is not ours to replace."""
        name = self.shop.desk.card.name
        if self.shop.claims.setdefault(self.formulation.id, name) != name:
            return self._home
        ours = f"dataset = {strict_json(name)}"
        for root in (self._home, self._away):
            spec = root / "task.toml"
            if root.is_dir() and not (spec.is_file() and ours in spec.read_text("utf-8", errors="replace")):
                return root
        return None

    def _key(self) -> str:
        parts: dict[str, Any] = {
            "backend": self.shop.backend.identity,
            "card": self.shop.desk.card.model_dump(mode="json"),
            "dataset": self.shop.desk.profile.sha256,
            "formulation": self.formulation.model_dump(mode="json"),
            "ablated": sorted(self.shop.desk.ablated),
        }
        return hashlib.sha256(strict_json(parts).encode()).hexdigest()


def _copy(source: str, target: str) -> None:
    """Copy a file of a package; raw data, which nothing alters, are linked where the file system can."""
    if f"{os.sep}raw{os.sep}" in target:
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copy2(source, target)


def _worst(findings: Sequence[Finding]) -> tuple[str, str]:
    """Code and evidence of the first error."""
    worst = next(found for found in findings if found.severity is Severity.ERROR)
    return worst.code, worst.evidence
