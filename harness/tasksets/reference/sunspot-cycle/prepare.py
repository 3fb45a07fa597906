"""Unfold the table of years and months and cut it at the end of 1986."""

from pathlib import Path

import pandas as pd

FIRST_TEST_MONTH, LAST_TEST_MONTH = "1987-01-01", "2008-12-01"


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the printed table (a year and twelve values a line)."""
    rows = []
    for line in (raw / "sunspots_monthly.dat").read_text(encoding="ascii").splitlines():
        cells = line.split()
        if len(cells) == 13 and cells[0].isdigit():
            for month, value in enumerate(cells[1:], start=1):
                rows.append((f"{cells[0]}-{month:02d}-01", float(value)))
    months = pd.DataFrame(rows, columns=["month", "sunspots"]).sort_values("month")

    train = months[months["month"] < FIRST_TEST_MONTH]
    test = months[months["month"].between(FIRST_TEST_MONTH, LAST_TEST_MONTH)]
    train.to_csv(public / "train.csv", index=False)
    test[["month"]].to_csv(public / "test.csv", index=False)
    test.to_csv(private / "test_answer.csv", index=False)
    sample = test.assign(sunspots=round(train["sunspots"].mean(), 1))
    sample.to_csv(public / "sample_submission.csv", index=False)
