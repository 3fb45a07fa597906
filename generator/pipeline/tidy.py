"""Statistics as a tidy table and as a page of Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from generator.pipeline.labour import WITHIN, AgentWork, Spending
from generator.pipeline.shares import Share, Spread
from generator.pipeline.statistics import Statistics

COLUMNS = ("group", "name", "statistic", "value", "low", "high")


class Row(NamedTuple):
    """One number.

    Attributes:
        group: what it is about: ``funnel``, ``reasons``, ``datasets``, ``tasks_per_dataset``, ``agents``,
            ``steps``, ``spending``, ``verified_task``, ``modality``, ``objective`` or ``metric``.
        name: which of them, such as a stage or an agent.
        statistic: what is told of it; in seconds or US dollars where its name ends so.
        value: the number; ``None`` where there is none, or it is not known.
        low, high: 95 % interval of a share.
    """

    group: str
    name: str
    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None


def rows_of(statistics: Statistics) -> Iterator[Row]:
    """Every number of the statistics, groups together."""
    for stage in statistics.funnel:
        yield Row("funnel", stage.stage, "passed", stage.passed)
        yield Row("funnel", stage.stage, "undecided", stage.undecided)
        if stage.of_before is not None:
            yield _share("funnel", stage.stage, "share_of_stage_before", stage.of_before)
        if stage.of_considered is not None:
            yield _share("funnel", stage.stage, "share_of_considered", stage.of_considered)
    yield _share("funnel", "verified", "share_of_proposed", statistics.of_proposed)
    for stage in statistics.funnel:
        for code, count in stage.reasons.items():
            yield Row("reasons", stage.stage, code, count)
    yield Row("datasets", "all", "datasets", statistics.datasets)
    yield Row("datasets", "undecided", "datasets", statistics.undecided)
    yield Row("datasets", "with_verified_tasks", "datasets", statistics.giving.count)
    yield _share("datasets", "with_verified_tasks", "share", statistics.giving)
    mean = statistics.per_dataset(float(statistics.verified))
    yield Row("datasets", "with_verified_tasks", "verified_tasks_mean", mean)
    for tasks, datasets in statistics.tasks_per_dataset.items():
        yield Row("tasks_per_dataset", str(tasks), "datasets", datasets)
    for work in statistics.agents:
        yield from _work(work)
    for work in statistics.agents:
        for steps, attempts in work.histogram.items():
            yield Row("steps", work.agent, str(steps), attempts)
    yield from _spending(statistics, "with_failures", statistics.spent)
    yield from _spending(statistics, "without_failures", statistics.spent_well)
    yield from _spread("verified_task", "alone", "seconds", statistics.task_seconds)
    yield from _spread("verified_task", "alone", "cost_usd", statistics.task_cost)
    for field, values in statistics.distributions.items():
        for each in values:
            yield Row(field, each.value, "considered", each.considered)
            yield Row(field, each.value, "verified", each.verified)


def _work(work: AgentWork) -> Iterator[Row]:
    yield Row("agents", work.agent, "attempts", work.spent.attempts)
    yield Row("agents", work.agent, "interrupted_attempts", work.interrupted)
    yield Row("agents", work.agent, "formulations", work.once.of)
    yield _share("agents", work.agent, "one_attempt_was_enough", work.once)
    yield _share("agents", work.agent, "needed_second_attempt", work.twice)
    yield _share("agents", work.agent, "needed_third_attempt", work.thrice)
    yield from _spread("agents", work.agent, "steps", work.steps)
    if work.within.of:
        yield _share("agents", work.agent, f"within_{WITHIN}_steps", work.within)
    yield from _spread("agents", work.agent, "seconds", work.seconds)
    yield Row("agents", work.agent, "seconds_total", work.total_seconds)
    yield Row("agents", work.agent, "calls", work.calls)
    yield from _used("agents", work.agent, work.spent)


def _spending(statistics: Statistics, name: str, spent: Spending) -> Iterator[Row]:
    yield Row("spending", name, "attempts", spent.attempts)
    yield Row("spending", name, "preparing_seconds", spent.preparing)
    yield Row("spending", name, "verifying_seconds", spent.verifying)
    yield from _used("spending", name, spent)
    amounts = {
        "preparing_seconds": spent.preparing,
        "verifying_seconds": spent.verifying,
        "cost_usd": spent.money.total,
        "input_tokens": float(spent.usage.input),
        "output_tokens": float(spent.usage.output),
    }
    for what, amount in amounts.items():
        yield Row("spending", name, f"per_verified_task_{what}", statistics.per_task(amount))
        yield Row("spending", name, f"per_dataset_with_verified_tasks_{what}", statistics.per_dataset(amount))


def _used(group: str, name: str, spent: Spending) -> Iterator[Row]:
    for kind, count in spent.usage.model_dump().items():
        yield Row(group, name, f"{kind}_tokens", count)
    yield Row(group, name, "cost_usd", spent.money.total)
    yield Row(group, name, "known_cost_usd", spent.money.known)
    yield Row(group, name, "unpriced_attempts", spent.money.unpriced)


def _share(group: str, name: str, statistic: str, share: Share) -> Row:
    return Row(group, name, statistic, share.value, share.low, share.high)


def _spread(group: str, name: str, what: str, spread: Spread | None) -> Iterator[Row]:
    if spread is not None:
        yield Row(group, name, f"{what}_count", spread.count)
        for part in ("mean", "lower_quartile", "median", "upper_quartile", "largest"):
            yield Row(group, name, f"{what}_{part}", getattr(spread, part))


def as_csv(statistics: Statistics) -> str:
    """One line for each number; what does not exist is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows_of(statistics):
        writer.writerow([*row[:3], *map(_cell, row[3:])])
    return text.getvalue()


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.6f}".rstrip("0").rstrip(".")


def as_markdown(statistics: Statistics) -> str:
    """Tables for people: funnel, reasons, agents, spending, kinds of tasks."""
    blocks = [
        _table(
            "stage|passed|undecided|of the stage before|95 %|of those considered|95 %",
            [
                (str(each.stage), str(each.passed), str(each.undecided), *told(each.of_before),
                 *told(each.of_considered))
                for each in statistics.funnel
            ],
        ),
        _table(
            "not|because|count",
            [
                (str(each.stage), code, str(count))
                for each in statistics.funnel
                for code, count in each.reasons.items()
            ],
        ),
        _table(
            "agent|formulations|one attempt was enough|95 %|needed a second|95 %|needed a third|95 %"
            "|median steps|seconds|input tokens|output tokens|USD",
            [
                (each.agent, str(each.once.of), *told(each.once), *told(each.twice), *told(each.thrice),
                 "–" if each.steps is None else f"{each.steps.median:g}",
                 f"{each.total_seconds:.0f}", str(each.spent.usage.input),
                 str(each.spent.usage.output), dollars(each.spent, each.spent.money.known))
                for each in statistics.agents
            ],
        ),
        _table(
            "for each|failures|seconds preparing|seconds verifying|USD",
            [
                (what, kind, _figure(divide(spent.preparing)), _figure(divide(spent.verifying)),
                 dollars(spent, divide(spent.money.known)))
                for what, divide in (
                    ("verified task", statistics.per_task), ("dataset that gave one", statistics.per_dataset),
                )
                for kind, spent in (("included", statistics.spent), ("left out", statistics.spent_well))
            ],
        ),
        _table(
            "verified tasks|datasets",
            [(str(tasks), str(count)) for tasks, count in statistics.tasks_per_dataset.items()],
        ),
        *(
            _table(
                f"{field}|considered|verified",
                [(each.value or "not settled", str(each.considered), str(each.verified)) for each in values],
            )
            for field, values in statistics.distributions.items()
        ),
    ]  # fmt: skip
    return "\n".join(block for block in blocks if block)


def told(share: Share | None) -> tuple[str, str]:
    """A share with its numbers, and its interval, in percent."""
    if share is None or share.value is None:
        return "–", "–"
    shown = f"{share.value:.1%} ({share.count}/{share.of})"
    interval = "–" if share.low is None or share.high is None else f"{share.low:.1%} to {share.high:.1%}"
    return shown, interval


def dollars(spent: Spending, known: float | None) -> str:
    """The known part of a cost, said to be no more than that where attempts are unpriced."""
    if known is None:
        return "–"
    unpriced = spent.money.unpriced
    if not unpriced:
        return f"{known:.2f}"
    if not known:
        return f"unpriced ({unpriced} of {spent.attempts} attempts)"
    return f"at least {known:.2f} ({unpriced} of {spent.attempts} attempts unpriced)"


def _figure(number: float | None, digits: int = 0) -> str:
    return "–" if number is None else f"{number:.{digits}f}"


def _table(header: str, lines: list[tuple[str, ...]]) -> str:
    if not lines:
        return ""
    names = header.split("|")
    rule = ["---", *["---:"] * (len(names) - 1)]
    shown = (names, rule, *([cell.replace("|", "\\|") for cell in line] for line in lines))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in shown)
