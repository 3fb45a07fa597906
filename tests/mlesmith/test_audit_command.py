"""``mlesmith audit`` as scripts use it: exit codes, the JSON document, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "leaderboards" / "published"
STATISTICS = PUBLISHED / "agreement_published.csv"
WHOLE = ("--whole", "combined=dojo+smith")


def run_audit(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mlesmith", "audit", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def read(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document; strict, so that a NaN fails the test."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    document: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    assert document["schema_version"] == 1
    return document


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_audit_help_has_an_example() -> None:
    done = run_audit("--help")
    assert done.returncode == 0 and "Example: mlesmith audit" in done.stdout and "--json" in done.stdout


def test_the_printed_table_exits_1_and_the_row_is_found() -> None:
    done = run_audit(PUBLISHED / "overall_elo_as_printed.csv", "--statistics", STATISTICS, *WHOLE, "--json")
    assert done.returncode == 1, done.stderr
    document = read(done)
    assert not document["ok"] and len(document["statistics"]) == 21
    first = document["statistics"][0]
    assert (first["statistic"], first["sets"], first["published"]) == ("pearson_r", ["dojo", "smith"], 0.982)
    assert not first["reproduced"]
    top = document["repairs"][0]
    assert (top["kind"], top["model"], top["reproduced"], top["remaining"]) == (
        "shift-right",
        "o4-mini",
        21,
        [],
    )
    assert top["changes"] == {
        "smith": {"printed": 1114.6, "repaired": 1097.6},
        "combined": {"printed": 1097.6, "repaired": 1082.9},
    }


def test_the_repaired_table_exits_0_in_words_and_in_json(tmp_path: Path) -> None:
    figures = write(
        tmp_path / "figures.csv",
        "sets,statistic,value",
        "dojo+smith+combined,cronbach_alpha,0.993",
        "dojo+smith+combined,icc_2_1,0.981",
        "dojo-smith,kendall_tau_b,0.857",
    )
    arguments = (PUBLISHED / "overall_elo_repaired.csv", "--statistics", figures, *WHOLE)
    done = run_audit(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    document = read(done)
    assert document["ok"] and document["findings"] == [] and document["repairs"] == []
    assert [item["reproduced"] for item in document["statistics"]] == [True, True, True]
    done = run_audit(*arguments)
    assert done.returncode == 0 and "consistent; 3 of 3 published statistics" in done.stdout


def test_printed_places_gaps_and_names_with_dashes_are_read(tmp_path: Path) -> None:
    # Whole numbers: three ratings may sum to 3000 +- 1.5. m3 has no rating in b-c; its name has brackets.
    table = write(tmp_path / "t.csv", "model,a,b-c", "m1,1101,1090", "m2,1000,1010", "[m3],900,")
    figures = write(tmp_path / "f.csv", "pair,pearson_r,spearman_rho", "a-b-c,,1", "a+b-c,1.0,")
    done = run_audit(table, "--statistics", figures, "--json")
    document = read(done)
    # b-c: two rated models sum to 2100, not 2000: a warning, as the third may have had a rating.
    assert [(f["code"], f["severity"], f["where"]) for f in document["findings"]] == [
        ("mean-not-offset", "warning", "b-c")
    ]
    assert document["decimals"] == 0 and done.returncode == 1
    assert [item["sets"] for item in document["statistics"]] == [["a", "b-c"]] * 2
    shown = run_audit(table).stdout
    assert "t.csv: 1 finding\n" in shown and "[m3] in b-c" in shown


HEADER = "model,dojo,smith"
BAD_TABLES = {
    "no model": (("name,dojo", "a,1"), ("line 1", "column model")),
    "no set": (("model", "a"), ("line 1", "one column of ratings per set")),
    "a word": ((HEADER, "a,1000,high"), ("line 2", "column smith", "'high'")),
    "infinite": ((HEADER, "a,inf,1"), ("line 2", "column dojo", "'inf'")),
    "twice": ((HEADER, "a,1,1", "a,2,2"), ("line 3", "already on line 2")),
    "nameless": ((HEADER, ",1,1"), ("line 2", "give a name")),
    "short": ((HEADER, "a,1"), ("line 2", "2 fields where the header has 3")),
    "column twice": (("model,x,x", "a,1,1"), ("line 1", "column x")),
    "empty column": ((HEADER, "a,1,", "b,1,"), ("column smith", "no number")),
    "no rows": ((HEADER,), ("no rows",)),
    "empty": ((), ("empty; the first line",)),
    "semicolons": (("model;dojo;smith", "a;1;1"), ("line 1", "separated by ';'")),
    "a column of text": (("model,set,dojo", "a,x,1"), ("line 2", "column set", "hold no ratings")),
    "huge": ((HEADER, "a,1e300,1"), ("line 2", "column dojo", "beyond 1e+100")),
    "a line break": ((HEADER, '"a\nb",1,1'), ("line 3", "column model", "control character")),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_named(case: str, tmp_path: Path) -> None:
    from harness.errors import InputError
    from leaderboards.audit import read_table

    lines, words = BAD_TABLES[case]
    with pytest.raises(InputError) as error:
        read_table(write(tmp_path / "bad.csv", *lines))
    assert all(word in str(error.value) for word in ("bad.csv", *words))


BAD_STATISTICS = {
    "no columns": (("set,number", "dojo,1"), ("line 1", "sets, statistic and value")),
    "unknown set": (("pair,ccc", "dojo-gym,0.9"), ("line 2", "column pair", "'dojo-gym'", "dojo, smith")),
    "one set": (("sets,statistic,value", "dojo,ccc,0.9"), ("line 2", "column sets")),
    "a set twice": (("sets,statistic,value", "dojo+dojo,ccc,1"), ("line 2", "column sets", "different sets")),
    "a word": (("pair,ccc", "dojo-smith,high"), ("line 2", "column ccc", "'high'")),
    "nothing": (("pair,ccc", "dojo-smith,"), ("no statistic",)),
}


@pytest.mark.parametrize("case", BAD_STATISTICS)
def test_bad_statistics_are_named(case: str, tmp_path: Path) -> None:
    from harness.errors import InputError
    from leaderboards.audit import read_statistics

    lines, words = BAD_STATISTICS[case]
    with pytest.raises(InputError) as error:
        read_statistics(write(tmp_path / "bad.csv", *lines), ["dojo", "smith"])
    assert all(word in str(error.value) for word in ("bad.csv", *words))


def test_an_ambiguous_pair_is_refused_and_plus_settles_it(tmp_path: Path) -> None:
    from harness.errors import InputError
    from leaderboards.audit import read_statistics

    sets = ["a", "a-b", "b-c", "c"]
    with pytest.raises(InputError, match="more than one way"):
        read_statistics(write(tmp_path / "f.csv", "pair,ccc", "a-b-c,0.9"), sets)
    (found,) = read_statistics(write(tmp_path / "g.csv", "pair,ccc", "a-b+c,0.9"), sets).statistics
    assert found.sets == ("a-b", "c")


def test_bad_input_exits_2_with_one_line(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", HEADER, "a,1050,1040", "b,950,960")
    unknown = write(tmp_path / "u.csv", "pair,pearson", "dojo-smith,0.9")
    for arguments, words in (
        ((tmp_path / "none.csv",), ("none.csv", "not found")),
        ((table, "--statistics", unknown), ("u.csv", "unknown statistic 'pearson'")),
        ((table, "--whole", "combined"), ("combined=dojo+smith",)),
        ((table, "--whole", "all=dojo+smith"), ("t.csv", "unknown set all")),
    ):
        done = run_audit(*arguments)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
        assert all(word in done.stderr for word in words)
    done = run_audit(table, "--offset", "nan")
    assert done.returncode == 2 and "'--offset'" in done.stderr and done.stdout == ""
