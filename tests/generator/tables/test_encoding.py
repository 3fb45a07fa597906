"""The encoding of a file, by all of its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.tables.encoding import find_encoding
from generator.tables.plan import plan_table

LOST = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("data", "name", "broken"),
    [
        (b"plain,text\n1,2\n", "utf-8", 0),
        ("Zoë,größer\n".encode(), "utf-8", 0),
        ("Zoë,größer\n".encode("cp1252"), "cp1252", 0),
        # The file holds the mark of a loss that somebody else had: its bytes are sound.
        (f"I{LOST}ve,it{LOST}s\n".encode(), "utf-8", 0),
        (f"Zoë{LOST}\n".encode(), "utf-8", 0),
        # One broken byte among many sound letters.
        ("äöü".encode() * 20 + b"\xff\n", "utf-8", 1),
        # Over the border of the pieces in which a file is read: 1 MiB of ASCII less one byte, then the mark.
        (b"a" * ((1 << 20) - 1) + f"{LOST}{LOST}\n".encode(), "utf-8", 0),
    ],
)
def test_by_all_bytes(data: bytes, name: str, broken: int, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    found = find_encoding(path)
    assert (found.name, found.broken) == (name, broken)


def test_lost_characters_of_the_source_stay_what_they_are(tmp_path: Path) -> None:
    rows = "".join(f"{number},I{LOST}ve had {number} of them\n" for number in range(30))
    (tmp_path / "reviews.csv").write_text("id,review\n" + rows, encoding="utf-8")
    table = plan_table(tmp_path, "reviews.csv").read(tmp_path)
    assert table["review"].iloc[3] == f"I{LOST}ve had 3 of them"
