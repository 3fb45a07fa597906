"""Stands in for ``mlebench.utils``: what competitions import of it, without Kaggle's client and 7z."""

import logging
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd


def get_logger(name: str, *_: Any, **__: Any) -> logging.Logger:
    """The logger of that name."""
    return logging.getLogger(name)


def read_csv(*args: Any, **kwargs: Any) -> pd.DataFrame:
    """``pandas.read_csv`` that reads floats to the last digit; an empty file is an empty table."""
    try:
        table: pd.DataFrame = pd.read_csv(*args, **{"float_precision": "round_trip", **kwargs})
        return table
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def is_empty(folder: Path) -> bool:
    """Whether nothing lies in a folder."""
    return next(folder.iterdir(), None) is None


def extract(compressed: Path, dst: Path, recursive: bool = False, **_: Any) -> None:
    """Unpack a zip file, with ``recursive`` also the zip files in it."""
    if compressed.suffix != ".zip":
        raise NotImplementedError(
            f"{compressed.name}: only zip files are unpacked; unpack it into raw/ yourself"
        )
    before = set(dst.iterdir()) if dst.is_dir() else set()
    with zipfile.ZipFile(compressed) as archive:
        archive.extractall(dst)
    for inner in sorted(set(dst.glob("*.zip")) - before - {compressed}) if recursive else ():
        extract(inner, dst, recursive=True)


def compress(src: Path, compressed: Path, exist_ok: bool = False) -> None:
    """Pack the files below a folder into a zip file, each with the same date."""
    if compressed.exists() and not exist_ok:
        raise FileExistsError(f"{compressed.name} exists already")
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in src.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(src).as_posix())
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
