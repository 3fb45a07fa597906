"""Tasks on which scores do not separate skill (classes 26 to 28 and 79)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from generator.defects.base import Gate
from generator.verifier.selftest.clean.task import Answers, CleanTask
from generator.verifier.selftest.injections.base import Injection, Subject, has_own_raw
from generator.verifier.selftest.injections.rewriting import answers

_LAST = Gate.EMPIRICAL


def _target(subject: Subject) -> str:
    name = subject.clean.raw_target
    if name is None:
        raise ValueError(f"{subject.clean.name}: the raw target is not known")
    return name


def _shuffle(subject: Subject) -> None:
    """All labels belong to other rows, in train and test alike."""
    target, rng = _target(subject), np.random.default_rng(subject.seed + 1)
    subject.alter_raw(lambda table: table.assign(**{target: rng.permutation(table[target].to_numpy())}))


def _mostly_noise(subject: Subject) -> None:
    """Two rows in a hundred keep their label."""
    target, rng = _target(subject), np.random.default_rng(subject.seed + 2)

    def alter(table: pd.DataFrame) -> pd.DataFrame:
        values = table[target].to_numpy().copy()
        moved = np.flatnonzero(rng.random(len(values)) < 0.98)
        values[moved] = rng.permutation(values[moved])
        return table.assign(**{target: values})

    subject.alter_raw(alter)


def _rule(subject: Subject) -> None:
    """Two columns decide: the labels are dealt anew by a rule that a child could write."""
    target = _target(subject)

    def alter(table: pd.DataFrame) -> pd.DataFrame:
        numbers = [
            name
            for name in table.select_dtypes("number").columns
            if name != target and table[name].nunique() > 30 and table[name].notna().all()
        ]
        first, second = (table[name] for name in (numbers[1], numbers[-1]))
        kinds = sorted(table[target].unique(), key=str)
        if subject.clean.answers is Answers.NUMBER:
            return table.assign(**{target: (3 * first / first.std() + 2 * second / second.std()).round(6)})
        cell = 2 * (first > first.median()).astype(int) + (second > second.median()).astype(int)
        return table.assign(**{target: [kinds[place % len(kinds)] for place in cell]})

    subject.alter_raw(alter)


_MISALIGNED = """
for name in TARGETS:
    answers[name] = {order}
"""


def _has_numbers_in_raw(task: CleanTask) -> bool:
    return task.name in ("credit-papers", "photo-regions", "concrete-samples", "biopsy-cells", "demand-days")


INJECTIONS = (
    Injection(26, "labels dealt at random", _shuffle, has_own_raw, last=_LAST),
    Injection(27, "two columns decide by a simple rule", _rule, _has_numbers_in_raw, last=_LAST),
    Injection(
        28,
        "shifted by one row",
        answers(_MISALIGNED.format(order="np.roll(answers[name].to_numpy(), 1)")),
        lambda task: task.metric != "mrr" and not task.series,
        last=_LAST,
    ),
    Injection(
        28,
        "joined after one side was sorted",
        answers(
            _MISALIGNED.format(
                order="answers[name].to_numpy()[np.argsort(answers[ID].astype(str).str[::-1].to_numpy())]"
            )
        ),
        lambda task: task.metric != "mrr" and not task.series,
        last=_LAST,
    ),
    Injection(79, "two labels in a hundred mean something", _mostly_noise, has_own_raw, last=_LAST),
)
