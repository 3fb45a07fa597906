"""Split the travellers at random; the four options of a traveller stay together."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 4
TRAIN_TRAVELLERS = 70
MODES = {1: "air", 2: "train", 3: "bus", 4: "car"}


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the table of options."""
    rng = np.random.default_rng(SEED)
    options = pd.read_csv(raw / "modechoice.csv", sep=";")
    people = options["individual"].unique()
    number = pd.Series(rng.permutation(len(people)) + 1, index=people)
    options["traveller"] = options["individual"].map(number)
    options["mode"] = options["mode"].map(MODES)
    options["option_id"] = options["traveller"].astype(str) + "-" + options["mode"]
    columns = ["option_id", "traveller", "mode", "ttme", "invc", "invt", "gc", "hinc", "psize", "choice"]
    options = options[columns].sort_values("traveller", kind="stable")

    in_train = options["traveller"].isin(rng.permutation(number.to_numpy())[:TRAIN_TRAVELLERS])
    train, test = options[in_train], options[~in_train]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="choice").to_csv(public / "test.csv", index=False)
    answer = test[["option_id", "choice"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(choice=0.25).to_csv(public / "sample_submission.csv", index=False)
