"""Split the strike reports by date: learn from 1990 to 1996, judge later ones."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1990
FIRST_TEST_DAY = "1997-01-01"
TRAIN_ROWS, TEST_ROWS = 5000, 2000
COLUMNS = [
    "date", "operator", "atype", "ac_mass", "num_engs", "phase_of_flt", "time_of_day", "state", "height", "speed",
    "sky", "species", "birds_seen", "birds_struck", "remarks", "disturbed",
]


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the strike reports."""
    rng = np.random.default_rng(SEED)
    reports = pd.read_csv(raw / "birds.csv.gz")
    reports["date"] = pd.to_datetime(reports["date"], format="%m/%d/%Y %H:%M:%S").dt.strftime("%Y-%m-%d")
    reports["disturbed"] = reports["effect"].notna().astype(int)
    reports = reports.loc[reports["date"].notna(), COLUMNS].drop_duplicates()

    later = reports["date"] >= FIRST_TEST_DAY
    train = reports[~later].sample(TRAIN_ROWS, random_state=rng)
    test = reports[later].sample(TEST_ROWS, random_state=rng)
    ids = rng.permutation(TRAIN_ROWS + TEST_ROWS)
    train.insert(0, "strike_id", ids[:TRAIN_ROWS])
    test.insert(0, "strike_id", ids[TRAIN_ROWS:])
    train, test = train.sort_values("strike_id"), test.sort_values("strike_id")

    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="disturbed").to_csv(public / "test.csv", index=False)
    answer = test[["strike_id", "disturbed"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    sample = answer.assign(disturbed=round(train["disturbed"].mean(), 4))
    sample.to_csv(public / "sample_submission.csv", index=False)
