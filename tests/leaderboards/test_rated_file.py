"""`mlesmith rate` without the command: policies, notes, contrasts, Davidson, and a board's own scores."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from leaderboards.board import build_boards
from leaderboards.rated_file import RateOptions, rate_file
from stats.bradley_terry import FirthPrior, GaussianPrior
from tests.leaderboards.trials import trial, write_job

KNOWN = Path(__file__).parents[1] / "stats" / "data" / "known_answers.json"
HEADER = "task,model,attempt,score,valid,higher_is_better\n"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.csv"
    path.write_text(text, encoding="utf-8")
    return path


def scores(tmp_path: Path, *tasks: Mapping[str, float | None]) -> Path:
    """A score file: one attempt per model and task, higher is better, None where invalid."""
    rows = [
        f"t{t},{model},1,{'' if score is None else score},{score is not None},true\n"
        for t, task in enumerate(tasks)
        for model, score in task.items()
    ]
    return write(tmp_path, HEADER + "".join(rows))


def rated(path: Path, **options: Any) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Rows by model, and the document, which is strict JSON."""
    document = rate_file(path, RateOptions(**options))
    json.dumps(document, allow_nan=False)
    return {row["model"]: row for row in document["ratings"]}, document


def test_the_scores_beside_a_board_give_its_numbers(tmp_path: Path) -> None:
    trials = [
        trial(task, f"scripted/{model}", score if (task, model) != ("d", "y") else None, attempt=attempt)
        for task, first in {"a": 0.1, "b": 1 / 3, "c": 2.0, "d": 1e-17}.items()
        for attempt in (1, 2)
        for model, score in (("x", first), ("y", first * attempt), ("z", 0.7 * attempt))
    ]
    other = [
        trial(t, f"scripted/{m}", s, task_set="smith") for t in "ef" for m, s in (("x", 1.0), ("y", 2.0))
    ]
    job = write_job(tmp_path / "job", *trials, *other)
    written = build_boards([job], tmp_path / "boards")
    assert {item.scores.name for item in written} == {
        "scores-reference.csv", "scores-smith.csv", "scores-combined.csv", "scores-modality-tabular.csv",
    }  # fmt: skip
    for item in written:
        twin = json.loads(item.json.read_text(encoding="utf-8"))
        assert twin["scores"] == item.scores.name
        rows, document = rated(item.scores)
        assert list(rows) == [row["model"] for row in twin["rows"]]
        for own in twin["rows"]:
            row = rows[own["model"]]
            # Exactly equal: the same numbers in the same order through the same code.
            assert row == {name: own[name] for name in row}
        shared = twin["method"]["rating"]
        assert {name: document["method"][name] for name in shared} == shared


def test_ties_within_a_tolerance(tmp_path: Path) -> None:
    path = scores(tmp_path, {"a": 100, "b": 99}, {"a": 1, "b": 2}, {"a": 3, "b": 1})
    # Exactly: 2 wins to 1: 400 log10(2) = 120.41 apart. With 1 % or 1 point: t0 (and t1) tie.
    rows, document = rated(path)
    assert rows["a"]["elo"] - rows["b"]["elo"] == pytest.approx(400 * math.log10(2))
    assert document["method"]["tie_tolerance"] == {"relative": 0.0, "absolute": 0.0}
    # 1.5 to 1.5 with t0 tied, 2 to 1 with t0 and t1 tied.
    rows, document = rated(path, tie_rel=0.01)
    assert rows["a"]["elo"] == rows["b"]["elo"] == 1000
    rows, document = rated(path, tie_abs=1.0)
    assert rows["a"]["elo"] - rows["b"]["elo"] == pytest.approx(400 * math.log10(2))
    assert document["method"]["tie_tolerance"] == {"relative": 0.0, "absolute": 1.0}


def test_invalid_results_lose_or_are_dropped(tmp_path: Path) -> None:
    path = scores(tmp_path, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": None}, {"a": None, "b": None})
    # Loses: 2.5 wins to 1.5, the case bt_two_2_1_tie1: 400 log10(2.5 / 1.5). Dropped: 1 to 1 on two tasks.
    rows, document = rated(path)
    assert rows["a"]["elo"] - rows["b"]["elo"] == pytest.approx(400 * math.log10(2.5 / 1.5))
    assert document["method"]["invalid"] == "loses to valid; two invalid tie"
    rows, document = rated(path, invalid="dropped")
    assert rows["a"]["elo"] == rows["b"]["elo"] == 1000 and rows["a"]["n_tasks"] == 2
    assert document["method"]["invalid"] == "as if missing"


def test_an_anchor_shifts_all(tmp_path: Path) -> None:
    path = scores(tmp_path, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 1})
    plain, _ = rated(path)
    rows, document = rated(path, anchor=("b", 500.0))
    assert rows["b"]["elo"] == pytest.approx(500.0)
    for name in ("elo", "elo_low", "elo_high"):
        shift = [rows[model][name] - plain[model][name] for model in "ab"]
        assert shift[0] == pytest.approx(shift[1])
    assert document["method"]["anchor"] == {"model": "b", "rating": 500.0}
    with pytest.raises(InputError, match=r"file\.csv: the anchor 'c' is not among the models"):
        rate_file(path, RateOptions(anchor=("c", 500.0)))


def test_separated_models_are_named_with_the_way_out(tmp_path: Path) -> None:
    tasks: list[dict[str, float | None]] = [
        {"top": 9, "a": 2, "b": 1, "low": 0},
        {"top": 9, "a": 1, "b": 2, "low": 0},
    ]
    path = scores(tmp_path, *tasks)
    rows, document = rated(path)
    assert (rows["top"]["elo"], rows["top"]["rank"], rows["low"]["rank"]) == (None, 1, 4)
    [note] = [line for line in document["notes"] if line.startswith("no finite rating")]
    assert "top (above the rated models)" in note and "low (below the rated models)" in note
    assert "--prior firth" in note
    with pytest.raises(InputError, match=r"low \(separated\), top \(separated\)"):
        rate_file(path, RateOptions(strict=True))
    for prior in (FirthPrior(), GaussianPrior(300.0)):
        rows, document = rated(path, prior=prior)
        assert rows["top"]["elo"] > rows["a"]["elo"] > rows["low"]["elo"]
        assert any(
            line.startswith("low, top: finite only because of the prior") for line in document["notes"]
        )


def test_models_that_are_only_ordered(tmp_path: Path) -> None:
    _, document = rated(scores(tmp_path, {"a": 2, "b": 1}, {"a": 2, "b": 1}))
    assert "no finite rating: a, b (only ordered among each other)" in document["notes"][0]


def test_groups_that_never_met_are_named(tmp_path: Path) -> None:
    votes = "".join(f"{x},{y},{w}\n" for x, y in ("ab", "cd") for w in ("model_a", "model_b"))
    path = write(tmp_path, "model_a,model_b,winner\n" + votes)
    _, document = rated(path)
    assert document["notes"][0].startswith("never compared: [a, b] and [c, d]; ratings and ranks hold within")
    _, document = rated(path, prior=GaussianPrior(300.0))
    assert document["notes"][0].startswith("never compared: [a, b] and [c, d]; only the prior puts them on")


def test_a_model_that_met_no_other_is_named(tmp_path: Path) -> None:
    rows, document = rated(scores(tmp_path, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"c": 1}))
    assert (rows["c"]["elo"], rows["c"]["status"]) == (None, "uncompared")
    assert any(line.startswith("c: met no other model") for line in document["notes"])


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([{"a": 1, "b": 1}], "no intervals: they need comparisons on two tasks"),
        ([{"a": 2, "b": 1}, {"a": 1, "b": 2}], "only 2 tasks: the intervals are rough"),
        ([{"a": 1, "b": 1}] * 3, "every comparison is a tie"),
        ([{"a": 1}], "a: met no other model, so its rating is what all ratings average to"),
    ],
)
def test_what_intervals_rest_on_is_said(
    tmp_path: Path, tasks: list[dict[str, float | None]], expected: str
) -> None:
    _, document = rated(scores(tmp_path, *tasks))
    assert any(line.startswith(expected) for line in document["notes"]), document["notes"]


def test_intervals_without_width_are_no_proof(tmp_path: Path) -> None:
    # On each task b's one attempt lies between the two of a: half a win each, without any tie.
    lines = [f"t{t},a,1,1,1,1\nt{t},a,2,3,1,1\nt{t},b,1,2,1,1\n" for t in range(10)]
    rows, document = rated(write(tmp_path, HEADER + "".join(lines)))
    assert rows["a"]["elo_low"] == pytest.approx(1000) == rows["a"]["elo_high"]
    assert document["notes"] == [
        "a, b: every task says the same, so the interval has no width; no proof of precision"
    ]


def test_ten_tasks_need_no_note(tmp_path: Path) -> None:
    tasks: list[dict[str, float | None]] = [{"a": t % 3, "b": 1} for t in range(10)]
    _, document = rated(scores(tmp_path, *tasks))
    assert document["notes"] == []


def test_contrasts_by_hand(tmp_path: Path) -> None:
    path = scores(tmp_path, *[{"b": x, "a": y} for x, y in ((2, 1), (2, 1), (2, 1), (1, 2))])
    _, document = rated(path, contrasts=True)
    [pair] = document["contrasts"]
    # p = 3/4: 400 log10(3) apart; clustered se 4/3 units of 400 / ln 10 (twice that of one rating, 2/3: see
    # the board of two models); t = ln 3 / (4/3) = 0.82396 with 3 degrees of freedom.
    assert (pair["model"], pair["other"], pair["n_tasks"]) == ("b", "a", 4)
    assert pair["difference"] == pytest.approx(400 * math.log10(3))
    assert pair["standard_error"] == pytest.approx(4 / 3 * 400 / math.log(10))
    assert pair["probability"] == pytest.approx(0.75)
    from scipy.stats import t

    assert pair["p"] == pair["p_adjusted"] == pytest.approx(2 * t.sf(math.log(3) / (4 / 3), 3))
    assert document["method"]["contrasts"]["adjust"] == "holm"


def test_contrasts_of_a_separated_model_have_a_sign_test_and_no_number(tmp_path: Path) -> None:
    path = scores(tmp_path, *[{"top": 9, "a": t % 2, "b": 1 - t % 2} for t in range(8)])
    _, document = rated(path, contrasts=True)
    pairs = {(pair["model"], pair["other"]): pair for pair in document["contrasts"]}
    top = pairs["top", "a"]
    # Eight wins of eight: 2 / 2^8, adjusted for three pairs; the third, a and b, is undecided.
    assert top["difference"] is None and top["p"] == pytest.approx(2 / 256)
    assert top["p_adjusted"] == pytest.approx(6 / 256) and "top is separated" in top["notes"]
    assert pairs["a", "b"]["difference"] == pytest.approx(0.0, abs=1e-9)


def test_davidson_gives_the_published_pudding_ratings(tmp_path: Path) -> None:
    """Davidson 1970, chocolate pudding: worths and nu of `known_answers.json`."""
    [case] = [c for c in json.loads(KNOWN.read_text())["cases"] if c["id"] == "davidson_pudding_1970"]
    lines = [
        f"brand{i},brand{j},{winner},{count}\n"
        for i, j, won, lost, tied in case["data"]["pairs"]
        for winner, count in (("model_a", won), ("model_b", lost), ("tie", tied))
    ]
    path = write(tmp_path, "model_a,model_b,winner,weight\n" + "".join(lines))
    rows, document = rated(path, ties="davidson", anchor=("brand0", 0.0))
    method = document["method"]
    assert method["nu"] == pytest.approx(case["expected"]["nu"], abs=1e-9)
    for i, worth in enumerate(case["expected"]["log_worth_vs_first"]):
        assert rows[f"brand{i}"]["elo"] == pytest.approx(worth * 400 / math.log(10), abs=1e-6)
    assert [row["rank"] for row in document["ratings"]] == [1, 2, 3, 4, 5, 6]
    assert (method["model"], method["nu_low"], method["rank_interval"]) == ("Davidson", None, None)
    assert method["anchor"] == {"model": "brand0", "rating": 0.0}
    assert any(line.startswith("no intervals") and "no column task" in line for line in document["notes"])


def test_davidson_has_clustered_intervals_and_shares_ranks(tmp_path: Path) -> None:
    # a and b: the same results against c, and ties with each other.
    wins = [{"a": 2, "b": 2, "c": 1}] * 3 + [{"a": 1, "b": 1, "c": 2}] * 2
    rows, document = rated(scores(tmp_path, *wins, {"a": 1, "b": 1, "c": 1}), ties="davidson")
    assert [rows[model]["rank"] for model in "abc"] == [1, 1, 3]
    for row in rows.values():
        assert row["elo_low"] < row["elo"] < row["elo_high"]
        assert row["rank_low"] is row["rank_high"] is None
    assert document["method"]["nu_low"] < document["method"]["nu"] < document["method"]["nu_high"]


def test_davidson_fits_that_do_not_exist_are_refused_with_a_way_out(tmp_path: Path) -> None:
    path = scores(
        tmp_path, {"top": 3, "a": 2, "b": 1}, {"top": 3, "a": 1, "b": 2}, {"top": 3, "a": 1, "b": 1}
    )
    with pytest.raises(InputError, match=r"no finite Davidson fit: .* top; --ties half"):
        rate_file(path, RateOptions(ties="davidson"))
    with pytest.raises(InputError, match=r"every comparison is a tie.*--ties half"):
        rate_file(scores(tmp_path, {"a": 1, "b": 1}), RateOptions(ties="davidson"))
    path = scores(tmp_path, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 1})
    with pytest.raises(InputError, match="the anchor 'c' is not among the models"):
        rate_file(path, RateOptions(ties="davidson", anchor=("c", 1.0)))


def test_raw_comparisons_with_tasks_equal_the_scores_they_come_from(tmp_path: Path) -> None:
    tasks: list[dict[str, float | None]] = [
        {"a": t % 3, "b": (t + 1) % 4, "c": (2 * t) % 5} for t in range(12)
    ]
    by_scores, _ = rated(scores(tmp_path, *tasks))
    lines = []
    for t, task in enumerate(tasks):
        for x, y in ("ab", "ac", "cb"):
            one, other = task[x], task[y]
            assert one is not None and other is not None
            winner = "tie" if one == other else "model_a" if one > other else "model_b"
            lines.append(f"{x},{y},{winner},t{t}\n")
    rows, document = rated(write(tmp_path, "model_a,model_b,winner,task\n" + "".join(lines)))
    for model, row in rows.items():
        assert row == {
            name: pytest.approx(value, abs=1e-6) if isinstance(value, float) else value
            for name, value in by_scores[model].items()
        }
    assert document["method"]["weights"] == "each row weighs 1" and "invalid" not in document["method"]


def test_options_of_score_files_are_refused_for_comparisons(tmp_path: Path) -> None:
    path = write(tmp_path, "model_a,model_b,winner\na,b,tie\n")
    with pytest.raises(InputError, match=r"--invalid, --tie-abs: for score files"):
        rate_file(path, RateOptions(invalid="loses", tie_abs=0.0))
    with pytest.raises(InputError, match="finite tolerances"):
        rate_file(scores(tmp_path, {"a": 1, "b": 1}), RateOptions(tie_rel=math.inf))


def test_weights_that_add_up_to_too_much_are_refused_by_file(tmp_path: Path) -> None:
    rows = "a,b,model_a,9e99\n" * 2 + "b,a,tie,1e99\n"
    with pytest.raises(InputError, match=r"file\.csv: weight 1\.8.*e\+100 of a over b"):
        rate_file(write(tmp_path, "model_a,model_b,winner,weight\n" + rows), RateOptions())
