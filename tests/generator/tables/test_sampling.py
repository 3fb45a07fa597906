"""Large tables are profiled by a part of their rows; the number of all is exact."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.tables import plan_table
from generator.tables import sampling as module
from generator.tables.sampling import read_sample

ROWS = 12_345
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "number": np.arange(ROWS),
        "value": RNG.normal(size=ROWS).round(4),
        # Numbers above, words further down: a column of words.
        "mixed": ["5"] * 9_000 + ["five"] * (ROWS - 9_000),
    }
)


def write(path: Path) -> None:
    if path.suffix == ".parquet":
        FRAME.to_parquet(path)
    elif path.suffix == ".jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    elif path.suffix == ".log":
        lines = (f"2020-01-05 12:00:00 INFO line {number}" for number in range(ROWS))
        path.write_text("\n".join(lines) + "\nTraceback\n")
    else:
        FRAME.to_csv(path, index=False)


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.jsonl", "data.parquet", "data.log"])
def test_a_part_spread_over_all_rows(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    write(tmp_path / name)
    monkeypatch.setattr(module, "_CHUNK_ROWS", 1_000)
    recipe = plan_table(tmp_path, name)
    sample = read_sample(recipe, tmp_path, whole_bytes=1_000, most_rows=1_000)
    assert sample.rows == ROWS and not sample.whole and 1_000 <= len(sample.frame) <= 2_000
    if "number" in sample.frame:
        steps = sample.frame["number"].diff().dropna().unique()
        assert len(steps) == 1 and sample.frame["number"].iloc[-1] >= ROWS - steps[0]
        assert sample.frame["mixed"].map(type).eq(str).all()
        whole = recipe.read(tmp_path)
        assert sample.frame["value"].tolist() == whole["value"].iloc[:: int(steps[0])].tolist()


def test_a_small_table_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path / "data.csv")
    sample = read_sample(plan_table(tmp_path, "data.csv"), tmp_path)
    assert sample.whole and sample.rows == ROWS


def test_a_packed_file_counts_as_larger(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"a": number, "b": "x" * 50}) for number in range(5_000))
    (tmp_path / "data.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    size = (tmp_path / "data.jsonl.gz").stat().st_size
    recipe = plan_table(tmp_path, "data.jsonl.gz")
    assert not read_sample(recipe, tmp_path, whole_bytes=2 * size, most_rows=100).whole
