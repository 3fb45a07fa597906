"""One attempt of an agent: think, call a tool, observe, until it hands in an answer that holds."""

from __future__ import annotations

from collections.abc import Sequence

from generator.agents.assignment import Assignment
from generator.agents.config import AgentsConfig, settings_of
from generator.agents.fencing import clipped
from generator.agents.forms import FINISH, Form, Unfit, finish_tool, read_answer
from generator.agents.idea import Work
from generator.agents.prompts import NEWEST, prompt, prompts_hash
from generator.agents.tools.base import Kit, Result
from generator.agents.transcript import Transcript
from generator.agents.wording import answering, end_after, summary_line
from generator.backend import Desk, GaveUp
from generator.ledger import Effort
from harness.actions import Action
from harness.agents.format_errors import FormatError
from harness.agents.history import History, window_of
from harness.agents.parsing import Ask, read_actions
from harness.agents.prompting import NEWEST as WORDS
from harness.agents.turns import clean, kept_turn
from harness.agents.wording import format_error_text
from harness.budget import BudgetMeter
from harness.errors import ContextOverflow, TrialEnd, policy_of
from harness.models.base import Message, Reply, Tool, Usage
from harness.models.calling import Caller, Retries
from harness.models.pricing import PriceTable
from harness.models.registry import make_model
from harness.models.windows import with_context_window

_HALVINGS = 3
"""How often a conversation that is refused as too long is made shorter for one call."""


class Session:
    """One attempt.

    Args:
        desk: the dataset.
        agent: which agent, one of :data:`generator.agents.config.AGENTS`.
        name: of what it works on, for the transcript.
        config: who works, and within which bounds.
        effort: is added what the work takes, while it takes it.
        prices: what calls cost.
        retries: how patiently failed calls are repeated.
    """

    def __init__(
        self, desk: Desk, agent: str, name: str, config: AgentsConfig, effort: Effort,
        prices: PriceTable, retries: Retries | None = None,
    ) -> None:  # fmt: skip
        self._config, self._effort, self._prices = config, effort, prices
        self.agent, self.model = agent, config.staff(agent).model
        self.meter = BudgetMeter(config.staff(agent).budget)
        self.transcript = Transcript(desk.transcripts, f"{agent}-{name}" if name else agent)
        settings = with_context_window(settings_of(config.settings, self.model), self.model)
        self._caller = Caller(
            make_model(self.model), settings, meter=self.meter, retries=retries,
            price=self._price, record=self.transcript.record,
        )  # fmt: skip
        effort.model, effort.transcript = self.model.board_name, self.transcript.name

    def run(self, asked: Assignment[Form], kit: Kit) -> Form:
        """The answer that was accepted.

        Raises:
            GaveUp: a limit was reached, or the model does not do it.
            TrialEnd: trouble of the machine or of the model's endpoint.
        """
        try:
            return self._run(asked, kit)
        except TrialEnd as end:
            self.transcript.record("end", {"kind_of_end": type(end).__name__, "reason": str(end)})
            if not policy_of(end).candidates_failure:
                raise
            status = str(policy_of(end).status)
            raise GaveUp(status, f"the {self.agent} ended by its {status}: {end}", again=True) from end

    def work(self) -> Work:
        """What is recorded of it once it has ended."""
        return Work(
            agent=self.agent, model=self.model.board_name, version=self._caller.version or "",
            transcript=self.transcript.name, sha256=self.transcript.sha256,
        )  # fmt: skip

    def _run(self, asked: Assignment[Form], kit: Kit) -> Form:
        tools = (*kit.offered, finish_tool(asked.form, asked.does, asked.without))
        history = self._begun(asked, tools)
        unreadable: list[FormatError] = []
        while True:
            self.meter.check()
            reply = self._ask(history, tools)
            reading = read_actions(reply, tools)
            turn = kept_turn(reply, reading)
            history.replied(turn, reply.usage)
            wrong = [ask.wish for ask in reading.asks if isinstance(ask.wish, FormatError)]
            unreadable = [*unreadable, wrong[0]] if len(wrong) == len(reading.asks) else []
            for ask in reading.asks:
                self.meter.spend_step()
                self._effort.steps += 1
                answer, result = self._done(ask, reply, asked, kit, tools)
                if answer is not None:
                    return answer
                self._observed(history, ask, result)
                if ask is not reading.asks[-1]:
                    self.meter.check_action()
            end_after(unreadable, self._config.max_format_errors)

    def _done(
        self, ask: Ask, reply: Reply, asked: Assignment[Form], kit: Kit, tools: Sequence[Tool]
    ) -> tuple[Form | None, Result]:
        """Carry out one wish: the accepted answer, or what the model is told."""
        wish = ask.wish
        if isinstance(wish, FormatError):
            text = format_error_text(wish, self.meter, self._caller.settings, reply, WORDS, tools)
            return None, Result(False, text)
        if wish.name != FINISH:
            return None, kit.use(wish)
        try:
            answer = read_answer(asked.form, wish.params, asked.without)
        except Unfit as unfit:
            return None, Result(False, f"the answer has not the form that was asked for:\n{unfit}")
        problems = asked.accept(answer)
        if problems:
            return None, Result(False, clipped(problems, self._config.observation_characters))
        self.transcript.record("accepted", {"answer": wish.params})
        return answer, Result(True, "")

    def _begun(self, asked: Assignment[Form], tools: Sequence[Tool]) -> History:
        settings, budget = self._caller.settings, self.meter.budget
        rules = prompt(asked.rules).format(
            steps=budget.steps,
            seconds=f"{budget.execution_seconds:.0f}",
            answering=answering(settings.action_format, tools),
        )
        system = f"{asked.system}\n\n{rules}"
        task = f"{asked.task}\n\n[left: {self.meter.describe()}]"
        fields = {"version": NEWEST, "sha256": prompts_hash(), "system": system, "user": task}
        self.transcript.record("prompt", {**fields, "tools": [vars(tool) for tool in tools]})
        return History(
            system, task, window_of(settings), self._config.recent_steps,
            lambda lines, best: prompt("summary").format(lines="\n".join(lines)),
        )  # fmt: skip

    def _ask(self, history: History, tools: Sequence[Tool]) -> Reply:
        """The model's reply; what is too long for it is made shorter."""
        history.fit()
        for halving in range(_HALVINGS + 1):
            try:
                answer = self._caller.complete(
                    history.messages, tools, expected_input=history.expected_input, step=self.meter.steps + 1
                )
                break
            except ContextOverflow:
                if halving == _HALVINGS or history.halve() is None:
                    raise
        reply = answer.reply
        self._effort.calls += 1
        self._effort.usage += reply.usage
        cost = self._price(reply.usage)
        known = self._effort.cost_usd is not None and cost is not None
        self._effort.cost_usd = (self._effort.cost_usd or 0.0) + (cost or 0.0) if known else None
        self.transcript.record("reply", {
            "step": self.meter.steps + 1, "text": reply.text, "thought": reply.thought,
            "tool_calls": [vars(call) for call in reply.tool_calls], "finish": reply.finish,
            "usage": reply.usage.model_dump(), "version": reply.version,
            "seconds": round(answer.seconds, 3), "messages": len(history.messages),
        })  # fmt: skip
        return reply

    def _observed(self, history: History, ask: Ask, result: Result) -> None:
        """Tell the model what came of a wish."""
        step, wish = self.meter.steps, ask.wish
        text = clean(result.text)
        if not isinstance(wish, FormatError):
            text = f"{'ok' if result.ok else 'error'}: {text}\n\n[left: {self.meter.describe()}]"
        fields = {"step": step, "ok": result.ok, "text": text}
        if isinstance(wish, Action):
            fields |= {"action": wish.name, "params": wish.params}
        self.transcript.record("observation", fields)
        turn = Message("user", text) if ask.call is None else Message("tool", text, tool_call_id=ask.call.id)
        history.answered(step, summary_line(step, wish, result), turn)

    def _price(self, usage: Usage) -> float | None:
        return self._prices.price(self.model.priced_as, usage)
