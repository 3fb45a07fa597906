"""Where participants can see labels: by the target's name, in another column, or in names of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.targets import Kind, listed, separator, to_numbers

#: Where labels are folders of media, in words.
FOLDERS = "the folders of media"

_MOST_FILES = 200_000
#: Files that may hold labels in a form that is not looked into.
_OPAQUE = re.compile(
    r"\.(?:jsonl?|np[yz]|mat|h5|hdf5|pkl|pickle|xml|txt|db|sqlite|zip|tar|gz|7z|tfrecord|arff|ts|dat|bin|csv|tsv"
    r"|parquet|feather|ya?ml|html|md|log|eml|nmea)"
)
_MEDIA = re.compile(r"\.(?:png|jpe?g|bmp|gif|tiff?|webp|wav|mp3|flac|ogg|gsm|mp4|avi|mov|mkv|webm|dcm)")


@dataclass(frozen=True)
class Labels:
    """Values of a target that participants can see.

    Attributes:
        values: one per training row or file, strings, none of them empty.
        where: in words.
        named: whether a column of the target's own name holds them.
        column: the column of another name that holds them, if any.
    """

    values: pd.Series
    where: str
    named: bool
    column: str = ""


def visible(case: Case, target: str) -> Labels | None:
    """The labels of a target in the public data: those that most resemble its answers."""
    tables = [(path, table) for path, table in case.tables.items() if not _asks(case, path)]
    train = case.train_path
    for path, table in sorted(tables, key=lambda item: item[0] != train):
        if target in table.columns and (table[target].str.strip() != "").any():
            values = table[target]
            return Labels(values[values.str.strip() != ""], f"column {target} of {path.name}", named=True)
    known = {case.id_column, *case.targets, *(case.test.columns if case.test is not None else ())}
    for path, table in tables:
        if _knows_test(case, table):
            continue  # what test rows find there as well is no label
        others = [name for name in table.columns if name not in known]
        for name in others:
            if resembles(case, table[name], target):
                values = table[name]
                values = values[values.str.strip() != ""]
                return Labels(values, f"column {name} of {path.name}", named=False, column=name)
        for name in others:
            if bool((table[name] == target).any()):
                # One column a class, as for probabilities: its name stands among the labels.
                values = pd.Series([target], dtype=object)
                return Labels(values, f"labels of {path.name}", named=False, column=name)
    return _in_names(case, target)


def _knows_test(case: Case, table: pd.DataFrame) -> bool:
    if case.id_column not in table.columns:
        return False
    return bool(case.answers[case.id_column].isin(set(table[case.id_column])).mean() > 0.5)


def resembles(case: Case, column: pd.Series, target: str) -> bool:
    """Whether a column could be the target by its values."""
    truth, kind = case.answers[target], case.kinds[target]
    column = column[column.str.strip() != ""]
    if not len(column):
        return False
    if kind is Kind.NUMBER:
        numbers, wanted = to_numbers(column), to_numbers(truth).dropna()
        if numbers.isna().mean() > 0.05 or not len(wanted):
            return False
        return bool(numbers.min() <= wanted.median() <= numbers.max())
    if kind is Kind.CLASS:
        classes, seen = set(spelled(truth)), set(spelled(column))
        return len(classes & seen) >= max(2, len(classes) / 2) or classes <= seen
    mark = separator(truth) if kind is Kind.LABELS else None
    if mark is None:
        return True
    labels = set(listed(truth, mark))
    return len(labels & set(listed(column, mark))) >= len(labels) / 2


def spelled(column: pd.Series) -> pd.Series:
    """Labels in one spelling: ``1``, ``1.0`` and ``True`` are the same class."""
    codes, distinct = pd.factorize(column)
    numbers = to_numbers(pd.Series(distinct, dtype=object))
    if len(distinct) and bool(numbers.notna().all()):
        labels = [f"{value:.15g}" for value in numbers]
    else:
        labels = [value.strip() for value in distinct]
    return pd.Series(np.array(labels, dtype=object)[codes], index=column.index, name=column.name)


def opaque(case: Case) -> bool:
    """Whether public files that are not looked into could hold labels."""
    media = set(case.kinds.values()) - {Kind.CLASS, Kind.NUMBER} if _files(case, _MEDIA) else set()
    return bool(media) or any(
        path not in case.tables and path.name != "description.txt" for path in _files(case, _OPAQUE)
    )


def _asks(case: Case, path: Path) -> bool:
    return path in (case.prepared.sample_path, case.test_path)


def _files(case: Case, suffixes: re.Pattern[str]) -> list[Path]:
    public = case.prepared.public
    return [path for path in sorted(public.rglob("*")) if suffixes.fullmatch(path.suffix.lower())]


def _in_names(case: Case, target: str) -> Labels | None:
    """Classes that are folders, or parts of the names, of media files."""
    if case.kinds[target] is not Kind.CLASS:
        return None
    classes = set(spelled(case.answers[target])) | {target}
    paths = [path.relative_to(case.prepared.public) for path in _files(case, _MEDIA)[:_MOST_FILES]]
    asked = _asked_files(case)
    paths = [path for path in paths if not {path.as_posix(), path.name, path.stem} & asked]
    folders = [part for path in paths for part in path.parent.parts if part in classes]
    if folders:
        return Labels(pd.Series(folders, dtype=object), FOLDERS, named=False)
    words = [word for path in paths for word in _ends(path.stem) if word in classes]
    return Labels(pd.Series(words, dtype=object), "the names of files", named=False) if words else None


def _asked_files(case: Case) -> set[str]:
    """Names and paths by which files of test rows may be called."""
    asked = set(case.answers[case.id_column])
    if case.test is not None and len(case.test) <= _MOST_FILES:
        asked.update(*(case.test[name] for name in case.features or case.test.columns))
    return asked


def _ends(stem: str) -> list[str]:
    """The first and the last word of a file's name."""
    words = re.split(r"[\s_.,;+-]+", stem)
    return [words[0], words[-1]]
