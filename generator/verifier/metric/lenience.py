"""The metric alone, past the framework's checks: values and rows that no submission may hold.

Where its package is used without this framework, nothing else stands between these and a score. A metric that
crashes on them gives no score, and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench
from harness.tasks.variants import Variant

_CHANCES = ("log_loss", "brier")
#: A difference of scores that is only one of rounding.
_NOTHING = 1e-9


def check(bench: Bench) -> Iterator[Finding]:
    """Values that are none, then rows that are too few, too many or the easy ones."""
    values, rows = _values(bench), _rows(bench)
    frames = [*values.values(), *rows.values()]
    results = bench.many([Variant(frame, whole=True) for frame in frames])
    scored = [
        (what, result.finite)
        for what, result in zip([*values, *rows], results, strict=True)
        if result.finite is not None
    ]
    lenient = [f"{what} {score + 0.0:.6g}" for what, score in scored if what in values]
    lenient += _empty_labels(bench)
    if lenient:
        yield finding(
            "metric_lenient",
            f"where the framework's checks are not made, the metric scores {'; '.join(lenient)} "
            f"(the answers {bench.perfect:.6g})",
            "refuse missing, infinite and impossible values in validate_submission",
        )
    whole = bench.many([bench.worse])[0].finite
    partial = [_partly(bench, what, score, whole) for what, score in scored if what in rows]
    if partial:
        yield finding(
            "metric_partial",
            f"where the framework's checks are not made, {'; '.join(partial)}",
            "refuse missing, repeated and foreign ids in validate_submission",
        )


def _partly(bench: Bench, what: str, score: float, whole: float | None) -> str:
    better = whole is not None and bench.loss(score) < bench.loss(whole)
    return f"{what} score {score:.6g}" + (f", better than all rows with {whole:.6g}" if better else "")


def _values(bench: Bench) -> dict[str, pd.DataFrame]:
    oracle, numeric = bench.oracle, [name for name in bench.columns if name in bench.case.key.numeric]
    if not numeric:
        return {"no rows": oracle.iloc[:0]}
    first = numeric[0]

    def with_one(value: object) -> pd.DataFrame:
        cells = oracle[first].astype(object)
        cells.iloc[0] = value
        return oracle.assign(**{first: cells})

    values = {
        "a NaN": with_one(np.nan),
        "nothing but NaN": oracle.assign(**dict.fromkeys(numeric, np.nan)),
        "an infinity": with_one("inf"),
        "a word for a number": with_one("word"),
        "no rows": oracle.iloc[:0],
    }
    if bench.known is not None and bench.known.name in _CHANCES and bench.flags:
        values["a probability of -1 (which the framework lets through)"] = with_one(-1.0)
        values["a probability of 2 (which the framework lets through)"] = with_one(2.0)
    return values


def _empty_labels(bench: Bench) -> list[str]:
    """Labels left empty, where that scores better than wrong ones; an honest metric takes them for wrong."""
    key = bench.case.key
    labels = [name for name in bench.columns if name not in key.numeric and name not in key.may_be_empty]
    if not labels:
        return []
    empty = bench.oracle.assign(**dict.fromkeys(labels, np.nan))
    wrong = bench.oracle.assign(**{name: _exchanged(bench.oracle[name]) for name in labels})
    nothing, mistaken = (result.finite for result in bench.many([Variant(empty, whole=True), Variant(wrong)]))
    if nothing is None or mistaken is None or bench.loss(nothing) >= bench.loss(mistaken) - _NOTHING:
        return []
    return [f"labels left empty {nothing + 0.0:.6g}, better than wrong ones with {mistaken + 0.0:.6g}"]


def _exchanged(labels: pd.Series) -> pd.Series:
    """Each label in place of another, so that none is right."""
    known = sorted(labels.unique())
    return labels.map(dict(zip(known, [*known[1:], known[0]], strict=True)))


def _rows(bench: Bench) -> dict[str, pd.DataFrame]:
    worse, oracle, columns = bench.worse, bench.oracle, bench.columns
    right = (worse[columns] == oracle[columns]).all(axis=1)
    foreign = worse.iloc[:1].assign(**{bench.case.key.id_column: "no such id"})
    easy = worse[right]
    made = {
        "half of the rows": worse.iloc[: max(1, len(worse) // 2)],
        "all rows and a foreign id": pd.concat([worse, foreign]),
    }
    if len(easy):
        made["only the rows that are right"] = easy
        made["all rows and a right one many times over"] = pd.concat([worse, *[easy.iloc[:1]] * len(worse)])
        made["a right row in place of every row"] = pd.concat([easy.iloc[:1]] * len(worse))
    return made
