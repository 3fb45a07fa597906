"""Statistics of a generation, counted by hand on :mod:`tests.generator.pipeline.example`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from generator.ledger import Attempt
from generator.pipeline.funnel import Funnel, Passage, Stage
from generator.pipeline.generation import generate
from generator.pipeline.statistics import statistics_of
from generator.pipeline.tidy import COLUMNS, as_csv, as_markdown, rows_of
from generator.pipeline.written import read_generation
from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider
from tests.generator.pipeline.example import ATTEMPTS, FUNNEL, attempt, write

FOUND = statistics_of(FUNNEL, ATTEMPTS)


def test_funnel_by_hand() -> None:
    """``c-2`` was interrupted after refactoring: the review judged four of the five that reached it."""
    assert [(each.passed, each.undecided) for each in FOUND.funnel] == [
        (7, 0), (6, 0), (6, 0), (5, 0), (3, 1), (3, 0), (3, 0),
    ]  # fmt: skip
    before = [(each.of_before.count, each.of_before.of) for each in FOUND.funnel if each.of_before]
    assert before == [(6, 7), (6, 6), (5, 6), (3, 4), (3, 3), (3, 3)]
    considered = [
        (each.of_considered.count, each.of_considered.of) for each in FOUND.funnel if each.of_considered
    ]
    assert considered == [(6, 7), (6, 7), (5, 7), (3, 6), (3, 6), (3, 6)]
    assert (FOUND.of_proposed.count, FOUND.of_proposed.of) == (3, 5)
    reasons = {str(each.stage): dict(each.reasons) for each in FOUND.funnel if each.reasons}
    assert reasons == {
        "proposed": {"unlearnable": 1}, "refactored": {"prepare_failed": 1}, "reviewed": {"trivial": 1},
    }  # fmt: skip


def test_datasets_by_hand() -> None:
    """``c`` and ``d`` may still give a task. Two of two: Wilson's lower limit is 1 / (1 + 1.96² / 2)."""
    assert (FOUND.datasets, FOUND.undecided, FOUND.verified) == (4, 2, 3)
    assert (FOUND.giving.count, FOUND.giving.of) == (2, 2)
    assert FOUND.giving.low == pytest.approx(0.3424, abs=5e-5)
    assert dict(FOUND.tasks_per_dataset) == {1: 1, 2: 1}
    assert FOUND.per_dataset(float(FOUND.verified)) == 1.5


def test_spending_by_hand() -> None:
    """Spent well: ``a-1``, ``a-2``, ``b-1`` and brainstorming over ``a`` and ``b``."""
    well = FOUND.spent_well
    assert (well.preparing, well.verifying) == (515, 150)
    assert (well.money.known, well.money.unpriced) == pytest.approx((1.52, 1))
    assert FOUND.per_task(FOUND.spent.preparing) == pytest.approx(926 / 3)
    assert FOUND.per_dataset(FOUND.spent.preparing) == pytest.approx(463)
    # 190 s, 270 s and 175 s; the cost of the first is not known.
    assert FOUND.task_seconds is not None and FOUND.task_seconds.median == 190
    assert FOUND.task_cost is not None and FOUND.task_cost.count == 2
    assert FOUND.task_cost.median == pytest.approx(0.51)


def test_kinds_of_tasks_by_hand() -> None:
    modality = [(each.value, each.considered, each.verified) for each in FOUND.distributions["modality"]]
    assert modality == [("tabular", 3, 2), ("image", 1, 1), ("text", 2, 0), ("", 1, 0)]
    metric = [(each.value, each.considered, each.verified) for each in FOUND.distributions["metric"]]
    assert metric == [("auc", 3, 2), ("rmse", 2, 1), ("f1", 1, 0), ("", 1, 0)]


def test_an_unknown_price_is_no_number_in_any_form() -> None:
    rows = {row[:3]: row for row in rows_of(FOUND)}
    assert rows["spending", "with_failures", "cost_usd"].value is None
    assert rows["spending", "with_failures", "per_verified_task_cost_usd"].value is None
    assert rows["spending", "with_failures", "known_cost_usd"].value == pytest.approx(2.52)
    assert rows["agents", "reviewer", "cost_usd"].value is None
    assert "at least 0.84 (1 of 29 attempts unpriced)" in as_markdown(FOUND)
    assert json.loads(json.dumps(FOUND.as_json(), allow_nan=False))["spent"]["money"]["unpriced"] == 1


def test_csv_holds_every_number_once() -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(FOUND))))
    assert tuple(lines[0]) == COLUMNS
    keys = [(line["group"], line["name"], line["statistic"]) for line in lines]
    assert len(set(keys)) == len(keys)
    by_key = dict(zip(keys, lines, strict=True))
    share = by_key["funnel", "reviewed", "share_of_stage_before"]
    assert float(share["value"]) == 0.75 and 0 < float(share["low"]) < 0.75 < float(share["high"]) < 1
    assert by_key["steps", "refactor", "25"]["value"] == "3"


def test_nothing_at_all() -> None:
    nothing = statistics_of(Funnel(()), ())
    assert (nothing.datasets, nothing.verified, nothing.giving.value) == (0, 0, None)
    assert nothing.per_task(nothing.spent.preparing) is None
    assert "considered" in as_markdown(nothing)
    assert all(row.value in (None, 0) for row in rows_of(nothing))


def test_packages_that_nobody_verified_did_not_fail() -> None:
    funnel = Funnel((Passage("a", "a-1", Stage.REFACTORED),))
    found = statistics_of(funnel, [attempt("a-1", "designer", 1, "done", 1, 3)])
    assert found.funnel[4].undecided == 1 and found.funnel[4].of_before is not None
    assert found.funnel[4].of_before.value is None and not found.funnel[4].reasons
    assert found.undecided == 1 and found.of_proposed.of == 0


def test_text_of_others_does_not_break_a_table() -> None:
    funnel = Funnel((Passage("a", "a-1", Stage.VERIFIED, modality="tab|ular", objective="o", metric="m"),))
    assert r"| tab\|ular | 1 | 1 |" in as_markdown(statistics_of(funnel, ()))


def test_a_folder_gives_the_statistics_it_was_written_with(tmp_path: Path) -> None:
    written = read_generation(write(tmp_path))
    assert written.funnel == FUNNEL
    assert written.attempts == ATTEMPTS
    assert as_csv(statistics_of(written.funnel, written.attempts)) == as_csv(FOUND)


@pytest.mark.parametrize("name", ["funnel.csv", "attempts.csv"])
@pytest.mark.parametrize(
    "text", [None, "a,b\n1,2\n", "", "dataset,task,reached\nx,y,nowhere\n", b"\xff\xfe\x00"]
)
def test_a_folder_that_is_no_generation_is_named(tmp_path: Path, name: str, text: str | bytes | None) -> None:
    path = write(tmp_path) / name
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=name):
        read_generation(tmp_path)


def test_a_generation_writes_its_statistics(tmp_path: Path, sandbox: SandboxProvider) -> None:
    """A folder without files is a dataset that gives nothing."""
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.mkdir()
    generation = generate([empty], out, provider=sandbox)
    written = read_generation(out)
    assert (out / "statistics.csv").read_text() == as_csv(statistics_of(written.funnel, written.attempts))
    assert "| considered | 1 |" in (out / "statistics.md").read_text()
    document = generation.to_document()["statistics"]
    assert (document["datasets"], document["verified"]) == (1, 0)


def test_every_field_of_an_attempt_comes_back(tmp_path: Path) -> None:
    """So that a field that is added to the ledger is not lost in the folder."""
    full = ATTEMPTS[6].model_copy(update={"mending": ("x", "y"), "transcript": "t.jsonl", "cost_usd": None})
    assert full != Attempt(dataset="a", agent="designer", number=1, outcome="gave_up")
    assert read_generation(write(tmp_path, attempts=(full,))).attempts == (full,)
