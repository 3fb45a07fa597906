"""Gate 2: prepare.py, run under conditions that must not matter, makes what the package ships.

What it makes now is what the later gates look at; without raw data, what is shipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from generator.defects.base import Finding, Severity, has_errors
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.conditions import FIRST, SECOND, check_leftovers, check_second
from generator.verifier.preparation.conservation import check_rows
from generator.verifier.preparation.fabrication import check_values
from generator.verifier.preparation.media_rows import check_media
from generator.verifier.preparation.origins import check_origins
from generator.verifier.preparation.parsing import check_tables
from generator.verifier.preparation.raw_tables import raw_tables
from generator.verifier.preparation.running import run
from generator.verifier.preparation.shipped import add_extras, check_links, check_shipped
from generator.verifier.preparation.submission_files import check_submission_files
from generator.verifier.preparation.tracing import made_rows, trace
from harness.tasks.package import Task


def check(case: Case) -> Iterator[Finding]:
    """Run prepare.py and compare; on success ``case.prepared`` points to the data to look at."""
    links = list(check_links(case.task))
    yield from links
    if links:
        return
    if not has_raw(case.task):
        yield from _check_as_shipped(case)
        return
    made, findings = _make(case)
    yield from findings
    if made is None:
        return
    shutil.copyfile(case.task.description_path, made.public / "description.txt")
    yield from check_links(made)
    yield from check_shipped(case.task, made)
    add_extras(case.task, made)
    case.prepared = made
    unfit = list(check_submission_files(made))
    yield from unfit
    if not has_errors(unfit):
        case.say("comparing rows with the raw data")
        yield from check_content(case)


def check_content(case: Case) -> Iterator[Finding]:
    """Whether the prepared rows and cells are those of the raw data."""
    tables = raw_tables(case.task.raw, case.scratch, case.limits.preparation.table_bytes)
    yield from check_tables(case, tables)
    yield from check_media(case, tables)
    made = made_rows(case)
    found = None if made is None else trace(case, made, tables)
    if found is not None:
        yield from check_rows(case, found, tables)
        yield from check_values(case, found)
        yield from check_origins(case, found, tables)


def has_raw(task: Task) -> bool:
    """Whether the package comes with raw data."""
    return task.raw.is_dir() and any(path.is_file() for path in task.raw.rglob("*"))


def _check_as_shipped(case: Case) -> Iterator[Finding]:
    """Without raw data nothing can be made: the shipped data are looked at as they are."""
    for path in (case.task.sample_path, case.task.answer_path):
        if not path.is_file():
            where = path.relative_to(case.task.root)
            yield finding("missing_output", f"{where} is not there", "ship it, or the raw data")
            return
    case.prepared = case.task
    unfit = list(check_submission_files(case.task))
    yield from unfit
    if not has_errors(unfit):
        yield from check_tables(case, [])


def _make(case: Case) -> tuple[Task | None, list[Finding]]:
    """The data that prepare.py makes, unless it cannot make any, and what its runs show."""
    case.say("running prepare.py twice, under different conditions")
    size = sum(path.stat().st_size for path in case.task.raw.rglob("*") if path.is_file())
    guarded = size > case.limits.preparation.raw_bytes
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda each: run(case, each[0], each[1], guarded=each[2]),
            (("first", FIRST, True), ("second", SECOND, guarded)),
        )
    if first.problem is not None:
        return None, [first.problem]
    findings = list(check_second(case, first, second))
    shutil.rmtree(second.made.root, ignore_errors=True)
    if not any(found.severity is Severity.ERROR for found in findings):
        findings += check_leftovers(case, first)
    unfit = {"prepare_failed", "prepare_needs_network", "prepare_needs_place", "prepare_alters_raw"}
    return (None if unfit & {found.code for found in findings} else first.made), findings
