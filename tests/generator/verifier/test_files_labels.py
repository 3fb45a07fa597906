"""Lists of labels as codes and indicators under public/, and raw tables whose columns were written anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.generator.verifier.filed import answers, flowers, found, written

LABELS = ("red", "round", "small", "sweet")


def fruits(root: Path, mark: str, rows: int) -> Path:
    """Rows of two measurements with a list of labels that follow them, most of the time."""
    draw = np.random.default_rng(rows)
    held = draw.random((rows, 4)) < (0.6, 0.4, 0.3, 0.5)
    held[~held.any(axis=1), 0] = True
    table = pd.DataFrame(
        {
            "weight": (held @ [1.0, 2, -1, 3] + draw.normal(0, 1, rows)).round(3),
            "length": draw.normal(0, 1, rows).round(3),
            "tags": [mark.join(np.array(LABELS)[row]) for row in held],
        }
    )
    written(root, table.iloc[: rows // 2], table.iloc[rows // 2 :], "tags")
    toml = (root / "task.toml").read_text()
    (root / "task.toml").write_text(toml.replace('"classification"', '"multi-label classification"'))
    return root


def codes(cells: pd.Series, mark: str) -> np.ndarray:
    return pd.factorize(cells, sort=True)[0].astype(float)


def indicators(cells: pd.Series, mark: str) -> np.ndarray:
    return cells.str.get_dummies(mark)[list(LABELS)].to_numpy()


@pytest.mark.parametrize(("mark", "rows"), [(" ", 240), (";", 400)])
@pytest.mark.parametrize("form", [codes, indicators])
def test_lists_of_labels_are_found_as_arrays(
    mark: str, rows: int, form: Callable[[pd.Series, str], np.ndarray], tmp_path: Path
) -> None:
    root = fruits(tmp_path / "told", mark, rows)
    np.savez(root / "public" / "arrays.npz", y=form(answers(root)["tags"], mark))
    assert found(root)["answers_public"].severity == "error"
    honest = fruits(tmp_path / "honest", mark, rows)
    dealt = answers(honest)["tags"].sample(frac=1, random_state=1)
    np.savez(honest / "public" / "arrays.npz", y=form(dealt, mark))
    assert not found(honest)


def renamed(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns=lambda name: name.upper().replace(" (CM)", "").replace(" ", "_"))


def recoded(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(species=pd.factorize(table["species"], sort=True)[0]).rename(
        columns={"species": "kind"}
    )


def with_new_cells(table: pd.DataFrame) -> pd.DataFrame:
    """A column of the test table is written otherwise in the raw one."""
    return table.assign(**{table.columns[0]: table.iloc[:, 0] * 10 + 1000})


@pytest.mark.parametrize("change", [renamed, recoded, with_new_cells])
def test_the_raw_table_is_found_under_other_names_and_codes(
    change: Callable[[pd.DataFrame], pd.DataFrame], tmp_path: Path
) -> None:
    root = flowers(tmp_path / "task")
    raw = change(pd.read_csv(root / "raw" / "iris.csv"))
    raw.to_csv(root / "raw" / "iris.csv", index=False)
    (root / "public" / "source").mkdir()
    shutil.copy(root / "raw" / "iris.csv", root / "public" / "source" / "iris.csv")
    assert found(root)["raw_in_public"].severity == "error"


def test_the_raw_list_of_media_is_found_though_it_is_longer_than_the_training_table(tmp_path: Path) -> None:
    root = fruits(tmp_path / "task", " ", 240)
    train = pd.read_csv(root / "public" / "train.csv").rename(columns={"row": "was"})
    test = answers(root).rename(columns={"row": "was"})
    (root / "raw").mkdir()
    whole = pd.concat([train[["was", "tags"]], test])
    whole["was"] = [f"scan{number}.png" for number in range(len(whole))]
    whole.to_csv(root / "raw" / "labels.csv", index=False)
    for name in ("train.csv", "test.csv"):
        table = pd.read_csv(root / "public" / name)
        table.drop(columns=["weight", "length"]).assign(side=name[:4]).to_csv(
            root / "public" / name, index=False
        )
    (root / "public" / "source").mkdir()
    shutil.copy(root / "raw" / "labels.csv", root / "public" / "source" / "labels.csv")
    assert found(root)["raw_in_public"].severity == "error"


def test_the_raw_table_without_its_labels_is_honest(tmp_path: Path) -> None:
    root = flowers(tmp_path / "task")
    raw = renamed(pd.read_csv(root / "raw" / "iris.csv")).drop(columns="SPECIES")
    raw.to_csv(root / "raw" / "features.csv", index=False)
    shutil.copy(root / "raw" / "features.csv", root / "public" / "features.csv")
    assert "raw_in_public" not in found(root)
