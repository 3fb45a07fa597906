"""Read the outlines of the source and keep its split."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd

SEED = 427
SPECIES = ["circinatum", "glabrum", "macrophyllum", "negundo", "garryana", "kelloggii"]


def read(path: Path) -> pd.DataFrame:
    """A `.ts` file as a table with one row for each leaf."""
    text = gzip.decompress(path.read_bytes()).decode()
    rows = []
    for line in text.split("@data", 1)[1].split():
        series, label = line.split(":")
        row = {f"t{step:03d}": float(value) for step, value in enumerate(series.split(","))}
        rows.append(row | {"species": SPECIES[int(label) - 1]})
    return pd.DataFrame(rows)


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the two parts of the source."""
    rng = np.random.default_rng(SEED)
    train, test = (read(raw / f"OSULeaf_{part}.ts.gz") for part in ("TRAIN", "TEST"))
    ids = rng.permutation(len(train) + len(test))
    train.insert(0, "leaf_id", ids[: len(train)])
    test.insert(0, "leaf_id", ids[len(train) :])
    train, test = train.sort_values("leaf_id"), test.sort_values("leaf_id")

    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="species").to_csv(public / "test.csv", index=False)
    answer = test[["leaf_id", "species"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(species=train["species"].mode()[0]).to_csv(public / "sample_submission.csv", index=False)
