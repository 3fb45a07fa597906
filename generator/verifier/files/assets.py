"""Side files of single rows: one JSON, MATLAB, NumPy or text file for each test id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.wanted import Wanted, plain_id
from generator.verifier.probing import column_strength
from generator.verifier.public.arrays import plain_arrays
from generator.verifier.public.inventory import Content, PublicFile, contents
from generator.verifier.public.kinds import FileKind
from generator.verifier.public.sheets import UNREADABLE
from generator.verifier.public.words import words_of
from generator.verifier.sampling import sampled_rows, told

_READABLE = (FileKind.TABLE, FileKind.ARRAY, FileKind.TEXT)
_MOST_FIELDS = 200
_MOST_WORDS = 20
_FEWEST = 20
_CERTAIN = 0.98
_STRONG = 0.9


class Assets:
    """The side files of a sample of the test rows, in groups of files that are named alike."""

    def __init__(self, case: Case) -> None:
        self._case = case
        ids = case.answers[case.id_column].map(plain_id)
        rows = _file_stems(case, ids)
        self._all = set(rows)
        names = sorted(set(rows.values()))
        chosen = {names[row] for row in sampled_rows(len(names), case.limits.files.assets)}
        self._rows = {stem: row for stem, row in rows.items() if row in chosen}
        self._groups: dict[str, dict[str, Content]] = {}
        self._counts: dict[str, int] = {}

    def takes_file(self, file: PublicFile) -> bool:
        """Whether a file is one of a row's; it is kept when its row is of the sample."""
        match = self._match(file.name) if file.kind in _READABLE else None
        if match is None:
            return False
        stem, group = match
        self._counts[group] = self._counts.get(group, 0) + 1
        if stem in self._rows and file.size <= self._case.limits.files.text_bytes:
            for content in contents(file, self._case.limits.files):
                self._groups.setdefault(group, {})[self._rows[stem]] = content
        return True

    def takes_member(self, content: Content) -> bool:
        """The same for the member of an archive."""
        match = self._match(content.name) if content.kind in _READABLE else None
        if match is None:
            return False
        stem, group = match
        self._counts[group] = self._counts.get(group, 0) + 1
        if stem in self._rows:
            self._groups.setdefault(group, {})[self._rows[stem]] = content
        return True

    def check(self, wanted: Wanted) -> Iterator[Finding]:
        """Fields of the side files that tell the answers."""
        for group, found in sorted(self._groups.items()):
            kept = {name: content for name, content in found.items() if name in wanted.row_of}
            if len(kept) >= _FEWEST:
                yield from self._check_group(wanted, group, kept)

    def _check_group(self, wanted: Wanted, group: str, found: dict[str, Content]) -> Iterator[Finding]:
        frame = pd.DataFrame([_fields(content) for content in found.values()]).fillna("").astype(str)
        frame = frame.loc[:, frame.nunique() > 1].iloc[:, :_MOST_FIELDS]
        if frame.empty:
            return
        rows = np.array([wanted.row_of[name] for name in found])
        note = told(len(found), self._counts[group], "files")
        fix = "leave the field out of the files of test rows"
        for each in wanted.compared(frame, rows):
            yield finding(
                "answers_public",
                f"public/{group}: field {each.column} tells {each.target} of the test rows: {each.how}{note}",
                fix,
            )
            return
        for target, truth in wanted.truths.items():
            values = truth.iloc[rows].reset_index(drop=True)
            for column in frame.columns:
                known = column_strength(frame[column], values, wanted.kinds[target])
                if known.gain >= _STRONG and known.z >= wanted.limits.telling_z:
                    yield finding(
                        "answers_public",
                        f"public/{group}: field {column} alone goes {known.gain:.0%} of the way from chance "
                        f"to {target} of the test rows{note}",
                        fix,
                        None if known.gain >= _CERTAIN else Severity.WARNING,
                    )
                    return

    def _match(self, name: str) -> tuple[str, str] | None:
        """The id in a file's name, and the name with ``{id}`` for it."""
        path = PurePosixPath(name)
        base = path.name.removesuffix(path.suffix)
        for word in (path.name, base, base.partition(".")[0], *re.split(r"[_\-. ]+", base)):
            if word in self._all:
                rest = path.name.replace(word, "{id}", 1)
                return word, (path.parent / rest).as_posix()
        if path.parent.name in self._all:
            return path.parent.name, (path.parent.parent / "{id}" / path.name).as_posix()
        return None


def _file_stems(case: Case, ids: pd.Series) -> dict[str, str]:
    """What in a file's name stands for a test row, with its id: the id, and the stem of its media file."""
    stems = {name: name for name in ids}
    stems |= {PurePosixPath(name).stem: name for name in ids if "/" in name or "." in name}
    if case.media is not None:
        table = case.test if case.test is not None else case.answers
        for link in case.media.test:
            for path, name in zip(link.paths, table[case.id_column], strict=True):
                if path and not path.endswith("/"):
                    stems.setdefault(PurePosixPath(path).stem, plain_id(name))
    stems.pop("", None)
    return stems


def _fields(content: Content) -> dict[str, str]:
    """What a small file holds, by field; nothing when it cannot be read."""
    row: dict[str, str] = {}
    try:
        if content.suffix == "json":
            _flatten("", json.loads(content.data.decode("utf-8-sig")), row)
        elif content.kind is FileKind.ARRAY and content.suffix in ("npy", "npz", "mat"):
            for name, array in plain_arrays(content.data, content.suffix).items():
                _flatten(name, array.tolist(), row)
        else:
            words = words_of(content.data[:100_000].decode("utf-8", errors="replace"))
            row |= {f"word {number + 1}": word for number, word in enumerate(words[:_MOST_WORDS])}
            if words:
                row["last word"] = words[-1]
            if len(words) <= _MOST_WORDS:
                row["text"] = " ".join(words)
    except UNREADABLE:
        return row
    return row


def _flatten(name: str, value: Any, row: dict[str, str]) -> None:
    if len(row) >= _MOST_FIELDS:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            _flatten(f"{name}.{key}" if name else str(key), inner, row)
    elif isinstance(value, list):
        if len(value) <= _MOST_FIELDS and not any(isinstance(item, (dict, list)) for item in value):
            row[f"{name}[]"] = " ".join(str(item) for item in value)
        for number, inner in enumerate(value[:_MOST_WORDS]):
            _flatten(f"{name}[{number}]", inner, row)
    else:
        row[name] = "" if value is None else str(value)
