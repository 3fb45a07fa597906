"""A file of results, rated: what ``mlesmith rate`` answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.errors import InputError
from leaderboards.outcomes import is_outcomes, read_outcomes
from leaderboards.rating_notes import rating_notes, task_notes
from leaderboards.scores import read_scores
from leaderboards.tables import open_table
from stats.bradley_terry import Prior, Status, fit
from stats.comparisons import Comparisons
from stats.contrasts import contrasts
from stats.davidson import davidson
from stats.ranks import Kind, ranks
from stats.ratings import Ratings, rate
from stats.score_tables import InvalidPolicy
from stats.standings import mean_win_rate

Document = dict[str, Any]
Ties = Literal["half", "davidson"]

_INVALID = {"loses": "loses to valid; two invalid tie", "dropped": "as if missing"}
_NUMBERS = ("elo", "elo_low", "elo_high", "rank", "rank_low", "rank_high", "win_rate")


@dataclass(frozen=True)
class RateOptions:
    """How to rate; see :func:`stats.ratings.rate` and :meth:`stats.comparisons.Comparisons.from_scores`.

    Attributes:
        ties: as half a win each, or with a probability of their own; then prior, rank intervals and contrasts
            do not exist.
        invalid, tie_rel, tie_abs: of score files only, ``None`` for the defaults.
        contrasts: whether to compare every two models.
    """

    level: float = 0.95
    seed: int = 0
    anchor: tuple[str, float] | None = None
    prior: Prior | None = None
    ties: Ties = "half"
    strict: bool = False
    rank_interval: Kind = "marginal"
    invalid: InvalidPolicy | None = None
    tie_rel: float | None = None
    tie_abs: float | None = None
    contrasts: bool = False


def rate_file(path: Path, options: RateOptions) -> Document:
    """Rate a score file, or a file of raw comparisons (told by its columns model_a, model_b).

    Returns:
        ``schema_version``, ``ratings`` (best first), ``method``, ``notes`` and, if asked for, ``contrasts``;
        numbers that do not exist are ``None``.

    Raises:
        InputError: a file that cannot be used, an option that does not fit it, or no such ratings.
    """
    pairs: list[Document] | None = None
    try:
        comparisons, policies, clustered = _read(path, options)
        if options.ties == "davidson":
            rows, method, more = _by_davidson(comparisons, options)
        else:
            ratings = rate(
                comparisons,
                options.level,
                anchor=options.anchor,
                prior=options.prior,
                strict=options.strict,
                rank_interval=options.rank_interval,
                seed=options.seed,
            )
            rows, method, more = _rows(ratings), dict(ratings.method), rating_notes(ratings)
            if options.contrasts:
                pairs, method["contrasts"] = _contrasts(ratings, options)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    notes = [*more, *task_notes(comparisons, clustered)]
    document = {"schema_version": 1, "ratings": rows, "method": method | policies, "notes": notes}
    return document if pairs is None else {**document, "contrasts": pairs}


def _read(path: Path, options: RateOptions) -> tuple[Comparisons, Document, bool]:
    """The comparisons, the policies by which they were made, and whether their tasks are known."""
    with open_table(path) as table:
        if is_outcomes(table.header):
            for_scores = {
                "--invalid": options.invalid, "--tie-rel": options.tie_rel, "--tie-abs": options.tie_abs,
            }  # fmt: skip
            if given := [name for name, value in for_scores.items() if value is not None]:
                raise InputError(f"{path}: {', '.join(given)}: for score files; this one holds comparisons")
            outcomes = read_outcomes(table)
            weights = "as given" if "weight" in outcomes else "each row weighs 1"
            return Comparisons.from_outcomes(outcomes), {"weights": weights}, "task" in outcomes
        scores = read_scores(table)
    invalid, rel, absolute = options.invalid or "loses", options.tie_rel or 0.0, options.tie_abs or 0.0
    if not np.isfinite([rel, absolute]).all():
        raise InputError(f"--tie-rel {rel}, --tie-abs {absolute}: give finite tolerances")
    policies = {
        "weights": "each pair on each task weighs 1, whatever the number of attempts",
        "invalid": _INVALID[invalid],
        "missing": "not a comparison",
        "tie_tolerance": {"relative": rel, "absolute": absolute},
    }
    return Comparisons.from_scores(scores, invalid=invalid, tie_rel=rel, tie_abs=absolute), policies, True


def _rows(ratings: Ratings) -> list[Document]:
    return [
        {
            "model": model,
            **{name: _number(getattr(ratings, name)[i]) for name in _NUMBERS},
            "n_tasks": int(ratings.n_tasks[i]),
            "status": ratings.status[i].value,
        }
        for i, model in enumerate(ratings.models)
    ]


def _contrasts(ratings: Ratings, options: RateOptions) -> tuple[list[Document], Document]:
    """Every pair of models, the better one first, and how they were compared."""
    ordered = ratings.comparisons.subset(ratings.models)
    found = contrasts(ordered, fit(ordered, prior=options.prior), options.level)
    rows = [
        {str(name): _number(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in found.frame().to_dict("records")
    ]
    method = {"method": found.method, "level": found.level, "unit": found.unit, "adjust": found.adjust}
    return rows, method


def _by_davidson(
    comparisons: Comparisons, options: RateOptions
) -> tuple[list[Document], Document, list[str]]:
    """Rows, method and notes of a Davidson fit."""
    try:
        fitted = davidson(comparisons)
    except ValueError as error:
        raise ValueError(f"{error}; --ties half copes with such results") from error
    if not np.isfinite(fitted.nu):
        raise ValueError(f"{', '.join(fitted.notes)}; --ties half rates all models equal")
    intervals = fitted.intervals(options.level)
    shift = _shift(comparisons.models, fitted.ratings, options.anchor)
    # Rounding must not hold equal models apart.
    places = ranks(np.round(fitted.ratings, 7))
    values = {
        "elo": fitted.ratings + shift,
        "elo_low": intervals.low[:-1] + shift,
        "elo_high": intervals.high[:-1] + shift,
        "rank": places,
        "rank_low": np.full(len(places), np.nan),
        "rank_high": np.full(len(places), np.nan),
        "win_rate": mean_win_rate(comparisons),
    }
    rows = [
        {
            "model": comparisons.models[i],
            **{name: _number(values[name][i]) for name in _NUMBERS},
            "n_tasks": int(comparisons.n_tasks[i]),
            "status": Status.RATED.value,
        }
        for i in np.lexsort((np.array(comparisons.models), places))
    ]
    method = {
        "model": "Davidson",
        "base": 10.0,
        "scale": 400.0,
        "offset": 1000.0 + shift,
        "ties": "a probability of their own: between equal models nu / (2 + nu)",
        "nu": fitted.nu,
        "nu_low": _number(np.exp(intervals.low[-1])),
        "nu_high": _number(np.exp(intervals.high[-1])),
        "anchor": None
        if options.anchor is None
        else dict(zip(("model", "rating"), options.anchor, strict=True)),
        "prior": None,
        "n_tasks": fitted.n_tasks,
        "iterations": fitted.iterations,
        "gradient_norm_per_comparison": fitted.gradient_norm,
        "converged": fitted.converged,
        "elo_interval": {"method": intervals.method, "level": intervals.level, "unit": intervals.unit},
        "rank_interval": None,
    }
    return rows, method, [*fitted.notes, "no rank intervals: they exist with --ties half"]


def _shift(models: tuple[str, ...], ratings: Any, anchor: tuple[str, float] | None) -> float:
    """What moves the anchor to its rating."""
    if anchor is None:
        return 0.0
    if anchor[0] not in models:
        raise ValueError(f"the anchor {anchor[0]!r} is not among the models")
    return anchor[1] - float(ratings[models.index(anchor[0])])


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
