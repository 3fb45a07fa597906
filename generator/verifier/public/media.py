"""Which files under public/ belong to which row: a column names them, or the id is a file's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import MEDIA
from generator.verifier.sampling import sampled_rows

if TYPE_CHECKING:
    from generator.verifier.case import Case

_LOOKED_AT = 200
_FEWEST = 5
_LONGEST = 300
_HOMONYMS = 50
#: The folder of an archive, its name, and its suffixes, in the path of a member.
_IN_ARCHIVE = re.compile(r"^((?:[^/]*/)*?)([^/]*?)\.(?:tar\.\w+|zip|tar|tgz|tbz2|txz)/", re.IGNORECASE)


@dataclass(frozen=True)
class Link:
    """A column of a table whose cells name files.

    Attributes:
        column: its name.
        pattern: how a cell becomes a path below public/, as ``test/{}.png``; one that ends with ``/`` names
            a folder of files.
        paths: for each row, by the index of the table, the path below public/; ``""`` where there is none.
        expected: the path that each row should have; ``""`` for an empty cell.
    """

    column: str
    pattern: str
    paths: pd.Series
    expected: pd.Series

    @property
    def is_folder(self) -> bool:
        """Whether each row has a folder of files."""
        return self.pattern.endswith("/")


@dataclass(frozen=True)
class Media:
    """The files of a task's rows.

    Attributes:
        files: all files under public/ and in archives there by name, but for the tables of the task.
        train: what links training rows with files.
        test: the same for test rows, which are those of the answers when there is no test table.
    """

    files: Mapping[str, PublicFile]
    train: tuple[Link, ...]
    test: tuple[Link, ...]

    @cached_property
    def folders(self) -> Mapping[str, list[str]]:
        """The names of the files in each folder, with a slash at its end."""
        found: dict[str, list[str]] = {}
        for name in self.files:
            found.setdefault(_folder(name), []).append(name)
        return found

    def files_of(self, path: str) -> list[PublicFile]:
        """The files of a row: one, or those of its folder; none for ``""``."""
        if path in self.files:
            return [self.files[path]]
        return [self.files[name] for name in self.folders.get(path, ())]


def media_of(case: Case) -> Media | None:
    """The files of the rows, or ``None`` when no row has one."""
    tables = {path for path in case.tables if path.suffix != ".zip"}
    files = {file.name: file for file in case.inventory if file.path not in tables}
    files |= {file.name: file for file in case.packed.files}
    files.pop("description.txt", None)
    if len(files) < _FEWEST:
        return None
    index, share = _Index(files), case.limits.files.linked_share
    known, asked = case.train, test_rows(case)
    # Folders of classes are named by the label, which is no link.
    known = None if known is None else known.drop(columns=case.targets, errors="ignore")
    train = () if known is None else tuple(_links(known, index, share, "train"))
    test = tuple(_links(asked, index, share, "test"))
    if not train and not test:
        return None
    # Where all media of one side are missing, they are named as on the other side; notes may be of one side.
    if known is not None and not train:
        train = tuple(_as_on_the_other_side(known, _of_media(test, files), index, "train"))
    if not test:
        test = tuple(_as_on_the_other_side(asked, _of_media(train, files), index, "test"))
    return Media(files, train, test)


def _of_media(links: tuple[Link, ...], files: Mapping[str, PublicFile]) -> tuple[Link, ...]:
    """The links to images and sounds, by their first file; folders of files are of media always."""
    firsts = [(link, next((path for path in link.paths if path), "")) for link in links]
    return tuple(link for link, path in firsts if link.is_folder or (path and files[path].kind in MEDIA))


def test_rows(case: Case) -> pd.DataFrame:
    """The rows of the test table, or the ids alone where a task has only files and no such table."""
    return case.test if case.test is not None else case.answers[[case.id_column]]


class _Index:
    """Files by path, name, stem and folder."""

    def __init__(self, files: Mapping[str, PublicFile]) -> None:
        self.paths = set(files)
        self.by_word: dict[str, list[tuple[str, str]]] = {}
        #: Paths as they are once archives are unpacked, each into a folder of its name or beside it.
        self.names: dict[str, str] = {}
        self._unpacked: dict[str, tuple[str, ...]] = {}
        for name, file in files.items():
            if file.place is not None:
                self._add_unpacked(name)
            folder, base = _folder(name), PurePosixPath(name).name
            self._add(base, folder, "{}")
            suffix = PurePosixPath(base).suffix
            if suffix:
                self._add(base.removesuffix(suffix), folder, f"{{}}{suffix}")
            if file.kind in MEDIA:
                self._add_folders(folder)

    def _add_unpacked(self, name: str) -> None:
        folder = _folder(name)
        if folder not in self._unpacked:
            self._unpacked[folder] = tuple(
                _IN_ARCHIVE.sub(into, folder, count=1) for into in (r"\1\2/", r"\1")
            )
        for other in self._unpacked[folder]:
            path = other + name[len(folder) :]
            if path not in self.paths:
                self.names.setdefault(path, name)

    def _add_folders(self, folder: str) -> None:
        while folder and folder not in self.paths:
            self.paths.add(folder)
            above = _folder(folder[:-1])
            self._add(folder[len(above) : -1], above, "{}/")
            folder = above

    def _add(self, word: str, folder: str, ending: str) -> None:
        known = self.by_word.setdefault(word, [])
        if len(known) < _HOMONYMS:
            known.append((folder, ending))

    def patterns(self, cell: str) -> set[str]:
        """The patterns that make the path of a file of a cell; ``*`` stands for any folder."""
        cell = _bare(cell)
        own = _folder(cell)
        found = set()
        for folder, ending in self.by_word.get(cell[len(own) :], ()):
            for known in (folder, *self._unpacked.get(folder, ())):
                if known.endswith(own):
                    found.add(known[: len(known) - len(own)] + ending)
                    break
            if not own and folder:
                found.add(f"*{ending}")
        return found

    def resolve(self, pattern: str, cell: str) -> str:
        """The path that a cell stands for by a pattern; it need not exist."""
        cell = _bare(cell)
        if not pattern.startswith("*"):
            return pattern.replace("{}", cell)
        ending = pattern[1:]
        folders = [folder for folder, known in self.by_word.get(cell, ()) if known == ending]
        return (folders[0] if folders else "*/") + ending.replace("{}", cell)


def _links(table: pd.DataFrame, index: _Index, share: float, side: str) -> Iterator[Link]:
    """The columns of a table whose cells name files."""
    for column in table.columns:
        cells = table[column]
        looked_at = [
            cell for cell in cells.iloc[sampled_rows(len(cells), _LOOKED_AT)] if 0 < len(cell) < _LONGEST
        ]
        if len(looked_at) < _FEWEST or len(set(looked_at)) < _FEWEST:
            continue
        counts: Counter[str] = Counter()
        for cell in looked_at:
            counts.update(index.patterns(cell))
        for pattern in _kept(counts, share * len(looked_at), side):
            yield _link(str(column), pattern, cells, index)


def _link(column: str, pattern: str, cells: pd.Series, index: _Index) -> Link:
    named = [index.resolve(pattern, cell) if cell else "" for cell in cells]
    expected = pd.Series([index.names.get(name, name) for name in named], cells.index, dtype=str)
    return Link(column, pattern, expected.where(expected.isin(index.paths), ""), expected)


def _kept(counts: Counter[str], least: float, side: str) -> list[str]:
    """The patterns that enough cells follow: those of one folder first, of twins those of the side's name."""
    often = sorted(pattern for pattern, count in counts.items() if count >= least)
    exact = [pattern for pattern in often if not pattern.startswith("*")]
    other = {"train": "test", "test": "train"}[side]
    twins = {pattern for pattern in exact if side in pattern.lower()}
    foreign = {
        pattern
        for pattern in exact
        if other in pattern.lower()
        and pattern.lower().replace(other, side) in {twin.lower() for twin in twins}
    }
    return [pattern for pattern in exact if pattern not in foreign] or often[:1]


def _as_on_the_other_side(
    table: pd.DataFrame, other: tuple[Link, ...], index: _Index, side: str
) -> Iterator[Link]:
    """Links of the columns that name files on the other side."""
    swap = {"train": ("test", "train"), "test": ("train", "test")}[side]
    for link in other:
        if link.column in table.columns:
            yield _link(link.column, link.pattern.replace(*swap), table[link.column], index)


def _bare(cell: str) -> str:
    for start in ("./public/", "/public/", "public/", "./", "/"):
        if cell.startswith(start):
            return cell[len(start) :]
    return cell


def _folder(name: str) -> str:
    """The folder of a path with a slash at its end, or nothing."""
    folder, slash, _ = name.rpartition("/")
    return folder + slash
