"""The whole line: real data in, verified tasks and a funnel out; failures apart; nothing done twice."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.pipeline.generation import Generation, Options, generate
from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider) -> tuple[Path, Generation]:
    out, empty = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("empty")
    return out, generate(
        ["diabetes", "water-flow", empty], out, provider=sandbox, options=Options(workers=2, deep=False)
    )


def test_one_failure_does_not_stop_the_others(first: tuple[Path, Generation]) -> None:
    out, generation = first
    document = json.loads(json.dumps(generation.to_document(), allow_nan=False))
    assert document["schema_version"] == 1
    diabetes, water, unknown = document["datasets"]
    assert diabetes["verified"] == [str(out / "diabetes-progression")]
    assert load_task(out / "diabetes-progression").is_prepared
    assert water["verified"] == [] and "hardly help" in water["rejected"][0]["reason"]
    assert "holds no raw files" in unknown["error"]
    assert not generation.complete


def test_a_dataset_that_does_not_exist_is_refused_before_any_work(
    tmp_path: Path, sandbox: SandboxProvider
) -> None:
    for missing in ("diabetis", tmp_path / "missing"):
        with pytest.raises(InputError, match=r"did you mean.*diabetes|no such folder"):
            generate(["diabetes", missing], tmp_path / "out", provider=sandbox)
    assert not (tmp_path / "out").exists()


def test_the_funnel_counts_what_happened(first: tuple[Path, Generation]) -> None:
    out, generation = first
    counts = generation.funnel.counts()
    assert counts["verified"] == counts["refactored"] == counts["proposed"] == 1
    with (out / "funnel.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == counts["considered"]
    assert [row["task"] for row in rows if row["reached"] == "verified"] == ["diabetes-progression"]
    assert all(row["reason"] for row in rows if row["reached"] != "verified")
    assert "| verified | 1 |" in (out / "funnel.md").read_text()


def test_again_makes_nothing_anew(first: tuple[Path, Generation], sandbox: SandboxProvider) -> None:
    out, before = first
    stages: list[str] = []
    stamp = (out / "diabetes-progression" / "task.toml").stat().st_mtime_ns
    again = generate(
        ["diabetes", "water-flow"], out, provider=sandbox, options=Options(deep=False),
        progress=lambda dataset, stage, text: stages.append(stage),
    )  # fmt: skip
    assert "design" not in stages and "brainstorm" not in stages
    assert again.results[0].verified == before.results[0].verified
    assert (out / "diabetes-progression" / "task.toml").stat().st_mtime_ns == stamp


def test_messy_data_of_a_user(tmp_path: Path, sandbox: SandboxProvider) -> None:
    """Semicolons, an unnamed counter, numbers with words among them, dates as text, a third missing."""
    rng = np.random.default_rng(3)
    size = 600
    area, rooms = rng.normal(80, 20, size).round(1), rng.integers(1, 6, size)
    heat = rng.choice(["gas", "oil", "district heat"], size)
    rent = 200 + 9 * area + 60 * rooms + 150 * (heat == "gas") + rng.normal(0, 60, size)
    table = pd.DataFrame({
        "Unnamed: 0": range(size), "Fläche (m²)": area.astype(str), "rooms": rooms, "heat": heat,
        "seen on": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 400, size), unit="D"),
        "same": 1, "rent": rent.round(2),
    })  # fmt: skip
    table["seen on"] = table["seen on"].dt.strftime("%d %b %Y")
    table.loc[rng.choice(size, 12, replace=False), "Fläche (m²)"] = "unknown"
    table.loc[rng.choice(size, 200, replace=False), "heat"] = np.nan
    folder = tmp_path / "My flats"
    folder.mkdir()
    table.to_csv(folder / "flats 2021.csv", sep=";", index=False, encoding="latin-1", errors="replace")
    out = tmp_path / "out"
    generation = generate([folder], out, provider=sandbox, options=Options(deep=False))
    result = generation.results[0]
    assert out / "my-flats-rent" in result.verified, result.rejected
    task = load_task(out / "my-flats-rent")
    train = pd.read_csv(task.public / "train.csv")
    assert "same" not in train and "Unnamed: 0" not in train
    area_column = next(name for name in train.columns if name.startswith("Fl"))
    assert pd.api.types.is_float_dtype(train[area_column]) and train[area_column].isna().any()
    assert "without a description" in task.description_path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.csv": "x,y\n1,2\n3,4\n"}, "rows"),
        ({"a.csv": "when,note\n" + "2024-01-01,same\n" * 300}, "none of its 2 columns (2 constant)"),
        ({"log.bin": "\x00\x01"}, "no table or images"),
        ({"page.json": '{"a": {"b": [1, 2'}, "no table or images"),
    ],
)
def test_unfit_data_get_a_clear_reason(
    files: dict[str, str], reason: str, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    result = generate([folder], tmp_path / "out", provider=sandbox, options=Options(deep=False)).results[0]
    assert result.verified == () and reason in result.rejected[0].reason


def test_wrong_use_is_refused(tmp_path: Path, sandbox: SandboxProvider) -> None:
    with pytest.raises(InputError, match="no dataset"):
        generate([], tmp_path, provider=sandbox)
    with pytest.raises(InputError, match="max_tasks"):
        generate(["diabetes"], tmp_path, provider=sandbox, options=Options(max_tasks=0))
    with pytest.raises(InputError, match="did you mean probe"):
        generate(["diabetes"], tmp_path, provider=sandbox, options=Options(without=frozenset({"prob"})))
    with pytest.raises(InputError, match="rules backend cannot leave out 'refactor'"):
        generate(["diabetes"], tmp_path, provider=sandbox, options=Options(without=frozenset({"refactor"})))
