"""What is computed of ladders and scores, against arithmetic by hand and other libraries."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy.stats import norm

from generator.selection.discrimination import Origin, discriminations
from generator.selection.facts import Facts
from generator.selection.families import FAMILIES, OTHER, family
from generator.selection.items import compare, items
from generator.selection.ladder import ladder_discrimination
from harness.errors import InputError
from harness.tasks.metrics import METRICS
from leaderboards.scores import read_scores_csv
from tests.generator.selection.pools import facts
from tests.generator.selection.real_tasks import verifications

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "scores-reference.csv"


def rung(gain: float, error: float) -> dict[str, float]:
    return {"gain": gain, "low": gain - 1.96 * error, "high": gain + 1.96 * error}


def test_a_ladder_by_hand() -> None:
    # Two rungs 0.1 apart, each with error 0.05: z = 0.1 / (0.05 sqrt 2) = 1.4142; 2 Phi(1.4142) - 1 = 0.8427.
    assert ladder_discrimination([rung(0.5, 0.05), rung(0.6, 0.05)]) == pytest.approx(0.8427, abs=1e-4)
    # A third one on top of the second: pairs 0.8427, 0.8427 and 0.
    three = [rung(0.5, 0.05), rung(0.6, 0.05), rung(0.6, 0.05)]
    assert ladder_discrimination(three) == pytest.approx(2 * 0.8427 / 3, abs=1e-4)


def test_a_ladder_by_drawing_other_test_rows() -> None:
    """It is the expected Kendall tau-a between the order seen and the orders on other rows."""
    gains, errors = np.array([0.3, 0.42, 0.45, 0.7]), np.array([0.06, 0.03, 0.05, 0.04])
    drawn = gains + np.random.default_rng(1).normal(size=(200_000, 4)) * errors
    upper = np.triu_indices(4, 1)
    ours = np.sign(gains[:, None] - gains)[upper]
    theirs = np.sign(drawn[:, :, None] - drawn[:, None, :])[:, *upper]
    expected = (ours * theirs).mean()
    found = ladder_discrimination([rung(*each) for each in zip(gains, errors, strict=True)])
    assert found == pytest.approx(expected, abs=3e-3)


def test_more_test_rows_and_wider_gaps_discriminate_better_and_ties_do_not() -> None:
    def ladder(gap: float, error: float) -> float | None:
        return ladder_discrimination([rung(0.2 + i * gap, error) for i in range(4)])

    assert ladder(0.0, 0.1) == 0.0
    values = [ladder(0.02, 0.1), ladder(0.1, 0.1), ladder(0.1, 0.03)]
    assert values == sorted(values, key=lambda value: value or 0.0)
    assert all(value is not None and 0 < value < 1 for value in values)


def test_what_a_ladder_cannot_tell_is_not_made_up() -> None:
    assert ladder_discrimination([]) is None
    assert ladder_discrimination([rung(0.5, 0.1)]) is None
    assert ladder_discrimination([rung(0.5, 0.0), rung(0.9, 0.0)]) is None
    # Intervals of huge test sets vanish in rounding one by one; what is left still counts.
    assert ladder_discrimination([rung(0.5, 0.0), rung(0.9, 0.0001)]) == pytest.approx(1.0)


def test_ladders_of_real_verifications_tell_the_tasks_apart() -> None:
    """On travel modes the forest leads; on cars four baselines are much alike on few rows."""
    found = {name: ladder_discrimination(v.exhibits["ladder"]) for name, v in verifications().items()}
    assert found == pytest.approx(
        {"fuel-economy": 0.189, "titanic-survival": 0.631, "travel-mode-choice": 0.774}, abs=1e-3
    )
    entries = verifications()["fuel-economy"].exhibits["ladder"]
    zs = [
        abs(a["gain"] - b["gain"]) / math.hypot((a["high"] - a["low"]) / 3.92, (b["high"] - b["low"]) / 3.92)
        for i, a in enumerate(entries)
        for b in entries[:i]
    ]
    assert found["fuel-economy"] == pytest.approx(np.mean([2 * norm.cdf(z) - 1 for z in zs]), abs=1e-4)


def table(ranks: dict[str, list[float]]) -> pd.DataFrame:
    rows = [
        {"task": task, "model": f"m{place}", "attempt": 1, "score": score, "valid": not math.isnan(score),
         "higher_is_better": True}
        for task, scores in ranks.items()
        for place, score in enumerate(scores)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_items_by_hand() -> None:
    """Five models; three tasks agree, one reverses them, one ties them all, one knows only best from rest."""
    agreeing = {f"same{i}": [1.0, 2, 3, 4, 5] for i in range(3)}
    odd = {"reverse": [5.0, 4, 3, 2, 1], "ties": [1.0] * 5, "one": [0.0, 0, 0, 0, 1]}
    found = items(compare(table(agreeing | odd)))
    # The others of "same0" sum to r + 3/2 + "one", r from 0 to 1: (15, 25, 35, 45, 80) / 40.
    assert found["same0"].correlation == pytest.approx(np.corrcoef([15, 25, 35, 45, 80], range(5))[0, 1])
    assert found["same0"].spread == pytest.approx(1.0)
    assert found["reverse"].correlation == pytest.approx(-1, abs=0.05)
    assert found["ties"].spread == 0 and found["ties"].discrimination == 0.0
    # Shares of "one": (3/8, 3/8, 3/8, 3/8, 1), SD 0.25; without ties (0, 1/4, 1/2, 3/4, 1), SD 0.35355.
    assert found["one"].spread == pytest.approx(0.25 / 0.353553, abs=1e-5)
    discrimination = {task: item.discrimination or 0.0 for task, item in found.items()}
    assert (
        discrimination["same0"] > discrimination["one"] > discrimination["ties"] > discrimination["reverse"]
    )


def test_items_of_real_results_as_another_library_has_them() -> None:
    """Item-rest correlations of the demo's results by pingouin, over win shares computed here in loops."""
    scores = read_scores_csv(EXAMPLE)
    sign = scores["higher_is_better"].map({True: 1.0, False: -1.0})
    value = (scores["score"] * sign).where(scores["valid"], -np.inf)
    wide = scores.assign(value=value).pivot(index="model", columns="task", values="value")
    shares = wide.apply(
        lambda column: [
            np.mean([(a > b) + (a == b) / 2 for j, b in enumerate(column) if j != i])
            for i, a in enumerate(column)
        ]
    )
    found = items(compare(scores))
    assert set(found) == set(shares.columns) and len(found) >= 10
    for task, item in found.items():
        rest = shares.drop(columns=task).mean(axis=1)
        assert item.correlation == pytest.approx(float(pingouin.corr(shares[task], rest)["r"].iloc[0]))
        assert 0 < item.spread <= 1 and item.models == 8


def test_models_that_miss_a_task_are_not_counted_there() -> None:
    full = table({f"t{i}": [1.0, 2, 3, 4] for i in range(3)})
    part = full[~((full["task"] == "t0") & full["model"].isin(["m0", "m1"]))]
    found = items(compare(part))
    assert "t0" not in found and found["t1"].models == 4


def test_scores_too_few_to_analyse_are_refused_with_the_numbers() -> None:
    with pytest.raises(InputError, match="2 models on 3 tasks; needed are 3 models and 3 tasks"):
        compare(table({f"t{i}": [1.0, 2.0] for i in range(3)}))
    with pytest.raises(InputError, match="repeats"):
        compare(pd.concat([table({"t": [1.0, 2, 3]})] * 2))


def with_ladder(key: str, *gains: float) -> Facts:
    told = facts(key)
    return Facts(**{**vars(told), "ladder": tuple(rung(gain, 0.05) for gain in gains)})


def test_scores_come_before_ladders_and_ladders_are_brought_to_their_scale() -> None:
    keys = ["set/t0", "set/t1", "set/t2", "set/t3"]
    pool = [with_ladder(key, 0.3, 0.5) for key in keys] + [facts("set/t4")]
    # All ladders are alike, so on the scale of the scores each is worth the mean of the scores.
    assert {each.origin for each in discriminations(pool[:4]).values()} == {Origin.LADDER}
    # Named with and without the set; "t2" is against the other two.
    scores = table({"set/t0": [1.0, 2, 3, 4], "t1": [1.0, 2, 3, 4], "t2": [4.0, 3, 1, 2]})
    found = discriminations(pool, compare(scores))
    assert [found[key].origin for key in keys] == [Origin.SCORES] * 3 + [Origin.SCALED_LADDER]
    assert found["set/t2"].value < 0 and "against the other tasks" in found["set/t2"].words()
    mean = np.mean([found[key].value for key in keys[:3]])
    assert found["set/t3"].value == pytest.approx(max(0.0, float(mean)), abs=2e-3)
    assert found["set/t4"].origin is Origin.UNKNOWN and found["set/t4"].value == 0


def test_every_metric_we_know_has_one_family() -> None:
    assert {name for name in METRICS if family(name) == OTHER} == set()
    listed = [name for names in FAMILIES.values() for name in names]
    assert len(listed) == len(set(listed))
    assert family("AUC") == family("roc-auc") == family("mean reciprocal rank") == "order"
    assert family("mean_normalised_rmse") == "squared error"
    assert family("my-own-thing") == OTHER
