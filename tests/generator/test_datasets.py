"""The embedded raw data: cards, fingerprints and what is in the files."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from generator.datasets import build
from generator.datasets.catalogue import (
    HERE,
    DatasetCard,
    DatasetError,
    dataset_path,
    fingerprint,
    list_datasets,
    load_card,
    raw_files,
)
from harness.tasks.package import MODALITIES, load_task
from harness.tasksets.catalogue import list_tasks, reference_task

CARDS = list_datasets()


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_each_card_is_complete_and_its_fingerprint_holds(card: DatasetCard) -> None:
    folder = dataset_path(card.name)
    assert folder.name == card.name
    assert card.sha256 == fingerprint(folder)
    assert all((card.title, card.url, card.package, card.version, card.member))
    assert card.licence != "unknown"
    assert card.modality in MODALITIES
    assert card.description.count(".") >= 2


def test_there_are_many_varied_datasets_and_a_manifest_of_them() -> None:
    assert len(CARDS) >= 11
    assert {"tabular", "text", "image", "time series"} <= {card.modality for card in CARDS}
    assert json.loads((HERE / "manifest.json").read_text(encoding="utf-8")) == build.manifest()
    assert sorted(build.DECODERS) == [card.name for card in CARDS]


def test_no_dataset_shares_a_file_with_the_reference_tasks() -> None:
    ours = {hashlib.sha256(p.read_bytes()).hexdigest() for c in CARDS for p in raw_files(HERE / c.name)}
    roots = [load_task(reference_task(name)).raw for name in list_tasks()]
    theirs = {hashlib.sha256(p.read_bytes()).hexdigest() for root in roots for p in root.rglob("*.*")}
    assert not ours & theirs
    readme = (reference_task(list_tasks()[0]).parents[1] / "README.md").read_text(encoding="utf-8")
    assert [card.name for card in CARDS if Path(card.member or "").name in readme] == []


@pytest.mark.parametrize(
    ("name", "file", "rows", "column"),
    [  # rows as the packages' own documentation counts them
        ("ames-housing", "ames.csv.gz", 2930, "Sale_Price"),
        ("chicago-ridership", "chicago.csv.gz", 5698, "ridership"),
        ("concrete", "concrete.csv", 1030, "compressive_strength"),
        ("credit-applications", "credit_data.csv.gz", 4454, "Status"),
        ("diabetes", "diabetes.csv", 442, "progression"),
        ("employee-attrition", "attrition.csv.gz", 1470, "Attrition"),
        ("hpc-jobs", "hpc_data.csv.gz", 4331, "class"),
        ("image-segments", "segment.csv.gz", 2310, "category"),
        ("power-demand", "power_demand.csv.gz", 67 + 1029, "season"),
        ("tate-artworks", "tate_text.csv.gz", 4284, "title"),
        ("texas-housing", "txhousing.csv.gz", 8602, "median"),
        ("water-flow", "water-flow.csv", 1268, "Time"),
    ],
)
def test_tables_hold_all_rows_of_their_source(name: str, file: str, rows: int, column: str) -> None:
    table = pd.read_csv(dataset_path(name) / file)
    assert len(table) == rows
    assert column in table.columns


def test_diabetes_has_the_values_that_scikit_learn_gives() -> None:
    from sklearn.datasets import load_diabetes

    ours = pd.read_csv(dataset_path("diabetes") / "diabetes.csv")
    theirs = load_diabetes(as_frame=True, scaled=False).frame
    assert (ours.to_numpy(float) == theirs.to_numpy(float)).all()


def test_digit_images_are_those_of_scikit_learn() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    folder = dataset_path("digit-images")
    assert len(raw_files(folder)) == len(digits.target) == 1797
    for number in (0, 1, 1000, 1796):
        with Image.open(folder / str(digits.target[number]) / f"digit_{number:04d}.png") as image:
            grey = list(image.tobytes())
        assert grey == [min(int(level) * 16, 255) for level in digits.data[number]]


def test_films_are_strict_json_lines() -> None:
    data = gzip.decompress((dataset_path("films") / "films.jsonl.gz").read_bytes()).decode()
    films = [json.loads(line) for line in data.splitlines()]
    assert {"Title", "Genre", "Meter"} <= set(films[0])
    assert all(0 <= film["Meter"] <= 100 for film in films)


def test_unknown_names_are_met_with_suggestions() -> None:
    with pytest.raises(DatasetError, match=r"ames: no such folder or file.*did you mean .*ames-housing"):
        dataset_path("ames")
    with pytest.raises(DatasetError, match="the embedded ones are"):
        dataset_path("zzz")


def test_a_folder_of_ones_own_needs_no_card(tmp_path: Path) -> None:
    folder = tmp_path / "My data"
    folder.mkdir()
    with pytest.raises(DatasetError, match="holds no raw files"):
        load_card(folder)
    (folder / "rows.csv").write_text("a,b\n1,2\n")
    assert load_card(folder) == DatasetCard(name="My-data", title="My data")
    # sha256sum of the one file
    assert fingerprint(folder) == hashlib.sha256(b"a,b\n1,2\n").hexdigest()


def test_a_bad_card_names_the_file_and_the_field(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    card = tmp_path / "dataset.toml"
    card.write_text('name = "mine"\nlicense = "MIT"\n')
    with pytest.raises(DatasetError, match=r"dataset\.toml: license"):
        load_card(tmp_path)
    card.write_text("name = \n")
    with pytest.raises(DatasetError, match="not a valid TOML file"):
        load_card(tmp_path)
    with pytest.raises(DatasetError, match="no such folder"):
        load_card(tmp_path / "absent")


def test_power_demand_is_decoded_from_both_parts() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        wheel.writestr("x/ItalyPowerDemand_TRAIN.ts", "#note\n@data\n0.5,-1.25:1\n")
        wheel.writestr("x/ItalyPowerDemand_TEST.ts", "#note\n@data\n2,3:2\n")
    card = DatasetCard(name="power-demand", member="x")
    with zipfile.ZipFile(buffer) as wheel:
        ((name, data),) = build.power_demand(wheel, card).items()
    assert name == "power_demand.csv.gz"
    assert gzip.decompress(data) == b"season,t000,t001\n1,0.5,-1.25\n2,2,3\n"
