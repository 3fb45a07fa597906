"""Clean forecasts are left alone: ids that count the steps of one series after the other, and a lone series.

The data are American figures by quarter, and the sea's temperature by month, both of statsmodels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import elnino, macrodata

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


def test_one_series_has_one_name(tmp_path: Path) -> None:
    table = elnino.load_pandas().data.melt("YEAR", var_name="name", value_name="temperature")
    table["month"] = pd.to_datetime(table["YEAR"].astype(int).astype(str) + table["name"], format="%Y%b")
    table["month"] = table["month"].dt.strftime("%Y-%m")
    table = table.assign(series="Nino 1+2")[["series", "month", "temperature"]].sort_values("month")
    assert _last(table, "month", "temperature", 60).findings(tmp_path / "task") == {}
