"""Which class a file of media belongs to: by its folder, by a table that lists it, or by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from generator.tables import Recipe

#: How a file name may begin with its class; each takes what the first group matches.
PREFIXES = (r"^([^\W\d_]+(?:[ _-][^\W\d_]+)*)[ _.-]*\d", r"^([^_.-]+)[_.-]")
#: Ways in which a table may name a file, the most exact first.
Names = Literal["path", "place", "name", "stem"]
_LISTED_SHARE = 0.9
_CLASSES = (2, 200)
#: Files of a class on average, at least: fewer, and the values are names rather than classes.
_LEAST_MEAN = 5
_LABEL_WORDS = re.compile(
    r"label|class|category|target|species|genre|diagnosis|breed|type|kind", re.IGNORECASE
)


@dataclass(frozen=True)
class Labels:
    """How the class of each file is found.

    Attributes:
        by: the folder it lies in, a table, or the beginning of its name.
        deep: whether class folders of the same names lie in several folders, such as train and test.
        table: of labels by a table, its path as profiled; likewise the rest.
        recipe: how that table is read.
        file_column: which names the files.
        label_column: which holds the classes.
        names: whether files are named by their path below the root or below the raw folder (their place), by
            their name, or by it without suffix.
        pattern: of labels by the name, what its first group matches is the class.
    """

    by: Literal["folder", "table", "name"]
    deep: bool = False
    table: str = ""
    recipe: Recipe | None = None
    file_column: str = ""
    label_column: str = ""
    names: Names = "path"
    pattern: str = ""


def find_labels(
    folder: Path, root: Path, files: Sequence[Path], tables: Sequence[tuple[str, Recipe, pd.DataFrame]]
) -> Labels | None:
    """How the files are labelled, or ``None``: by a table with a column of labels, folders, a table, names.

    Args:
        folder: the raw folder.
        root: the folder that all of ``files`` lie below, or the one that holds the class folders.
        files: of one kind.
        tables: path, recipe and rows of each table that may list them.
    """
    listed = [found for table in tables if (found := _by_table(folder, root, files, *table)) is not None]
    best = max(listed, key=lambda each: each[0], default=None)
    # A column called a label says more than folders, which may be mere parts of the data.
    if best is not None and best[0][0]:
        return best[1]
    parents = {path.parent for path in files}
    if len(parents) >= 2 and {parent.parent for parent in parents} == {root}:
        return Labels("folder")
    if _class_folders(files):
        return Labels("folder", deep=True)
    if best is not None:
        return best[1]
    for pattern in PREFIXES:
        matches = [match[1] for path in files if (match := re.match(pattern, path.name))]
        if len(matches) >= _LISTED_SHARE * len(files) and _fit(Counter(matches)):
            return Labels("name", pattern=pattern)
    return None


def labelled(
    folder: Path, root: Path, files: Sequence[Path], labels: Labels | None
) -> list[tuple[Path, str]]:
    """Each file that has a class, with it, in the order of the files."""
    if labels is None:
        return []
    if labels.by == "folder":
        if labels.deep:
            names = _class_folders(files)
            return [(path, path.parent.name) for path in files if path.parent.name in names]
        return [(path, path.parent.name) for path in files if path.parent.parent == root]
    if labels.by == "name":
        pairs = ((path, re.match(labels.pattern, path.name)) for path in files)
        return [(path, match[1]) for path, match in pairs if match]
    assert labels.recipe is not None
    table = labels.recipe.read(folder).dropna(subset=[labels.file_column, labels.label_column])
    table = table[~table[labels.file_column].astype(str).duplicated()]
    classes = dict(zip(table[labels.file_column].astype(str), table[labels.label_column], strict=True))
    named = ((path, naming(path, folder, root, labels.names)) for path in files)
    return [(path, as_class(classes[name])) for path, name in named if name in classes]


def _class_folders(files: Sequence[Path]) -> set[str]:
    """Names of folders of files that come again in another folder; at least two, else none."""
    parents = {path.parent for path in files}
    names = Counter(parent.name for parent in parents)
    found = {name for name, count in names.items() if count >= 2}
    return found if len(found) >= 2 else set()


def naming(path: Path, folder: Path, root: Path, names: Names) -> str:
    """What a table calls a file."""
    if names in ("path", "place"):
        return path.relative_to(root if names == "path" else folder).as_posix()
    return path.name if names == "name" else path.stem


def as_class(value: object) -> str:
    """A label as text; whole numbers without a fraction."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _by_table(
    folder: Path, root: Path, files: Sequence[Path], path: str, recipe: Recipe, rows: pd.DataFrame
) -> tuple[tuple[int, int], Labels] | None:
    for column in rows.columns:
        cells = set(rows[column].dropna().astype(str))
        if len(cells) < 0.5 * len(files):
            continue
        ways: tuple[Names, ...] = ("path", "place", "name", "stem")
        for names in ways:
            called = {naming(file, folder, root, names) for file in files}
            if len(called) == len(files) and len(called & cells) >= 0.5 * len(files):
                return _label_column(path, recipe, rows, str(column), names, called)
    return None


def _label_column(
    path: str, recipe: Recipe, rows: pd.DataFrame, column: str, names: Names, called: set[str]
) -> tuple[tuple[int, int], Labels] | None:
    """The column of classes beside the one that names the files: by its name, else that of fewest values."""
    known = rows[rows[column].astype(str).isin(called)].drop_duplicates(column)
    fit = []
    for other in rows.columns.drop(column):
        counts = Counter(as_class(value) for value in known[other].dropna())
        if _fit(counts) and known[other].notna().mean() >= 0.5:
            fit.append((bool(_LABEL_WORDS.search(str(other))), -len(counts), str(other)))
    if not fit:
        return None
    named, few, label = max(fit, key=lambda each: each[:2])
    return (named, few), Labels("table", False, path, recipe, column, label, names)


def _fit(counts: Counter[str]) -> bool:
    return _CLASSES[0] <= len(counts) <= _CLASSES[1] and counts.total() >= _LEAST_MEAN * len(counts)
