"""The regenerated paper: every published statistic, and what is said about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from harness.records import strict_json
from leaderboards.published import REPAIR_NOTE, published_agreement
from reports.paper import Summary, regenerate


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    out = tmp_path_factory.mktemp("paper")
    return out, regenerate(out)


def test_every_published_statistic_comes_out(made: tuple[Path, Summary]) -> None:
    out, summary = made
    table = pd.read_csv(out / "published_vs_regenerated.csv").set_index("statistic")
    # Seven statistics of three pairs, and two of all three sets.
    assert len(table) == 7 * 3 + 2
    assert summary.all_match and (table["match"] == "yes").all()
    for row in published_agreement().to_dict("records"):
        pair = row.pop("pair")
        for name, value in row.items():
            line = table.loc[f"{pair} {name}"]
            assert line.loc["published"] == value == line.loc["regenerated_from_repaired"]
    assert table.loc["three sets cronbach_alpha", "published"] == 0.993
    # As printed, r of Dojo and Smith is 0.977, as the description of the published data says.
    assert table.loc["dojo-smith pearson_r", "regenerated_from_printed"] == 0.977


def test_table_1_prints_the_published_ratings_and_ranks(made: tuple[Path, Summary]) -> None:
    table = pd.read_csv(made[0] / "table-1-overall.csv").set_index("model")
    # Ranks from the paper's own table: o4-mini is third on Dojo, second on Smith, third combined.
    assert list(table.loc["o4-mini"]) == [1068.0, 3, 1097.6, 2, 1082.9, 3]
    assert table["dojo_rank"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_the_index_names_the_repair_and_what_is_missing(made: tuple[Path, Summary]) -> None:
    out, summary = made
    for name in ("index.md", "index.html"):
        text = (out / name).read_text(encoding="utf-8")
        assert REPAIR_NOTE in text
        assert "Elo per modality" in text and "intervals of the ratings" in text and "scores per task" in text
        for target in re.findall(r'(?:href|src)="([^"]+)"|\]\(([^)]+)\)', text):
            assert (out / (target[0] or target[1])).is_file()
    assert REPAIR_NOTE in summary.document()["notes"]


def test_the_summary_is_strict_json(made: tuple[Path, Summary]) -> None:
    document = made[1].document()
    strict_json(document)
    assert document["matches"] == len(document["statistics"]) == 23
    assert all(path.is_file() for path in made[1].files)
    assert made[1].rows()[0] == ("dojo-smith pearson_r", "0.982", "0.982", "0.977", "yes")


def test_the_audit_finds_the_row_and_the_repaired_table_is_consistent(made: tuple[Path, Summary]) -> None:
    out = made[0]
    audits = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    printed, repaired = audits["as_printed"], audits["repaired"]
    assert repaired["ok"] and all(item["reproduced"] for item in repaired["statistics"])
    assert len(repaired["statistics"]) == len(printed["statistics"]) == 23
    assert len(pd.read_csv(out / "audit.csv")) == len(printed["findings"]) > 0
    top = pd.read_csv(out / "audit-repairs.csv").iloc[0]
    assert top["model"] == "o4-mini" and top["reproduced"] == "23 of 23" and top["findings_left"] == 0
    for name in ("index.md", "index.html"):
        text = (out / name).read_text(encoding="utf-8")
        assert "never a published correction" in text
        assert (
            "o4-mini with smith 1097.6, combined 1082.9; 23 of 23 statistics reproduced, 0 findings" in text
        )
