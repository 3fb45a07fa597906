"""``mlesmith agree`` as users and scripts meet it: score tables, rating tables, options and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SCORES = (EXAMPLES / "scores-reference.csv", EXAMPLES / "scores-smith.csv")
HEADER = "task,model,attempt,score,valid,higher_is_better\n"


def agree(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mlesmith", "agree", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def strict(text: str) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    return dict(json.loads(text, parse_constant=refuse))


def test_score_tables_as_json() -> None:
    done = agree(*SCORES, "--replicates", 100, "--margin", 150, "--level", 0.9, "--json")
    assert done.returncode == 0, done.stderr
    document = strict(done.stdout)
    assert document["sets"] == ["reference", "smith"]
    (pair,) = document["pairs"]
    assert pair["by_tasks"] and pair["intervals"]["pearson_r"]["level"] == 0.9
    keys = {"ceiling", "influence", "lines", "permutation", "equivalence", "intervals_by_models", "shows"}
    assert keys <= set(pair) and pair["equivalence"]["margin"] == 150
    assert set(document["tasks_needed"]) == {"reference", "smith"}
    assert "resampling tasks (100 times)" in done.stderr


def test_score_tables_for_people() -> None:
    done = agree(*SCORES, "--replicates", 100)
    assert done.returncode == 0, done.stderr
    parts = ("Agreement", "how sure, and what it rests on", "What this shows", "Mind")
    places = [done.stdout.index(part) for part in parts]
    assert places == sorted(places)
    for words in (
        "over tasks",
        "over models",
        "without any one model",
        "slope, Deming",
        "agrees with itself",
    ):
        assert words in done.stdout, words
    assert "nan" not in done.stdout.lower().split() and "None" not in done.stdout


def test_a_prior_keeps_separated_models() -> None:
    plain, kept = (
        strict(agree(*SCORES, "--replicates", 100, *more, "--json").stdout)["pairs"][0]
        for more in ((), ("--prior-sd", 400))
    )
    assert kept["n"] >= plain["n"] and kept["ceiling"]["fit"] == "Gaussian prior on ratings, SD 400"
    assert all(interval["failed"] == 0 for interval in kept["intervals"].values())


def test_rating_tables_need_no_tasks(tmp_path: Path) -> None:
    for name, values in (("a", (1100, 1000, 900)), ("b", (1050, 1010, 940))):
        rows = "".join(f"m{i},{value}\n" for i, value in enumerate(values))
        (tmp_path / f"{name}.csv").write_text("model,elo\n" + rows)
    done = agree(tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.returncode == 0, done.stderr
    assert "over models" in done.stdout and "over tasks" not in done.stdout
    # Three models in one order: one of 3! = 6 pairings agrees as well.
    assert "probability 0.17 (all 6 pairings)" in done.stdout


def test_names_with_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    models = ("[/]", "[red]x[/red]", "模型", "🤖")
    for name, factor in (("a", 1), ("b", 2)):
        rows = [f"{model},{1000 + factor * i},[/{name}]\n" for i, model in enumerate(models)]
        (tmp_path / f"{name}.csv").write_text("model,elo,set\n" + "".join(rows), encoding="utf-8")
    done = agree(tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.split()[:3] == ["[/a]", "-", "[/b]"] for line in lines)
    assert "[/a] - [/b]: how sure, and what it rests on" in [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (HEADER + "t,m,1,high,true,true\n", (), ("line 2", "column score", "'high'")),
        (HEADER + "t,m,1,1,true,true\nt,m,1,2,true,true\n", (), ("line 3", "already on line 2")),
        (HEADER, (), ("no rows",)),
        ("task,model,score\nt,m,1\n", (), ("column attempt is missing",)),
        ("name,points\nm,1\n", (), ("model,elo", "task,model,attempt")),
    ],
)
def test_bad_tables_are_one_clear_line(
    tmp_path: Path, text: str, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text(text)
    done = agree(SCORES[0], bad, *options)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert all(word in line for word in ("bad.csv", *words)), line
    assert "Traceback" not in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    "options",
    [
        ("--level", 1.5),
        ("--margin", 0),
        ("--margin", "inf"),
        ("--prior-sd", "inf"),
        ("--interval", "normal"),
        ("--replicates", 1),
    ],
)
def test_bad_options_are_refused(options: tuple[object, ...]) -> None:
    done = agree(*SCORES, *options)
    assert done.returncode == 2 and str(options[0]) in done.stderr
