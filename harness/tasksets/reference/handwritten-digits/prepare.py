"""Unpack the images under new numbers and split them, stratified by digit."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

SEED = 28
TRAIN_PER_DIGIT = 100


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the public and the private files from the archive of images and the list of labels."""
    rng = np.random.default_rng(SEED)
    labels = pd.read_csv(raw / "labels.csv")
    labels = labels.iloc[rng.permutation(len(labels))].reset_index(drop=True)
    labels.insert(0, "image_id", np.arange(len(labels)))
    labels.insert(1, "image", [f"images/{number:05d}.png" for number in labels["image_id"]])

    (public / "images").mkdir()
    with zipfile.ZipFile(raw / "images.zip") as archive:
        for source, target in zip(labels["file"], labels["image"]):
            (public / target).write_bytes(archive.read(source))

    in_train = labels.groupby("digit").cumcount() < TRAIN_PER_DIGIT
    columns = ["image_id", "image", "digit"]
    train, test = labels.loc[in_train, columns], labels.loc[~in_train, columns]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="digit").to_csv(public / "test.csv", index=False)
    answer = test[["image_id", "digit"]]
    answer.to_csv(private / "test_answer.csv", index=False)
    answer.assign(digit=0).to_csv(public / "sample_submission.csv", index=False)
