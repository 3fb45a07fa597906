"""Conditions that must not matter to prepare.py, and which of them does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.differences import difference, prepared_files
from generator.verifier.preparation.running import Run, run
from harness.tasks.package import Task
from harness.tasks.preparing import Conditions

#: The two runs that are compared.
FIRST = Conditions(hash_seed=1, listing="forward", timezone="UTC")
SECOND = Conditions(
    hash_seed=2, elsewhere=True, listing="reverse", timezone="Asia/Kathmandu", umask=0o077, days=200
)
#: What a rerun varies alone, and the words for it.
_VARIED: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "nothing: it draws at random without a seed, or asks for the time, a process id or an address"),
    ({"hash_seed": SECOND.hash_seed}, "the order of sets, which follows Python's hash seed"),
    ({"listing": SECOND.listing}, "the order in which folders are listed"),
    ({"elsewhere": True}, "the folder in which it runs, or where raw/ lies"),
    ({"days": SECOND.days}, "the clock"),
    ({"timezone": SECOND.timezone}, "the time zone"),
    ({"umask": SECOND.umask}, "the umask"),
)
_FIXES = {
    "prepare_needs_place": "build every path from the arguments raw, public and private",
    "not_deterministic": "seed every random choice, sort what comes from sets and folder listings, "
    "and write no time and no path",
}
_TEXTS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".html", ".md", ".xml")
#: What a preparation says that declines to overwrite older output.
_REFUSES = re.compile(
    r"FileExistsError|File exists|(?:already|still) exists?\b|exists already|not empty", re.IGNORECASE
)
_OLD_NAME = "left_over_from_before"
_TAIL_BYTES = 1 << 20


def check_second(case: Case, first: Run, second: Run) -> Iterator[Finding]:
    """Whether the second run, under other conditions, did as the first, which went well."""
    if second.problem is not None:
        yield from _check_failed(case, first, second.problem)
        return
    found = difference(first.made.root, second.made.root)
    if found is None:
        return
    if found.packing:
        yield finding(
            "not_deterministic",
            f"two runs differ in {found.words}: a time stamp or another order within",
            "write archives and compressed files with a fixed time and in sorted order",
            Severity.WARNING,
        )
        return
    matters = _matters(case, first, found.file)
    place = matters == _VARIED[3][1]
    code = "prepare_needs_place" if place else "not_deterministic"
    yield finding(
        code,
        f"two runs in empty folders differ: {found.words}"
        + (f". What matters is {matters}" if matters else ""),
        _FIXES[code],
    )


def _check_failed(case: Case, first: Run, problem: Finding) -> Iterator[Finding]:
    if problem.code in ("prepare_alters_raw", "prepare_timeout"):
        yield problem
        return
    for number, (change, words) in enumerate(_VARIED if _quick(case, first) else ()):
        if not change or "days" in change:
            continue
        again = run(case, f"failing-{number}", replace(FIRST, **change))
        if again.problem is not None:
            code = "prepare_needs_place" if "elsewhere" in change else "not_deterministic"
            yield finding(
                code,
                f"it fails when another is {words}: {again.problem.evidence}",
                _FIXES[code],
            )
            return
    # Only the shifted clock, or all of it together, is left: the clock is ours to set right again.
    again = run(case, "failing-again", replace(SECOND, days=0))
    if again.problem is not None:
        yield again.problem
        return
    yield from check_second(case, first, again)


def _matters(case: Case, first: Run, file: str) -> str:
    """Which condition alone changes a file, or nothing where none does alone."""
    case.say("two runs differ; trying which condition matters")
    for number, (change, words) in enumerate(_VARIED if _quick(case, first) else ()):
        again = run(case, f"varied-{number}", replace(FIRST, **change))
        if again.problem is not None or _differs(first.made.root / file, again.made.root / file):
            shutil.rmtree(again.made.root, ignore_errors=True)
            return words
        shutil.rmtree(again.made.root, ignore_errors=True)
    return ""


def _quick(case: Case, first: Run) -> bool:
    """Whether further runs are worth their time."""
    return first.seconds <= case.limits.preparation.rerun_seconds


def _differs(one: Path, other: Path) -> bool:
    if not one.is_file() or not other.is_file():
        return one.is_file() != other.is_file()
    return one.read_bytes() != other.read_bytes()


def check_leftovers(case: Case, first: Run) -> Iterator[Finding]:
    """Whether a run on top of older output makes what a run in empty folders makes.

    The older output is that of the first run, with each text file a line shorter and a foreign table in each
    folder. Only files that the first run made are compared: what prepare.py leaves lying is not its own.
    """
    files = prepared_files(first.made.root)
    if sum(path.stat().st_size for path in files.values()) > case.limits.preparation.leftover_bytes:
        return
    case.say("running prepare.py on top of older output")
    old = _aged(case, first.made)
    again = run(case, "on-top", FIRST, old=old)
    shutil.rmtree(old.root, ignore_errors=True)
    if again.problem is not None:
        yield finding(
            "reads_leftovers",
            f"it fails where public/ and private/ hold older output: {again.problem.evidence}",
            "make folders with exist_ok=True, and overwrite what is there",
            # That a file must not be there yet is harmless: preparation starts with empty folders.
            Severity.INFO if _REFUSES.search(again.problem.evidence) else Severity.WARNING,
        )
        return
    found = difference(
        first.made.root, again.made.root, names=("empty folders", "older output"), foreign=True
    )
    if found is not None and not found.packing:
        yield finding(
            "reads_leftovers",
            f"a run on top of older output and one in empty folders differ: {found.words}",
            "read from raw/ only, and overwrite what is in public/ and private/",
        )
    shutil.rmtree(again.made.root, ignore_errors=True)


def _aged(case: Case, made: Task) -> Task:
    """A copy of a prepared package as an older version of prepare.py might have left it."""
    root = case.scratch / "older" / made.id
    for folder in ("public", "private"):
        shutil.copytree(made.root / folder, root / folder)
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix.lower() in _TEXTS:
                _drop_last_line(path)
    with made.answer_path.open("rb") as stream:
        few = b"".join(stream.readline() for _ in range(3))
    for folder in ("public", "private"):
        (root / folder / f"{_OLD_NAME}.csv").write_bytes(few)
    return Task(root, made.spec)


def _drop_last_line(path: Path) -> None:
    """Cut a text file after the last line break but one, when that is near its end, else to nothing."""
    with path.open("r+b") as stream:
        size = stream.seek(0, 2)
        start = stream.seek(max(0, size - _TAIL_BYTES))
        tail = stream.read().rstrip(b"\r\n")
        stream.truncate(start + tail.rfind(b"\n") + 1 if b"\n" in tail else 0)
