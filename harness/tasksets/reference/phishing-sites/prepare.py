"""Split the sites so that equal combinations of traits stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 379
TEST_SHARE = 0.4
TARGET = "is_phishing"


def draw_groups(groups: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """Mark whole groups, drawn at random, until about `share` of the rows are marked."""
    sizes = groups.value_counts().sort_index()
    sizes = sizes.iloc[rng.permutation(len(sizes))]
    drawn = sizes.index[sizes.cumsum() <= share * len(groups)]
    return groups.isin(drawn)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the table of sites."""
    rng = np.random.default_rng(SEED)
    sites = pd.read_csv(raw / "phishing.csv")
    traits = [name for name in sites.columns if name != TARGET]
    combination = sites.groupby(traits).ngroup()
    sites.insert(0, "signature", rng.permutation(combination.max() + 1)[combination])
    sites = sites.iloc[rng.permutation(len(sites))].reset_index(drop=True)
    sites.insert(0, "site_id", np.arange(1, len(sites) + 1))

    in_test = draw_groups(sites["signature"], TEST_SHARE, rng)
    train, test = sites[~in_test], sites[in_test]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(public / "test.csv", index=False)
    answer = test[["site_id", TARGET]]
    answer.to_csv(private / "test_answer.csv", index=False)
    sample = answer.assign(is_phishing=round(train[TARGET].mean(), 4))
    sample.to_csv(public / "sample_submission.csv", index=False)
