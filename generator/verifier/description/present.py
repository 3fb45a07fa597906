"""What is really there: the files, folders and columns that a description may name."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator.tables import UnreadableTable, read_table, table_format
from generator.verifier.case import Case

#: Endings of media files.
_MEDIA_WORDS = (
    "png jpg jpeg gif bmp tif tiff webp dcm svg nii wav mp3 flac ogg m4a aif aiff mp4 avi mov mkv webm "
)
MEDIA = frozenset(_MEDIA_WORDS.split())
#: Endings of files that hold data or media; a word with another ending is no name of a file here.
_ENDINGS_WORDS = (
    "csv tsv tab txt json jsonl ndjson parquet feather arrow npz npy pkl pickle h5 hdf5 mat xml xlsx "
    "xls db sqlite zip gz 7z tar tgz bz2 rar tfrecord tfrec ply obj fasta fa pdb sdf mol pdf html htm "
    "md log bson geojson dat "
)
ENDINGS = MEDIA | frozenset(_ENDINGS_WORDS.split())
_PACKED = re.compile(r"(?i)\.(?:zip|gz|7z|tar|tgz|bz2|rar)$")
#: Formats that may hold tables or files which nobody has looked into.
_OPAQUE_WORDS = (
    "zip gz 7z tar tgz bz2 rar h5 hdf5 mat db sqlite pkl pickle npz npy xml feather arrow xlsx xls "
    "dcm tfrecord tfrec json jsonl ndjson bson geojson "
)
_OPAQUE = frozenset(_OPAQUE_WORDS.split())
_MOST_MEMBERS = 200_000
_MOST_RAW = 30


@dataclass(frozen=True)
class Present:
    """What the package holds.

    Attributes:
        case: the verification.
    """

    case: Case

    @cached_property
    def paths(self) -> list[str]:
        """Paths of all files under public/, members of zip archives too, relative and in lower case."""
        public = self.case.prepared.public
        found: list[str] = []
        for path in sorted(public.rglob("*")):
            if not path.is_file():
                continue
            found.append(path.relative_to(public).as_posix().lower())
            if path.suffix.lower() == ".zip":
                found += _members(path)
        return found

    @cached_property
    def names(self) -> set[str]:
        """The names of the files without their folders."""
        return {path.rsplit("/", 1)[-1] for path in self.paths}

    @cached_property
    def stems(self) -> set[str]:
        """Names of files and folders without endings and signs: ``samplesubmission``."""
        return {stem(part) for path in self.paths for part in path.split("/")}

    @cached_property
    def folders(self) -> set[str]:
        """Names of the folders under public/, in lower case."""
        return {part for path in self.paths for part in path.split("/")[:-1]}

    @cached_property
    def endings(self) -> set[str]:
        """The endings of the files."""
        return {name.rsplit(".", 1)[-1] for name in self.names if "." in name}

    @cached_property
    def columns(self) -> set[str]:
        """All columns of public tables and of the answers, as they are written."""
        tables = {str(name) for table in self.case.tables.values() for name in table.columns}
        return tables | set(map(str, self.case.answers.columns))

    @cached_property
    def plain_columns(self) -> set[str]:
        """The columns without signs and in lower case."""
        return {stem(name) for name in self.columns}

    @cached_property
    def opaque(self) -> bool:
        """Whether some file under public/ may hold columns that are not known."""
        known = set(self.case.tables)
        files = (
            path for path in self.case.prepared.public.rglob("*") if path not in known and path.is_file()
        )
        return any(path.suffix[1:].lower() in _OPAQUE or table_format(path) for path in files
                   if path.name != "description.txt")  # fmt: skip

    @cached_property
    def values(self) -> set[str]:
        """Values of the public tables and the answers that are few enough to be named, in lower case."""
        found: set[str] = set()
        for table in [*self.case.tables.values(), self.case.answers]:
            for name in table.columns:
                distinct = table[name].iloc[: self.case.limits.sampling.rows].unique()
                if len(distinct) <= 1_000:
                    found.update(str(value).strip().lower() for value in distinct)
        return found

    @cached_property
    def sources(self) -> str:
        """prepare.py and the names of raw files in lower case: what the data were before preparation."""
        task = self.case.task
        try:
            code = task.prepare_path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            code = ""
        raw = sorted(path.name for path in task.raw.rglob("*") if path.is_file()) if task.raw.is_dir() else []
        return "\n".join([code, *raw]).lower()

    @cached_property
    def has_raw(self) -> bool:
        """Whether there are raw data; texts of imported tasks, which have none, tell of the original."""
        raw = self.case.task.raw
        return raw.is_dir() and any(path.is_file() for path in raw.rglob("*"))

    @cached_property
    def source_stems(self) -> set[str]:
        """The words of :attr:`sources` as :func:`stem` writes them."""
        return {stem(word) for word in re.split(r"[^\w.\-]+", self.sources)}

    @cached_property
    def raw_columns(self) -> set[str]:
        """Columns of the raw tables, as :func:`stem` writes them."""
        found: set[str] = set()
        raw = self.case.task.raw
        for path in sorted(raw.rglob("*"))[:_MOST_RAW] if raw.is_dir() else []:
            if path.is_file() and table_format(path) is not None:
                try:
                    found |= {stem(str(name)) for name in read_table(path).columns}
                except (UnreadableTable, ValueError, OSError):
                    continue
        return found

    def in_sources(self, name: str) -> bool:
        """Whether prepare.py or the raw tables know a column of that name."""
        word = re.escape(name.lower())
        return re.search(rf"(?<!\w){word}(?!\w)", self.sources) is not None or stem(name) in self.raw_columns

    def has_file(self, name: str) -> bool:
        """Whether a file, a folder or an archive of that name is there, be it written or packed otherwise."""
        name = name.lower().replace("\\", "/").strip("/")
        base = name.rsplit("/", 1)[-1]
        return base in self.names or base in self.folders or stem(base) in self.stems


def stem(name: str) -> str:
    """A name without ending and signs: ``sampleSubmission.csv.zip`` is ``samplesubmission``."""
    bare = _PACKED.sub("", name.strip())
    head, dot, ending = bare.rpartition(".")
    bare = head if dot and ending.lower() in ENDINGS else bare
    return re.sub(r"[\W_]+", "", bare).lower()


def _members(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.lower() for name in archive.namelist()[:_MOST_MEMBERS] if not name.endswith("/")]
    except (OSError, zipfile.BadZipFile):
        return []
