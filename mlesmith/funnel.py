"""``mlesmith funnel``: what became of the formulations of a generation, and generations compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import Json, emit, note, number, say, show_table

if TYPE_CHECKING:
    from generator.pipeline.comparison import Compared
    from generator.pipeline.statistics import Statistics


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(funnel)


def funnel(
    folders: Annotated[
        list[Path], typer.Argument(metavar="OUT...", help="Folders that `mlesmith generate --out` wrote to.")
    ],
    html: Annotated[
        Path | None, typer.Option(help="Write a readable report with plots to this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Tell how many formulations became verified tasks, why the others did not, and what that took.

    Several folders are compared with the first, dataset by dataset.

    Example: mlesmith funnel tasks --html funnel
    """
    from generator.pipeline.comparison import compare, comparison_document
    from generator.pipeline.statistics import statistics_of
    from generator.pipeline.written import read_generation

    generations = [read_generation(folder) for folder in folders]
    if len(generations) == 1:
        statistics = statistics_of(generations[0].funnel, generations[0].attempts)
        if json:
            emit({"schema_version": 1, **statistics.as_json()})
        else:
            _tell(statistics)
    else:
        compared = compare(generations)
        if json:
            emit(comparison_document(compared))
        else:
            _tell_differences(compared)
    if html is not None:
        from reports.generation.comparison import write_comparison
        from reports.generation.pages import write_generation

        one = len(generations) == 1
        index = write_generation(generations[0], html) if one else write_comparison(generations, html)
        note(f"the report is {index}")


def _tell(statistics: Statistics) -> None:
    from generator.pipeline.tidy import dollars, told

    show_table(
        f"{statistics.verified} verified tasks from {statistics.datasets} datasets",
        ("stage", "passed", "not judged", "of those judged", "95%"),
        (
            (str(each.stage), str(each.passed), str(each.undecided), *told(each.of_before))
            for each in statistics.funnel
        ),
    )
    for each in statistics.funnel:
        for code, count in each.reasons.items():
            say(f"not {each.stage}: {code} {count}")
    if statistics.agents:
        show_table(
            "agents",
            ("agent", "attempts", "one was enough", "95%", "needed a second", "needed a third", "US dollars"),
            (
                (
                    work.agent, str(work.spent.attempts), *told(work.once), told(work.twice)[0],
                    told(work.thrice)[0], dollars(work.spent, work.spent.money.known),
                )
                for work in statistics.agents
            ),
        )  # fmt: skip
    spent = statistics.spent
    say(
        "for each verified task, failures included: "
        f"{number(statistics.per_task(spent.preparing), 0)} s preparing, "
        f"{number(statistics.per_task(spent.verifying), 0)} s verifying, "
        f"{dollars(spent, statistics.per_task(spent.money.known))} US dollars"
    )


def _tell_differences(compared: Sequence[Compared]) -> None:
    from generator.pipeline.comparison import QUANTITIES
    from generator.pipeline.tidy import told

    show_table(
        f"{len(compared)} generations",
        ("generation", "made by", "datasets", "gave a task", "verified", "verified of proposed", "95%"),
        (
            (
                each.name, each.made or "-", str(each.statistics.datasets), told(each.statistics.giving)[0],
                str(each.statistics.verified), *told(each.statistics.of_proposed),
            )
            for each in compared
        ),
        left=2,
    )  # fmt: skip
    for each in compared[1:]:
        show_table(
            f"{each.name} against {compared[0].name}, shared datasets: {each.shared}",
            ("quantity", compared[0].name, each.name, "difference", "from", "to", "p"),
            (
                (
                    title, number(found.first, digits), number(found.other, digits),
                    number(found.difference, digits), number(found.low, digits), number(found.high, digits),
                    number(found.p),
                )
                for found in each.differences
                for title, digits in [QUANTITIES[found.quantity]]
            ),
        )  # fmt: skip
