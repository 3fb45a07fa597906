"""Boards built from hand-made trial folders; expected values are worked out by hand in the comments."""

from __future__ import annotations

import csv
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, Status
from harness.models.base import Usage
from harness.models.pricing import PriceTable, Rates
from harness.records import TrialResult
from leaderboards.board import WrittenBoard, build_boards
from leaderboards.check import check_board
from leaderboards.comparability import ComparabilityError
from leaderboards.publish import COLUMNS
from tests.leaderboards.trials import trial, write_job

GOOD, POOR = "scripted/good", "scripted/poor"
SMITH = {"task_set": "smith", "metric": "accuracy", "higher_is_better": True, "metric_best": 1.0}


def reference_trials() -> list[TrialResult]:
    """Mean absolute error: good is better on a, b and d (where poor is invalid), poor on c."""
    scores: dict[str, tuple[float, float | None]] = {
        "a": (1.0, 2.0), "b": (1.0, 3.0), "c": (2.0, 1.0), "d": (4.0, None),
    }  # fmt: skip
    return [
        trial(task, model, score, modality="text" if task == "d" else "tabular")
        for task, pair in scores.items()
        for model, score in zip((GOOD, POOR), pair, strict=True)
    ]


def smith_trials() -> list[TrialResult]:
    """Accuracy: one task each."""
    scores = {"e": (0.9, 0.8), "f": (0.70, 0.75)}
    return [
        trial(task, model, score, **SMITH)
        for task, pair in scores.items()
        for model, score in zip((GOOD, POOR), pair, strict=True)
    ]


def build(tmp_path: Path, *trials: TrialResult, **options: Any) -> dict[str, WrittenBoard]:
    job = write_job(tmp_path / "job", *trials)
    written = build_boards([job], tmp_path / "boards", **options)
    return {item.board.name: item for item in written}


def rows_of(item: WrittenBoard) -> dict[str, dict[str, str]]:
    with item.csv.open(encoding="utf-8", newline="") as stream:
        return {row["model"]: row for row in csv.DictReader(stream)}


def test_a_board_of_two_models_by_hand(tmp_path: Path) -> None:
    item = build(tmp_path, *reference_trials())["reference"]
    assert item.csv.name == "board-reference.csv"
    rows = rows_of(item)
    assert list(rows) == [GOOD, POOR]
    # Two models: p = wins / tasks = 3/4, so the difference is 400 log10(3) = 190.849 around 1000.
    # Task-clustered interval: var = T/(T-1) sum (won - p)^2 / (2 T p q)^2 = 4/3 x 0.75 / 1.5^2 = 4/9 in
    # natural units, so se = 2/3 x 400/ln 10 = 115.81; x t(0.975, 3) = 3.1824 gives 368.57.
    assert [rows[GOOD][c] for c in ("elo", "elo_low", "elo_high")] == ["1095.4", "726.9", "1464.0"]
    assert [rows[POOR][c] for c in ("elo", "elo_low", "elo_high")] == ["904.6", "536.0", "1273.1"]
    # Normalised, top 0: a floor 2: good 1/2, poor 0; b floor 3: good 2/3, poor 0; c floor 2: good 0, poor
    # 1/2; d floor 4: good 0, poor invalid 0. Means over four tasks: 7/24 = 0.2917 and 1/8.
    shared = {
        "n_tasks": "4", "n_trials": "4", "position_score": "", "cost_usd": "0.0", "tokens": "4400",
        "hours": "2.0000", "set": "reference", "feedback_policy": "test", "spec_hash": "spec-1",
        "budget": "steps=15 seconds=43200 execution_seconds=3600", "date": "2026-01-02",
    }  # fmt: skip
    good = {"rank": "1", "win_rate": "0.7500", "valid_rate": "1.0000", "mean_normalised_score": "0.2917"}
    poor = {"rank": "2", "win_rate": "0.2500", "valid_rate": "0.7500", "mean_normalised_score": "0.1250"}
    assert rows[GOOD].items() >= {**shared, **good}.items()
    assert rows[POOR].items() >= {**shared, **poor}.items()
    # In the JSON only. Shares 1, 1, 0, 1: their standard error 0.25 x t(0.975, 3) reaches beyond both ends.
    plain = {row["model"]: row for row in json.loads(item.json.read_text())["rows"]}
    assert [plain[GOOD][c] for c in ("win_rate_low", "win_rate_high")] == [0.0, 1.0]
    assert [plain[m][c] for m in (GOOD, POOR) for c in ("borda", "mean_rank")] == [3.0, 1.25, 1.0, 1.75]
    assert item.csv.read_text(encoding="utf-8").splitlines()[0] == (
        "rank,rank_low,rank_high,model,elo,elo_low,elo_high,n_tasks,n_trials,win_rate,valid_rate,"
        "mean_normalised_score,position_score,cost_usd,tokens,hours,set,feedback_policy,budget,spec_hash,date"
    )


def test_boards_per_set_combined_and_per_modality(tmp_path: Path) -> None:
    boards = build(tmp_path, *reference_trials(), *smith_trials())
    assert sorted(boards) == ["combined", "modality-tabular", "modality-text", "reference", "smith"]
    elos = {name: rows_of(item)[GOOD]["elo"] for name, item in boards.items()}
    # Wins of good: reference 3 of 4; smith 1 of 2; combined 4 of 6: 1000 + 200 log10(2); tabular a, b, c, e,
    # f: 3 of 5: 1000 + 200 log10(1.5); text: d alone, undefeated, so no rating.
    assert elos == {
        "reference": "1095.4", "smith": "1000.0", "combined": "1060.2", "modality-tabular": "1035.2",
        "modality-text": "",
    }  # fmt: skip
    assert [rows_of(boards["combined"])[GOOD][c] for c in ("n_tasks", "set")] == ["6", "combined"]
    for item in boards.values():
        assert check_board(item.csv).ok, check_board(item.csv)
        assert item.json.name == item.csv.with_suffix(".json").name


def test_one_set_has_no_combined_board(tmp_path: Path) -> None:
    assert sorted(build(tmp_path, *smith_trials())) == ["modality-tabular", "smith"]


def test_tied_models_share_the_rank(tmp_path: Path) -> None:
    rows = rows_of(build(tmp_path, *smith_trials())["smith"])
    assert [(row["rank"], row["elo"]) for row in rows.values()] == [("1", "1000.0"), ("1", "1000.0")]


def test_undefeated_and_winless_models_have_a_rank_but_no_rating(tmp_path: Path) -> None:
    trials = [trial(t, m, s) for t in ("a", "b") for m, s in ((GOOD, 1.0), (POOR, 2.0))]
    item = build(tmp_path, *trials)["reference"]
    rows = rows_of(item)
    assert [(row["rank"], row["elo"], row["elo_low"]) for row in rows.values()] == [
        ("1", "", ""),
        ("2", "", ""),
    ]
    twin = json.loads(item.json.read_text(encoding="utf-8"))
    assert [(row["status"], row["elo"]) for row in twin["rows"]] == [("separated", None)] * 2
    assert [note.split(":")[0] for note in twin["notes"]] == ["no finite rating", "only 2 tasks"]
    check = check_board(item.csv)
    assert check.ok and [finding.code for finding in check.findings] == ["no-ratings"]


def test_rebuilding_gives_the_same_bytes(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", *reference_trials(), *smith_trials())
    first, second = (build_boards([job], tmp_path / out) for out in ("one", "two"))
    assert len(first) == 5
    for one, two in zip(first, second, strict=True):
        assert one.csv.read_bytes() == two.csv.read_bytes()
        assert one.json.read_bytes() == two.json.read_bytes()
        assert one.scores.read_bytes() == two.scores.read_bytes()


def test_the_order_of_jobs_does_not_matter(tmp_path: Path) -> None:
    jobs = [write_job(tmp_path / "r", *reference_trials()), write_job(tmp_path / "s", *smith_trials())]
    one = build_boards(jobs, tmp_path / "one")
    two = build_boards(jobs[::-1], tmp_path / "two")
    for a, b in zip(one, two, strict=True):
        assert a.json.read_bytes() == b.json.read_bytes()
        assert a.scores.read_bytes() == b.scores.read_bytes()


def test_the_json_twin_is_strict_and_has_the_provenance(tmp_path: Path) -> None:
    job = write_job(
        tmp_path / "job", *reference_trials(), lock='{"schema_version": 1, "git_commit": "abc123"}'
    )
    [item] = [w for w in build_boards([job], tmp_path, seed=7) if w.board.name == "reference"]

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} in strict JSON")

    twin = json.loads(item.json.read_text(encoding="utf-8"), parse_constant=refuse)
    assert twin["schema_version"] == 1
    assert twin["rows"][0]["elo"] == pytest.approx(1095.4242509439325)  # 1000 + 200 log10(3)
    assert set(COLUMNS) <= set(twin["rows"][0]) | {"set", "feedback_policy", "budget", "spec_hash"} & set(
        twin
    )
    assert twin["method"]["rating"]["rank_interval"]["seed"] == 7
    assert twin["provenance"]["jobs"] == [{"job": "job", "git_commit": "abc123"}]
    assert [(t["task"], t["hash"], t["anchors"]) for t in twin["tasks"]] == [
        ("a", "hash-of-a", {"floor": 2.0, "top": 0.0}),
        ("b", "hash-of-b", {"floor": 3.0, "top": 0.0}),
        ("c", "hash-of-c", {"floor": 2.0, "top": 0.0}),
        ("d", "hash-of-d", {"floor": 4.0, "top": 0.0}),
    ]


def test_infrastructure_failures_are_left_out_and_counted(tmp_path: Path) -> None:
    lost = trial("g", POOR, None, status=Status.PROVIDER_ERROR, finished="2026-03-01T00:00:00Z")
    crashed = trial("g", GOOD, None, status=Status.INTERNAL_ERROR)
    item = build(tmp_path, *reference_trials(), lost, crashed)["reference"]
    plain = build(tmp_path / "plain", *reference_trials())["reference"]
    assert item.csv.read_text() == plain.csv.read_text()
    twin = json.loads(item.json.read_text(encoding="utf-8"))
    assert twin["trials"] == {
        "found": 10, "counted": 8, "left_out": {"internal_error": 1, "provider_error": 1},
        "left_out_because": "infrastructure failures say nothing about a model",
    }  # fmt: skip
    assert "trials-left-out" in [finding["code"] for finding in twin["findings"]]


def test_the_scores_beside_a_board_are_its_counted_trials(tmp_path: Path) -> None:
    lost = trial("a", GOOD, None, attempt=2, status=Status.PROVIDER_ERROR)
    item = build(tmp_path, lost, trial("a", POOR, None), trial("a", GOOD, 0.1 + 0.2), trial("b", GOOD, 1e-9))
    assert item["reference"].scores.read_text(encoding="utf-8").splitlines() == [
        "task,model,attempt,score,valid,higher_is_better",
        "reference/a,scripted/good,1,0.30000000000000004,true,false",
        "reference/a,scripted/poor,1,,false,false",
        "reference/b,scripted/good,1,1e-09,true,false",
    ]


def test_a_candidates_own_failure_counts_against_it(tmp_path: Path) -> None:
    slow = [trial("g", GOOD, 1.0), trial("g", POOR, None, status=Status.TIME_LIMIT)]
    row = rows_of(build(tmp_path, *reference_trials(), *slow)["reference"])[POOR]
    # One win in five, three valid of five.
    assert (row["win_rate"], row["valid_rate"], row["elo"]) == ("0.2000", "0.6000", "879.6")


def test_attempts_weigh_a_task_once(tmp_path: Path) -> None:
    extra = [trial("c", GOOD, score, attempt=n) for n, score in ((2, 1.0), (3, None))]
    row = rows_of(build(tmp_path, *reference_trials(), *extra)["reference"])[GOOD]
    # Task c, floor 2, top 0: attempts 0, 1/2 and invalid 0: mean 1/6; tasks (1/2 + 2/3 + 1/6 + 0) / 4 = 1/3.
    # Against poor's 1.0 on c: loss, tie, loss: 1/6; win rate (1 + 1 + 1/6 + 1) / 4 = 0.7917. Valid: 5 of 6.
    assert row["mean_normalised_score"] == "0.3333"
    assert (row["win_rate"], row["valid_rate"]) == ("0.7917", "0.8333")
    assert (row["n_tasks"], row["n_trials"]) == ("4", "6")


def test_anchors_when_a_candidate_beats_the_declared_best_and_when_all_are_equal(tmp_path: Path) -> None:
    trials = [
        trial("a", GOOD, 12.0, **{**SMITH, "metric_best": 10.0}),
        trial("a", POOR, 2.0, **{**SMITH, "metric_best": 10.0}),
        trial("b", GOOD, 1.0, **SMITH),
        trial("b", POOR, 1.0, **SMITH),
        trial("c", GOOD, None, **SMITH),
        trial("c", POOR, None, **SMITH),
    ]
    item = build(tmp_path, *trials)["smith"]
    # a: floor 2, top 12: 1 and 0. b: all at the declared best: 1 and 1. c: no valid result: 0 and 0.
    assert {row.model: row.mean_normalised_score for row in item.board.rows} == pytest.approx(
        {GOOD: 2 / 3, POOR: 1 / 3}
    )
    twin = json.loads(item.json.read_text(encoding="utf-8"))
    assert [t["anchors"] for t in twin["tasks"]] == [
        {"floor": 2.0, "top": 12.0}, {"floor": 1.0, "top": 1.0}, {"floor": None, "top": None},
    ]  # fmt: skip


def test_position_score_counts_invalid_results_as_zero(tmp_path: Path) -> None:
    trials = [
        trial("a", GOOD, 1.0, position_score=0.9),
        trial("a", POOR, None),
        trial("b", GOOD, 1.0, position_score=0.4),
        trial("b", POOR, 2.0, position_score=0.2),
        trial("c", GOOD, 2.0),
        trial("c", POOR, 1.0),
    ]
    rows = rows_of(build(tmp_path, *trials)["reference"])
    # Tasks a and b have a human board, c has none: (0.9 + 0.4) / 2 and (0 + 0.2) / 2.
    assert (rows[GOOD]["position_score"], rows[POOR]["position_score"]) == ("0.6500", "0.1000")


def test_costs_are_free_priced_or_unpriced(tmp_path: Path) -> None:
    models = {"scripted/good": 1.0, "vllm/local": 2.0, "vllm/unknown": 3.0}
    trials = [trial(task, model, score) for task in ("a", "b") for model, score in models.items()]
    prices = PriceTable({"vllm/local": Rates.model_validate({"input": 2.0, "output": 10.0})})
    item = build(tmp_path, *trials, prices=prices)["reference"]
    rows = rows_of(item)
    # Two trials of 1000 x 2 + 100 x 10 = 3000 millionths of a dollar.
    assert {model: row["cost_usd"] for model, row in rows.items()} == {
        "scripted/good": "0.0", "vllm/local": "0.006", "vllm/unknown": "",
    }  # fmt: skip
    twin = json.loads(item.json.read_text(encoding="utf-8"))
    assert {row["model"]: (row["cost_usd"], row["n_unpriced"]) for row in twin["rows"]} == {
        "scripted/good": (0.0, 0), "vllm/local": (pytest.approx(0.006), 0), "vllm/unknown": (None, 2),
    }  # fmt: skip
    assert twin["provenance"]["prices"]["overrides"] == ["vllm/local"]
    assert twin["notes"][-1] == "unpriced: vllm/unknown (2 of 2 trials); their cost is unknown, and not 0"


def test_tokens_used_beyond_the_recorded_steps_are_priced(tmp_path: Path) -> None:
    prices = PriceTable({"vllm/local": Rates.model_validate({"input": 2.0, "output": 10.0})})
    usage = Usage(input=3000, output=100)
    trials = [trial("a", "vllm/local", 1.0, usage=usage), trial("a", POOR, 2.0)]
    row = rows_of(build(tmp_path, *trials, prices=prices)["reference"])["vllm/local"]
    # 3000 x 2 + 100 x 10 millionths, of which the step used 1000 and 100.
    assert row["cost_usd"] == "0.007"


def test_the_date_is_that_of_the_newest_trial_in_utc(tmp_path: Path) -> None:
    late = trial("z", GOOD, 1.0, finished="2026-02-01T23:30:00-02:00")
    rows = rows_of(build(tmp_path, *reference_trials(), late, trial("z", POOR, 2.0))["reference"])
    assert (rows[GOOD]["date"], rows[POOR]["date"]) == ("2026-02-02", "2026-01-02")


def test_one_task_gives_no_intervals(tmp_path: Path) -> None:
    rows = rows_of(build(tmp_path, trial("a", GOOD, 1.0), trial("a", POOR, 1.0))["reference"])
    assert [rows[GOOD][c] for c in ("rank", "elo", "elo_low", "rank_low")] == ["1", "1000.0", "", ""]


def test_boards_whose_models_never_met_are_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trials = [t for t in reference_trials() if t.task != "d"]
    apart = [trial("x", GOOD, 1.0, modality="image"), trial("y", POOR, 1.0, modality="image")]
    with caplog.at_level(logging.WARNING):
        boards = build(tmp_path, *trials, *apart)
    assert sorted(boards) == ["modality-tabular", "reference"]
    assert "board modality-image is left out" in caplog.text and "disjoint-models" in caplog.text
    assert {f.code for f in boards["reference"].board.findings} >= {"uneven-tasks"}


def test_models_without_any_common_task_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ComparabilityError, match=r"no common task between \[scripted/good\] and \[scripted/poor\]"
    ):
        build(tmp_path, trial("a", GOOD, 1.0), trial("b", POOR, 1.0))


def test_only_infrastructure_failures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="every trial ended by an infrastructure failure"):
        build(tmp_path, trial("a", GOOD, None, status=Status.SANDBOX_LOST))


def test_board_names_must_differ(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two boards would be named combined"):
        build(tmp_path, trial("a", GOOD, 1.0, task_set="combined"), trial("a", GOOD, 1.0))
