"""The event log of a trial."""

from __future__ import annotations

import datetime
import json
import math
from types import TracebackType
from typing import Any, Self

from harness.records import TrialPaths

SCHEMA_VERSION = 2
"""Of the files written now; :mod:`harness.trajectories.reading` reads older ones too."""


class Trajectory:
    """Appends events to ``trajectory.jsonl``, one strict JSON document per line, flushed at once."""

    def __init__(self, paths: TrialPaths) -> None:
        paths.root.mkdir(parents=True, exist_ok=True)
        self._stream = paths.trajectory.open("w", encoding="utf-8")
        self._write({"schema_version": SCHEMA_VERSION})

    def record(self, kind: str, fields: dict[str, Any]) -> None:
        """Append one event: its kind, the time in UTC, and its fields.

        A number that strict JSON has no word for, which a model can write as a parameter, is written as text.
        """
        self._write({"event": kind, "time": utc_now(), **fields})

    def _write(self, document: dict[str, Any]) -> None:
        # ASCII only: a lone surrogate cannot be encoded, and other separators would break a line in two.
        try:
            line = json.dumps(document, allow_nan=False)
        except ValueError:
            line = json.dumps(_finite(document), allow_nan=False)
        self._stream.write(line + "\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()


def utc_now() -> str:
    """The time, in UTC, to the millisecond, as ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _finite(value: Any) -> Any:
    """The same data with NaN and infinities as text."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
