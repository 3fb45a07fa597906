"""Split the penguins so that the birds of a nest stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 2007
TEST_SHARE = 0.4
TARGETS = ["culmen_length_mm", "culmen_depth_mm", "flipper_length_mm", "body_mass_g"]
NAMES = {
    "Species": "species",
    "Island": "island",
    "Date Egg": "date_egg",
    "Clutch Completion": "clutch_completion",
    "Sex": "sex",
    "Delta 15 N (o/oo)": "delta_15_n",
    "Delta 13 C (o/oo)": "delta_13_c",
    "Culmen Length (mm)": "culmen_length_mm",
    "Culmen Depth (mm)": "culmen_depth_mm",
    "Flipper Length (mm)": "flipper_length_mm",
    "Body Mass (g)": "body_mass_g",
}


def draw_groups(groups: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """Mark whole groups, drawn at random, until about `share` of the rows are marked."""
    sizes = groups.value_counts().sort_index()
    sizes = sizes.iloc[rng.permutation(len(sizes))]
    drawn = sizes.index[sizes.cumsum() <= share * len(groups)]
    return groups.isin(drawn)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the field data."""
    rng = np.random.default_rng(SEED)
    birds = pd.read_csv(raw / "penguins-raw.csv").rename(columns=NAMES).dropna(subset=TARGETS)
    birds["species"] = birds["species"].str.split().str[0]
    nest = birds["Individual ID"].str.extract(r"^(N\d+)", expand=False)
    birds["nest"] = birds["studyName"] + "-" + birds["species"] + "-" + nest
    birds = birds[["nest", *NAMES.values()]]
    birds = birds.iloc[rng.permutation(len(birds))].reset_index(drop=True)
    birds.insert(0, "penguin_id", np.arange(1, len(birds) + 1))

    in_test = draw_groups(birds["nest"], TEST_SHARE, rng)
    train, test = birds[~in_test], birds[in_test]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGETS).to_csv(public / "test.csv", index=False)
    answer = test[["penguin_id", *TARGETS]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(**train[TARGETS].mean().round(2)).to_csv(public / "sample_submission.csv", index=False)
