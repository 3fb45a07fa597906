"""Split the passenger list into train and test; people of one surname stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1912
TEST_SHARE = 0.35


def draw_groups(groups: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """Mark whole groups, drawn at random, until about `share` of the rows are marked."""
    sizes = groups.value_counts().sort_index()
    sizes = sizes.iloc[rng.permutation(len(sizes))]
    drawn = sizes.index[sizes.cumsum() <= share * len(groups)]
    return groups.isin(drawn)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the passenger list."""
    rng = np.random.default_rng(SEED)
    people = pd.read_csv(raw / "titanic_all.csv")
    people = people.iloc[rng.permutation(len(people))].reset_index(drop=True)
    people.insert(0, "passenger_id", np.arange(1, len(people) + 1))
    people.insert(2, "surname", people["name"].str.split(",").str[0].str.strip())

    in_test = draw_groups(people["surname"], TEST_SHARE, rng)
    train, test = people[~in_test], people[in_test]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="survived").to_csv(public / "test.csv", index=False)
    answer = test[["passenger_id", "survived"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    sample = answer.assign(survived=round(train["survived"].mean(), 4))
    sample.to_csv(public / "sample_submission.csv", index=False)
