"""Tables with several rows for each id are searched for leaks by id, not by row.

The data are the digits of scikit-learn, each written as eight rows of eight pixels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from generator.verifier.leaks import gate
from tests.generator.verifier.leaking import Made, divided


def _images() -> Made:
    data = load_digits()
    pixels = data.images[:500].reshape(500, 64).astype(int)
    table = pd.DataFrame(pixels, columns=[f"line {at // 8} pixel {at % 8}" for at in range(64)])
    return divided(table.assign(digit=[f"digit {label}" for label in data.target[:500]]), "image", ["digit"])


def _by_line(table: pd.DataFrame) -> pd.DataFrame:
    """Eight rows for each image, which stay together."""
    lines = []
    for line in range(8):
        pixels = {f"line {line} pixel {at}": f"pixel {at}" for at in range(8)}
        own = [name for name in table.columns if not name.startswith("line ")]
        lines.append(table[[*own, *pixels]].rename(columns=pixels).assign(line=line, place=range(len(table))))
    return pd.concat(lines).sort_values(["place", "line"]).drop(columns="place")


def _codes(made: Made, root: Path) -> set[str]:
    """What is found when both tables are written line by line, and the answers image by image."""
    case = made.case(root)
    _by_line(made.train).to_csv(root / "public" / "train.csv", index=False)
    _by_line(made.test.drop(columns="digit")).to_csv(root / "public" / "test.csv", index=False)
    assert case.joined is not None
    assert case.joined.test["image"].tolist() == made.test["image"].astype(str).tolist()
    return {found.code for found in gate.check(case)}


def test_rows_of_one_id_are_no_order(tmp_path: Path) -> None:
    assert _codes(_images(), tmp_path / "task") == set()


@pytest.mark.parametrize("code", ["row_order_leak", "id_leak"])
def test_an_order_of_ids_is_one(code: str, tmp_path: Path) -> None:
    made = _images()
    made.test = made.test.sort_values("digit").reset_index(drop=True)
    if code == "id_leak":
        made.test["image"] = np.arange(len(made.test)) + 5000
        made.test = made.test.sample(frac=1, random_state=1).reset_index(drop=True)
    assert code in _codes(made, tmp_path / "task")
