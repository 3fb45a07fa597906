"""``mlesmith agree``: can one set of tasks stand in for another?"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mlesmith.console import Json, emit, note, number, say, show_table

COLUMNS = ("pearson_r", "r_squared", "spearman_rho", "kendall_tau_b", "ccc", "top3_overlap", "top5_overlap")
STATISTICS = {
    "pearson_r": "Pearson r",
    "r_squared": "R2",
    "slope": "slope, least squares",
    "spearman_rho": "Spearman rho",
    "kendall_tau_b": "Kendall tau-b",
    "ccc": "Lin's CCC",
    "top3_overlap": "top 3 overlap",
    "top5_overlap": "top 5 overlap",
}


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
        typer.Option(min=1.0, help="Gaussian prior on ratings with this SD in Elo; none by default."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(min=0.1, help="Rating points that do not matter: test equivalence within them."),
    ] = None,
    json: Json = False,
) -> None:
    """Can set B replace set A? How far they agree, how sure that is, and what it rests on.

    Tables of scores say most: they are rated first, and intervals come from resampling their tasks.

    Example: mlesmith agree boards/scores-reference.csv boards/scores-smith.csv
    """
    from reports.agreement import agreement_of_files
    from reports.agreement.evidence import Options
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
    pairs = document["pairs"]
    show_table(
        "Agreement",
        ("pair", "n", "r", "R2", "rho", "tau-b", "CCC", "top 3", "top 5", "bias", "limits"),
        (
            (
                f"{pair['a']} - {pair['b']}",
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
            _show_intervals(pair)
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


def _show_intervals(pair: dict[str, Any]) -> None:
    """Every statistic with its intervals over tasks and over models, and what it rests on."""
    level = next((i["level"] for i in (pair["intervals"] | pair["intervals_by_models"]).values()), None)
    shown = "interval" if level is None else f"{level:.0%}"
    columns = ["statistic", "value", f"{shown}: other models", "without one model", "p, random pairing"]
    if pair["by_tasks"]:
        columns[2:2] = [f"{shown}: other tasks", "without one task"]
    show_table(f"{pair['a']} - {pair['b']}: how sure", columns, _rows(pair))


def _rows(pair: dict[str, Any]) -> Iterator[list[str]]:
    influence = pair["influence"]
    for name, words in STATISTICS.items():
        row = [words, number(pair[name])]
        if pair["by_tasks"]:
            row += [_interval(pair["intervals"].get(name)), _without(influence["tasks"], name)]
        row += [_interval(pair["intervals_by_models"].get(name)), _without(influence["models"], name)]
        p = pair["permutation"].get(name, {}).get("p")
        yield [*row, "" if p is None else f"{p:.2g}"]
    for name, words in (("deming", "slope, Deming"), ("passing_bablok", "slope, Passing-Bablok")):
        line = pair["lines"][name] or {"slope": None, "slope_interval": None}
        blank = ["", ""] if pair["by_tasks"] else []
        yield [words, number(line["slope"]), *blank, _interval(line["slope_interval"]), "", ""]


def _interval(interval: dict[str, Any] | None) -> str:
    if interval is None or interval["low"] is None or interval["high"] is None:
        return "-"
    return f"{number(interval['low'])} to {number(interval['high'])}"


def _without(influence: dict[str, Any] | None, name: str) -> str:
    """Smallest and largest value without any one model or task."""
    values = [row[name] for row in (influence or {"without": []})["without"] if row[name] is not None]
    return f"{number(min(values))} to {number(max(values))}" if values else "-"


def _plain(text: str) -> str:
    """Text without meaning for rich."""
    from rich.markup import escape

    return escape(text)
