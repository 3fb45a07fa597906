"""``mlesmith rate``: Elo ratings of a table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import Json, emit, number, show_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rate)


def rate(
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES.csv", help="task,model,attempt,score,valid,higher_is_better")
    ],
    level: Annotated[float, typer.Option(min=0.5, max=0.999, help="Coverage of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the rank intervals.")] = 0,
    prior_sd: Annotated[
        float | None,
        typer.Option(min=1.0, help="Gaussian prior on ratings with this SD in Elo; none by default."),
    ] = None,
    json: Json = False,
) -> None:
    """Rate models by a Bradley-Terry fit (base 10, scale 400, mean 1000), with task-clustered intervals.

    Example: mlesmith rate scores.csv
    """
    from leaderboards.scores import read_scores_csv
    from stats.bradley_terry import GaussianPrior
    from stats.ratings import rate as rate_scores

    prior = None if prior_sd is None else GaussianPrior(prior_sd)
    ratings = rate_scores(read_scores_csv(scores), level, prior=prior, seed=seed)
    rows = [
        {
            "model": model,
            "elo": _finite(ratings.elo[i]),
            "elo_low": _finite(ratings.elo_low[i]),
            "elo_high": _finite(ratings.elo_high[i]),
            "rank": _finite(ratings.rank[i]),
            "rank_low": _finite(ratings.rank_low[i]),
            "rank_high": _finite(ratings.rank_high[i]),
            "win_rate": _finite(ratings.win_rate[i]),
            "n_tasks": int(ratings.n_tasks[i]),
            "status": str(ratings.status[i]),
        }
        for i, model in enumerate(ratings.models)
    ]
    if json:
        emit({"schema_version": 1, "ratings": rows, "method": dict(ratings.method)})
        return
    show_table(
        f"Elo, {level:.0%} intervals",
        ("model", "elo", "low", "high", "rank", "from", "to", "win rate", "tasks", "status"),
        (
            (
                str(row["model"]),
                *(number(_float(row[key]), 1) for key in ("elo", "elo_low", "elo_high")),
                *(number(_float(row[key]), 0) for key in ("rank", "rank_low", "rank_high")),
                number(_float(row["win_rate"])),
                str(row["n_tasks"]),
                str(row["status"]),
            )
            for row in rows
        ),
    )


def _finite(value: float) -> float | None:
    return float(value) if value == value and abs(value) != float("inf") else None


def _float(value: object) -> float | None:
    return value if isinstance(value, float) else None
