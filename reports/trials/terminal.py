"""A trial for the terminal: what it was, and what the agent thought, did and saw at every step.

Whatever a model or a program wrote is only ever text here: no escape sequence of a terminal and no markup
of rich in it has an effect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from harness.models.base import Message
from harness.models.pricing import PriceTable
from harness.trajectories.events import (
    EndEvent,
    FaultEvent,
    InternalErrorEvent,
    OtherEvent,
    PromptEvent,
    ReplyEvent,
)
from harness.trajectories.trials import RecordedTrial, call_cost
from harness.trajectories.turns import Act, Turn
from leaderboards.costs import trial_cost
from reports.templating import duration, score
from reports.trials.words import (
    budget_words,
    compaction_words,
    cost_words,
    fault_words,
    said,
    settings_words,
    shown,
    time_words,
    turn_words,
    usage_words,
)

LONGEST = 4_000
"""Characters of any one text, unless all is asked for."""
_WIDTH = 100


class TrialPrinter:
    """Prints trials.

    Args:
        console: where to.
        full: cut nothing.
        prices: what calls cost.
    """

    def __init__(self, console: Console, *, full: bool = False, prices: PriceTable | None = None) -> None:
        self._console = console
        self._most = None if full else LONGEST
        self._prices = prices or PriceTable()

    def trial(
        self, trial: RecordedTrial, turns: Sequence[Turn], *, prompts: bool = False, whole: bool = True
    ) -> None:
        """The head of a trial, its prompts if asked, some of its turns, and, of the whole, how it ended."""
        for name, value in self._head(trial):
            self._print(Text.assemble((f"{name:<9}", "dim"), shown(value)))
        for note in trial.log.notes:
            self._print(Text(f"note: {shown(note)}", style="yellow"))
        if prompts and (prompt := trial.log.first(PromptEvent)):
            self.messages([Message("system", prompt.system), Message("user", prompt.user)])
        for turn in turns:
            self._turn(trial, turn)
        if whole:
            self._ending(trial)

    def messages(self, messages: Sequence[Message]) -> None:
        """A conversation."""
        for number, message in enumerate(messages):
            of = f" (answers {shown(message.tool_call_id)})" if message.tool_call_id is not None else ""
            self._title(f"message {number}: {message.role}{of}")
            self._text(message.text)
            for call in message.tool_calls:
                self._labelled(f"calls {call.name} ({call.id})", _arguments(call.arguments))

    def _head(self, trial: RecordedTrial) -> Iterator[tuple[str, str]]:
        start, record = trial.start, trial.record
        versions = sorted({r.version for r in trial.log.all(ReplyEvent) if r.version} - {start.model})
        yield "trial", f"{start.task_set}/{start.task}, attempt {start.attempt}"
        yield "model", start.model + (f" ({', '.join(versions)})" if versions else "")
        asked = settings_words(start.settings)
        yield "agent", " ".join(filter(None, [start.agent, f"({asked})" if asked else ""]))
        end = trial.log.first(EndEvent)
        if record is None:
            yield "status", f"{end.status}: {end.reason}" if end else "running, or interrupted: no record yet"
            return
        yield "status", str(record.status).replace("_", " ") + (f": {end.reason}" if end else "")
        direction = "higher" if record.higher_is_better else "lower"
        what = f"{record.metric}, {direction} is better"
        at = f", from step {record.score_step}" if record.score_step is not None else ""
        yield (
            "score",
            f"{score(record.score)} ({what}){at}" if record.valid else f"no valid submission ({what})",
        )
        yield "budget", budget_words(record.budget)
        cost = cost_words(trial_cost(record, self._prices))
        yield "used", f"{len(record.steps)} steps, {usage_words(record.usage)}, {cost}"
        yield "time", f"{duration(record.timings.total)} ({time_words(record.timings)})"
        yield "folder", str(trial.paths.root)

    def _turn(self, trial: RecordedTrial, turn: Turn) -> None:
        reply = turn.reply
        steps = f"step {turn.step}" if len(turn.steps) == 1 else f"steps {turn.step} to {turn.steps[-1]}"
        self._title(steps)
        for event in turn.before:
            if isinstance(event, FaultEvent):
                self._print(Text(shown(fault_words(event)), style="yellow"))
            else:
                self._labelled(compaction_words(event), event.text)
        if reply is None:
            self._print(Text("no reply", style="red"))
            return
        if reply.thought:
            self._labelled("thought", reply.thought, style="italic")
        if prose := said(turn):
            self._labelled("said", prose)
        unread = {act.call_id for act in turn.acts if act.error} - {None}
        for call in reply.tool_calls:
            if call.id in unread:
                self._labelled(f"asked for {call.name}", call.arguments)
        for act in turn.acts:
            self._act(act)
        # Which price applies is in the record, so a trial without one has none yet.
        record = trial.record
        cost = cost_words(call_cost(record, reply.usage, self._prices)) if record else ""
        self._print(Text(shown(turn_words(turn, cost)), style="dim"))

    def _act(self, act: Act) -> None:
        if act.action:
            head = Text.assemble(("action  ", "dim"), (shown(act.action.action), "bold"))
            for name, value in act.action.params.items():
                if name != "code":
                    head.append(f" {shown(name)}={shown(json.dumps(value, ensure_ascii=False))}")
            self._print(head)
            if isinstance(code := act.action.params.get("code"), str):
                self._code(code)
        if act.error:
            self._labelled(f"format error ({act.error.kind or 'unreadable'})", act.error.text, style="red")
        if observation := act.observation:
            marks = [
                "ok" if observation.ok else "error",
                f"score {score(observation.score)}" if observation.score is not None else "",
                f"told {score(observation.feedback_score)}"
                if observation.feedback_score not in (None, observation.score)
                else "",
                f"invalid: {observation.reason_code}" if observation.valid is False else "",
            ]
            self._labelled("observation: " + ", ".join(filter(None, marks)), observation.text)

    def _ending(self, trial: RecordedTrial) -> None:
        for error in trial.log.all(InternalErrorEvent):
            self._title("internal error")
            self._text(error.traceback)
        for other in trial.log.all(OtherEvent):
            self._labelled(f"event {other.event}", json.dumps(other.fields, ensure_ascii=False))
        if end := trial.log.first(EndEvent):
            self._title("end")
            self._print(Text(shown(f"{end.status.replace('_', ' ')}: {end.reason}")))

    def _title(self, text: str) -> None:
        self._print(Text())
        self._console.print(Rule(Text(shown(text), style="bold"), align="left", characters="─"))

    def _labelled(self, label: str, text: str, style: str = "") -> None:
        self._print(Text(shown(label), style="dim"))
        self._text(text, style)

    def _text(self, text: str, style: str = "") -> None:
        if text:
            self._print(Text(_indented(shown(text.strip("\n"), self._most)), style=style))

    def _code(self, code: str) -> None:
        text = _indented(shown(code.strip("\n"), self._most))
        # Colours are for people; a pipe gets the program's own lines, none broken or filled up.
        if self._console.is_terminal:
            self._print(Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=True))
        else:
            self._print(Text(text))

    def _print(self, what: RenderableType) -> None:
        self._console.print(what, soft_wrap=isinstance(what, Text) and not self._console.is_terminal)


def trial_console(*, is_terminal: bool) -> Console:
    """A console for trials; a pipe has no width of its own."""
    return Console(highlight=False, markup=False, emoji=False, width=None if is_terminal else _WIDTH)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))


def _arguments(text: str) -> str:
    """The arguments of a call as lines to read: strings as they are, all else as JSON."""
    try:
        arguments = json.loads(text or "{}", strict=False)
    except (ValueError, RecursionError):
        return text
    if not isinstance(arguments, dict):
        return text
    return "\n".join(
        f"{name}: {value}" if isinstance(value, str) else f"{name}: {json.dumps(value)}"
        for name, value in arguments.items()
    )
