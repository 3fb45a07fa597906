"""The media of a dataset: how many of each kind there are, where, how large, and of which classes."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from generator.media.kinds import SUFFIXES, Broken, Kind, look, media_kind
from generator.media.labels import Labels, find_labels, labelled
from generator.tables import Recipe

#: Files whose measures are read; of more, every so many.
_LOOKED_AT = 20_000
_NAMED_BROKEN = 1_000


@dataclass(frozen=True)
class MediaFolder:
    """Files of one kind of media below one folder.

    Attributes:
        kind: what they are.
        root: the folder that holds the class folders, or all the files, relative to the raw folder (``.``).
        files: number of files that open.
        broken: paths, relative to the raw folder, of those that do not.
        labels: how the class of a file is found; ``None`` when nothing tells.
        classes: each class with its number of files that open, by name.
        measures: name, smallest and largest value of what the files measure (width, seconds, words).
        modes: colour modes, channels or suffixes with their counts.
    """

    kind: Kind
    root: str
    files: int
    broken: tuple[str, ...]
    labels: Labels | None
    classes: tuple[tuple[str, int], ...]
    measures: tuple[tuple[str, float, float], ...]
    modes: tuple[tuple[str, int], ...]

    def measure(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of a measure. Raises ``KeyError`` when files of this kind have none."""
        return {each: (low, high) for each, low, high in self.measures}[name]

    def paths(self, folder: Path) -> list[Path]:
        """The files that open, in order of their paths below the raw folder."""
        broken = {folder / name for name in self.broken}
        found = (path for path in (folder / self.root).rglob("*") if path.is_file() and path not in broken)
        own = (path for path in found if path.suffix.lower() in SUFFIXES[self.kind])
        return sorted((p for p in own if media_kind(p)), key=lambda path: path.relative_to(folder).as_posix())

    def labelled(self, folder: Path) -> list[tuple[Path, str]]:
        """The files that have a class, with it."""
        return labelled(folder, folder / self.root, self.paths(folder), self.labels)

    def as_json(self) -> dict[str, Any]:
        """Plain lists, dictionaries, strings and numbers; of labels, how they are found."""
        labels = self.labels
        document = dataclasses.asdict(dataclasses.replace(self, labels=None))
        if labels is not None:
            document["labels"] = dataclasses.asdict(dataclasses.replace(labels, recipe=None))
        return document

    def summary(self) -> Iterator[str]:
        """A reader's account."""
        by = {"folder": "by folder", "name": "by the beginning of their names"}
        how = "" if self.labels is None else by.get(self.labels.by, f"by {self.labels.table}")
        classes = f" of {len(self.classes)} classes {how}" if self.classes else ", no classes found"
        yield f"{self.kind}: {self.files} files below {self.root}{classes}, {len(self.broken)} broken"
        for name, low, high in self.measures:
            yield f"  {name}: {low:g} to {high:g}"


def find_media(
    folder: Path, files: Sequence[Path], kind: Kind, tables: Sequence[tuple[str, Recipe, pd.DataFrame]] = ()
) -> tuple[MediaFolder, list[tuple[str, str]]]:
    """Profile files of one kind below the raw folder.

    Args:
        folder: the raw folder.
        files: at least one, all of the kind by their names.
        kind: their kind.
        tables: path, recipe and rows of the tables that may say of which class they are.

    Returns:
        What is known of them, and each reason why files are broken, with the first of those files.
    """
    step = max(1, len(files) // _LOOKED_AT)
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    modes: Counter[str] = Counter()
    broken: list[Path] = []
    reasons: dict[str, str] = {}
    for path in files[::step]:
        try:
            facts = look(path, kind)
        except Broken as error:
            broken.append(path)
            reasons.setdefault(str(error).replace(str(path), path.name), path.relative_to(folder).as_posix())
            continue
        modes[facts.mode] += 1
        for name, value in facts.measures:
            low[name], high[name] = min(low.get(name, value), value), max(high.get(name, value), value)
    gone = set(broken)
    sound = [path for path in files if path not in gone]
    root = _root(folder, sound or list(files))
    labels = find_labels(folder, root, sound, tables) if sound else None
    pairs = labelled(folder, root, sound, labels)
    names = tuple(path.relative_to(folder).as_posix() for path in broken[:_NAMED_BROKEN])
    found = MediaFolder(
        kind=kind,
        root=root.relative_to(folder).as_posix(),
        files=len(sound),
        broken=names,
        labels=labels,
        classes=tuple(sorted(Counter(label for _, label in pairs).items())),
        measures=tuple((name, low[name], high[name]) for name in low),
        modes=tuple(sorted(modes.items())),
    )
    return found, [(path, reason) for reason, path in reasons.items()]


def _root(folder: Path, files: Sequence[Path]) -> Path:
    """The one folder whose folders hold all files, or else the deepest one that all lie below."""
    parents = {path.parent for path in files}
    roots = {parent.parent for parent in parents}
    if len(parents) >= 2 and len(roots) == 1 and (parents - {folder}) == parents:
        return next(iter(roots))
    return Path(os.path.commonpath([str(parent) for parent in parents]))
