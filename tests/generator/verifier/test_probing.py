"""What columns tell of a target, against scipy, hand-made values and brute-force permutations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from generator.verifier.probing import (
    NOTHING,
    Floats,
    _class_strength,
    _number_strength,
    column_numbers,
    column_strength,
    strength,
    transfer,
)
from generator.verifier.targets import Kind

ROWS = np.random.default_rng(1)


def text(values: object) -> pd.Series:
    return pd.Series(values).astype(str)


def test_z_of_classes_is_that_of_all_permutations() -> None:
    """Mean and variance of the fit over 20,000 shuffles of the truth, instead of Hoeffding's formula."""
    codes = np.repeat([0, 1, 2], [30, 15, 5])
    shares = ROWS.dirichlet([1, 1, 1], size=50)
    shares[np.arange(50), codes] += 0.3
    fits = np.array([shares[np.arange(50), ROWS.permutation(codes)].sum() for _ in range(20_000)])
    z = (shares[np.arange(50), codes].sum() - fits.mean()) / fits.std()
    assert _class_strength(shares, codes).z == pytest.approx(z, rel=0.02)


def test_gain_of_numbers_is_r_squared_and_correlation_is_pearsons() -> None:
    truth = ROWS.normal(size=60)
    said = truth + ROWS.normal(size=60)
    found = _number_strength(said, truth)
    assert found.correlation == pytest.approx(pearsonr(said, truth).statistic)
    assert found.gain == pytest.approx(1 - ((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def test_gain_of_classes_by_hand() -> None:
    """8 of 10 right where the majority has 6: half of the way."""
    codes = np.array([0] * 6 + [1] * 4)
    shares = np.eye(2)[[0] * 6 + [1, 1, 0, 0]]
    assert _class_strength(shares, codes).gain == pytest.approx(0.5)


def test_a_column_of_chance_tells_nothing_and_the_truth_tells_all() -> None:
    truth = text(np.repeat(["a", "b", "c"], 100))
    assert abs(column_strength(text(ROWS.normal(size=300)), truth, Kind.CLASS).z) < 4
    told = column_strength(truth, truth, Kind.CLASS)
    assert told.gain == 1.0 and told.z > 10


@pytest.mark.parametrize("kind", [Kind.CLASS, Kind.NUMBER])
def test_gaps_and_infinity_are_no_trouble(kind: Kind) -> None:
    features: Floats = np.column_stack([np.repeat([0.0, np.inf, np.nan, 1e300], 20), np.full(80, np.nan)])
    assert strength(features, text(np.repeat([0, 1, 2, 2], 20)), kind).gain >= 0.49


@pytest.mark.parametrize("kind", [Kind.LABELS, Kind.TEXT])
def test_lists_and_texts_tell_nothing(kind: Kind) -> None:
    assert column_strength(text(range(60)), text(range(60)), kind) is NOTHING


def test_classes_that_come_once_are_no_trouble() -> None:
    """Two hundred classes of which most have one row, and one class alone."""
    truth = text([0] * 50 + [1] * 50 + list(range(2, 202)))
    assert column_strength(text([0] * 50 + [1] * 50 + [2] * 200), truth, Kind.CLASS).gain > 0.3
    assert column_strength(text(range(50)), text(["x"] * 50), Kind.CLASS) is NOTHING


def test_transfer_learns_from_training_rows_only() -> None:
    """The test rows hold the other sign: what was learnt is wrong in each of them."""
    train, test = np.repeat([0.0, 1.0], 40), np.repeat([1.0, 0.0], 40)
    truth = text(np.repeat(["no", "yes"], 40))
    assert transfer(train[:, None], truth, train[:, None], truth, Kind.CLASS).gain == 1.0
    assert transfer(train[:, None], truth, test[:, None], truth, Kind.CLASS).gain == -1.0
    unseen = text(np.repeat(["no", "perhaps"], 40))
    assert transfer(train[:, None], truth, train[:, None], unseen, Kind.CLASS).gain == 0.0


def test_categories_become_codes_by_frequency() -> None:
    found = column_numbers(pd.Series(["b", "a", "b", "", "b", "a"]))
    assert found[:3].tolist() == [0.0, 1.0, 0.0] and np.isnan(found[3])


@pytest.mark.parametrize("kind", [Kind.CLASS, Kind.NUMBER])
def test_names_of_rows_do_not_tell_the_order_of_the_rows(kind: Kind) -> None:
    """Rows sorted by the target with a name of their own each: the name knows nothing."""
    names = text([f"n{number}" for number in np.random.default_rng(2).permutation(300)])
    truth = text(np.repeat([0, 1], 150) if kind is Kind.CLASS else np.arange(300))
    assert column_strength(names, truth, kind).gain <= 0.01


def test_categories_are_numbered_by_frequency_then_by_the_alphabet() -> None:
    """Twice b and d, three times c, once a and e, which share a code."""
    cells = text(["d", "a", "d", "c", "b", "", "c", "e", "c", "b"])
    assert column_numbers(cells).tolist()[:5] == [2, 3, 2, 0, 1]
    assert np.isnan(column_numbers(cells)[5])
    shuffled = cells.sample(frac=1, random_state=1)
    assert np.array_equal(
        column_numbers(shuffled), column_numbers(cells)[shuffled.index.to_numpy()], equal_nan=True
    )
