"""Clean forecasts are left alone: ids that count the steps of one series after the other, and a lone series.

The data are American figures by quarter, and the sea's temperature by month, both of statsmodels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import co2, elnino, macrodata

from tests.generator.verifier.leaking import Made

SPLIT = 'kind = "time"\ntime_column = "{}"\nseed = 1'


def _last(table: pd.DataFrame, time: str, target: str, steps: int) -> Made:
    """The last steps of each series are the test set, series by series, and numbered so."""
    left = table.groupby("series").cumcount(ascending=False)
    train, test = table[left >= steps], table[left < steps].reset_index(drop=True)
    test.insert(0, "id", np.arange(len(test)) + 1)
    return Made(train, test, "id", [target], objective="forecasting", split=SPLIT.format(time))


def test_ids_that_count_series_by_series(tmp_path: Path) -> None:
    table = macrodata.load_pandas().data
    table["quarter"] = [
        f"{int(y)}-{int(q) * 3:02d}-01" for y, q in zip(table["year"], table["quarter"], strict=True)
    ]
    table = table.melt(
        "quarter", ["realgdp", "realcons", "realinv", "realgovt", "m1", "cpi"], "series", "value"
    )
    made = _last(table, "quarter", "value", 40)
    assert "id_leak" not in made.findings(tmp_path / "shown")
    made.train = made.train.drop(columns="series")
    made.test = made.test.drop(columns="series")
    assert "id_leak" in made.findings(tmp_path / "hidden")


def test_weeks_in_their_own_spelling_are_an_order(tmp_path: Path) -> None:
    table = co2.load_pandas().data.dropna().reset_index().tail(600)
    year, week = table["index"].dt.isocalendar().year, table["index"].dt.isocalendar().week
    table["week"] = [f"{y} W{w:02d}" for y, w in zip(year, week, strict=True)]
    table["co2"] = table["co2"] - table["co2"].rolling(52, min_periods=1).mean()
    made = _last(table.assign(series="Mauna Loa")[["series", "week", "co2"]], "week", "co2", 104)
    made.test["id"] = np.random.default_rng(1).permutation(len(made.test))
    assert "row_order_leak" not in made.findings(tmp_path / "shown")
    made.test = made.test.drop(columns="week")
    assert "row_order_leak" in made.findings(tmp_path / "hidden")


def test_one_series_has_one_name(tmp_path: Path) -> None:
    table = elnino.load_pandas().data.melt("YEAR", var_name="name", value_name="temperature")
    table["month"] = pd.to_datetime(table["YEAR"].astype(int).astype(str) + table["name"], format="%Y%b")
    table["month"] = table["month"].dt.strftime("%Y-%m")
    table = table.assign(series="Nino 1+2")[["series", "month", "temperature"]].sort_values("month")
    assert _last(table, "month", "temperature", 60).findings(tmp_path / "task") == {}


def test_moments_that_are_the_ids_are_an_order(tmp_path: Path) -> None:
    """Weeks of some months are asked for, each named by its date, though no split by time was declared."""
    table = co2.load_pandas().data.dropna().reset_index(names="week").tail(900)
    table["co2"] = table["co2"] - table["co2"].rolling(52, min_periods=1).mean()
    asked = (table["week"].dt.month % 3 == 0) | (table["week"].dt.month % 3 == 1)
    table["quarter"], table["week"] = table["week"].dt.quarter, table["week"].dt.strftime("%Y-%m-%d")
    made = Made(table[~asked], table[asked].reset_index(drop=True), "week", ["co2"], objective="regression")
    assert "row_order_leak" not in made.findings(tmp_path / "shown")
    made.test["week"] = np.random.default_rng(1).permutation(len(made.test))
    assert "row_order_leak" in made.findings(tmp_path / "hidden")
