"""Answers are found in every form of file, and honest files beside the tables are left in peace."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from generator.verifier.files import answers as answers_part
from tests.generator.verifier.filed import answers, digits, flowers, found, open_files

Hide = Callable[[Path, pd.DataFrame], None]


def _csv(public: Path, a: pd.DataFrame) -> None:
    (public / "deep" / "er").mkdir(parents=True)
    a.set_axis(["key", "value"], axis=1).iloc[::-1].to_csv(public / "deep" / "er" / "notes.csv", index=False)


def _labels_only(public: Path, a: pd.DataFrame) -> None:
    (public / ".cache.dat").write_text("\n".join(a.iloc[:, 1]) + "\n")


def _nested_json(public: Path, a: pd.DataFrame) -> None:
    data = {"v": 1, "parts": {"all": {key: {"meta": {"gt": label}} for key, label in a.to_numpy()}}}
    (public / "cache.json").write_text(json.dumps(data))


def _by_label(public: Path, a: pd.DataFrame) -> None:
    groups = a.groupby(a.columns[1])[a.columns[0]].apply(list).to_dict()
    (public / "groups.json").write_text(json.dumps(groups))


def _npz_codes(public: Path, a: pd.DataFrame) -> None:
    np.savez(public / "arrays.npz", x=np.zeros((3, 3)), y=pd.factorize(a.iloc[:, 1])[0])


def _one_hot(public: Path, a: pd.DataFrame) -> None:
    codes, labels = pd.factorize(a.iloc[:, 1])
    np.save(public / "hot.npy", np.eye(len(labels))[codes])


def _mat(public: Path, a: pd.DataFrame) -> None:
    savemat(public / "data.mat", {"info": {"labels": pd.factorize(a.iloc[:, 1])[0]}, "n": 3})


def _database(public: Path, a: pd.DataFrame) -> None:
    base = sqlite3.connect(public / "store.db")
    a.to_sql("t", base, index=False)
    base.close()


def _disguised_zip(public: Path, a: pd.DataFrame) -> None:
    with zipfile.ZipFile(public / "model.bin", "w") as archive:
        archive.writestr("readme.txt", "weights of a model")
        archive.writestr("x/labels.csv", a.to_csv(index=False))


def _zip_in_tar(public: Path, a: pd.DataFrame) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("labels.json", json.dumps(dict(a.to_numpy().tolist())))
    with tarfile.open(public / "all.tar.gz", "w:gz") as outer:
        entry = tarfile.TarInfo("inner.zip")
        entry.size = len(inner.getvalue())
        outer.addfile(entry, io.BytesIO(inner.getvalue()))


def _packed_text(public: Path, a: pd.DataFrame) -> None:
    with gzip.open(public / "y.txt.gz", "wt") as packed:
        packed.write("\n".join(a.iloc[:, 1]))


def _log(public: Path, a: pd.DataFrame) -> None:
    lines = [
        f"12:00:{row % 60:02d} INFO item={key} class={label} ok"
        for row, (key, label) in enumerate(a.to_numpy())
    ]
    (public / "span_log.nmea").write_text("# started\n" + "\n".join(lines))


def _yaml(public: Path, a: pd.DataFrame) -> None:
    (public / "a.yaml").write_text("\n".join(f"- id: {key}\n  label: {label}" for key, label in a.to_numpy()))


def _pickled_frame(public: Path, a: pd.DataFrame) -> None:
    a.to_pickle(public / "cache.pkl")


def _pickled_mapping(public: Path, a: pd.DataFrame) -> None:
    (public / "cache.bin.pkl").write_bytes(pickle.dumps(dict(a.to_numpy().tolist())))


def _json_for_each(public: Path, a: pd.DataFrame) -> None:
    (public / "meta").mkdir()
    for key, label in a.to_numpy():
        (public / "meta" / f"{key}.json").write_text(json.dumps({"sex": "f", "note": {"organ": label}}))


def _text_for_each(public: Path, a: pd.DataFrame) -> None:
    with zipfile.ZipFile(public / "side.zip", "w") as archive:
        for key, label in a.to_numpy():
            archive.writestr(f"notes/{key}.txt", f"{label}\n")


HIDDEN: list[Hide] = [
    _csv, _labels_only, _nested_json, _by_label, _npz_codes, _one_hot, _mat, _database, _disguised_zip,
    _zip_in_tar, _packed_text, _log, _yaml, _pickled_frame, _pickled_mapping, _json_for_each, _text_for_each,
]  # fmt: skip


@pytest.mark.parametrize("hide", HIDDEN, ids=lambda hide: hide.__name__)
def test_answers_are_found_in_every_form(hide: Hide, tmp_path: Path) -> None:
    """Beside a table of flowers and beside images of digits."""
    for build in (flowers, digits):
        root = build(tmp_path / build.__name__)
        hide(root / "public", answers(root))
        hits = list(answers_part.check(open_files(root)))
        assert [(hit.code, hit.severity) for hit in hits] == [("answers_public", "error")], build.__name__


@pytest.mark.parametrize("hide", HIDDEN, ids=lambda hide: hide.__name__)
def test_the_same_files_with_other_values_are_honest(hide: Hide, tmp_path: Path) -> None:
    """The labels are dealt anew among the ids, so that the files tell nothing."""
    root = flowers(tmp_path / "task")
    dealt = answers(root)
    dealt.iloc[:, 1] = dealt.iloc[:, 1].sample(frac=1, random_state=1).to_numpy()
    hide(root / "public", dealt)
    assert not found(root)


def test_a_list_of_ids_and_one_of_training_labels_are_honest(tmp_path: Path) -> None:
    root = flowers(tmp_path / "task")
    train = pd.read_csv(root / "public" / "train.csv", dtype=str)
    (root / "public" / "ids.txt").write_text("\n".join(answers(root).iloc[:, 0]))
    (root / "public" / "y_train.json").write_text(json.dumps(train["species"].tolist()))
    (root / "public" / "classes.json").write_text(json.dumps({"setosa": 0, "versicolor": 1, "virginica": 2}))
    shutil.copy(root / "public" / "train.csv", root / "public" / "train_again.csv")
    assert not found(root)


def test_the_labelled_raw_table_is_found_copied_packed_and_written_anew(tmp_path: Path) -> None:
    copied, packed, anew = (flowers(tmp_path / name) for name in ("copied", "packed", "anew"))
    shutil.copy(copied / "raw" / "iris.csv", copied / "public" / "original.csv")
    with zipfile.ZipFile(packed / "public" / "original.zip", "w") as archive:
        archive.write(packed / "raw" / "iris.csv", "iris.csv")
        archive.writestr("readme.txt", "where the data come from")
    raw = pd.read_csv(anew / "raw" / "iris.csv")
    raw.sample(frac=1, random_state=2).to_csv(anew / "public" / "full.tsv", sep="\t", index=False)
    for root in (copied, packed, anew):
        assert found(root)["raw_in_public"].severity == "error"


def test_a_raw_training_table_may_be_public(tmp_path: Path) -> None:
    """A given split: raw/ has train and test apart, and train is copied as it is."""
    root = flowers(tmp_path / "task")
    shutil.copy(root / "public" / "train.csv", root / "raw" / "train.csv")
    (root / "raw" / "iris.csv").unlink()
    assert not found(root)
