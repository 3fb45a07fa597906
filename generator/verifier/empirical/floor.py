"""Submissions that know nothing: the sample, the sample shuffled, and one constant for every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical.halving import difference
from generator.verifier.targets import to_numbers

_SEED = 21


def uninformed(case: Case) -> dict[str, pd.DataFrame]:
    """Submissions by name, in the form that the grader takes."""
    sample = case.sample()
    columns = [column for column in sample.columns if column != case.key.id_column]
    order = np.random.default_rng(_SEED).permutation(len(sample))
    shuffled = sample.copy()
    for column in columns:
        shuffled[column] = sample[column].to_numpy()[order]
    return {"sample": sample, "shuffled_sample": shuffled, "constant": _constant(case, sample, columns)}


def _constant(case: Case, sample: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Per column the mean of the training values, or their most frequent one where means are no legal value.

    Without training values in a column, the sample stands in for them.
    """
    flat = sample.copy()
    for column in columns:
        train = case.train
        known = train[column] if train is not None and column in train.columns else sample[column]
        known = known[known.astype(str).str.strip() != ""]
        numbers = to_numbers(known)
        if column in case.key.numeric and numbers.notna().all() and not _labels(case, sample[column]):
            flat[column] = float(numbers.mean())
        else:
            mode = known.mode().iloc[0]
            flat[column] = (
                float(to_numbers(pd.Series([mode])).iloc[0]) if column in case.key.numeric else mode
            )
    return flat


def _labels(case: Case, sample: pd.Series) -> bool:
    """Whether numbers in a column are classes: the sample shows whole ones and the task is to classify."""
    return "classification" in case.task.spec.objective and bool((sample.astype(float) % 1 == 0).all())


def check(case: Case) -> Iterator[Finding]:
    """The uninformed scores, known from the metric gate, lie together and away from the answers' score."""
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    perfect = sign * case.scores["oracle"]
    names = [name for name in ("sample", "shuffled_sample", "constant") if name in case.scores]
    floors: dict[str, float] = {name: sign * case.scores[name] for name in names}
    others = max((score for name, score in floors.items() if name != "sample"), default=floors["sample"])
    if perfect > others:
        gain = (floors["sample"] - others) / (perfect - others)
        if gain > case.limits.empirical.sample_gain and _surely_better(case, floors, others):
            yield finding(
                "sample_informative",
                f"the sample scores {case.scores['sample']:.6g}, {gain:.0%} of the way from the next best "
                f"uninformed submission to the answers",
                "fill the sample with a constant or random values",
            )
            return
    lowest, highest = min(floors.values()), max(floors.values())
    spread = (highest - lowest) / (perfect - lowest) if perfect > lowest else 0.0
    if spread > case.limits.empirical.floor_spread:
        told = ", ".join(f"{name} {case.scores[name]:.5g}" for name in names)
        yield finding(
            "floor_spread", told, "use a sample near the training data's mean or most frequent class"
        )


def _surely_better(case: Case, floors: Mapping[str, float], others: float) -> bool:
    """Whether the sample's lead over the next best is more than luck."""
    frames = uninformed(case)
    rival = next(name for name, score in floors.items() if name != "sample" and score == others)
    lead = difference(case, frames["sample"], frames[rival])
    return lead is not None and lead.z >= case.limits.empirical.separation


def best_floor(case: Case) -> str:
    """The name of the best uninformed submission."""
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    names = [name for name in ("sample", "shuffled_sample", "constant") if name in case.scores]
    return max(names, key=lambda name: sign * case.scores[name])
