"""Which trials a self-test runs: each class on two tasks of different modalities, or everything."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from generator.verifier.selftest.clean.task import CleanTask
from generator.verifier.selftest.injections.base import Injection
from generator.verifier.selftest.trials import Trial

#: How many trials each class gets unless everything is asked for.
PER_CLASS = 2


def possible(injections: Collection[Injection], tasks: Collection[CleanTask]) -> list[Trial]:
    """All trials that make sense."""
    return [Trial(each, task) for each in injections for task in tasks if each.applies(task)]


def chosen(trials: Sequence[Trial], per_class: int = PER_CLASS, seed: int = 0) -> list[Trial]:
    """For each class a few trials that differ in modality, in variant and in task as far as they can.

    Args:
        trials: all that are possible.
        per_class: how many at most.
        seed: draws which.
    """
    picked: list[Trial] = []
    load: dict[str, int] = {}
    for number in sorted({trial.injection.number for trial in trials}):
        rng = np.random.default_rng([seed, number])
        pool = [trial for trial in trials if trial.injection.number == number]
        pool = [pool[place] for place in rng.permutation(len(pool))]
        mine: list[Trial] = []
        while pool and len(mine) < per_class:
            best = min(pool, key=lambda trial: (*_overlap(trial, mine), load.get(trial.clean.name, 0)))
            pool.remove(best)
            mine.append(best)
            load[best.clean.name] = load.get(best.clean.name, 0) + 1
        picked += mine
    return picked


def _overlap(trial: Trial, mine: Sequence[Trial]) -> tuple[int, int, int]:
    """How often the modality, the variant and the task were chosen already."""
    return (
        sum(other.clean.modality == trial.clean.modality for other in mine),
        sum(other.injection.name == trial.injection.name for other in mine),
        sum(other.clean.name == trial.clean.name for other in mine),
    )
