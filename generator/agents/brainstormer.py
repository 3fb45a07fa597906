"""The Brainstormer: explores a dataset, and hands in ideas that are proven before anything is built."""

from __future__ import annotations

from collections.abc import Sequence

from generator.agents.assignment import Assignment
from generator.agents.config import AgentsConfig
from generator.agents.crew import Crew, about
from generator.agents.fencing import clipped, fenced
from generator.agents.idea import OURS, Idea, Ideas
from generator.agents.prompts import prompt
from generator.agents.proof import Flaw, Proven, apart, prove
from generator.backend import Brainstorm, Desk, GaveUp, Tried
from generator.ledger import Effort
from generator.proposals import Refusal
from generator.rules.context import LEAST_ROWS

_SUMMARY = 12_000


def brainstorm(crew: Crew, desk: Desk, most: int, tried: Sequence[Tried], effort: Effort) -> Brainstorm:
    """Ideas that hold, and those that do not with the reasons.

    Raises:
        GaveUp: the model handed in nothing that holds before a limit was reached.
        TrialEnd: trouble of the machine or of the model's endpoint.
    """
    panel = _Panel(desk, most, tried, crew.config)
    with crew.at_work(desk, "brainstormer", "", desk.folder, effort) as (session, bench, kit):
        assignment = Assignment(
            system=prompt("brainstormer"),
            task=prompt("brainstorm").format(
                about=about(desk), raw=bench.raw, work=bench.work, most=most, rows=LEAST_ROWS,
                profile=fenced("its files", clipped("\n".join(desk.profile.summary()), _SUMMARY)),
                tried=_told(tried),
            ),
            form=Ideas, does="Hand in all ideas. They are proven, and you are told what does not hold.",
            accept=panel.look, without=OURS,
        )  # fmt: skip
        try:
            session.run(assignment, kit)
        except GaveUp:
            # What held in an earlier round is not lost with the attempt.
            if not panel.good:
                raise
        work = session.work()
    kept = [idea.model_copy(update={"works": (work,)}) for idea in panel.good]
    refusals = panel.refusals
    if not kept and not refusals:
        reason = "the model found no task in these data"
        refusals = [Refusal(target=desk.card.name, objective="any", reason=reason, code="nothing_found")]
    return Brainstorm(tuple(kept), tuple(refusals))


class _Panel:
    """Proves what is handed in, and says what has to be mended.

    Attributes:
        good: the ideas that hold, of the last round.
        refusals: the others.
    """

    def __init__(self, desk: Desk, most: int, tried: Sequence[Tried], config: AgentsConfig) -> None:
        self._desk, self._most, self._tried = desk, most, tried
        self._round, self._rounds = 0, config.rounds
        self._seconds = config.brainstormer.budget.execution_seconds
        self._known: dict[str, Proven] = {}
        self.good: list[Idea] = []
        self.refusals: list[Refusal] = []

    def look(self, answer: Ideas) -> str:
        """What the model has to mend; nothing when all ideas hold, or the rounds are over."""
        self._round += 1
        self._desk.say("brainstorm", f"proving {len(answer.ideas)} ideas, round {self._round}")
        proven = [self._proven(idea) for idea in answer.ideas[: self._most]]
        judged = proven if "diversity" in self._desk.ablated else apart(proven)
        self.good = [each.idea for each in judged if not each.flaws]
        self.refusals = [each.refusal() for each in judged if each.flaws]
        lines = [f"- {each.idea.id}: {flaw.code}: {flaw.text}" for each in judged for flaw in each.flaws]
        if not lines or self._round >= self._rounds:
            return ""
        left = self._rounds - self._round
        return prompt("flaws").format(good=len(self.good), all=len(judged), left=left,
                                      flaws=fenced("what does not hold", "\n".join(lines)))  # fmt: skip

    def _proven(self, idea: Idea) -> Proven:
        if any((each.formulation.objective, each.formulation.targets) == (idea.objective, idea.targets)
               or each.formulation.id == idea.id for each in self._tried):  # fmt: skip
            text = "this target with this objective, or this id, was tried before: choose another"
            return Proven(idea, (Flaw("tried_before", text),))
        key = idea.model_dump_json()
        if key not in self._known:
            self._known[key] = prove(self._desk, idea, self._seconds)
        return self._known[key]


def _told(tried: Sequence[Tried]) -> str:
    """What the model is told of earlier rounds."""
    if not tried:
        return "Nothing was tried before."
    lines = []
    for each in tried:
        made = each.formulation
        wrong = "; ".join(f"{found.code}: {found.evidence}" for found in each.findings[:5])
        lines.append(f"{made.id}: {made.objective} of {', '.join(made.targets)}; {wrong or 'it was made'}")
    return "These were tried before; propose others:\n" + fenced(
        "tried before", clipped("\n".join(lines), 6_000)
    )
