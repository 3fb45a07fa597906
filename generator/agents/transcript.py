"""What a model was asked and answered in one attempt, written down as it happens."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from harness.records import strict_json
from harness.tasks.package import file_hash

SCHEMA_VERSION = 1


class Transcript:
    """A file of JSON lines, each on disk when it is written; keys are never among what is told to it.

    Args:
        folder: of the transcripts.
        name: what it is of; a number is added, as attempts are never written over.

    Attributes:
        path: the file.
    """

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            self.path = folder / f"{name}-{number}.jsonl"
            try:
                self.path.touch(exist_ok=False)
                break
            except FileExistsError:
                continue
        self.record("transcript", {"schema_version": SCHEMA_VERSION, "name": self.name})

    @property
    def name(self) -> str:
        """The file's name below the folder of transcripts."""
        return self.path.name

    @property
    def sha256(self) -> str:
        """Of the file as it is now."""
        return file_hash(self.path)

    def record(self, kind: str, fields: dict[str, Any]) -> None:
        """Add an event."""
        line = strict_json({"kind": kind, **fields}, indent=None) + "\n"
        # A model may write lone surrogates, which no file can hold.
        with self.path.open("ab") as stream:
            stream.write(line.encode("utf-8", "backslashreplace"))
            stream.flush()
