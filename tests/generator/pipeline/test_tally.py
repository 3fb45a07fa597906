"""What is told while datasets are worked on, counted by hand."""

from __future__ import annotations

from generator.ledger import Attempt
from generator.pipeline.tally import Tally


def test_a_line_says_how_things_stand() -> None:
    tally = Tally(3)
    assert tally.told("films", "design", "films-genre").endswith("films: design: films-genre")
    tally.told("films", "verified", "films-genre")
    tally.told("films", "rejected", "films-year: group_leak")
    tally.told("films", "done", "1 verified, 1 not")
    line = tally.told("birds", "profile", "reading")
    assert line.startswith("[1/3 datasets, 1 verified, 1 rejected, 0:0")


def test_money_is_told_with_what_is_unknown_of_it() -> None:
    tally = Tally(1)
    for cost in (0.25, None, 0.5):
        tally.booked(Attempt(dataset="d", agent="designer", number=1, outcome="done", cost_usd=cost))
    assert "$0.75 and unpriced calls]" in tally.told("d", "design", "x")
