"""Writing the finished trials of a trial's or a job's folder to files of other formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.models.pricing import PriceTable
from harness.records import JobPaths, write_atomically
from harness.trajectories.atif import to_atif
from harness.trajectories.openai_messages import to_lines
from harness.trajectories.trials import RecordedTrial, find_finished, read_trial


@dataclass(frozen=True)
class Exported:
    """What an export wrote.

    Attributes:
        trials: how many trials are in it.
        files: what was written.
        left_out: trials that are not in it, with the reason.
    """

    trials: int
    files: list[Path]
    left_out: list[str]


def export_atif(folder: Path, out: Path, prices: PriceTable | None = None) -> Exported:
    """Write trials as ATIF documents.

    Args:
        folder: of a trial, or of a job.
        out: the file, or for a job a folder that gets ``<set>/<task>/<model>/<attempt>.json``.
        prices: what calls cost; the published table when left out.

    Raises:
        InputError: there is no finished trial, none can be exported, or ``out`` cannot be written there.
    """
    many = _is_job(folder)
    _check(out, wants_folder=many)
    files: list[Path] = []
    left_out: list[str] = []
    for root, trial in _trials(folder, left_out):
        path = out / root.relative_to(JobPaths(folder).trials).with_suffix(".json") if many else out
        try:
            document = to_atif(trial, prices)
        except InputError as error:
            left_out.append(str(error))
            continue
        write_atomically(path, json.dumps(document, indent=1, allow_nan=False) + "\n")
        files.append(path)
    _some(folder, files, left_out)
    return Exported(len(files), files, left_out)


def export_openai(folder: Path, out: Path, *, reasoning: bool = False) -> Exported:
    """Write trials as lines of messages, see :mod:`harness.trajectories.openai_messages`.

    Args:
        folder: of a trial, or of a job.
        out: the JSONL file.
        reasoning: keep the model's reasoning.

    Raises:
        InputError: there is no finished trial, none can be exported, or ``out`` is a folder.
    """
    _check(out, wants_folder=False)
    lines: list[str] = []
    left_out: list[str] = []
    trials = 0
    for root, trial in _trials(folder, left_out):
        try:
            written = list(to_lines(trial, reasoning=reasoning))
        except InputError as error:
            left_out.append(str(error))
            continue
        if not written:
            left_out.append(f"{root}: the model never answered")
            continue
        trials += 1
        lines += written
    _some(folder, lines, left_out)
    write_atomically(out, "".join(f"{line}\n" for line in lines))
    return Exported(trials, [out], left_out)


def _is_job(folder: Path) -> bool:
    return JobPaths(folder).config.is_file()


def _trials(folder: Path, left_out: list[str]) -> Iterator[tuple[Path, RecordedTrial]]:
    """The finished trials; of a job, one that cannot be read is left out, and said."""
    for root in find_finished(folder):
        try:
            yield root, read_trial(root)
        except InputError as error:
            if not _is_job(folder):
                raise
            left_out.append(str(error))


def _check(out: Path, *, wants_folder: bool) -> None:
    if wants_folder and out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; a job's trials are written to a folder, a file each")
    if not wants_folder and out.is_dir():
        raise InputError(f"{out}: is a folder; name the file to write")


def _some(folder: Path, written: list[Path] | list[str], left_out: list[str]) -> None:
    if not written:
        raise InputError(f"{folder}: no trial can be exported: {'; '.join(left_out[:3])}")
