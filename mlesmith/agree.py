"""``mlesmith agree``: can one set of tasks stand in for another?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mlesmith.console import Json, emit, note, number, say, show_table

COLUMNS = ("pearson_r", "r_squared", "spearman_rho", "kendall_tau_b", "ccc", "top3_overlap", "top5_overlap")


class IntervalKind(StrEnum):
    """Kinds of intervals over tasks."""

    inverted = "inverted"
    basic = "basic"
    bca = "bca"
    percentile = "percentile"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(agree)


def agree(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="A.csv B.csv [C.csv ...]",
            help="Scores (task,model,attempt,score,valid,higher_is_better) or ratings (model,elo).",
        ),
    ],
    level: Annotated[float, typer.Option(min=0.6, max=0.999, help="Coverage of the intervals.")] = 0.95,
    replicates: Annotated[int, typer.Option(min=100, help="Resamples of the tasks.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    interval: Annotated[
        IntervalKind, typer.Option(help="Kind of the intervals over tasks.")
    ] = IntervalKind.inverted,
    prior_sd: Annotated[
        float | None,
        typer.Option(
            min=1.0, max=1e9, help="Gaussian prior on ratings with this SD in Elo; none by default."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=1e9, help="Rating points that do not matter: test equivalence within them."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Can set B replace set A? How far they agree, how sure that is, and what it rests on.

    Tables of scores say most: they are rated first, and intervals come from resampling their tasks.

    Example: mlesmith agree boards/scores-reference.csv boards/scores-smith.csv
    """
    from reports.agreement import agreement_of_files
    from reports.agreement.rated import Options
    from stats.bradley_terry import GaussianPrior

    prior = None if prior_sd is None else GaussianPrior(prior_sd)
    document = agreement_of_files(
        tables, Options(level, replicates, seed, interval.value, prior, margin), progress=note
    )
    if json:
        emit(document)
        return
    show(document)


def show(document: dict[str, Any]) -> None:
    """Print the agreement document for people."""
    from reports.tables import evidence_table

    pairs = document["pairs"]
    show_table(
        "Agreement",
        ("pair", "n", "r", "R2", "rho", "tau-b", "CCC", "top 3", "top 5", "bias", "limits"),
        (
            (
                _plain(f"{pair['a']} - {pair['b']}"),
                str(pair["n"]),
                *(number(pair[column]) for column in COLUMNS),
                number((pair["bland_altman"] or {}).get("bias"), 1),
                f"{number((pair['bland_altman'] or {}).get('loa_low'), 1)} to "
                f"{number((pair['bland_altman'] or {}).get('loa_high'), 1)}",
            )
            for pair in pairs
        ),
    )
    for pair in pairs:
        if pair["n"] > 2:
            table = evidence_table(pair, title=f"{pair['a']} - {pair['b']}: how sure, and what it rests on")
            show_table(_plain(table.title), table.header, table.cells(nothing=""))
            for line in table.notes:
                say(f"  {_plain(line)}")
            say()
    together = document["all_sets"]
    alpha, icc = number(together["cronbach_alpha"]), number(together["icc_2_1"])
    say(f"all sets: Cronbach's alpha {alpha}, ICC(2,1) {icc}")
    say("\n[bold]What this shows[/bold]")
    for pair in pairs:
        if len(pairs) > 1:
            say(f"{_plain(pair['a'])} - {_plain(pair['b'])}")
        for line in pair["shows"]:
            say(f"- {_plain(line)}")
    if document["notes"]:
        say("\n[bold]Mind[/bold]")
    for line in document["notes"]:
        say(f"- {_plain(line)}")


def _plain(text: str) -> str:
    """Text without meaning for rich."""
    from rich.markup import escape

    return escape(text)
