"""Split the genes at random; the 14 functions become columns of 0 and 1."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 14
TRAIN_ROWS = 1600
TARGETS = [f"class_{number:02d}" for number in range(1, 15)]


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the table of genes."""
    rng = np.random.default_rng(SEED)
    genes = pd.read_csv(raw / "yeast.csv.gz")
    genes = genes.rename(columns={f"Class{number}": name for number, name in enumerate(TARGETS, start=1)})
    genes = genes.astype(dict.fromkeys(TARGETS, int)).iloc[rng.permutation(len(genes))]
    ids = pd.Series(rng.permutation(len(genes)), index=genes.index, name="gene_id")
    genes = pd.concat([ids, genes], axis=1)

    train, test = (part.sort_values("gene_id") for part in (genes[:TRAIN_ROWS], genes[TRAIN_ROWS:]))
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGETS).to_csv(public / "test.csv", index=False)
    answer = test[["gene_id", *TARGETS]]
    answer.to_csv(private / "test_answer.csv", index=False)
    usual = train[TARGETS].mean().nlargest(2).index
    sample = answer.assign(**{name: int(name in usual) for name in TARGETS})
    sample.to_csv(public / "sample_submission.csv", index=False)
