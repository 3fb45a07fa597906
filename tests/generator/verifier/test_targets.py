"""What the values of a target are, told from their cells and the declared objective."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from generator.verifier.targets import Kind, kind_of, listed, missing_words, separator, to_numbers


def cells(*values: str, times: int = 1) -> pd.Series:
    return pd.Series(list(values) * times, dtype=object)


MANY_NUMBERS = [f"{value:.2f}" for value in np.linspace(0, 9, 100)]
RUNS = [f"{start} 3 {start + 40} 7" for start in range(1, 3000, 30)]
SENTENCES = [f"the bird number {n} hit the left wing at {n * 7} feet" for n in range(100)]
SPECIES = [f"Genus{n} species{n % 7}" for n in range(60)]


@pytest.mark.parametrize(
    ("values", "objective", "kind"),
    [
        pytest.param(["a", "b", "a"], "classification", Kind.CLASS, id="words"),
        pytest.param(["1", "2", "3"] * 9, "classification", Kind.CLASS, id="whole numbers as classes"),
        pytest.param(["1.0", "2.0", "7.0"] * 9, "classification", Kind.CLASS, id="floats as classes"),
        pytest.param([str(n) for n in range(500)], "classification", Kind.CLASS, id="ids as classes"),
        pytest.param(MANY_NUMBERS, "classification", Kind.NUMBER, id="shares of votes"),
        pytest.param(["true", "False"] * 5, "regression", Kind.CLASS, id="booleans"),
        pytest.param(["True", "False"] * 5, "structured prediction", Kind.CLASS, id="booleans elsewhere"),
        pytest.param(MANY_NUMBERS, "regression", Kind.NUMBER, id="measurements"),
        pytest.param([*MANY_NUMBERS, "NA", "nan"], "regression", Kind.NUMBER, id="a missing one among them"),
        pytest.param(["0", "1", "2", "3"] * 9, "ranking", Kind.NUMBER, id="relevances"),
        pytest.param(["0", "1", "2", "3"] * 9, "structured prediction", Kind.CLASS, id="few whole numbers"),
        pytest.param(["007", "012", "100"] * 9, "ranking", Kind.CLASS, id="codes with leading zeros"),
        pytest.param(["1", "2", "NA", "x"] * 9, "classification", Kind.CLASS, id="NA as a label"),
        pytest.param(["a b", "a", "b c"] * 9, "multi-label classification", Kind.LABELS, id="tags"),
        pytest.param(["['a', 'b']", "['c']", "['a', 'c']"] * 9, "multi-label classification", Kind.LABELS,
                     id="tags as a Python list"),
        pytest.param(["1 2 3", "2", "3 4"] * 9, "multi-label classification", Kind.LABELS, id="numbered"),
        pytest.param(["0", "1"] * 9, "multi-label classification", Kind.CLASS, id="one column per label"),
        pytest.param(["yes", "no"] * 9, "multi-label classification", Kind.CLASS, id="one worded column"),
        pytest.param(SPECIES, "classification", Kind.CLASS, id="as many species as rows"),
        pytest.param(SENTENCES, "generation", Kind.TEXT, id="sentences"),
        pytest.param(RUNS, "structured prediction", Kind.TEXT, id="run lengths of masks"),
        pytest.param([f"{'ACGT' * 3}{n}" for n in range(90)], "generation", Kind.TEXT, id="sequences"),
    ],
)  # fmt: skip
def test_kind(values: list[str], objective: str, kind: Kind) -> None:
    assert kind_of(pd.Series(values, dtype=object), objective) is kind


def test_numbers_are_read_as_the_grader_reads_them() -> None:
    """The framework lets ``true`` and ``false`` stand for 1 and 0, and spaces around a number."""
    numbers = to_numbers(cells(" 1 ", "1e2", "TRUE", " false", "x", "", "NaN"))
    assert numbers[:4].tolist() == [1.0, 100.0, 1.0, 0.0]
    assert numbers[4:].isna().all()
    assert to_numbers(pd.Series([True, False])).tolist() == [1.0, 0.0]


def test_a_word_for_nothing_counts_among_numbers_only() -> None:
    """By hand: the NA of a country code (Namibia) is a label; the NA among weights is none."""
    assert missing_words(cells("1.5", "NA", "none", "2")).tolist() == [False, True, True, False]
    assert not missing_words(cells("DE", "NA", "FR")).any()
    assert not missing_words(cells("1.5", "2")).any()


def test_labels_come_apart_without_brackets_and_quotes() -> None:
    labels = listed(cells("['a', 'b']", "[]", "['c']"), ",")
    assert list(zip(labels.index, labels, strict=True)) == [(0, "a"), (0, "b"), (2, "c")]
    assert separator(cells("a|b", "b|c", "a|c", times=9)) == "|"
    assert separator(cells("a", "b", times=9)) is None
