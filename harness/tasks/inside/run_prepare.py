"""Runs a task's ``prepare(raw, public, private)`` inside the sandbox. A standalone script.

run_prepare.py PREPARE.py RAW PUBLIC PRIVATE [CONDITIONS]

CONDITIONS is a JSON object; what it does not name stays as it is:
    elsewhere  true: start in an empty folder of its own
    listing    "forward" or "reverse": folders are listed in that order of their names
    umask      the permissions that new files lack
    days       by how many days the clock is wrong
"""

from __future__ import annotations

import copyreg
import datetime
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


class Listing:
    """What ``os.scandir`` gives, in a fixed order."""

    def __init__(self, entries: Any, backwards: bool) -> None:
        with entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name, reverse=backwards))

    def __iter__(self) -> Listing:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Listing:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        """Nothing is open any more."""


def order_listings(backwards: bool) -> None:
    """Let folders be listed by name; ``glob``, ``os.walk`` and ``pathlib`` rest on these two functions."""
    system: Any = os
    scandir, listdir = os.scandir, os.listdir
    system.scandir = lambda path=".": Listing(scandir(path), backwards)
    system.listdir = lambda path=".": sorted(listdir(path), reverse=backwards)


def shift_clock(days: int) -> None:
    """Let Python's clocks be wrong by whole days. Those of compiled code that ask the system stay right."""
    seconds = days * 86_400
    clock: Any = time
    now, now_ns, local, utc, text = time.time, time.time_ns, time.localtime, time.gmtime, time.strftime
    clock.time = lambda: now() + seconds
    clock.time_ns = lambda: now_ns() + seconds * 10**9
    clock.localtime = lambda at=None: local(time.time() if at is None else at)
    clock.gmtime = lambda at=None: utc(time.time() if at is None else at)
    clock.strftime = lambda form, at=None: text(form, time.localtime() if at is None else at)
    shift_dates()
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        for name in ("now", "utcnow"):
            setattr(
                pandas.Timestamp, name, late(getattr(pandas.Timestamp, name), pandas.Timedelta(days=days))
            )


def shift_dates() -> None:
    """Let ``datetime`` and ``date`` follow ``time.time``, and know, and be pickled as, the real ones."""
    moment: Any = datetime.datetime
    day: Any = datetime.date

    class SameInstances(type):
        real: type

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__dict__.get("real", ())) or super().__instancecheck__(instance)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, cls.__dict__.get("real", ())) or super().__subclasscheck__(other)

    class Moment(datetime.datetime, metaclass=SameInstances):
        real = moment

        def __repr__(self) -> str:
            return f"datetime.{super().__repr__()}"

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return moment.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return moment.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return moment.fromtimestamp(time.time())

    class Day(datetime.date, metaclass=SameInstances):
        real = day

        def __repr__(self) -> str:
            return f"datetime.{super().__repr__()}"

        @classmethod
        def today(cls) -> Any:
            return day.fromtimestamp(time.time())

    module: Any = datetime
    for false, real in ((Moment, moment), (Day, day)):
        false.__module__, false.__name__, false.__qualname__ = "datetime", real.__name__, real.__name__
        copyreg.pickle(real, lambda value, false=false: (false, value.__reduce__()[1]))  # type: ignore[misc]
        setattr(module, real.__name__, false)


def late(clock: Callable[..., Any], shift: Any) -> Any:
    """A static method that gives what ``clock`` gives, and ``shift`` more."""
    return staticmethod(lambda *arguments, **named: clock(*arguments, **named) + shift)


def set_up(conditions: Mapping[str, Any]) -> None:
    """Bring about what the caller asked for."""
    if "umask" in conditions:
        os.umask(conditions["umask"])
    if conditions.get("days"):
        shift_clock(conditions["days"])
    if conditions.get("elsewhere"):
        os.chdir(tempfile.mkdtemp())
    if conditions.get("listing"):
        order_listings(conditions["listing"] == "reverse")


def main() -> None:
    """Import prepare.py and call its ``prepare``."""
    script, *folders = sys.argv[1:5]
    set_up(json.loads(sys.argv[5]) if len(sys.argv) > 5 else {})
    spec = importlib.util.spec_from_file_location("task_prepare", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["task_prepare"] = module
    spec.loader.exec_module(module)
    prepare = getattr(module, "prepare", None)
    if not callable(prepare):
        raise SystemExit("prepare.py defines no function prepare(raw, public, private)")
    raw, public, private = (Path(folder) for folder in folders)
    prepare(raw, public, private)


main()
