"""``mlesmith rate``: Elo ratings of a table of scores or of raw comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from mlesmith.console import Json, emit, fail, number, say, show_table

if TYPE_CHECKING:
    from stats.bradley_terry import Prior

MODEL, FILE, INTERVALS = "Ratings", "Reading the file", "Intervals and differences"


class Grouped(TyperCommand):
    """A command whose help lists the options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each option under the panel it names."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None)
                sections.setdefault(panel or ("Arguments" if argument else "Other"), []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(rate)


def rate(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES.csv",
            help="Columns task,model,attempt,score,valid,higher_is_better; or model_a,model_b,winner and "
            "perhaps weight,task.",
        ),
    ],
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL=RATING",
            help="Shift all ratings so that MODEL has RATING; by default their mean is 1000.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    prior: Annotated[
        Literal["gaussian", "firth"] | None,
        typer.Option(
            help="Give undefeated and winless models finite numbers too: gaussian needs --prior-sd, firth "
            "nothing. None by default.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    prior_sd: Annotated[
        float | None,
        typer.Option(
            min=1.0, max=1e9, help="SD of the gaussian prior in Elo, 300 say.", rich_help_panel=MODEL
        ),
    ] = None,
    ties: Annotated[
        Literal["half", "davidson"],
        typer.Option(
            help="A tie is half a win each, or has a probability of its own (Davidson).",
            rich_help_panel=MODEL,
        ),
    ] = "half",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail, naming them, if models have no plain rating.", rich_help_panel=MODEL
        ),
    ] = False,
    invalid: Annotated[
        Literal["loses", "dropped"] | None,
        typer.Option(
            help="An invalid result loses to a valid one, the default, or counts as missing.",
            rich_help_panel=FILE,
        ),
    ] = None,
    tie_rel: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Scores tie if they differ by at most this share of the larger one.",
            rich_help_panel=FILE,
        ),
    ] = None,
    tie_abs: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Scores tie if they differ by at most this; 0 by default.", rich_help_panel=FILE
        ),
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Coverage of intervals.", rich_help_panel=INTERVALS)
    ] = 0.95,
    rank_interval: Annotated[
        Literal["marginal", "simultaneous"] | None,
        typer.Option(
            help="Each rank interval covers by itself, the default, or all together.",
            rich_help_panel=INTERVALS,
        ),
    ] = None,
    contrasts: Annotated[
        bool,
        typer.Option(
            "--contrasts",
            help="Compare every two models: difference, p (also Holm-adjusted), chance to win a new task.",
            rich_help_panel=INTERVALS,
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the rank intervals.", rich_help_panel=INTERVALS)
    ] = 0,
    json: Json = False,
) -> None:
    """Rate models by a Bradley-Terry fit (base 10, scale 400, mean 1000), with task-clustered intervals.

    \b
    Example: mlesmith rate scores.csv
             mlesmith rate scores.csv --contrasts --tie-rel 0.001
             mlesmith rate scores.csv --prior firth --anchor gpt-4o=1000
             mlesmith rate votes.csv --ties davidson --json
    """
    from leaderboards.rated_file import RateOptions, rate_file

    if ties == "davidson":
        refused = {
            "--prior": prior is not None,
            "--prior-sd": prior_sd is not None,
            "--rank-interval": rank_interval is not None,
            "--contrasts": contrasts,
        }
        if given := [name for name, used in refused.items() if used]:
            fail(f"--ties davidson does not go with {', '.join(given)}; leave one of them out")
    options = RateOptions(
        level=level,
        seed=seed,
        anchor=_anchor(anchor),
        prior=_prior(prior, prior_sd),
        ties=ties,
        strict=strict,
        rank_interval=rank_interval or "marginal",
        invalid=invalid,
        tie_rel=tie_rel,
        tie_abs=tie_abs,
        contrasts=contrasts,
    )
    document = rate_file(results, options)
    if json:
        emit(document)
    else:
        show(document, level)


def show(document: dict[str, Any], level: float) -> None:
    """Print the ratings, the differences if there are any, and the notes."""
    from rich.markup import escape

    from stats.contrasts import SIGN_TEST, T_TEST

    short = {T_TEST: "t", SIGN_TEST: "sign"}
    show_table(
        f"Elo, {100 * level:.4g}% intervals",
        ("model", "elo", "low", "high", "rank", "from", "to", "win rate", "tasks", "status"),
        (
            (
                escape(row["model"]),
                *(number(row[key], 1) for key in ("elo", "elo_low", "elo_high")),
                *(number(row[key], 0) for key in ("rank", "rank_low", "rank_high")),
                number(row["win_rate"]),
                str(row["n_tasks"]),
                row["status"],
            )
            for row in document["ratings"]
        ),
    )
    if "nu" in document["method"]:
        low, high = (number(document["method"][key]) for key in ("nu_low", "nu_high"))
        say(f"nu {number(document['method']['nu'])} ({low} to {high})")
    if document.get("contrasts"):
        show_table(
            "Differences; P: that the first one wins on a new task",
            ("model", "other", "elo", "low", "high", "p", "p (Holm)", "P", "low", "high", "tasks", "test"),
            (
                (
                    escape(row["model"]),
                    escape(row["other"]),
                    *(number(row[key], 1) for key in ("difference", "low", "high")),
                    *("-" if row[key] is None else f"{row[key]:.2g}" for key in ("p", "p_adjusted")),
                    *(number(row[key]) for key in ("probability", "probability_low", "probability_high")),
                    str(row["n_tasks"]),
                    short.get(row["test"], "-"),
                )
                for row in document["contrasts"]
            ),
            left=2,
        )
    for line in document["notes"]:
        say(f"note: {escape(line)}")


def _anchor(text: str | None) -> tuple[str, float] | None:
    """``MODEL=RATING``; the model's name may hold equals signs itself."""
    if text is None:
        return None
    model, _, rating = text.rpartition("=")
    try:
        value = float(rating)
    except ValueError:
        value = float("nan")
    if not model or not abs(value) <= 1e6:
        fail(f"--anchor {text!r}: write a model and a finite rating (at most 1e6 from 0), as in gpt-4o=1000")
    return model, value


def _prior(kind: str | None, sd: float | None) -> Prior | None:
    from stats.bradley_terry import FirthPrior, GaussianPrior

    if kind == "firth":
        if sd is not None:
            fail("--prior-sd is the width of a gaussian prior; Firth's has none: leave it out")
        return FirthPrior()
    if sd is not None:
        return GaussianPrior(sd)
    if kind == "gaussian":
        fail("--prior gaussian needs a width: add --prior-sd 300, say")
    return None
