"""What the classes are worth: the largest one, the rare ones, and those that the test rows lack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench
from generator.verifier.targets import Kind, to_numbers

_FEWEST_CLASSES = 3


def check(bench: Bench) -> Iterator[Finding]:
    """Whether one class earns nearly all, or rare classes nearly nothing."""
    kinds = [bench.case.kinds.get(name) for name in bench.columns]
    if any(kind is not Kind.CLASS for kind in kinds) or bench.flags:
        return
    flat = bench.oracle.assign(**{name: bench.oracle[name].mode().iloc[0] for name in bench.columns})
    constant = bench.many([flat])[0].finite
    if constant is not None:
        yield from _check_majority(bench, flat, constant)
        if len(bench.columns) == 1:
            yield from _check_rare(bench, flat, constant)
    if len(bench.columns) == 1:
        yield from _check_unseen(bench)


def _check_majority(bench: Bench, flat: pd.DataFrame, constant: float) -> Iterator[Finding]:
    limits = bench.case.limits.metric
    right = flat[bench.columns] == bench.oracle[bench.columns]
    common = _common_share(bench)
    for share in (float(right.all(axis=1).mean()), float(right.to_numpy().mean())):
        if (share if common is None else common) < limits.majority:
            continue
        if any(abs(constant - like) < 1e-4 for like in (share, 100 * share, 1 - share)):
            beside = "" if common is None else f" and {common:.1%} of training and test rows together"
            yield finding(
                "imbalanced_accuracy",
                f"the most frequent class is {share:.1%} of the test rows{beside}, and predicting it "
                f"everywhere scores {constant:.5g}",
                "use a metric that counts the classes alike, such as macro F1, average precision or MCC",
            )
            return


def _common_share(bench: Bench) -> float | None:
    """The share of the largest class in training and test rows, where the test rows alone are too few."""
    case, name = bench.case, bench.columns[0]
    few = len(bench.answers) < case.limits.metric.majority_rows
    if not few or len(bench.columns) > 1 or case.train is None or name not in case.train.columns:
        return None
    known = case.train[name][case.train[name].str.strip() != ""]
    both = pd.concat([known, bench.answers[name]])
    if name in case.key.numeric:
        both = to_numbers(both)
    return float(both.value_counts(normalize=True).iloc[0])


def _check_rare(bench: Bench, flat: pd.DataFrame, constant: float) -> Iterator[Finding]:
    name, limits = bench.columns[0], bench.case.limits.metric
    shares = bench.oracle[name].value_counts(normalize=True)
    rare = [label for label, share in shares.items() if share < limits.rare_class]
    way = bench.loss(constant)
    if not rare or len(shares) < _FEWEST_CLASSES or len(rare) >= len(shares) - 1 or way <= 0:
        return
    given_up = bench.oracle.copy()
    mask = bench.oracle[name].isin(rare).to_numpy()
    cells = given_up[name].to_numpy(copy=True)
    cells[mask] = flat[name].iloc[0]
    given_up[name] = cells
    score = bench.many([given_up])[0].finite
    if score is not None and bench.loss(score) < limits.rare_worth * way:
        yield finding(
            "hidden_classes",
            f"{len(rare)} of {len(shares)} classes of {name} have less than {limits.rare_class:.0%} of the "
            f"test rows each; answers that never name them score {score:.5g} of {bench.perfect:.5g}, and "
            f"the most frequent class alone {constant:.5g}",
            "average over the classes, or join rare classes",
        )


def _check_unseen(bench: Bench) -> Iterator[Finding]:
    """A class of the training data that no test row has is a prediction like any other."""
    name, train = bench.columns[0], bench.case.train
    if train is None or name not in train.columns:
        return
    labels = train[name][train[name].str.strip() != ""]
    numeric = name in bench.case.key.numeric
    known: pd.Series = to_numbers(labels) if numeric else labels
    unseen = sorted(set(known.dropna()) - set(bench.oracle[name]), key=str)
    if not unseen:
        return
    cells = bench.oracle[name].to_numpy(copy=True)
    cells[0] = unseen[0]
    result = bench.many([bench.oracle.assign(**{name: cells})])[0]
    failed = result.outcome == "failed" or (result.score is not None and not np.isfinite(result.score))
    if failed:
        yield finding(
            "metric_failed",
            f"{unseen[0]!r} is a class of {name} in training and of no test row; predicted once it gets "
            f"{result.message or result.score}",
            "score predictions of every class of the training data",
        )
