"""Win rates, Borda points and position scores, by hand."""

import numpy as np
import pytest

from stats.comparisons import Comparisons
from stats.standings import borda, mean_win_rate, position_score


def test_win_rate_and_borda_by_hand():
    wins = np.zeros((2, 3, 3))
    wins[0] = [[0, 1, 1], [0, 0, 0.5], [0, 0.5, 0]]
    wins[1, 1, 0] = 1
    comparisons = Comparisons.from_wins(wins)
    # a: 2 of 2, then 0 of 1; b: 0.5 of 2, then 1 of 1; c: 0.5 of 2 on one task only.
    np.testing.assert_allclose(mean_win_rate(comparisons), [0.5, 0.625, 0.25])
    np.testing.assert_allclose(borda(comparisons), [2, 1.5, 0.5])
    assert np.isnan(mean_win_rate(Comparisons.from_wins(np.zeros((1, 2, 2))))).all()


@pytest.mark.parametrize(
    ("score", "up", "expected"),
    [
        (0.9, True, 1.0),  # ties the best: position 1 of 4
        (0.7, True, 0.5),  # two strictly better: position 3, (4 - 3 + 1) / 4
        (0.1, True, 0.0),  # below all: position 5
        (0.1, False, 1.0),
        (0.8, False, 0.5),  # 0.5 and 0.6 are strictly better
    ],
)
def test_position_score(score, up, expected):
    assert position_score(score, [[0.9, 0.8, 0.6, 0.5]], higher_is_better=up) == pytest.approx(expected)


def test_position_score_averages_boards_and_refuses_nan():
    assert position_score(2.0, [[1.0], [1.0, 3.0]], higher_is_better=True) == pytest.approx((1 + 0.5) / 2)
    for score, boards in ((np.nan, [[1.0]]), (1.0, [[]]), (1.0, [])):
        with pytest.raises(ValueError, match="board"):
            position_score(score, boards, higher_is_better=True)
