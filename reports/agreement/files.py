"""The CSV files that are compared: ratings (model, elo), or tidy scores, told apart by their header."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from leaderboards.tables import Line, Table

TWO_FILES = (
    "agreement needs at least two CSV files: ratings (model,elo) or scores "
    "(task,model,attempt,score,valid,higher_is_better)"
)
NEEDED = "needed are the columns model,elo or task,model,attempt,score,valid,higher_is_better"
_NO_NUMBER = ("", "na", "nan")


@dataclass(frozen=True)
class RatingFile:
    """One file of ratings.

    Attributes:
        name: of the set: its ``set`` column where all rows say the same, else the file's name without suffix.
        ratings: Elo by model, for models that have a number.
        unrated: models whose Elo is empty.
    """

    path: Path
    name: str
    ratings: dict[str, float]
    unrated: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """One file of scores.

    Attributes:
        name: of the set: what stands before the slash where all tasks are named ``<set>/<task>`` alike, else
            the file's name without suffix and the prefix ``scores-``.
        scores: the six columns of :func:`leaderboards.scores.read_scores_csv`.
    """

    path: Path
    name: str
    scores: pd.DataFrame


def read_files(paths: Sequence[Path]) -> list[RatingFile | ScoreFile]:
    """Read several files; names that two of them share are replaced by their paths.

    Raises:
        InputError: fewer than two files, one given twice, or a file that cannot be used.
    """
    if len(paths) < 2:
        raise InputError(TWO_FILES)
    places = [path.resolve() for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{path}: given twice; give different files")
    files = [_read(path) for path in paths]
    names = [file.name for file in files]
    return [file if names.count(file.name) == 1 else replace(file, name=str(file.path)) for file in files]


def _read(path: Path) -> RatingFile | ScoreFile:
    from leaderboards.tables import open_table

    with open_table(path) as table:
        if "elo" in table.header or not {"task", "score"} <= set(table.header):
            return _ratings(table)
        return _scores(table)


def _scores(table: Table) -> ScoreFile:
    from leaderboards.scores import read_scores

    path, scores = table.path, read_scores(table)
    sets = {str(task).partition("/")[0] if "/" in str(task) else "" for task in scores["task"]}
    name = sets.pop() if len(sets) == 1 else ""
    return ScoreFile(path, name or path.stem.removeprefix("scores-") or path.stem, scores)


def _ratings(table: Table) -> RatingFile:
    """The columns model and elo (and set); all others are ignored."""
    path, header = table.path, table.header
    if not header:
        raise InputError(f"{path}: empty; {NEEDED}")
    for column in ("model", "elo"):
        if header.count(column) != 1:
            what = "is missing" if column not in header else "is there more than once"
            shown = ", ".join(name or "(empty)" for name in header)
            raise InputError(f"{path}: line 1: column {column} {what}; the header has {shown}; {NEEDED}")
    ratings: dict[str, float] = {}
    unrated: list[str] = []
    lines: dict[str, int] = {}
    sets = set()
    for line in table.lines:
        model = line.name("model")
        if model in lines:
            raise line.wrong("model", f"is already on line {lines[model]}; keep one row")
        lines[model] = line.number
        sets.add(line.cells.get("set", ""))
        elo = _read_elo(line)
        if elo is None:
            unrated.append(model)
        else:
            ratings[model] = elo
    if not lines:
        raise InputError(f"{path}: no rows below the header; add one row per model")
    name = sets.pop() if len(sets) == 1 else ""
    return RatingFile(path, name or path.stem, ratings, tuple(unrated))


def _read_elo(line: Line) -> float | None:
    text = line.cells["elo"]
    if text.lower() in _NO_NUMBER:
        return None
    from stats.vectors import LARGEST

    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise line.wrong("elo", "is not a finite number; write one, or nothing for a model without a rating")
    if abs(value) > LARGEST:
        raise line.wrong("elo", f"is beyond {LARGEST:g}; correct it")
    return value
