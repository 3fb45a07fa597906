"""How a generation was made, as ``generation.json``: what two of them must differ in to be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import InputError
from harness.records import strict_json, write_atomically
from harness.tasks.package import describe_validation

RECORD = "generation.json"


class Record(BaseModel):
    """What the last run into a folder was asked for.

    Attributes:
        version: of this package.
        backend: all that the agents' work depends on, as :attr:`generator.backend.Backend.identity` says.
        max_tasks: most tasks for each dataset.
        verification: all that verdicts depend on, as :meth:`generator.verifier.verify.Plan.identity` says;
            ``None`` where nothing was verified.
        without: the parts of the line that were left out.
        datasets: their names, in the order given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = 1
    version: str
    backend: dict[str, Any]
    max_tasks: int
    verification: dict[str, Any] | None
    without: tuple[str, ...] = ()
    datasets: tuple[str, ...]

    @property
    def agents(self) -> str:
        """Who did the work, for people: the backend, and the models it asked."""
        asked = {str(each.get("model", "")) for each in self.backend.get("agents", {}).values()} - {""}
        name = str(self.backend.get("backend", ""))
        return f"{name} ({', '.join(sorted(asked))})" if asked else name

    @property
    def left_out(self) -> str:
        """What was left out, for people; empty where nothing was."""
        parts = list(self.without)
        if self.verification is None:
            parts.append("any verification")
        elif not self.verification.get("deep", True):
            parts.append("baselines")
        elif not self.verification.get("execution", True):
            parts.append("execution by an agent")
        return f"without {', '.join(parts)}" if parts else ""


def write_record(folder: Path, record: Record) -> None:
    """Write it, atomically."""
    write_atomically(folder / RECORD, strict_json(record.model_dump(mode="json")) + "\n")


def read_record(folder: Path) -> Record | None:
    """Read it; ``None`` where there is none.

    Raises:
        InputError: the file is not what a generation writes.
    """
    path = folder / RECORD
    try:
        return Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(f"{path}: is not what a generation writes: {describe_validation(error)}") from error
