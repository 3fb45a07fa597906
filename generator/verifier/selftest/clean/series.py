"""Clean tasks of time: a water main (forecasting) and days of power demand (classes of series)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from generator.datasets.catalogue import dataset_path
from generator.verifier.selftest.clean.metrics import metric
from generator.verifier.selftest.clean.task import Answers, CleanTask, Package, toml


def _water() -> pd.DataFrame:
    return pd.read_csv(dataset_path("water-flow") / "water-flow.csv")


def _write_water(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "main_7.csv", index=False)


_WATER_PREPARE = '''"""The last ten days are the test."""

from pathlib import Path

import pandas as pd

TEST_HOURS = 240


def prepare(raw: Path, public: Path, private: Path) -> None:
    flow = pd.read_csv(raw / "main_7.csv")
    flow.columns = ["hour", "litres"]
    flow = flow.dropna().sort_values("hour").reset_index(drop=True)
    past, future = flow[:-TEST_HOURS], flow[-TEST_HOURS:]
    past.to_csv(public / "history.csv", index=False)
    future[["hour"]].to_csv(public / "horizon.csv", index=False)
    future.to_csv(private / "test_answer.csv", index=False)
    sample = future[["hour"]].assign(litres=round(past["litres"].mean(), 2))
    sample.to_csv(public / "sample_submission.csv", index=False)
'''

_WATER_TEXT = """How much water flows?

history.csv holds the flow through a water main, hour by hour: hour (a time stamp, which is also the id)
and litres
(litres in a second). Forecast litres for the 240 hours of horizon.csv, which follow the history.

Submission: a CSV file with the header hour,litres and one row for each hour of horizon.csv (see
sample_submission.csv).

Metric: mean absolute error (MAE), lower is better, best 0.
"""

WATER = CleanTask(
    name="water-main",
    modality="time series",
    data="real: water flow (river)",
    answers=Answers.NUMBER,
    metric="mae",
    higher=False,
    train="history.csv",
    test="horizon.csv",
    series=True,
    free_ids=False,
    features=False,
    raw_target="Water flow [l/s]",
    shipped=True,
    package=Package(
        toml=toml(
            "water-main",
            "How much water flows?",
            "time series",
            "forecasting",
            ("hour", "litres"),
            ("water-flow (river)", "BSD-3-Clause"),
            'name = "mae"\nhigher_is_better = false\nbest = 0.0',
            'kind = "time"\ntime_column = "hour"\nseed = 1',
        ),
        prepare=_WATER_PREPARE,
        metric=metric("mae", "FlowMetrics", ("hour", "litres")),
        description=_WATER_TEXT,
        table=_water,
        write=_write_water,
    ),
)


def _days() -> pd.DataFrame:
    table = pd.read_csv(dataset_path("power-demand") / "power_demand.csv.gz")
    return table.sample(800, random_state=5).reset_index(drop=True)


def _write_days(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "days.csv", index=False)


_DAYS_PREPARE = '''"""One row for each day; which part of the year it belongs to is to be told."""

from pathlib import Path

import numpy as np
import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(24)
    days = pd.read_csv(raw / "days.csv", float_precision="round_trip")
    days["half"] = days.pop("season").map({1: "winter", 2: "summer"})
    days.insert(0, "day", [f"d-{number:x}" for number in rng.permutation(len(days)) + 4096])
    days = days.iloc[rng.permutation(len(days))]
    days[:250].drop(columns="half").to_csv(public / "test.csv", index=False)
    days[250:].to_csv(public / "train.csv", index=False)
    days[:250][["day", "half"]].to_csv(private / "test_answer.csv", index=False)
    days[:250][["day"]].assign(half="summer").to_csv(public / "sample_submission.csv", index=False)
'''

_DAYS_TEXT = """Summer or winter?

The power demand of a country over a day, 24 hourly values t000 to t023, each day on a scale of its own.
Tell from the
curve whether the day lies in the summer half (April to September) or in the winter half of the year.

train.csv: day (id), t000 ... t023, half. test.csv: the same without half. Both halves are about equally
frequent.

Submission: CSV with the columns day and half; half is summer or winter; one row for each day of test.csv.

Metric: accuracy, the share of right answers; higher is better and 1 is perfect.
"""

DAYS = CleanTask(
    name="demand-days",
    modality="time series",
    data="real: Italian power demand (sktime)",
    answers=Answers.LABEL,
    metric="accuracy",
    higher=True,
    raw_target="season",
    package=Package(
        toml=toml(
            "demand-days",
            "Summer or winter?",
            "time series",
            "classification",
            ("day", "half"),
            ("ItalyPowerDemand (sktime)", "BSD-3-Clause"),
            'name = "accuracy"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 24',
        ),
        prepare=_DAYS_PREPARE,
        metric=metric("accuracy", "HalfMetrics", ("day", "half"), labels=("summer", "winter")),
        description=_DAYS_TEXT,
        table=_days,
        write=_write_days,
    ),
)
