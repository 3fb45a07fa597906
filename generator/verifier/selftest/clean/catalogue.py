"""All clean tasks."""

from __future__ import annotations

from generator.verifier.selftest.clean import media, reference, series, tables, words
from generator.verifier.selftest.clean.task import CleanTask

CLEAN: dict[str, CleanTask] = {
    task.name: task
    for task in (
        tables.CREDIT,
        tables.REGIONS,
        tables.CONCRETE,
        tables.BIOPSIES,
        words.REMARKS,
        words.FILMS,
        words.JOBS,
        media.SCANS,
        media.FOLDERS,
        media.VOWELS,
        series.WATER,
        series.DAYS,
        reference.TRAVEL,
        reference.PENGUINS,
        reference.TITANIC,
        reference.SUNSPOTS,
    )
}
