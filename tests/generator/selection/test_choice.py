"""The chosen set is the best one, whatever the order of the pool."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.selection.choice import choose
from generator.selection.discrimination import Discrimination
from generator.selection.facts import Facts
from generator.selection.pool import Options, make_pool
from generator.selection.quotas import Quota, share_out
from harness.errors import InputError
from tests.generator.selection.pools import by_trying_all, facts, measured, pools, value_by_hand

Drawn = tuple[list[Facts], dict[str, Discrimination], int, Options]


@given(pools())
@settings(max_examples=120, deadline=None)
def test_it_is_the_best_set_and_the_first_of_equals(drawn: Drawn) -> None:
    """Against all sets of small pools, valued by another formula."""
    pool = make_pool(*drawn)
    chosen = choose(pool)
    assert chosen == by_trying_all(pool)
    assert pool.value(chosen) / 1000 == pytest.approx(value_by_hand(pool, chosen), abs=1e-9)


@given(pools(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_pool_does_not_matter(drawn: Drawn, shuffler: random.Random) -> None:
    told, found, size, options = drawn
    other = list(told)
    shuffler.shuffle(other)
    assert choose(make_pool(told, found, size, options)) == choose(make_pool(other, found, size, options))


def test_a_large_pool_is_no_worse_than_exchanges_and_random_sets_can_make_it() -> None:
    rng = np.random.default_rng(5)
    keys = [f"set/{i:03d}" for i in range(400)]
    told = [
        facts(
            key,
            modality=str(rng.choice(["tabular", "text", "image", "audio"])),
            family=str(rng.choice(["labels", "order", "squared error", "probabilities"])),
            difficulty=str(rng.choice(["easy", "medium", "hard"])),
            dataset=str(rng.integers(120)),
        )
        for key in keys
    ]
    pool = make_pool(told, measured(*rng.random(400), keys=keys), 50, Options())
    chosen = choose(pool)
    value = pool.value(chosen)
    others = [each for each in pool.candidates if each not in chosen]
    for _ in range(3000):
        exchanged = list(chosen)
        exchanged[rng.integers(50)] = others[rng.integers(len(others))]
        assert not pool.is_allowed(exchanged) or pool.value(exchanged) <= value
    assert pool.is_allowed(chosen) and sum(pool.steps(chosen)) <= 3


def test_balance_costs_discrimination_only_as_far_as_its_weight_goes() -> None:
    told = [facts(f"set/{name}", modality="tabular" if name < "e" else "image") for name in "abcdefgh"]
    found = measured(*[0.9] * 4, *[0.2] * 4, keys=[each.key for each in told])
    for weight, images in ((0.0, 0), (0.6, 0), (0.8, 2)):
        pool = make_pool(told, found, 4, Options(balance_weight=weight))
        assert set(pool.quotas[0].values()) == {Quota(2, 2)}
        assert sum(each.levels[0] == "image classification" for each in choose(pool)) == images


def test_twins_and_crowded_datasets_are_left_out() -> None:
    told = [facts(f"set/{name}", dataset="one", twin=twin) for name, twin in zip("abc", "ppq", strict=True)]
    told += [facts("set/d", dataset="two"), facts("set/e", dataset="three")]
    found = measured(0.9, 0.8, 0.5, 0.4, 0.1, keys=[each.key for each in told])

    def names(**options: float) -> str:
        pool = make_pool(told, found, 3, Options(**options))  # type: ignore[arg-type]
        return "".join(each.key[-1] for each in choose(pool))

    assert names(per_dataset=3, twin_weight=0.0) == "abc"
    assert names(per_dataset=3) == "acd"
    assert names(per_dataset=2, twin_weight=0.0) == "abd"
    assert names(per_dataset=1) == "ade"


def test_quotas_hold_fair_shares_and_never_exceed_what_there_is() -> None:
    most = {"a": 10, "b": 5, "c": 1}
    for size in range(17):
        for uniform in (False, True):
            quotas = share_out(size, most, uniform=uniform)
            assert sum(each.low for each in quotas.values()) <= size
            assert sum(each.high for each in quotas.values()) >= size
            assert all(
                0 <= each.low <= each.high <= min(most[level], each.low + 1) for level, each in quotas.items()
            )
    # 8 x 10/16 = 5, 8 x 5/16 = 2.5, 8 x 1/16 = 0.5.
    assert share_out(8, most) == {"a": Quota(5, 5), "b": Quota(2, 3), "c": Quota(0, 1)}
    # "c" gives its only one, and 7 are left for two.
    assert share_out(8, most, uniform=True) == {"a": Quota(3, 4), "b": Quota(3, 4), "c": Quota(1, 1)}
    with pytest.raises(ValueError, match="17 places for 16 tasks"):
        share_out(17, most)


def test_a_fraction_of_a_place_goes_to_the_task_that_discriminates() -> None:
    told = [facts("set/a", modality="audio"), facts("set/b", modality="video")]
    for values, chosen in (((0.4, 0.5), "set/b"), ((0.5, 0.4), "set/a"), ((0.5, 0.5), "set/a")):
        pool = make_pool(told, measured(*values, keys=["set/a", "set/b"]), 1, Options(balance_weight=2.0))
        assert [each.key for each in choose(pool)] == [chosen]


def test_a_size_that_is_too_large_says_how_many_and_why() -> None:
    told = [
        facts("set/a", dataset="one"),
        facts("set/b", dataset="one"),
        facts("set/c").without("rejected: x"),
    ]
    found = measured(0.5, 0.5, keys=["set/a", "set/b"])
    with pytest.raises(InputError) as error:
        make_pool(told, found, 2, Options(per_dataset=1))
    assert str(error.value) == (
        "--size 2: only 1 of 3 tasks can be chosen (1: rejected; 1: beyond --per-dataset 1, for which a "
        "larger number makes room); give --size 1 or less, or more tasks"
    )
    with pytest.raises(InputError, match=r"only 0 of 1 .*name verified tasks, or add --verify"):
        make_pool([told[2]], {}, 1, Options())
