"""Generations compared; the expected numbers are computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.pipeline.comparison import compare
from generator.pipeline.funnel import Funnel, Passage, Stage
from generator.pipeline.written import Written
from harness.errors import InputError
from tests.generator.pipeline.example import attempt


def generation(folder: str, made: dict[str, tuple[int, int]], cost: float | None = 1.0) -> Written:
    """One that verified so many of so many proposed formulations of each dataset."""
    passages = [
        Passage(name, f"{name}-{i}", *((Stage.VERIFIED,) if i < verified else (Stage.REFACTORED, "trivial")))
        for name, (verified, proposed) in made.items()
        for i in range(proposed)
    ]
    attempts = tuple(
        attempt(f"{name}-0", "designer", 1, "done", 10.0 * proposed, 5, cost)
        for name, (_, proposed) in made.items()
    )
    return Written(Path(folder), Funnel(tuple(passages)), attempts)


WHOLE = generation("whole", {"a": (2, 3), "b": (1, 1), "c": (0, 2)})
LESS = generation("less", {"a": (1, 1), "b": (1, 1), "c": (0, 2), "e": (3, 3)}, cost=None)


def test_differences_by_hand() -> None:
    """Verified: -1, 0, 0, so -1/3 with error 1/3, and t(0.975; 2) = 4.30265; one sign is flipped."""
    first, other = compare([WHOLE, LESS])
    assert (first.name, first.differences, other.name, other.shared) == ("whole", (), "less", 3)
    found = {each.quantity: each for each in other.differences}
    verified = found["verified"]
    assert (verified.first, verified.other) == pytest.approx((1.0, 2 / 3))
    assert verified.difference == pytest.approx(-1 / 3)
    assert (verified.low, verified.high) == pytest.approx((-1 / 3 - 1.434216, -1 / 3 + 1.434216), abs=1e-5)
    assert verified.p == 1.0
    # 3 of 6 and 2 of 4: linear parts 1/8, 1/8 and -1/4, of which the error is 1/8.
    share = found["yield"]
    assert (share.first, share.other, share.difference) == (0.5, 0.5, 0.0)
    assert (share.low, share.high) == pytest.approx((-0.537832, 0.537832), abs=1e-5)
    assert found["seconds"].difference == pytest.approx(-20 / 3)


def test_an_unknown_cost_has_no_difference() -> None:
    cost = compare([WHOLE, LESS])[1].differences[-1]
    assert (cost.quantity, cost.first, cost.other, cost.difference) == ("cost_usd", 1.0, None, None)


def test_generations_that_agree_have_no_interval_of_no_width() -> None:
    again = generation("again", {"a": (2, 3), "b": (1, 1), "c": (0, 2)})
    verified = compare([WHOLE, again])[1].differences[0]
    assert (verified.difference, verified.low, verified.p) == (0.0, None, 1.0)


def test_no_dataset_in_common() -> None:
    other = compare([WHOLE, generation("other", {"z": (1, 1)})])[1]
    assert other.shared == 0 and all(each.difference is None for each in other.differences)


def test_what_was_interrupted_is_not_compared() -> None:
    cut = Written(Path("cut"), Funnel((Passage("a", "a-0", Stage.DESIGNED, "machine"),)), ())
    assert compare([WHOLE, cut])[1].shared == 0


def test_one_folder_is_no_comparison() -> None:
    for folders in ([WHOLE], [WHOLE, WHOLE]):
        with pytest.raises(InputError, match="at least two"):
            compare(folders)
