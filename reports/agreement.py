"""Agreement of rating tables that lie in CSV files: what ``mlesmith agree --json`` prints."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError

if TYPE_CHECKING:
    from stats.agreement.pair import Agreement

SCHEMA_VERSION = 1
FEW_MODELS = 10
_NO_NUMBER = ("", "na", "nan")
_OWN_KEYS = ("bland_altman", "intervals", "models", "dropped", "notes")


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


def agreement_of_files(paths: Sequence[Path]) -> dict[str, Any]:
    """The agreement of every two of some CSV files with the columns model and elo, as a strict JSON document.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    from stats.agreement.pair import agree

    files = read_rating_files(paths)
    results = [
        agree(a.ratings, b.ratings, a.name, b.name, part_whole=is_part_whole(a.name, b.name))
        for a, b in combinations(files, 2)
    ]
    tables = {file.name: file.ratings for file in files}
    return agreement_document(results, tables, {file.name: file.unrated for file in files})


def agreement_document(
    results: Sequence[Agreement],
    tables: Mapping[str, Mapping[str, float]],
    unrated: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Agreement of several sets as strict JSON data.

    Args:
        results: of the pairs.
        tables: by name of the set, Elo by model, for the figures over all sets.
        unrated: by name of the set, its models without a rating.

    Returns:
        Keys schema_version, sets, pairs (see :func:`pair_document`), all_sets (n, cronbach_alpha, icc_2_1)
        and notes. Undefined figures are ``None``, and a note says why.
    """
    from stats.agreement.pair import align
    from stats.agreement.reliability import cronbach_alpha, icc_2_1

    notes = [
        f"{name}: no Elo for {', '.join(models)}: an order at most, but no finite rating; left out"
        for name, models in unrated.items()
        if models
    ]
    said: dict[str, list[str]] = {}
    for result in results:
        remarks = pair_notes(result)
        for here, there in ((result.a, result.b), (result.b, result.a)):
            known = {*tables[there], *unrated.get(there, ())}
            if absent := sorted(set(tables[here]) - known):
                remarks.append(f"not in {there}: {', '.join(absent)}")
        for remark in remarks:
            said.setdefault(remark, []).append(f"{result.a} - {result.b}")
    notes += [f"{', '.join(where)}: {remark}" for remark, where in said.items()]
    models, matrix, _ = align(tables)
    alpha = icc = None
    if len(models) > 1:
        alpha, icc = (_number(f(matrix).value) for f in (cronbach_alpha, icc_2_1))
    if len(tables) > 2 and any(is_part_whole(a, b) for a, b in combinations(tables, 2)):
        notes.append("all sets: one contains others, so alpha and ICC(2,1) over all sets are inflated")
    return {
        "schema_version": SCHEMA_VERSION,
        "sets": list(tables),
        "pairs": [pair_document(result) for result in results],
        "all_sets": {"n": len(models), "cronbach_alpha": alpha, "icc_2_1": icc},
        "notes": notes,
    }


def pair_document(result: Agreement) -> dict[str, Any]:
    """One pair: figures by name, ``bland_altman``, ``intervals`` with method and unit, models and notes."""
    plain = asdict(result)
    return {
        **{key: _strict(value) for key, value in plain.items() if key not in _OWN_KEYS},
        **{key: _strict(plain[key]) for key in _OWN_KEYS},
    }


def pair_notes(result: Agreement) -> list[str]:
    """The notes of a pair, with what few models can show."""
    notes = list(result.notes)
    interval = result.intervals.get("pearson_r")
    if 2 < result.n < FEW_MODELS and interval is not None and interval.unit == "models":
        notes.append(
            f"few models (n = {result.n}): for other models like these, r may lie from {interval.low:.3f} to "
            f"{interval.high:.3f} ({interval.level:.0%} {interval.method}); ratings alone cannot say how far "
            "other tasks matter"
        )
    return notes


def is_part_whole(a: str, b: str) -> bool:
    """Whether, by their names, one board holds tasks of the other: combined, a set or a modality."""
    return a != b and _kind(a) != _kind(b)


def _kind(name: str) -> str:
    lower = name.lower().removeprefix("board-")
    return "combined" if lower == "combined" else "modality" if lower.startswith("modality-") else "set"


def read_rating_files(paths: Sequence[Path]) -> list[RatingFile]:
    """Read several files; names that two of them share are replaced by their paths.

    Raises:
        InputError: fewer than two files, one given twice, or a file that cannot be used.
    """
    if len(paths) < 2:
        raise InputError("agreement needs at least two CSV files with the columns model and elo")
    places = [path.resolve() for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{path}: given twice; give different files")
    files = [read_ratings(path) for path in paths]
    names = [file.name for file in files]
    return [
        file
        if names.count(file.name) == 1
        else RatingFile(file.path, str(file.path), file.ratings, file.unrated)
        for file in files
    ]


def read_ratings(path: Path) -> RatingFile:
    """Read the columns model and elo (and set) of a CSV; all others are ignored.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [name.strip() for name in next(reader, [])]
            rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found; pass an existing CSV file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; pass a CSV file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path}: not valid CSV: {error}") from error
    for column in ("model", "elo"):
        if header.count(column) != 1:
            what = "is missing" if column not in header else "is there more than once"
            shown = ", ".join(name or "(empty)" for name in header) or "nothing"
            raise InputError(f"{path}: line 1: column {column} {what}; the header has {shown}")
    ratings: dict[str, float] = {}
    unrated: list[str] = []
    lines: dict[str, int] = {}
    sets = set()
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(f"{path}: line {line}: {len(cells)} fields where the header has {len(header)}")
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        model = row["model"]
        if not model:
            raise InputError(f"{path}: line {line}: column model: is empty; give a name")
        if model in lines:
            raise InputError(
                f"{path}: line {line}: column model: {model} is already on line {lines[model]}; keep one row"
            )
        lines[model] = line
        sets.add(row.get("set", ""))
        elo = _read_elo(path, line, row["elo"])
        if elo is None:
            unrated.append(model)
        else:
            ratings[model] = elo
    if not lines:
        raise InputError(f"{path}: no rows below the header; add one row per model")
    name = sets.pop() if len(sets) == 1 else ""
    return RatingFile(path, name or path.stem, ratings, tuple(unrated))


def _read_elo(path: Path, line: int, text: str) -> float | None:
    if text.lower() in _NO_NUMBER:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(
            f"{path}: line {line}: column elo: {text!r} is not a finite number; write one, or nothing for a "
            "model without a rating"
        )
    return value


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _strict(value: Any) -> Any:
    """Plain JSON data: NaN and infinities become ``None``."""
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float):
        return _number(value)
    return value
