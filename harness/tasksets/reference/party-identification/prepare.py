"""Split the persons at random, stratified by party identification."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

SEED = 96
TEST_ROWS = 350


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the survey."""
    rng = np.random.default_rng(SEED)
    people = pd.read_csv(raw / "anes96.csv", sep="\t", quotechar="'").rename(columns={"PID": "party"})
    people = people.drop(columns="vote")
    people.insert(0, "respondent_id", rng.permutation(len(people)))
    people["party"] = people.pop("party").astype(int)
    people = people.sort_values("respondent_id")

    train, test = train_test_split(people, test_size=TEST_ROWS, stratify=people["party"], random_state=SEED)
    train, test = train.sort_values("respondent_id"), test.sort_values("respondent_id")
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="party").to_csv(public / "test.csv", index=False)
    answer = test[["respondent_id", "party"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(party=3).to_csv(public / "sample_submission.csv", index=False)
