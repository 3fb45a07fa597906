"""A trial in words, for the site and for the terminal: budgets, tokens, money, failed calls."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.budget import Budget
from harness.models.base import Usage
from harness.records import Timings
from harness.sandboxes.warm.terminal import plain
from harness.trajectories.events import CompactionEvent, FaultEvent
from harness.trajectories.turns import Turn
from reports.templating import count, duration


def budget_words(budget: Budget) -> str:
    """The limits that are set, for readers: ``15 steps, 12 h, 1 h per execution``."""
    limits = [
        count(budget.steps, "step"),
        budget.seconds and duration(budget.seconds),
        budget.working_seconds and f"{duration(budget.working_seconds)} of work",
        f"{duration(budget.execution_seconds)} per execution",
        budget.tokens and f"{budget.tokens:,} tokens",
        budget.input_tokens and f"{budget.input_tokens:,} input tokens",
        budget.output_tokens and f"{budget.output_tokens:,} output tokens",
        budget.cost_usd and f"${budget.cost_usd:g}",
    ]
    return ", ".join(str(limit) for limit in limits if limit)


def usage_words(usage: Usage) -> str:
    """Tokens, with the parts that there are: ``1,200 tokens in (1,000 cached), 80 out (50 reasoning)``."""
    cached = f" ({usage.cache_read:,} cached)" if usage.cache_read else ""
    reasoning = f" ({usage.reasoning:,} reasoning)" if usage.reasoning else ""
    return f"{usage.input:,} tokens in{cached}, {usage.output:,} out{reasoning}"


def cost_words(cost: float | None) -> str:
    """USD, with two significant digits below a dollar; ``unpriced`` where the price is unknown."""
    if cost is None:
        return "unpriced"
    digits = 2 if cost >= 1 or cost <= 0 else max(2, 1 - math.floor(math.log10(cost)))
    return f"${cost:.{digits}f}"


def time_words(timings: Timings) -> str:
    """A trial's wall time by phase."""
    phases = {
        "model": timings.model,
        "waiting for it": timings.waiting,
        "execution": timings.execution,
        "grading": timings.grading,
    }
    return ", ".join(f"{name} {duration(seconds)}" for name, seconds in phases.items())


def fault_words(fault: FaultEvent) -> str:
    """One failed call: ``attempt 1: rate limit (429) after 0.2 s, then waited 2 s: <message>``."""
    status = f" ({fault.status})" if fault.status is not None else ""
    waited = f", then waited {duration(fault.wait)}" if fault.wait else ""
    kind = fault.kind.replace("_", " ") or "fault"
    return f"attempt {fault.attempt}: {kind}{status} after {duration(fault.seconds)}{waited}: {fault.message}"


def compaction_words(compaction: CompactionEvent) -> str:
    """Which steps left the conversation."""
    if not compaction.dropped:
        return "The conversation was shortened."
    steps = ", ".join(map(str, compaction.dropped))
    return f"{'Step' if len(compaction.dropped) == 1 else 'Steps'} {steps} left the conversation."


def turn_words(turn: Turn, cost: str = "") -> str:
    """What one model call and its actions took, its cost in words; empty when no call succeeded."""
    reply = turn.reply
    if reply is None:
        return ""
    actions = [act.observation.seconds for act in turn.acts if act.observation]
    spent = [seconds for seconds in actions if seconds is not None]
    finish = str(reply.finish).replace("_", " ")
    parts = [
        f"model {duration(reply.seconds)}",
        reply.waited >= 0.05 and f"waited {duration(reply.waited)}",
        reply.attempts > 1 and f"{reply.attempts} attempts",
        spent and f"action {duration(sum(spent))}",
        usage_words(reply.usage),
        cost,
        finish not in ("stop", "tool calls") and f"ended by {finish}",
    ]
    return ", ".join(str(part) for part in parts if part)


def said(turn: Turn) -> str:
    """What a reply says besides its reasoning and its actions.

    Of an action written as text, the prose around it; of a text that could not be read, all of it.
    """
    if turn.reply is None:
        return ""
    acted = next((act.action for act in turn.acts if act.action), None)
    if acted is None or turn.reply.tool_calls:
        return turn.reply.text
    # The action's thought is the reasoning and the prose, one after the other.
    return acted.thought.removeprefix(turn.reply.thought.strip()).strip()


def settings_words(settings: Mapping[str, object]) -> str:
    """What is asked of a model's calls: ``effort low, temperature 0.5``."""
    return ", ".join(
        f"{name.replace('_', ' ')} " + (f"{value:g}" if isinstance(value, float) else str(value))
        for name, value in settings.items()
        if value is not None
    )


def shown(text: object, most: int | None = None) -> str:
    """Text of a model or a program that is safe to show, bounded to ``most`` characters: head and tail.

    It is cut between lines where there are some.
    """
    safe = plain("" if text is None else str(text))
    if most is None or len(safe) <= most:
        return safe
    head, tail = safe[: most // 2], safe[len(safe) - most // 2 :]
    head = head[: head.rfind("\n")] if "\n" in head[most // 4 :] else head
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail[: most // 4] else tail
    return f"{head}\n... {len(safe) - len(head) - len(tail):,} characters left out ...\n{tail}"
