"""The published figures: values typed from the paper's tables, and Table 2 recomputed with scipy."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from scipy import stats as scipy_stats

from leaderboards.published import FOLDER, REPAIR_NOTE, facts, published_agreement, published_ratings

TABLE_1 = {
    "Gemini-2.5-Pro": (1254.6, 1179.7, 1214.3),
    "Gemini-2.5-Flash": (1146.7, 1079.3, 1111.3),
    "o4-mini": (1068.0, 1114.6, 1097.6),
    "DeepSeek-Reasoner": (1064.8, 1059.1, 1061.8),
    "o3-mini": (1011.9, 1003.3, 1007.6),
    "DeepSeek-Chat": (990.7, 1030.2, 1011.2),
    "GPT-4o": (776.5, 808.8, 794.1),
    "GPT-4o-mini": (686.7, 742.0, 716.8),
}


def rows(frame: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    return {
        str(model): (dojo, smith, combined)
        for model, dojo, smith, combined in frame[["model", "dojo", "smith", "combined"]].itertuples(
            index=False
        )
    }


def test_table_1_as_printed_and_repaired() -> None:
    assert rows(published_ratings(repaired=False)) == TABLE_1
    assert rows(published_ratings()) == {**TABLE_1, "o4-mini": (1068.0, 1097.6, 1082.9)}
    assert list(published_ratings()["model"]) == list(TABLE_1)


def test_only_the_repaired_columns_have_the_mean_of_a_bradley_terry_fit() -> None:
    printed, repaired = (
        {c: round(float(published_ratings(repaired=r)[c].sum()), 1) for c in ("dojo", "smith", "combined")}
        for r in (False, True)
    )
    # Rounding to one decimal moves a sum of eight by at most 0.4.
    assert printed == {"dojo": 7999.9, "smith": 8017.0, "combined": 8014.7}
    assert repaired == {"dojo": 7999.9, "smith": 8000.0, "combined": 8000.0}


def test_table_2_follows_from_the_repaired_ratings_by_scipy() -> None:
    ratings, table = published_ratings(), published_agreement().set_index("pair")
    assert list(table.index) == ["dojo-smith", "dojo-combined", "smith-combined"]
    for pair in table.index:
        a, b = (ratings[name] for name in str(pair).split("-"))
        r = float(scipy_stats.pearsonr(a, b).statistic)
        assert round(r, 3) == table.loc[pair, "pearson_r"]
        assert round(r * r, 3) == table.loc[pair, "r_squared"]
        assert round(float(scipy_stats.spearmanr(a, b).statistic), 3) == table.loc[pair, "spearman_rho"]
        assert round(float(scipy_stats.kendalltau(a, b).statistic), 3) == table.loc[pair, "kendall_tau_b"]
    printed = published_ratings(repaired=False)
    assert round(float(scipy_stats.pearsonr(printed["dojo"], printed["smith"]).statistic), 3) == 0.977


def test_agreement_and_facts_are_as_published() -> None:
    table = published_agreement().set_index("pair")
    assert table["ccc"].tolist() == [0.958, 0.989, 0.989]
    assert table["top3_overlap"].tolist() == [1.0, 1.0, 1.0]
    assert table["top5_overlap"].tolist() == [0.8, 0.8, 1.0]
    data = facts()
    assert data["schema_version"] == 1
    assert data["reliability_three_sets"] == {"cronbach_alpha": 0.993, "icc_2_1": 0.981}
    assert data["yield"]["tasks_verified"] == 606 and data["yield"]["tasks_generated"] == 807
    # 606 verified tasks / 224 datasets
    assert data["yield"]["tasks_per_dataset"] == pytest.approx(606 / 224, abs=0.005)
    assert data["evaluation"] == {
        "dojo_tasks": 50,
        "smith_tasks": 50,
        "models": 8,
        "max_steps": 15,
        "max_hours": 12,
    }
    json.dumps(data, allow_nan=False)


def test_the_repair_is_called_an_inference_wherever_it_is_offered() -> None:
    assert "inference" in REPAIR_NOTE
    assert "by inference" in (FOLDER / "README.md").read_text(encoding="utf-8")
