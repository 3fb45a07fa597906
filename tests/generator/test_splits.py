"""The split follows the data: time, groups, repeated experiments, classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from generator.datasets.catalogue import dataset_path
from generator.profile import profile_table
from generator.splits import choose_split, repeated_experiment, resemblance
from generator.tables import read_table


def load(name: str) -> pd.DataFrame:
    folder = dataset_path(name)
    return read_table(next(path for path in sorted(folder.iterdir()) if path.name != "dataset.toml"))


@pytest.mark.parametrize(
    ("dataset", "target", "classes", "kind", "column"),
    [
        ("credit-applications", "Status", True, "stratified", None),
        ("ames-housing", "Sale_Price", False, "random", None),
        ("chicago-ridership", "ridership", False, "time", "date"),
        ("texas-housing", "median", False, "time", "year"),
        ("atlantic-storms", "pressure", False, "group", "name"),
        ("concrete", "compressive_strength", False, "group", "cement"),
    ],
)
def test_real_data(dataset: str, target: str, classes: bool, kind: str, column: str | None) -> None:
    frame = load(dataset)
    features = tuple(name for name in frame.columns if name != target)
    split = choose_split(profile_table(frame, dataset), frame, features, frame[target], classes=classes)
    assert split.kind == kind
    assert split.columns[:1] == ((column,) if column else ())
    assert split.reason


def test_mixtures_of_concrete_are_told_apart_from_their_age() -> None:
    frame = load("concrete")
    assert repeated_experiment(frame.drop(columns="compressive_strength")) == tuple(frame.columns[:7])
    # Fewer than half of the rows are different mixtures: counted with a plain set.
    mixtures = {tuple(row) for row in frame.iloc[:, :7].to_numpy().tolist()}
    assert len(mixtures) < 0.5 * len(frame)


def test_resemblance_by_hand() -> None:
    """Groups a: 1, 3; b: 7, 9. Total 40, within 2 + 2 = 4, noise 4 / 2 = 2: (36 - 2) / (40 + 2) = 34 / 42."""
    target, groups = pd.Series([1.0, 3.0, 7.0, 9.0]), pd.Series(["a", "a", "b", "b"])
    assert resemblance(target, groups, classes=False) == pytest.approx(34 / 42)


def test_chance_gives_no_resemblance() -> None:
    rng = np.random.default_rng(0)
    target, groups = pd.Series(rng.normal(size=3000)), pd.Series(rng.integers(0, 1000, 3000))
    # Plain eta squared would be about a third here.
    assert resemblance(target, groups, classes=False) < 0.05


@pytest.mark.parametrize("drift", [0.0, 2.0])
def test_dated_rows_are_cut_in_time_when_the_target_changes(drift: float) -> None:
    """Sales on distinct days without order in the file; the mean rises by two standard deviations, or not."""
    rng = np.random.default_rng(4)
    days = pd.Series(pd.date_range("2020-01-01", periods=900, freq="D")).repeat(3).reset_index(drop=True)
    frame = pd.DataFrame({"sold_on": days.astype(str), "area": rng.gamma(4, 20, len(days))})
    frame["price"] = rng.normal(size=len(days)) + drift * np.linspace(-1.5, 1.5, len(days))
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    table = profile_table(frame, "sales.csv")
    split = choose_split(table, frame, ("sold_on", "area"), frame["price"], classes=False)
    assert (split.kind, split.columns) == (("time", ("sold_on",)) if drift else ("random", ()))
