"""`mlesmith rate` as people use it: the options, what they refuse, and what is printed."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.errors import InputError
from mlesmith.main import app

HEADER = "task,model,attempt,score,valid,higher_is_better\n"


def mlesmith(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["rate", *map(str, arguments)])


def document(*arguments: object) -> dict[str, Any]:
    """The one JSON document on standard output; strict, so that a NaN fails the test."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    done = mlesmith(*arguments, "--json")
    assert done.exit_code == 0, done.output
    read: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    return read


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models on twelve tasks, some tied; [top] wins everything."""
    path, drawn = tmp_path_factory.mktemp("rate") / "scores.csv", random.Random(5)
    rows = [
        f"t{t},{model},1,{9 if model == '[top]' else drawn.randrange(4) + skill},1,1\n"
        for t in range(12)
        for model, skill in (("a", 0), ("b", 1), ("[top]", 0))
    ]
    path.write_text(HEADER + "".join(rows))
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """a beats b three times of four: 400 log10(3) apart."""
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\na,b,model_a\nb,a,model_b\na,b,1\na,b,model_b\n")
    return path


def test_the_contract_of_the_document(scores: Path) -> None:
    found = document(scores)
    assert found["schema_version"] == 1 and set(found) == {"schema_version", "ratings", "method", "notes"}
    assert set(found["ratings"][0]) == {
        "model", "elo", "elo_low", "elo_high", "rank", "rank_low", "rank_high", "win_rate", "n_tasks",
        "status",
    }  # fmt: skip
    assert found["method"]["rank_interval"]["kind"] == "marginal"
    assert set(document(scores, "--contrasts")) == {*found, "contrasts"}


def test_options_reach_the_fit(scores: Path) -> None:
    found = document(
        scores, "--prior-sd", 300, "--rank-interval", "simultaneous", "--seed", 7, "--level", 0.9
    )
    assert found["method"]["prior"] == {"kind": "gaussian", "sd": 300.0}
    assert (
        found["method"]["rank_interval"].items() >= {"kind": "simultaneous", "seed": 7, "level": 0.9}.items()
    )
    assert document(scores, "--prior", "gaussian", "--prior-sd", 300)["method"]["prior"]["sd"] == 300.0
    found = document(scores, "--prior", "firth", "--anchor", "a=1200", "--tie-abs", 1, "--invalid", "dropped")
    assert found["method"]["prior"] == {"kind": "firth"}
    assert {row["model"]: row["elo"] for row in found["ratings"]}["a"] == pytest.approx(1200)
    assert found["method"]["tie_tolerance"] == {"relative": 0.0, "absolute": 1.0}
    assert found["method"]["invalid"] == "as if missing"


def test_raw_comparisons_are_told_by_their_header(votes: Path) -> None:
    found = document(votes)
    a, b = found["ratings"]
    assert (a["model"], a["elo_low"], a["rank_low"]) == ("a", None, None)
    assert a["elo"] - b["elo"] == pytest.approx(400 * math.log10(3))
    assert found["notes"] == [
        "no intervals: results of one task are alike, so intervals are clustered by task; the file has no "
        "column task and counts as one"
    ]


def test_davidson_prints_nu_with_its_interval(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = (f"t{t},{m},1,{s},1,1\n" for t, pair in enumerate(["12", "21", "11", "12", "22"] * 3)
            for m, s in zip("ab", pair, strict=True))  # fmt: skip
    path.write_text(HEADER + "".join(rows))
    # 9 decisive comparisons, 6 ties. With two models the shares fit exactly: a won 3, b 6, tied 6, so that
    # nu = 6 / sqrt(3 x 6) = sqrt(2).
    found = document(path, "--ties", "davidson")["method"]
    assert found["nu"] == pytest.approx(math.sqrt(2))
    done = mlesmith(path, "--ties", "davidson")
    assert f"nu 1.414 ({found['nu_low']:.3f} to {found['nu_high']:.3f})" in done.stdout
    assert "note: no rank intervals" in done.stdout


def test_tables_for_people_keep_names_and_say_what_is_missing(scores: Path) -> None:
    done = mlesmith(scores, "--contrasts")
    assert done.exit_code == 0, done.output
    assert "[top]" in done.stdout and "separated" in done.stdout
    assert "note: no finite rating: [top] (above the rated models)" in done.stdout.replace("\n", " ")
    lines = [line.split() for line in done.stdout.splitlines()]
    # Twelve wins of twelve: an exact sign test of 2 / 2^12 = 0.00049; by Holm the smaller two of three
    # p values are times three and, not below that, times two.
    assert ["[top]", "b", "-", "-", "-", "0.00049", "0.0015", "-", "-", "-", "12", "sign"] in lines


def test_one_model_has_no_table_of_differences(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text(HEADER + "t,a,1,1,1,1\n")
    done = mlesmith(path, "--contrasts")
    assert "Differences" not in done.stdout and "note: a: met no other model" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ties", "davidson", "--prior", "firth", "--contrasts"), "does not go with --prior, --contrasts"),
        (("--ties", "davidson", "--prior-sd", 300), "does not go with --prior-sd"),
        (("--ties", "davidson", "--rank-interval", "marginal"), "does not go with --rank-interval"),
        (("--prior", "gaussian"), "add --prior-sd 300"),
        (("--prior", "firth", "--prior-sd", 300), "Firth's has none"),
        (("--anchor", "a"), "write a model and a finite rating"),
        (("--anchor", "=1000"), "write a model and a finite rating"),
        (("--anchor", "a=nan"), "write a model and a finite rating"),
        (("--anchor", "a=1e300"), "write a model and a finite rating (at most 1e6 from 0)"),
    ],
)
def test_bad_combinations_are_one_clear_line(scores: Path, options: tuple[object, ...], words: str) -> None:
    done = mlesmith(scores, *options)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ") and words in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--strict",), r"scores\.csv: no plain maximum-likelihood rating for: \[top\] \(separated\)"),
        (("--anchor", "x=1"), "the anchor 'x' is not among the models"),
        (("--anchor", "[top]=1"), r"the anchor '\[top\]' has no rating of its own"),
        (("--ties", "davidson"), r"no finite Davidson fit: .*\[top\]; --ties half"),
    ],
)
def test_what_the_results_do_not_allow_is_refused(
    scores: Path, options: tuple[object, ...], words: str
) -> None:
    # The entry point turns an InputError into one line and exit code 2.
    done = mlesmith(scores, *options)
    assert isinstance(done.exception, InputError)
    with pytest.raises(InputError, match=words):
        raise done.exception


@pytest.mark.parametrize(
    "options", [("--prior-sd", "inf"), ("--prior-sd", "nan"), ("--seed", -1), ("--level", "nan")]
)
def test_numbers_out_of_range_are_refused(scores: Path, options: tuple[object, ...]) -> None:
    done = mlesmith(scores, *options)
    assert done.exit_code == 2 and f"'{options[0]}'" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("models", "tasks"), [(["模型", "é", "🤖"], 12), (["[/]", "[red]x[/red]", "\\[y]"], 12), (["a"], 2)]
)
def test_any_name_is_printed_as_it_is(tmp_path: Path, models: list[str], tasks: int) -> None:
    path, drawn = tmp_path / "scores.csv", random.Random(1)
    rows = [f"t{t},{model},1,{drawn.random()},1,1\n" for t in range(tasks) for model in models]
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    done = mlesmith(path, "--contrasts")
    assert done.exit_code == 0 and all(model in done.stdout for model in models)
    assert {row["model"] for row in document(path)["ratings"]} == set(models)


@pytest.mark.parametrize("option", ["--ties", "--prior", "--rank-interval", "--invalid"])
def test_unknown_choices_are_refused(scores: Path, option: str) -> None:
    done = mlesmith(scores, option, "maybe")
    assert done.exit_code == 2 and option in done.stderr and "maybe" in done.stderr


def test_the_help_is_grouped_with_examples() -> None:
    text = mlesmith("--help").stdout
    headings = ("Arguments:", "Ratings:", "Reading the file:", "Intervals and differences:", "Other:")
    places = [text.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert text.index("  --ties") < text.index("Reading the file:") < text.index("  --tie-rel")
    assert text.count("mlesmith rate scores.csv") == 3
