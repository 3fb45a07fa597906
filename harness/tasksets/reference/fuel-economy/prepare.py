"""Split the cars into train and test; all rows of one model stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1983
TEST_SHARE = 0.4


def draw_groups(groups: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """Mark whole groups, drawn at random, until about `share` of the rows are marked."""
    sizes = groups.value_counts().sort_index()
    sizes = sizes.iloc[rng.permutation(len(sizes))]
    drawn = sizes.index[sizes.cumsum() <= share * len(groups)]
    return groups.isin(drawn)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the table of cars."""
    rng = np.random.default_rng(SEED)
    cars = pd.read_csv(raw / "auto-mpg.csv")
    cars = cars.iloc[rng.permutation(len(cars))].reset_index(drop=True)
    cars.insert(0, "car_id", np.arange(1, len(cars) + 1))

    in_test = draw_groups(cars["name"], TEST_SHARE, rng)
    train, test = cars[~in_test], cars[in_test]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="mpg").to_csv(public / "test.csv", index=False)
    answer = test[["car_id", "mpg"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(mpg=round(train["mpg"].mean(), 2)).to_csv(public / "sample_submission.csv", index=False)
