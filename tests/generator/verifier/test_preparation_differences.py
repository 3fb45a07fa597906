"""Files of different bytes that hold the same, and files that do not."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from PIL import Image

from generator.verifier.preparation.differences import same_content

#: Writes a file with a content, in the one or the other way.
Write = Callable[[Path, str, int], None]


def zipped(path: Path, content: str, way: int) -> None:
    """A zip archive of one text, of another year each way."""
    with ZipFile(path, "w") as packed:
        packed.writestr(ZipInfo("birds/a.csv", (2001 + way, 1, 1, 0, 0, 0)), content)


def rolled(path: Path, content: str, way: int) -> None:
    """A tar archive of one text, of another time and owner each way."""
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as archive:
        member = tarfile.TarInfo("birds/a.csv")
        member.size, member.mtime, member.uid = len(content), way, way
        archive.addfile(member, io.BytesIO(content.encode()))


def sheet(path: Path, content: str, way: int) -> None:
    """A workbook in its outline: a sheet, and when it was made."""
    with ZipFile(path, "w") as packed:
        packed.writestr("xl/worksheets/sheet1.xml", content)
        packed.writestr("docProps/core.xml", f"<created>{way}</created>")


def gzipped(path: Path, content: str, way: int) -> None:
    """A gzip file, of another time each way."""
    path.write_bytes(gzip.compress(content.encode(), mtime=way))


def table(path: Path, content: str, way: int) -> None:
    """A table whose number is written with another last digit each way."""
    path.write_text(f"name,size\n{content},0.3000000000000000{way}\n")


def picture(path: Path, content: str, way: int) -> None:
    """An image of one colour, otherwise compressed each way."""
    Image.new("RGB", (9, 9), "red" if content == "a" else "blue").save(path, compress_level=9 * way)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.zip", zipped),
        ("a.tgz", rolled),
        ("a.tar", rolled),
        ("a.xlsx", sheet),
        ("a.txt.gz", gzipped),
        ("a.csv", table),
        ("a.png", picture),
    ],
)
def test_packing_does_not_matter_and_content_does(name: str, write: Write, tmp_path: Path) -> None:
    paths = []
    for folder, content, way in (("one", "a", 0), ("same", "a", 1), ("other", "b", 0)):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / name)
        write(paths[-1], content, way)
    one, same, other = paths
    assert one.read_bytes() != same.read_bytes()
    assert same_content(one, same)
    assert not same_content(one, other)


def test_broken_files_are_not_the_same(tmp_path: Path) -> None:
    for name in ("a.zip", "a.tar", "a.png"):
        one, other = tmp_path / name, tmp_path / f"other-{name}"
        one.write_bytes(b"what")
        other.write_bytes(b"else")
        assert not same_content(one, other)
