"""The agreement document of CSV files: published values, its schema, its notes, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.records import strict_json
from leaderboards.published import published_agreement, published_ratings
from reports.agreement import agreement_of_files, is_part_whole

PAIR_KEYS = {
    "a", "b", "n", "pearson_r", "r_squared", "spearman_rho", "kendall_tau_b", "ccc", "top3_overlap",
    "top5_overlap", "bland_altman", "cronbach_alpha", "icc_2_1",
}  # fmt: skip


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def published_files(folder: Path) -> list[Path]:
    ratings, paths = published_ratings(), []
    for name in ("dojo", "smith", "combined"):
        paths.append(folder / f"{name}.csv")
        ratings[["model", name]].rename(columns={name: "elo"}).to_csv(paths[-1], index=False)
    return paths


def test_table_2_of_the_paper_to_three_decimals(tmp_path: Path) -> None:
    document = agreement_of_files(published_files(tmp_path))
    table = published_agreement().set_index("pair")
    assert len(document["pairs"]) == len(table) == 3
    for pair in document["pairs"]:
        published = table.loc[f"{pair['a']}-{pair['b']}"]
        assert {name: round(pair[name], 3) for name in published.index} == published.to_dict()
    # The published reliability of the three sets.
    assert round(document["all_sets"]["cronbach_alpha"], 3) == 0.993
    assert round(document["all_sets"]["icc_2_1"], 3) == 0.981


def test_the_document_is_strict_and_has_the_fixed_keys(tmp_path: Path) -> None:
    document = agreement_of_files(published_files(tmp_path))
    assert json.loads(strict_json(document)) == document
    assert document["schema_version"] == 1
    assert set(document) == {"schema_version", "sets", "pairs", "all_sets", "tasks_needed", "notes"}
    assert document["sets"] == ["dojo", "smith", "combined"]
    for pair in document["pairs"]:
        assert set(pair) >= PAIR_KEYS
        assert set(pair["bland_altman"]) >= {"bias", "sd", "loa_low", "loa_high"}
        assert pair["n"] == 8
    interval = document["pairs"][0]["intervals"]["pearson_r"]
    # Fisher's interval of r = 0.9820, n = 8: tanh(atanh(r) -+ 1.96 / sqrt(5)) = 0.900, 0.997.
    assert (round(interval["low"], 3), round(interval["high"], 3)) == (0.9, 0.997)
    assert interval["unit"] == "models"


def test_notes_say_what_is_true_by_construction(tmp_path: Path) -> None:
    notes = agreement_of_files(published_files(tmp_path))["notes"]
    assert any("location not identified" in note and "dojo - smith" in note for note in notes)
    assert any("part-whole" in note and "smith - combined" in note for note in notes)
    assert not any("part-whole" in note and "dojo - smith" in note for note in notes)
    assert any("few models (n = 8)" in note and "0.900 to 0.997" in note for note in notes)


def test_undefined_figures_are_null_and_explained(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "model,elo\nx,1000\ny,1000\n")
    b = write(tmp_path / "b.csv", "model,elo\nx,900\ny,1100\n")
    document = agreement_of_files([a, b])
    pair = json.loads(strict_json(document))["pairs"][0]
    assert pair["pearson_r"] is None and pair["top3_overlap"] is None
    assert any("a is constant" in note for note in document["notes"])


def test_no_model_in_common(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "model,elo\nx,1000\n")
    b = write(tmp_path / "b.csv", "model,elo\ny,900\n")
    document = agreement_of_files([a, b])
    assert document["pairs"][0]["n"] == 0
    assert document["pairs"][0]["bland_altman"] is None
    assert document["all_sets"] == {"n": 0, "cronbach_alpha": None, "icc_2_1": None}
    strict_json(document)


def test_missing_and_unrated_models_are_named(tmp_path: Path) -> None:
    rows = "".join(f"m{i},{900 + 50 * i}\n" for i in range(5))
    a = write(tmp_path / "a.csv", "model,elo\n" + rows + "only-a,700\nlost,\n")
    b = write(tmp_path / "b.csv", "elo,model,more\n" + "".join(f"{1100 - 40 * i},m{i},?\n" for i in range(5)))
    document = agreement_of_files([a, b])
    assert document["pairs"][0]["n"] == 5
    # m0..m4 rise in a and fall in b on straight lines.
    assert document["pairs"][0]["pearson_r"] == pytest.approx(-1)
    assert any("a: no Elo for lost" in note for note in document["notes"])
    assert any("not in b: only-a" in note for note in document["notes"])


def test_names_come_from_the_set_column_or_the_path(tmp_path: Path) -> None:
    first = write(tmp_path / "board-1.csv", "model,elo,set\nx,1000,reference\ny,900,reference\n")
    second = write(tmp_path / "board-2.csv", "model,elo,set\nx,1000,smith\ny,900,smith\n")
    assert agreement_of_files([first, second])["sets"] == ["reference", "smith"]
    third = write(tmp_path / "again.csv", "model,elo,set\nx,1000,smith\ny,900,smith\n")
    assert agreement_of_files([second, third])["sets"] == [str(second), str(third)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("dojo", "smith", False),
        ("dojo", "combined", True),
        ("board-combined", "smith", True),
        ("modality-text", "modality-image", False),
        ("modality-text", "smith", True),
    ],
)
def test_part_whole_is_told_by_the_names(a: str, b: str, expected: bool) -> None:
    assert is_part_whole(a, b) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty; needed are the columns model,elo or task,model"]),
        ("name,elo\nx,1\n", ["line 1", "column model is missing", "name, elo"]),
        ("model,rating\nx,1\n", ["line 1", "column elo is missing"]),
        ("model,elo,elo\nx,1,2\n", ["column elo is there more than once"]),
        ("model,elo\n", ["no rows"]),
        ("model,elo\nx,1\nx,2\n", ["line 3", "column model", "'x' is already on line 2"]),
        ("model,elo\nx,high\n", ["line 2", "column elo", "'high'"]),
        ("model,elo\nx,inf\n", ["line 2", "column elo", "'inf'"]),
        ("model,elo\n,1\n", ["line 2", "column model", "empty"]),
        ("model,elo\nx,1,2\n", ["line 2", "3 fields"]),
        ('model,elo\n"x,1\n', ["line 2", "not valid CSV", "quote"]),
        ("model,elo\nx,1e300\n", ["line 2", "column elo", "beyond 1e+100"]),
        ("model;elo\nx;1\n", ["line 1", "separated by ';'"]),
        ("model,elo\n\x1b[31mx,1\n", ["line 2", "column model", "control character"]),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, text: str, words: list[str]) -> None:
    good = write(tmp_path / "good.csv", "model,elo\nx,1\n")
    bad = write(tmp_path / "bad.csv", text)
    with pytest.raises(InputError) as error:
        agreement_of_files([good, bad])
    assert all(word in str(error.value) for word in [str(bad), *words])


def test_other_bad_input(tmp_path: Path) -> None:
    good = write(tmp_path / "good.csv", "model,elo\nx,1\n")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    cases: list[tuple[list[Path], str]] = [
        ([good], "at least two"),
        ([good, tmp_path / "gone.csv"], "gone.csv: not found"),
        ([good, tmp_path], "cannot be read"),
        ([good, good], "given twice"),
        ([good, binary], "not UTF-8"),
    ]
    for paths, message in cases:
        with pytest.raises(InputError, match=message):
            agreement_of_files(paths)


def test_hundreds_of_models_are_announced_as_slow(tmp_path: Path) -> None:
    said: list[str] = []
    for models, expected in ((99, []), (100, ["a - b: trying random pairings of 100 models"])):
        for name, power in (("a", 1), ("b", 2)):
            rows = (f"m{i},{1000 + i**power}\n" for i in range(models))
            write(tmp_path / f"{name}.csv", "model,elo\n" + "".join(rows))
        document = agreement_of_files([tmp_path / "a.csv", tmp_path / "b.csv"], progress=said.append)
        assert said == expected and document["pairs"][0]["kendall_tau_b"] == 1.0


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys, reports.agreement\n"
        "print(sorted({'matplotlib', 'scipy', 'pingouin', 'jinja2', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
