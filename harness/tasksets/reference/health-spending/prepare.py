"""Draw persons of the experiment; all years of a person stay together. Parts of the spending are left out."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1974
TRAIN_ROWS, TEST_ROWS = 4500, 2000
COLUMNS = [
    "person_id", "year", "plan", "site", "coins", "idp", "mdeoff", "pioff", "tookphys", "income", "num", "educdec",
    "xage", "female", "child", "time", "mhi", "disea", "physlm", "ghindx", "hlthg", "hlthf", "hlthp", "spending",
]


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the table of person-years."""
    rng = np.random.default_rng(SEED)
    rows = pd.read_csv(raw / "randhie.csv.gz").rename(columns={"meddol": "spending"})
    persons = rows["zper"].unique()
    number = pd.Series(rng.permutation(len(persons)), index=persons)
    rows["person_id"] = rows["zper"].map(number)
    rows = rows[COLUMNS].sort_values(["person_id", "year"], kind="stable").reset_index(drop=True)

    # Persons are numbered at random, so a stretch of numbers is a random sample of whole persons.
    train_end = rows["person_id"].iloc[TRAIN_ROWS]
    test_end = rows["person_id"].iloc[TRAIN_ROWS + TEST_ROWS]
    rows = rows[rows["person_id"] < test_end].copy()
    rows.insert(0, "row_id", rng.permutation(len(rows)))
    rows = rows.sort_values("row_id")
    in_train = rows["person_id"] < train_end
    rows["person_id"] = rng.permutation(test_end)[rows["person_id"]]
    train, test = rows[in_train], rows[~in_train]

    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="spending").to_csv(public / "test.csv", index=False)
    answer = test[["row_id", "spending"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    typical = round(float(np.expm1(np.log1p(train["spending"]).mean())), 2)
    answer.assign(spending=typical).to_csv(public / "sample_submission.csv", index=False)
