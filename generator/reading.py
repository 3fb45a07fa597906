"""Reading a raw folder: which files are tables, which are media, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.media import MediaFolder, find_media, media_kind
from generator.media.kinds import Kind
from generator.tables import Recipe, UnreadableTable, plan_tables, raw_format
from generator.tables.relations import Part, join
from generator.tables.sampling import Sample, read_sample
from generator.tables.sources import PandasFile, Stacked

#: Texts that are documents of a collection, at least; fewer are papers beside the data.
_LEAST_DOCUMENTS = 20
#: Texts that are tried as tables to see what all of them are.
_TRIED = 10
#: Files of one layout whose names may stand in the code when a pattern would also fit others.
_MOST_NAMED = 30

_PICKLED = "pickles run code when they are read, so they never are; write the data as CSV or parquet"
_ARRAYS = "arrays are not read; write them as a table or as images"
_DATABASE = "databases are not read; export their tables as CSV"
_DOCUMENT = "documents of this format are not read; save them as text"
_ARCHIVE = "archives of this kind are not read; pack the files as .zip or .tar.gz"
_VIDEO = "videos are not read; save their frames as images"
#: Formats that are known and not read, and what to do about them.
OTHERS = {
    ".xls": "workbooks of this format are not read; save them as .xlsx or CSV",
    ".ods": "workbooks of this format are not read; save them as .xlsx or CSV",
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".pt", ".rds", ".rdata"), _PICKLED),
    **dict.fromkeys((".npy", ".npz", ".mat", ".h5", ".hdf5", ".nc"), _ARRAYS),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".mdb", ".sql"), _DATABASE),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".odt", ".rtf", ".xml"), _DOCUMENT),
    **dict.fromkeys((".7z", ".rar"), _ARCHIVE),
    **dict.fromkeys((".mp4", ".avi", ".mov", ".mkv", ".webm"), _VIDEO),
}


@dataclass(frozen=True)
class ReadTable:
    """A table with its rows, or a part of them."""

    path: str
    recipe: Recipe
    sample: Sample


@dataclass(frozen=True)
class Contents:
    """What a raw folder holds.

    Attributes:
        tables: of one layout as one, joined where keys say so; the largest first.
        media: by kind.
        skipped: what was not understood, with the reason.
    """

    tables: tuple[ReadTable, ...]
    media: tuple[MediaFolder, ...]
    skipped: tuple[tuple[str, str], ...]


def read_dataset(folder: Path, files: Sequence[Path]) -> Contents:
    """Read all raw files of a dataset; what cannot be read is listed, never fatal."""
    skipped: list[tuple[str, str]] = []
    kinds: dict[Kind, list[Path]] = {"image": [], "audio": [], "text": []}
    planned: list[tuple[str, Recipe]] = []
    documents = _documents(folder, files)
    for path in files:
        relative, kind = path.relative_to(folder).as_posix(), media_kind(path)
        if kind in ("image", "audio") or path in documents:
            kinds[kind or "text"].append(path)
        elif raw_format(path) is None:
            skipped.append((relative, OTHERS.get(path.suffix.lower(), "not a known table or media format")))
        else:
            try:
                planned += plan_tables(folder, relative)
            except UnreadableTable as error:
                skipped.append((relative, str(error)))
    tables: list[ReadTable] = []
    for name, recipe in _stacked(folder, planned):
        try:
            tables.append(ReadTable(name, recipe, read_sample(recipe, folder)))
        except UnreadableTable as error:
            skipped.append((name, str(error)))
    tables.sort(key=lambda each: (-each.sample.rows * len(each.sample.frame.columns), each.path))
    media = []
    listing = [(each.path, each.recipe, each.sample.frame) for each in tables if each.sample.whole]
    for kind, paths in kinds.items():
        if paths:
            found, broken = find_media(folder, paths, kind, listing)
            media.append(found)
            skipped += broken
    if len(tables) > 1:
        tables[0] = _joined(folder, tables)
    return Contents(tuple(tables), tuple(media), tuple(sorted(skipped)))


def _joined(folder: Path, tables: Sequence[ReadTable]) -> ReadTable:
    """The largest table with what the others say of its rows."""
    main, *others = (Part(each.path, each.recipe, each.sample.frame) for each in tables)
    recipe = join(main, [part for part, each in zip(others, tables[1:], strict=True) if each.sample.whole])
    if recipe is None:
        return tables[0]
    return ReadTable(main.path, recipe, read_sample(recipe, folder))


def _documents(folder: Path, files: Sequence[Path]) -> set[Path]:
    """The texts that are documents: many of them, and most are no tables."""
    texts = [path for path in files if media_kind(path) == "text"]
    if len(texts) < _LEAST_DOCUMENTS:
        return set()
    tabular = [path for path in texts if raw_format(path) is not None]
    tried = tabular[:: max(1, len(tabular) // _TRIED)]
    if tried and sum(_is_table(folder, path) for path in tried) > len(tried) / 2:
        return set(texts) - set(tabular)
    return set(texts)


def _is_table(folder: Path, path: Path) -> bool:
    try:
        plan_tables(folder, path.relative_to(folder).as_posix())
    except UnreadableTable:
        return False
    return True


def _stacked(folder: Path, planned: Sequence[tuple[str, Recipe]]) -> list[tuple[str, Recipe]]:
    """Files of one folder, one layout and one recipe as one table; all others as they are."""
    groups: dict[object, list[tuple[str, Recipe]]] = {}
    for name, recipe in planned:
        groups.setdefault(_layout(folder, name, recipe), []).append((name, recipe))
    return [one for members in groups.values() for one in _one_table(folder, members)]


def _layout(folder: Path, name: str, recipe: Recipe) -> object:
    """What files of one table have in common; for what stands alone, its name."""
    source = recipe.source
    if not isinstance(source, PandasFile) or source.function not in ("read_csv", "read_parquet"):
        return name
    try:
        columns = tuple(next(recipe.chunks(folder, 1)).columns)
    except (UnreadableTable, StopIteration):
        return name
    return (Path(name).parent, _suffix(name), source.function, source.options, recipe.steps, columns)


def _suffix(name: str) -> str:
    suffixes = Path(name).suffixes
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def _one_table(folder: Path, members: list[tuple[str, Recipe]]) -> list[tuple[str, Recipe]]:
    """The members of a group as one table, or as they are when the code would have to name too many files."""
    if len(members) == 1:
        return members
    names, recipe = sorted(name for name, _ in members), members[0][1]
    pattern = (Path(names[0]).parent / f"*{_suffix(names[0])}").as_posix()
    exact = sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern)) == names
    if not exact and len(names) > _MOST_NAMED:
        return members
    column, taken = "file", set(next(recipe.chunks(folder, 1)).columns)
    while column in taken:
        column = f"source_{column}"
    parts = tuple(
        part.source
        for _, part in sorted(members, key=lambda each: each[0])
        if isinstance(part.source, PandasFile)
    )
    note = f"{len(parts)} files of one layout, one below the other; {column} says which a row is from"
    stacked = Recipe(Stacked(parts, pattern if exact else "", column), recipe.steps, (*recipe.notes, note))
    return [(pattern if exact else names[0], stacked)]
