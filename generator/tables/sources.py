"""Where the rows of a table come from: one call of pandas, JSON records, or several files of one layout."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from generator.tables.literals import call, literal, raw_file

Options = tuple[tuple[str, Any], ...]


def _plain(value: Any) -> Any:
    """Tuples as the lists that pandas wants."""
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class PandasFile:
    """A file that one function of pandas reads.

    Attributes:
        function: ``read_csv``, ``read_json``, ``read_parquet`` or ``read_excel``.
        file: relative to the raw folder.
        options: keyword arguments, in the order in which they are written.
    """

    function: str
    file: str
    options: Options = ()

    imports = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The file."""
        return (self.file,)

    def read(self, folder: Path, **more: Any) -> Any:
        """All rows, or what pandas gives with ``more`` options."""
        options = {name: _plain(value) for name, value in self.options}
        return getattr(pd, self.function)(folder / self.file, **options, **more)

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """Text and JSON lines by chunks, parquet by batches; workbooks and JSON documents in one piece."""
        if self.function == "read_csv" or dict(self.options).get("lines"):
            with self.read(folder, chunksize=rows) as reader:
                yield from reader
        elif self.function == "read_parquet":
            from pyarrow.parquet import ParquetFile

            with ParquetFile(folder / self.file) as stored:
                for batch in stored.iter_batches(batch_size=rows):
                    yield batch.to_pandas()
        else:
            yield self.read(folder)

    def code(self, table: str) -> list[str]:
        """One statement."""
        return [f"{table} = {call(f'pd.{self.function}', raw_file(self.file), **dict(self.options))}"]


@dataclass(frozen=True)
class JsonRecords:
    """Records of a JSON document or of JSON lines; those within records become columns ``outer.inner``.

    Attributes:
        file: relative to the raw folder.
        path: the keys that lead to the records.
        lines: whether each line is a record.
        keyed: whether the records are the values of a mapping, whose keys become the column ``key``.
        encoding: of the text.
    """

    file: str
    path: tuple[str, ...] = ()
    lines: bool = False
    keyed: bool = False
    encoding: str = "utf-8"

    @property
    def files(self) -> tuple[str, ...]:
        """The file."""
        return (self.file,)

    @property
    def imports(self) -> tuple[str, ...]:
        """The decoder, and the unpacker of a packed file."""
        return ("gzip", "json") if self._packed else ("json",)

    @property
    def _packed(self) -> bool:
        return self.file.lower().endswith(".gz")

    def records(self, folder: Path) -> Any:
        """The records as Python has them."""
        data = (folder / self.file).read_bytes()
        text = (gzip.decompress(data) if self._packed else data).decode(self.encoding)
        if self.lines:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        found = json.loads(text)
        for key in self.path:
            found = found[key]
        return [{"key": key, **record} for key, record in found.items()] if self.keyed else found

    def read(self, folder: Path) -> pd.DataFrame:
        """All records."""
        return pd.json_normalize(self.records(folder))

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """In one piece: a record may stand anywhere in the document."""
        yield self.read(folder)

    def code(self, table: str) -> list[str]:
        """Two or three statements."""
        place = f"({raw_file(self.file)})"
        encoding = literal(self.encoding)
        text = (
            f"gzip.decompress({place}.read_bytes()).decode({encoding})"
            if self._packed
            else f"{place}.read_text(encoding={encoding})"
        )
        if self.lines:
            lines = [
                f"lines = {text}.splitlines()",
                "records = [json.loads(line) for line in lines if line.strip()]",
            ]
        else:
            keys = "".join(f"[{literal(key)}]" for key in self.path)
            lines = [f"records = json.loads({text}){keys}"]
        if self.keyed:
            lines.append('records = [{"key": key, **record} for key, record in records.items()]')
        return [*lines, f"{table} = pd.json_normalize(records)"]


@dataclass(frozen=True)
class Stacked:
    """Files of one folder and one layout, one below the other; a column says which file a row is from.

    Attributes:
        parts: one file each, all read by the same function with the same options.
        pattern: of their paths below the raw folder, which no other file fits; empty to name them all.
        column: the name of the column that holds the file's name.
    """

    parts: tuple[PandasFile, ...]
    pattern: str
    column: str

    imports = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All parts."""
        return tuple(part.file for part in self.parts)

    def read(self, folder: Path) -> pd.DataFrame:
        """The rows of all parts."""
        parts = [part.read(folder).assign(**{self.column: Path(part.file).name}) for part in self.parts]
        whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return whole

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """One part after the other."""
        for part in self.parts:
            for chunk in part.chunks(folder, rows):
                yield chunk.assign(**{self.column: Path(part.file).name})

    def code(self, table: str) -> list[str]:
        """Three statements."""
        first = self.parts[0]
        reading = call(f"pd.{first.function}", "path", **dict(first.options))
        paths = (
            f"sorted(raw.glob({literal(self.pattern)}))"
            if self.pattern
            else f"[raw / name for name in {literal(self.files)}]"
        )
        return [
            f"paths = {paths}",
            f"parts = [{reading}.assign(**{{{literal(self.column)}: path.name}}) for path in paths]",
            f"{table} = pd.concat(parts, ignore_index=True)",
        ]
