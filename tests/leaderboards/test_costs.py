"""A trial costs what its calls cost, by the name its model has in price tables."""

from __future__ import annotations

import pytest

from harness.models.base import Usage
from harness.models.pricing import PriceTable, Rates
from leaderboards.costs import trial_cost
from tests.leaderboards.trials import trial

PRICES = PriceTable({"openai/m": Rates(input=2.0, output=10.0)})


def test_a_label_on_the_board_does_not_hide_the_price() -> None:
    labelled = trial("a", "openai/m@low", 1.0)
    assert trial_cost(labelled, PRICES) is None
    # By hand: 1000 tokens at 2 and 100 at 10 USD per million.
    priced = trial("a", "openai/m@low", 1.0, priced_as="openai/m")
    assert trial_cost(priced, PRICES) == pytest.approx(0.003)


def test_calls_beyond_the_steps_cost_too() -> None:
    # By hand: 500 more tokens of input, of a call whose reply came to no step.
    more = trial("a", "openai/m", 1.0, usage=Usage(input=1500, output=100))
    assert trial_cost(more, PRICES) == pytest.approx(0.004)
