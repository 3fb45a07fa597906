"""Lay the recordings out as one row each and keep the split of the source."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd

SEED = 9
LENGTH = 26
TARGETS = [f"speaker_{number}" for number in range(1, 10)]


def read(path: Path) -> pd.DataFrame:
    """A `.ts` file as a table: the coefficients, padded with empty cells, and the nine indicator columns."""
    text = gzip.decompress(path.read_bytes()).decode()
    rows = []
    for line in text.split("@data", 1)[1].split():
        *dimensions, label = line.split(":")
        row = {}
        for number, series in enumerate(dimensions, start=1):
            values = [float(value) for value in series.split(",")[:LENGTH]]
            values += [np.nan] * (LENGTH - len(values))
            row |= {f"c{number:02d}_t{moment:02d}": value for moment, value in enumerate(values)}
        rows.append(row | {name: int(name == f"speaker_{label}") for name in TARGETS})
    return pd.DataFrame(rows)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the two parts of the source."""
    rng = np.random.default_rng(SEED)
    train, test = (read(raw / f"JapaneseVowels_{part}.ts.gz") for part in ("TRAIN", "TEST"))
    ids = rng.permutation(len(train) + len(test))
    train.insert(0, "utterance_id", ids[: len(train)])
    test.insert(0, "utterance_id", ids[len(train) :])
    train, test = train.sort_values("utterance_id"), test.sort_values("utterance_id")

    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGETS).to_csv(public / "test.csv", index=False)
    answer = test[["utterance_id", *TARGETS]]
    answer.to_csv(private / "test_answer.csv", index=False)
    sample = answer.astype(dict.fromkeys(TARGETS, float))
    sample[TARGETS] = round(1 / len(TARGETS), 6)
    sample.to_csv(public / "sample_submission.csv", index=False)
