"""Cut the weekly series at the end of 1996."""

from pathlib import Path

import pandas as pd

FIRST_TEST_DAY = "1997-01-01"


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the weekly series."""
    weeks = pd.read_csv(raw / "co2.csv", dtype={"date": str}).dropna()
    weeks["date"] = pd.to_datetime(weeks["date"], format="%Y%m%d").dt.strftime("%Y-%m-%d")
    weeks = weeks.sort_values("date")

    later = weeks["date"] >= FIRST_TEST_DAY
    train, test = weeks[~later], weeks[later]
    train.to_csv(public / "train.csv", index=False)
    test[["date"]].to_csv(public / "test.csv", index=False)
    test.to_csv(private / "test_answer.csv", index=False)
    test.assign(co2=round(train["co2"].mean(), 2)).to_csv(public / "sample_submission.csv", index=False)
