"""``mlesmith agree``: how far rating tables agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mlesmith.console import Json, emit, fail, number, say, show_table

COLUMNS = ("pearson_r", "r_squared", "spearman_rho", "kendall_tau_b", "ccc", "top3_overlap", "top5_overlap")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(agree)


def agree(
    boards: Annotated[
        list[Path], typer.Argument(metavar="A.csv B.csv [C.csv ...]", help="CSV files with model and elo.")
    ],
    json: Json = False,
) -> None:
    """Measure how far two or more rating tables agree: correlations, ranks, concordance, Bland-Altman.

    Example: mlesmith agree boards/board-reference.csv boards/board-smith.csv
    """
    from reports.agreement import agreement_of_files

    if len(boards) < 2:
        fail("agreement needs at least two CSV files with the columns model and elo")
    document = agreement_of_files(boards)
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
    together = document["all_sets"]
    alpha, icc = number(together["cronbach_alpha"]), number(together["icc_2_1"])
    say(f"all sets: Cronbach's alpha {alpha}, ICC(2,1) {icc}")
    for line in document["notes"]:
        say(f"note: {line}")
