"""The ledger: what is written down is there whatever happens next."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from generator.ledger import Attempt, Ledger, attempts_csv
from harness.models.base import Usage


def attempt(number: int, cost: float | None = 0.25) -> Attempt:
    return Attempt(
        dataset="films", task="films-genre", agent="designer", number=number, outcome="done",
        mending=("group_leak",), seconds=1.5, steps=7, calls=6, usage=Usage(input=100, output=20),
        cost_usd=cost,
    )  # fmt: skip


def test_attempts_come_back_in_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "films" / "ledger.jsonl")
    assert ledger.attempts() == []
    ledger.book(attempt(1))
    ledger.book(attempt(2, cost=None))
    assert Ledger(ledger.path).attempts() == [attempt(1), attempt(2, cost=None)]


def test_a_line_that_a_killed_run_left_unfinished_takes_no_other_with_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.book(attempt(1))
    with ledger.path.open("a") as stream:
        stream.write('{"schema_version": 1, "dataset": "fil')
    ledger.book(attempt(2))
    assert [each.number for each in ledger.attempts()] == [1, 2]


def test_as_a_table_an_unknown_price_is_empty_and_not_nothing() -> None:
    priced, unpriced = csv.DictReader(io.StringIO(attempts_csv([attempt(1), attempt(2, cost=None)])))
    assert (priced["cost_usd"], unpriced["cost_usd"]) == ("0.25", "")
    assert (priced["input_tokens"], priced["output_tokens"], priced["mending"]) == ("100", "20", "group_leak")
