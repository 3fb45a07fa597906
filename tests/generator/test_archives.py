"""Archives written by the standard library: good ones come out whole, bad ones not at all."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.archives import Limits, is_archive, unpack
from generator.datasets.catalogue import DatasetError, dataset_path

FILES = {
    "data/a.csv": b"x,y\n1,2\n",
    "data/deep/b.csv": b"x\n1\n",
    "cat/1.png": b"\x89PNG",
    "README.md": b"hello",
}


def write_zip(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def write_tar(path: Path, files: dict[str, bytes], kind: bytes = tarfile.REGTYPE, link: str = "") -> None:
    mode = {"r": "w", "z": "w:gz", "2": "w:bz2"}[path.name[-1] if path.name[-1] in "r2" else "z"]
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = len(data) if not link else 0, kind, link
            archive.addfile(member, io.BytesIO(data))


def write(path: Path, files: dict[str, bytes]) -> None:
    (write_zip if path.suffix == ".zip" else write_tar)(path, files)


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["birds.zip", "birds.tar", "birds.tar.gz", "birds.tgz", "birds.tar.bz2"])
def test_an_archive_is_a_folder_of_its_name(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, FILES | {"__MACOSX/a": b"1", "data/.DS_Store": b"2", ".git/config": b"3"})
    place = unpack(tmp_path / name, tmp_path / "work")
    assert place == tmp_path / "work" / "birds" and tree(place) == FILES
    assert tree(unpack(tmp_path / name, tmp_path / "work")) == FILES


def test_one_packed_file(tmp_path: Path) -> None:
    (tmp_path / "sales.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    place = unpack(tmp_path / "sales.csv.gz", tmp_path / "work")
    assert place.name == "sales" and tree(place) == {"sales.csv": b"a,b\n1,2\n"}
    assert tree(unpack(place / "sales.csv", tmp_path / "plain")) == tree(place)


def test_archives_within_a_folder_and_within_archives(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    write_zip(tmp_path / "inner.zip", {"x.csv": b"1"})
    write_zip(folder / "images.zip", FILES | {"more/inner.zip": (tmp_path / "inner.zip").read_bytes()})
    (folder / "labels.csv").write_text("file,label\n")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(b"a\n1\n"))
    place = unpack(folder, tmp_path / "work")
    expected = {f"images/{name}": data for name, data in FILES.items()}
    assert tree(place) == expected | {
        "images/more/inner/x.csv": b"1", "labels.csv": b"file,label\n",
        "packed.csv.gz": (folder / "packed.csv.gz").read_bytes(),
    }  # fmt: skip
    assert set(tree(folder)) == {
        "images.zip",
        "labels.csv",
        "packed.csv.gz",
    }  # the given folder stays as it was


def test_a_folder_without_archives_is_itself(tmp_path: Path) -> None:
    folder = dataset_path("films")
    assert unpack(folder, tmp_path / "work") == folder and not (tmp_path / "work").exists()


@pytest.mark.parametrize("name", ["../up.csv", "/etc/up.csv", "a/../../up.csv", "..\\up.csv", "C:\\up.csv"])
@pytest.mark.parametrize("kind", ["bad.zip", "bad.tar"])
def test_no_file_leaves_the_folder(tmp_path: Path, name: str, kind: str) -> None:
    write(tmp_path / kind, {name: b"1"})
    with pytest.raises(DatasetError, match="outside"):
        unpack(tmp_path / kind, tmp_path / "work")
    assert not list(tmp_path.rglob("up.csv"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    write_tar(tmp_path / "bad.tar", {"link": b""}, kind, "/etc/passwd")
    with pytest.raises(DatasetError, match="no plain file"):
        unpack(tmp_path / "bad.tar", tmp_path / "work")
    member = zipfile.ZipInfo("link")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(member, "/etc/passwd")
    with pytest.raises(DatasetError, match="no plain file"):
        unpack(tmp_path / "bad.zip", tmp_path / "work")


@pytest.mark.parametrize(
    ("files", "limits", "reason"),
    [
        ({f"{number}.csv": b"1" for number in range(11)}, Limits(files=10), "more than 10 files"),
        ({"a.csv": b"1" * 2_000, "b.csv": b"2" * 2_000}, Limits(bytes=3_000), "more than 3000 bytes"),
        ({"a.csv": b"0" * 4_000_000}, Limits(small=1_000_000), "more than 300 times"),
    ],
)
@pytest.mark.parametrize("name", ["large.zip", "large.tar.gz"])
def test_bounds(tmp_path: Path, files: dict[str, bytes], limits: Limits, reason: str, name: str) -> None:
    write(tmp_path / name, files)
    with pytest.raises(DatasetError, match=reason):
        unpack(tmp_path / name, tmp_path / "work", limits)
    assert sum(map(len, tree(tmp_path / "work").values())) <= limits.bytes


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.zip", lambda path: path.write_bytes(b"PK\x03\x04 broken"), "cannot be unpacked"),
        ("a.tar.gz", lambda path: path.write_bytes(b"broken"), "cannot be unpacked"),
        ("a.csv.gz", lambda path: path.write_bytes(gzip.compress(b"a,b\n" * 99)[:-9]), "cannot be unpacked"),
        ("a.7z", lambda path: path.write_bytes(b"7z"), "not read"),
        ("a.docx", lambda path: path.write_bytes(b"PK"), "not an archive"),
        ("a.zip", lambda path: write_zip(path, {}), "no files"),
    ],
)
def test_what_cannot_be_unpacked(
    tmp_path: Path, name: str, make: Callable[[Path], object], reason: str
) -> None:
    make(tmp_path / name)
    with pytest.raises(DatasetError, match=reason):
        unpack(tmp_path / name, tmp_path / "work")


def test_names_are_made_safe_and_stay_apart(tmp_path: Path) -> None:
    names = ["a:b.csv", "a*b.csv", "tab\tbed.csv", "x" * 300 + ".csv", "nfd-e\u0301.csv", "日本.csv"]
    write_tar(tmp_path / "names.tar", {name: name.encode() for name in names})
    place = unpack(tmp_path / "names.tar", tmp_path / "work")
    found = tree(place)
    assert sorted(found.values()) == sorted(name.encode() for name in names)
    assert {"a_b.csv", "a_b-2.csv", "tab_bed.csv", "nfd-é.csv", "日本.csv"} <= set(found)
    assert all(len(name.encode()) <= 160 for name in found)


def test_packed_tables_are_read_as_they_are() -> None:
    assert not is_archive(Path("data.csv.gz")) and not is_archive(Path("data.jsonl.gz"))
    assert is_archive(Path("photo.gz")) and is_archive(Path("DATA.ZIP")) and is_archive(Path("x.tar.gz"))
