"""The lines of code that the advice gives, run on the table that it is for, make the split that it names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from generator.datasets.catalogue import dataset_path
from generator.splitadvice import advise_split
from generator.tables import read_table
from harness.errors import InputError
from harness.tasks.package import Split
from mlesmith.main import app


def raw_table(dataset: str) -> Path:
    folder = dataset_path(dataset)
    return next(path for path in sorted(folder.iterdir()) if path.name != "dataset.toml")


@pytest.mark.parametrize(
    ("dataset", "target", "kind", "share"),
    [
        ("credit-applications", "Status", "stratified", 0.25),
        ("ames-housing", "Sale_Price", "random", 0.25),
        ("chicago-ridership", "ridership", "time", 0.15),
        ("texas-housing", "median", "time", 0.15),
        ("concrete", "compressive_strength", "group", 0.25),
    ],
)
def test_the_lines_make_the_split(dataset: str, target: str, kind: str, share: float) -> None:
    path = raw_table(dataset)
    advice = advise_split(path, target)
    assert advice.choice.kind == kind
    table = read_table(path)
    names: dict[str, pd.DataFrame] = {"table": table}
    exec(advice.code, {"pd": pd}, names)
    train, test = names["train"], names["test"]
    assert len(train) + len(test) == len(table) and not set(train.index) & set(test.index)
    assert len(test) / len(table) == pytest.approx(share, abs=0.06)
    columns = list(advice.choice.columns)
    if kind == "group":
        keys = [set(map(tuple, part[columns].astype(str).to_numpy())) for part in (train, test)]
        assert not keys[0] & keys[1]
    if kind == "stratified":
        shares = [part[target].value_counts(normalize=True) for part in (train, test)]
        assert (shares[0] - shares[1]).abs().max() < 0.01
    if kind == "time":
        moments = [part[columns].astype(str).agg("-".join, axis=1) for part in (train, test)]
        if len(columns) == 1:
            assert moments[0].max() < moments[1].min()
    split = Split.model_validate(tomllib.loads(advice.toml)["split"])
    assert split.kind == kind


def test_columns_left_out_do_not_decide(tmp_path: Path) -> None:
    """Rows of one owner resemble each other; without the owner they are like any others."""
    rng = np.random.default_rng(6)
    owner, richness = np.arange(400) // 4, rng.normal(size=100)
    rows = {"owner": [f"o{i}" for i in owner], "size": rng.gamma(4, 20, 400), "price": richness[owner]}
    path = tmp_path / "houses.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    assert advise_split(path, "price").choice.columns == ("owner",)
    assert advise_split(path, "price", leave_out=("owner",)).choice.kind == "group"
    with pytest.raises(InputError, match="no column 'prize'; columns are owner, size, price"):
        advise_split(path, "prize")
    with pytest.raises(InputError, match="no such file"):
        advise_split(tmp_path / "nothing.csv", "price")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match=r"empty\.csv"):
        advise_split(tmp_path / "empty.csv", "price")


def test_the_command_prints_one_document() -> None:
    path = raw_table("credit-applications")
    result = CliRunner().invoke(app, ["task", "split", str(path), "--target", "Status", "--json"])
    document = json.loads(result.stdout)
    assert (document["kind"], document["target_is"]) == ("stratified", "classes")
    assert set(document) == {"schema_version", "kind", "columns", "reason", "target_is", "code", "toml"}
