"""Small packages of real data for the tests of what lies under public/: flowers and digits."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits, load_iris

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.files import gate
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import load_task

TOML = """\
schema_version = 1
id = "{name}"
title = "A task"
set = "reference"
modality = "{modality}"
objective = "classification"
id_column = "{id_column}"
target_columns = ["{target}"]
difficulty = "easy"
[source]
name = "scikit-learn"
licence = "BSD-3-Clause"
sha256 = "0"
[metric]
name = "accuracy"
higher_is_better = true
best = 1.0
[split]
kind = "random"
seed = 7
"""


def flowers(root: Path) -> Path:
    """Iris: train.csv, test.csv, three-digit ids, 45 test rows; the labelled table in raw/."""
    _package(root, "tabular", "flower", "species")
    data = load_iris(as_frame=True)
    table = data.data.copy()
    table["species"] = [data.target_names[code] for code in data.target]
    (root / "raw").mkdir()
    table.to_csv(root / "raw" / "iris.csv", index=False)
    table = table.sample(frac=1, random_state=3)
    table.insert(0, "flower", [f"{number:03d}" for number in range(len(table))])
    _write(root, table.iloc[45:], table.iloc[:45], "flower", "species")
    return root


def digits(root: Path, layout: str = "columns") -> Path:
    """Digits of 8 x 8 points as images, 240 for training and 160 for the test, classes ``d0`` to ``d9``.

    Args:
        root: where the package goes.
        layout: ``columns``: tables name ``images/NNN.png``; ``ids``: ``train/{id}.png``, ``test/{id}.png``,
            labels in train_labels.csv and no test table; ``folders``: ``train/<class>/`` and ``test/``.
    """
    _package(root, "image", "image_id", "digit")
    data = load_digits()
    rows = []
    # The writers wrote 0 to 9 in turn.
    for number, at in enumerate(np.random.default_rng(1).permutation(400)):
        side, label = "train" if number >= 160 else "test", f"d{data.target[at]}"
        name = {
            "columns": f"images/{number:03d}.png",
            "ids": f"{side}/{number:03d}.png",
            "folders": f"train/{label}/{number:03d}.png" if side == "train" else f"test/{number:03d}.png",
        }[layout]
        place = root / "public" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((data.images[at] * 15).astype(np.uint8)).save(place)
        rows.append((f"{number:03d}", name, label))
    table = pd.DataFrame(rows, columns=["image_id", "image", "digit"])
    train, test = table.iloc[160:], table.iloc[:160]
    _write(root, train, test, "image_id", "digit")
    if layout != "columns":
        (root / "public" / "test.csv").unlink()
        (root / "public" / "train.csv").unlink()
    if layout == "ids":
        train[["image_id", "digit"]].to_csv(root / "public" / "train_labels.csv", index=False)
    return root


def written(root: Path, train: pd.DataFrame, test: pd.DataFrame, target: str) -> Path:
    """A package of these rows, with numbers as ids in the column ``row``."""
    _package(root, "text", "row", target)
    whole = pd.concat([train, test], ignore_index=True)
    whole.insert(0, "row", np.random.default_rng(2).permutation(len(whole)))
    _write(root, whole.iloc[: len(train)], whole.iloc[len(train) :], "row", target)
    return root


def answers(root: Path) -> pd.DataFrame:
    """The answers: the first column is the id, the second the label."""
    return pd.read_csv(root / "private" / "test_answer.csv", dtype=str)


def open_files(root: Path) -> Case:
    """A case about the package as it is, without running its code."""
    task = load_task(root)
    return Case(task, Bubblewrap(), root, DEFAULTS, prepared=task)


def found(root: Path) -> dict[str, Finding]:
    """What the search through the files finds, by code."""
    return {each.code: each for each in gate.check(open_files(root))}


def _package(root: Path, modality: str, id_column: str, target: str) -> None:
    for name in ("public", "private"):
        (root / name).mkdir(parents=True)
    (root / "task.toml").write_text(
        TOML.format(name=root.name, modality=modality, id_column=id_column, target=target)
    )


def _write(root: Path, train: pd.DataFrame, test: pd.DataFrame, id_column: str, target: str) -> None:
    train.to_csv(root / "public" / "train.csv", index=False)
    test.drop(columns=target).to_csv(root / "public" / "test.csv", index=False)
    test[[id_column, target]].to_csv(root / "private" / "test_answer.csv", index=False)
    sample = test[[id_column]].assign(**{target: train[target].iloc[0]})
    sample.to_csv(root / "public" / "sample_submission.csv", index=False)


def pack(root: Path, how: str) -> Path:
    """Put the folders of media under public/ into archives.

    Args:
        root: the package.
        how: ``each``: ``train.zip`` holds ``1.png``; ``named``: it holds ``train/1.png``; ``one``:
            ``data.tar.gz`` holds ``train/1.png`` and all other folders.
    """
    public = root / "public"
    folders = sorted(path for path in public.iterdir() if path.is_dir())
    if how == "one":
        with tarfile.open(public / "data.tar.gz", "w:gz", compresslevel=1) as archive:
            for folder in folders:
                archive.add(folder, folder.name)
    for folder in folders:
        if how != "one":
            with zipfile.ZipFile(public / f"{folder.name}.zip", "w") as packed:
                for path in sorted(folder.rglob("*")):
                    packed.write(path, path.relative_to(public if how == "named" else folder))
        shutil.rmtree(folder)
    return root
