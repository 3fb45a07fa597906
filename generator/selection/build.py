"""From task packages to a frozen set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from generator.selection.choice import choose
from generator.selection.comparison import compare_with_random
from generator.selection.discrimination import Discrimination, discriminations, find
from generator.selection.facts import Facts, read_facts
from generator.selection.items import compare
from generator.selection.parts import joined_hash
from generator.selection.pool import AXES, Candidate, Options, Pool, make_pool
from generator.selection.reasons import why_chosen, why_left_out
from generator.selection.taskset import ChosenTask, LeftOut, Quality, TaskSet, names, set_hash
from generator.selection.verdicts import judged, remembered
from generator.verifier.thresholds.config import DEFAULTS, Thresholds
from generator.verifier.verification import Verification
from harness.errors import InputError
from stats.comparisons import Comparisons

Verify = Callable[[Sequence[Path]], Sequence[Verification]]

_METHOD = {
    "objective": "sum of discrimination - balance_weight x tasks off the quotas, summed over the axes - "
    "twin_weight x tasks of the same raw data and targets as another; at most per_dataset of a dataset",
    "axes": ", ".join(AXES),
    "solver": "mixed-integer linear programme to proven optimality; among equals the first in the alphabet",
    "discrimination": "of scores: item-rest correlation x spread of win shares; of a ladder: mean over pairs "
    "of baselines of 2 Phi(|difference of gains| / its standard error) - 1",
    "quality": "random sets: 1000 of the same size from the same pool, without regard to datasets and quotas",
}


def judge(
    roots: Sequence[Path],
    *,
    cache: Path | None = None,
    limits: Thresholds = DEFAULTS,
    verify: Verify | None = None,
) -> list[Facts]:
    """The facts of packages with what the verifier has said of them, sorted by key.

    Args:
        roots: the packages, in any order.
        cache: where else verdicts are remembered.
        limits: the thresholds with which they were given.
        verify: asked for the verdicts that are not remembered, of packages that nothing else bars.

    Raises:
        InputError: packages that cannot be read, or two of one name.
    """
    told, missing = [], []
    for facts in read_facts(roots):
        verification, why = remembered(facts.root, cache=cache, limits=limits)
        told.append((facts, verification, why))
        if verification is None and not facts.barred:
            missing.append(facts.root)
    fresh = dict(zip(missing, verify(missing), strict=True)) if verify and missing else {}
    return [judged(facts, fresh.get(facts.root, verification), why) for facts, verification, why in told]


def build(
    facts: Sequence[Facts],
    size: int,
    out: Path,
    *,
    name: str,
    options: Options | None = None,
    scores: pd.DataFrame | None = None,
) -> TaskSet:
    """Choose a set; it is not written yet.

    Args:
        facts: see :func:`judge`.
        size: how many tasks.
        out: the file it is for: paths are told from its folder.
        name: what the set is called.
        options: how to choose.
        scores: results of models, see :meth:`stats.comparisons.Comparisons.from_scores`.

    Raises:
        InputError: there is no set of that size, or the scores cannot be used.
    """
    options = options or Options()
    comparisons = None if scores is None else compare(scores)
    _check_names(facts, comparisons)
    able = [each for each in facts if not each.barred]
    found = discriminations(able, comparisons)
    pool = make_pool(facts, found, size, options)
    chosen = choose(pool)
    reasons = why_chosen(pool, chosen, found)
    by_key = {each.key: each for each in facts}
    tasks = tuple(_chosen(by_key[each.key], found[each.key], reasons[each.key], out) for each in chosen)
    left_out = why_left_out(pool, chosen, found, facts)
    return TaskSet(
        name=name,
        size=size,
        hash=set_hash({task.task: task.hash for task in tasks}),
        method=_METHOD,
        options=asdict(options) | {"scores": _told(comparisons)},
        quality=_quality(pool, chosen, comparisons),
        tasks=tasks,
        left_out=tuple(LeftOut(task=key, reason=reason) for key, reason in left_out.items()),
    )


def _told(comparisons: Comparisons | None) -> str:
    """What the scores are, for the file."""
    if comparisons is None:
        return ""
    return f"{len(comparisons.models)} models on {len(comparisons.tasks)} tasks"


def _check_names(facts: Sequence[Facts], comparisons: Comparisons | None) -> None:
    """Scores of none of the tasks are a mistake, which must not pass for scores that say nothing."""
    if comparisons is None:
        return
    scored = dict.fromkeys(comparisons.tasks, True)
    if not any(find(scored, each.key) for each in facts):
        raise InputError(
            f"the scores are of {names(comparisons.tasks, 3)}, and none of these is among the tasks: "
            f"{names([each.key for each in facts], 3)}; name tasks as <set>/<id> or <id>"
        )


def _chosen(facts: Facts, measured: Discrimination, reason: str, out: Path) -> ChosenTask:
    return ChosenTask(
        task=facts.key,
        path=Path(os.path.relpath(facts.root, out.resolve().parent)).as_posix(),
        hash=joined_hash(facts.parts),
        modality=facts.modality,
        objective=facts.objective,
        metric=facts.metric,
        family=facts.family,
        difficulty=facts.difficulty,
        dataset=facts.dataset,
        discrimination=measured.value,
        measured=str(measured.origin),
        reason=reason,
        files=dict(facts.parts),
    )


def _quality(pool: Pool, chosen: Sequence[Candidate], comparisons: Comparisons | None) -> dict[str, Quality]:
    measures = compare_with_random(pool, chosen, comparisons)
    return {
        name: Quality(
            chosen=round(each.chosen, 4),
            random=round(each.mean, 4),
            random_low=round(each.low, 4),
            random_high=round(each.high, 4),
        )
        for name, each in measures.items()
    }


def overview(task_set: TaskSet) -> dict[str, dict[str, int]]:
    """How many of the tasks there are of each modality, objective, family, difficulty and dataset."""
    counts: dict[str, dict[str, int]] = {}
    for attribute in ("modality", "objective", "family", "difficulty", "dataset"):
        values: list[Any] = sorted(getattr(task, attribute) for task in task_set.tasks)
        counts[attribute] = {value: values.count(value) for value in dict.fromkeys(values)}
    return counts
