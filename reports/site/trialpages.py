"""One page per trial: its record and its trajectory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.models.pricing import PriceTable
from harness.records import TrialPaths, write_atomically
from harness.trajectories.trials import call_cost
from leaderboards.costs import trial_cost
from leaderboards.results import Source
from reports.site.trajectory import LONGEST, read_trajectory
from reports.templating import render
from reports.trials import words
from reports.trials.words import shown

FOLDER = "trials"
Key = tuple[str, str, str, int]


def page_names(sources: Sequence[Source]) -> dict[Key, str]:
    """The path of each trial's page, relative to the index; no two differ only in case."""
    names: dict[Key, str] = {}
    taken: set[str] = set()
    for source in sources:
        task_set, task, model, attempt = key = key_of(source)
        stem = base = "-".join(_slug(part) for part in (task_set, task, model, str(attempt)))
        number = 1
        while stem.lower() in taken:
            number += 1
            stem = f"{base}~{number}"
        taken.add(stem.lower())
        names[key] = f"{FOLDER}/{stem}.html"
    return names


def key_of(source: Source) -> Key:
    """What names a trial."""
    record = source.record
    return record.task_set, record.task, record.model, record.attempt


def write_trial_pages(
    sources: Sequence[Source], names: dict[Key, str], out: Path, prices: PriceTable
) -> None:
    """Write all pages; pages of trials that are no longer there are removed."""
    for old in (out / FOLDER).glob("*.html"):
        if f"{FOLDER}/{old.name}" not in names.values():
            old.unlink()
    for source in sources:
        folder = TrialPaths(source.path.parent)
        page = render(
            "trial.html",
            trial=source.record,
            trajectory=read_trajectory(folder.trajectory),
            cost=trial_cost(source.record, prices),
            call_cost=partial(call_cost, source.record, prices=prices),
            text=partial(shown, most=LONGEST),
            words=words,
            folder=folder.root.relative_to(source.job).as_posix(),
        )
        write_atomically(out / names[key_of(source)], page)


def _slug(text: str) -> str:
    """Text that is safe in a file name and in a link."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text.replace("/", "--")) or "-"
