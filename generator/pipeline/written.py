"""What a generation left in its folder, read back."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from generator.ledger import Attempt
from generator.pipeline.funnel import Funnel, Passage, Stage
from generator.pipeline.record import Record, read_record
from harness.errors import InputError
from harness.models.base import Usage


@dataclass(frozen=True)
class Written:
    """A generation's folder.

    Attributes:
        folder: where it is.
        funnel: of ``funnel.csv``.
        attempts: of ``attempts.csv``.
        record: of ``generation.json``; ``None`` where there is none.
    """

    folder: Path
    funnel: Funnel
    attempts: tuple[Attempt, ...]
    record: Record | None = None

    @property
    def told(self) -> str:
        """Who made it and what was left out, for people; empty where that is not known."""
        return " ".join(filter(None, (self.record.agents, self.record.left_out))) if self.record else ""


def read_generation(folder: Path) -> Written:
    """Read the folder that a generation wrote to.

    Raises:
        InputError: it holds no ``funnel.csv`` or ``attempts.csv``, which are written when a generation ends,
            or they are not what a generation writes.
    """
    passages = tuple(_passage(row, folder / "funnel.csv") for row in _rows(folder / "funnel.csv"))
    attempts = tuple(_attempt(row, folder / "attempts.csv") for row in _rows(folder / "attempts.csv"))
    return Written(folder, Funnel(passages), attempts, read_record(folder))


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = csv.DictReader(stream, restkey="", restval="")
            if "dataset" not in (lines.fieldnames or ()):
                raise InputError(f"{path}: is not what a generation writes: there is no column dataset")
            return list(lines)
    except FileNotFoundError:
        raise InputError(f"{path} is not there; `mlesmith generate` writes it when it has ended") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {error}") from error


def _passage(row: dict[str, str], path: Path) -> Passage:
    try:
        known: dict[str, str] = {
            name: row[name] for name in ("code", "reason", "modality", "objective", "metric")
        }
        return Passage(
            row["dataset"], row["task"], Stage(row["reached"]), seconds=float(row["seconds"]), **known
        )
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}: is not what a generation writes: {error}") from error


def _attempt(row: dict[str, str], path: Path) -> Attempt:
    tokens = {name: row.pop(f"{name}_tokens", "0") for name in Usage.model_fields}
    cost = row.pop("cost_usd", "")
    mending = row.pop("mending", "").split()
    try:
        return Attempt.model_validate(row | {"usage": tokens, "mending": mending, "cost_usd": cost or None})
    except ValidationError as error:
        raise InputError(f"{path}: is not what a generation writes: {error.errors()[0]['msg']}") from error
