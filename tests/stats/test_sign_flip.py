"""The sign-flip test: counted by hand, by brute force, and as the binomial sign test."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from stats.comparisons import Comparisons
from stats.sign_flip import sign_flip_scores, sign_flip_test


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1], 2 / 8),  # +++ and ---
        ([1, 1, 1, -1], 10 / 16),  # |sum| >= 2: 2 patterns of 4, 8 of 2
        ([3, 2, -1], 4 / 8),  # |sum| >= 4: 6 and 4, either sign
        ([0.1, 0.2, -0.3], 1.0),  # sums to 5e-17, which counts as 0
        ([0.1, 0.2, 0.3], 2 / 8),
        ([5], 1.0),
        ([0, 0, 0], 1.0),
        ([2, 0, 2, 0, 2], 2 / 8),  # tasks without a difference change nothing
    ],
)
def test_counted_by_hand(differences, p):
    found = sign_flip_scores(differences, np.zeros(len(differences)))
    assert (found.p, found.exact, found.n) == (p, True, len(differences))
    assert found.statistic == pytest.approx(np.mean(differences))
    assert found.resamples == 2**found.decisive and found.unit == "tasks" and "all sign" in found.method
    assert sign_flip_scores(np.zeros(len(differences)), differences).p == p


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.sampled_from([1, 0.1, 1e6, 1e-6]))
def test_brute_force_in_whole_numbers(whole, unit):
    sums = [
        abs(sum(s * d for s, d in zip(signs, whole, strict=True)))
        for signs in product((1, -1), repeat=len(whole))
    ]
    expected = np.mean([total >= abs(sum(whole)) for total in sums])
    assert sign_flip_scores(np.array(whole) * unit, np.zeros(len(whole))).p == pytest.approx(
        expected, abs=1e-15
    )


def test_wins_and_losses_give_the_binomial_sign_test():
    # a wins 8 tasks and b 2; c is there to be ignored, and the weight of a task does not count.
    wins = np.zeros((12, 3, 3))
    wins[:8, 0, 1] = wins[8:10, 1, 0] = 1
    wins[0, 0, 1] = 5
    wins[10, 0, 1] = wins[10, 1, 0] = 0.5
    wins[11, 0, 2] = 1
    comparisons = Comparisons.from_wins(wins, ["a", "b", "c"])
    found = sign_flip_test(comparisons, "a", "b")
    assert found.p == pytest.approx(binomtest(8, 10).pvalue, rel=1e-12)
    assert (found.n, found.decisive, found.statistic) == (11, 10, pytest.approx(6 / 11))
    reverse = sign_flip_test(comparisons, "b", "a")
    assert (reverse.p, reverse.statistic) == (found.p, -found.statistic)


def test_attempts_make_shares():
    # Shares 0.75, 1, 0.5 of three tasks: differences 0.5, 1, 0; |sum| >= 1.5 for ++ and -- of four.
    comparisons = Comparisons.from_wins([[[0, w], [1 - w, 0]] for w in (0.75, 1.0, 0.5)])
    found = sign_flip_test(comparisons, "0", "1")
    assert (found.statistic, found.p, found.decisive) == (0.5, 0.5, 2)


def test_many_tasks_are_sampled_reproducibly():
    # 40 wins of 40: no random pattern reaches that, so p = (0 + 1) / (N + 1).
    found = sign_flip_scores(np.ones(40), np.zeros(40), resamples=999)
    assert (found.p, found.exact, found.resamples) == (1 / 1000, False, 999) and "random" in found.method
    # 24 of 40: the binomial p value, to four standard errors of 9,999 draws.
    x = np.repeat([1.0, -1.0], [24, 16])
    sampled, exact = sign_flip_scores(x, np.zeros(40), seed=5), binomtest(24, 40).pvalue
    assert abs(sampled.p - exact) < 4 * np.sqrt(exact * (1 - exact) / 9999)
    assert sampled == sign_flip_scores(x, np.zeros(40), seed=5)
    assert sampled.p != sign_flip_scores(x, np.zeros(40), seed=6).p
    # Asking for as many resamples as there are patterns visits each once.
    assert sign_flip_scores(np.ones(17), np.zeros(17), resamples=2**17).p == 2 / 2**17


def test_nothing_shared_and_bad_input():
    comparisons = Comparisons.from_wins(np.zeros((2, 2, 2)), ["a", "b"])
    found = sign_flip_test(comparisons, "a", "b")
    assert np.isnan([found.p, found.statistic]).all() and found.n == 0 and "share no task" in found.note
    for names, message in ((("a", "z"), "'z'"), (("a", "a"), "itself")):
        with pytest.raises(ValueError, match=message):
            sign_flip_test(comparisons, *names)
    with pytest.raises(ValueError, match="position 1"):
        sign_flip_scores([1, np.inf], [0, 0])
    with pytest.raises(ValueError, match="one length"):
        sign_flip_scores([1, 2], [0])
    with pytest.raises(ValueError, match="resamples"):
        sign_flip_scores([1, 2], [0, 0], resamples=0)
