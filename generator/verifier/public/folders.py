"""Training files that lie in one folder for each class, or have the class in their names, as a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import pandas as pd

from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import FileKind

_SIDES = frozenset({FileKind.IMAGE, FileKind.AUDIO, FileKind.TEXT})
_FEWEST = 5
#: Share of the answers that must be among the names of classes, and of the files that must have one.
_NAMED = 0.9
#: A class has at least this many files on average; what varies more numbers the files.
_REPEATS = 5
_SEPARATORS = re.compile(r"[_\-. ]+")
_MOST_WORDS = 8


def class_files(
    files: Iterable[PublicFile], target: str, answers: pd.DataFrame, id_column: str
) -> tuple[str, pd.DataFrame] | None:
    """The folder of the training files, and a table of them with the columns ``path`` and ``target``.

    The files lie in folders that are the classes (``train/cat/1.jpg``), or the class is a word of their names
    (``train/clip7_1.aif``). Nearly all answers must be among these names or words.

    Args:
        files: all under public/ and in archives there.
        target: the name of the target column.
        answers: with the target and the ids; files that ids name are no training files.
        id_column: of the answers.

    Returns:
        ``None`` when there are no such files.
    """
    known = [file for file in files if file.kind in _SIDES and "/" in file.name]
    best: tuple[str, pd.DataFrame] | None = None
    for parent, rows in (*_folders(known), *_words(known, answers, id_column, set(answers[target]))):
        named = {label for _, label in rows}
        if "test" in parent.lower() or len(named) < 2 or len(rows) < _FEWEST:
            continue
        if answers[target].isin(named).mean() >= _NAMED and (best is None or len(rows) > len(best[1])):
            best = parent, pd.DataFrame(rows, columns=["path", target])
    return best


def _folders(files: list[PublicFile]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each folder with the files below it and the folder below it that they are in."""
    by_parent: dict[str, list[tuple[str, str]]] = {}
    for file in files:
        parts = file.name.split("/")
        for depth in range(1, len(parts) - 1):
            by_parent.setdefault("/".join(parts[:depth]), []).append((file.name, parts[depth]))
    yield from sorted(by_parent.items())


def _words(
    files: list[PublicFile], answers: pd.DataFrame, id_column: str, labels: set[str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each folder with its files and the word of their names that is a label, where one nearly always is."""
    ids = set(answers[id_column])
    by_folder: dict[str, list[PurePosixPath]] = {}
    for file in files:
        path = PurePosixPath(file.name)
        if path.name not in ids and path.stem not in ids:
            by_folder.setdefault(path.parent.as_posix(), []).append(path)
    for folder, paths in sorted(by_folder.items()):
        words = [_SEPARATORS.split(path.stem) for path in paths]
        most = min(_MOST_WORDS, max(len(found) for found in words))
        for at in [place for number in range(most) for place in (number, -number - 1)]:
            rows = [
                (path.as_posix(), found[at])
                for path, found in zip(paths, words, strict=True)
                if -len(found) <= at < len(found) and found[at] in labels
            ]
            repeated = len({label for _, label in rows}) * _REPEATS <= len(rows)
            if repeated and len(rows) >= _NAMED * len(paths):
                yield folder, rows
                break
