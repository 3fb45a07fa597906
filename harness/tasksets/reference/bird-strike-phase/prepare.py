"""Draw reports with a remark and a known phase; equal remarks stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1999
TRAIN_ROWS, TEST_ROWS = 4500, 1500
FEWEST_WORDS = 8
PHASES = ["Approach", "Climb", "Descent", "En Route", "Landing Roll", "Take-off run"]


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the strike reports."""
    rng = np.random.default_rng(SEED)
    reports = pd.read_csv(raw / "remarks.csv.gz").dropna()
    reports = reports[reports["phase_of_flt"].isin(PHASES)].rename(columns={"phase_of_flt": "phase"})
    reports = reports[reports["remarks"].str.split().str.len() >= FEWEST_WORDS]

    # Rows are put in the order of their shuffled wordings, so that equal remarks are neighbours and a cut
    # between two wordings parts no group.
    wording = reports["remarks"].str.upper().str.split().str.join(" ")
    names = np.array(sorted(wording.unique()))
    place = pd.Series(np.arange(len(names)), index=names[rng.permutation(len(names))])
    reports = reports.assign(group=wording.map(place)).sort_values("group", kind="stable")
    train = reports[reports["group"] <= reports["group"].iloc[TRAIN_ROWS - 1]]
    rest = reports[reports["group"] > train["group"].max()]
    test = rest[rest["group"] <= rest["group"].iloc[TEST_ROWS - 1]]

    both = pd.concat([train, test])
    ids = pd.Series(rng.permutation(len(both)), index=both.index)
    for frame, is_train in ((train, True), (test, False)):
        frame = frame.assign(report_id=ids[frame.index]).sort_values("report_id")
        if is_train:
            frame[["report_id", "remarks", "phase"]].to_csv(public / "train.csv", index=False)
            usual = frame["phase"].mode()[0]
        else:
            frame[["report_id", "remarks"]].to_csv(public / "test.csv", index=False)
            answer = frame[["report_id", "phase"]]
            answer.to_csv(private / "test_answer.csv", index=False)
            answer.assign(phase=usual).to_csv(public / "sample_submission.csv", index=False)
