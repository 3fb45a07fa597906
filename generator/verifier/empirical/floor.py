"""Submissions that know nothing: the sample, also shuffled, one constant for every row, random draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.probing import column_numbers, strength
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import Kind, kind_of, to_numbers

_SEED = 21
#: Metrics that are smallest at the median rather than at the mean.
_MEDIAN = ("mae", "absolute", "smape", "mape", "mase", "pinball")
_PROBED_COLUMNS = 60
_MOST_GRADES = 12


def uninformed(case: Case) -> dict[str, pd.DataFrame]:
    """Submissions by name, in the form that the grader takes.

    ``sample`` and ``shuffled_sample``; ``constant``, the mean, median or most frequent training value, as the
    metric wants; ``prior``, values drawn from training rows, where the training table has the targets and
    the sample shows values of their kind.
    """
    sample = case.sample()
    columns = _columns(case, sample)
    order = np.random.default_rng(_SEED).permutation(len(sample))
    shuffled = sample.assign(**{column: sample[column].to_numpy()[order] for column in columns})
    floors = {"sample": sample, "shuffled_sample": shuffled, "constant": _constant(case, sample, columns)}
    drawn = _drawn(case, sample, columns)
    return floors if drawn is None else floors | {"prior": drawn}


def _columns(case: Case, sample: pd.DataFrame) -> list[str]:
    return [column for column in sample.columns if column != case.key.id_column]


def _known(case: Case, column: str) -> pd.Series | None:
    """The training values of a column that are not empty."""
    if case.train is None or column not in case.train.columns:
        return None
    known = case.train[column]
    known = known[known.str.strip() != ""]
    return known if len(known) else None


def _constant(case: Case, sample: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Per column one training value for all rows; where training has none, the sample stands in.

    Probabilities that each sum to 1 in a row do so as means, too.
    """
    flat = sample.copy()
    by_median = any(part in case.task.spec.metric.name.lower() for part in _MEDIAN)
    for column in columns:
        known = _known(case, column)
        known = sample[column] if known is None else known
        numbers = to_numbers(known)
        if column in case.key.numeric and numbers.notna().all() and not _labels(case, sample[column]):
            middle = float(numbers.median() if by_median else numbers.mean())
            flat[column] = round(middle) if _grades(numbers, sample[column]) else middle
        else:
            mode = known.mode().iloc[0]
            flat[column] = (
                float(to_numbers(pd.Series([mode])).iloc[0]) if column in case.key.numeric else mode
            )
    return flat


def _grades(known: pd.Series, sample: pd.Series) -> bool:
    """Whether numbers are few whole ones, such as marks, for which a metric may take no fraction."""
    both = pd.concat([known, sample.astype(float)])
    return bool((both % 1 == 0).all()) and both.nunique() <= _MOST_GRADES


def _labels(case: Case, sample: pd.Series) -> bool:
    """Whether numbers in a column are classes: the sample shows whole ones and the task is to classify."""
    return "classification" in case.task.spec.objective and bool((sample.astype(float) % 1 == 0).all())


def _drawn(case: Case, sample: pd.DataFrame, columns: list[str]) -> pd.DataFrame | None:
    """Training rows at random; none where the metric wants probabilities: labels are extreme ones."""
    train = case.train
    if train is None or not set(columns) <= set(train.columns):
        return None
    known = train[(train[columns].apply(lambda cells: cells.str.strip()) != "").all(axis=1)]
    if known.empty:
        return None
    rows = np.random.default_rng(_SEED + 1).integers(len(known), size=len(sample))
    drawn = sample.copy()
    for column in columns:
        values = known[column].iloc[rows].reset_index(drop=True)
        if column not in case.key.numeric:
            drawn[column] = values.to_numpy()
            continue
        numbers, shown = to_numbers(values), sample[column].astype(float)
        classes = case.kinds.get(column) is Kind.CLASS
        if numbers.isna().any() or (classes and not _labels(case, shown)):
            return None
        drawn[column] = numbers.to_numpy()
    return drawn


@dataclass(frozen=True)
class Floor:
    """The best that knowing nothing gets, and where perfect lies.

    Attributes:
        name: of the best uninformed submission.
        submission: itself.
        score: its raw score.
        top: the raw score of the answers.
    """

    name: str
    submission: pd.DataFrame
    score: float
    top: float

    def gain(self, score: float) -> float:
        """The share of the way from the best uninformed score (0) to the score of the answers (1)."""
        return (score - self.score) / (self.top - self.score) if self.top != self.score else 0.0

    @property
    def height(self) -> float:
        """How far perfect lies above the floor, in the metric's units."""
        return abs(self.top - self.score)


def lowest(case: Case, without: str | None = None) -> Floor:
    """The floor of the task; grades what the metric gate has not.

    Args:
        case: with the score of the answers, ``oracle``.
        without: an uninformed submission that knows something after all.
    """
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    frames = {name: frame for name, frame in uninformed(case).items() if name != without}
    scores = {name: case.scores[name] for name, frame in frames.items() if _graded(case, name, frame)}
    best = max(scores, key=lambda name: sign * scores[name])
    return Floor(best, frames[best], scores[best], case.scores["oracle"])


def _graded(case: Case, name: str, frame: pd.DataFrame) -> bool:
    if name not in case.scores:
        score = case.grader.grade_frame(frame).raw_score
        if score is not None:
            case.scores[name] = score
    return name in case.scores


def check(case: Case) -> Iterator[Finding]:
    """The uninformed scores lie together and away from the answers' score. Leaves the exhibit ``floors``."""
    frames = uninformed(case)
    names = [name for name, frame in frames.items() if _graded(case, name, frame)]
    case.exhibits["floors"] = [{"name": name, "score": case.scores[name]} for name in names]
    if "sample" not in names:
        return
    informed = _check_sample(case, frames)
    if informed is not None:
        yield informed
        return
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    # Random draws are worse than a constant by nature, so they say nothing about the sample.
    scores = [sign * case.scores[name] for name in names if name != "prior"]
    perfect, bottom = sign * case.scores["oracle"], min(scores)
    spread = (max(scores) - bottom) / (perfect - bottom) if perfect > bottom else 0.0
    if spread > case.limits.empirical.floor_spread:
        told = ", ".join(f"{name} {case.scores[name]:.5g}" for name in names)
        yield finding(
            "floor_spread",
            f"{told}; the answers {case.scores['oracle']:.5g}",
            "use a sample near the training data's mean or most frequent class",
        )


def _check_sample(case: Case, frames: dict[str, pd.DataFrame]) -> Finding | None:
    """The sample must not fit the answers better than its own values do in another order.

    A sample that a small tree can make again from the test rows is a rule, not the answers: some real tasks
    hand one out, which spoils the floor but gives nothing away.
    """
    limits, sample = case.limits.empirical, frames["sample"]
    if all(sample[column].nunique() == 1 for column in _columns(case, sample)):
        return None
    shuffled = case.scores.get("shuffled_sample")
    if shuffled is None or shuffled == case.scores["oracle"]:
        return None
    gain = (case.scores["sample"] - shuffled) / (case.scores["oracle"] - shuffled)
    if gain < limits.sample_gain:
        return None
    z = _order_z(case, sample)
    if z is None or z < limits.sample_z:
        return None
    ruled = gain < limits.sample_copies and _reproduced(case, sample) >= limits.sample_rule
    how = "; a small tree makes it again from the test rows" if ruled else ""
    return finding(
        "sample_informative",
        f"the sample scores {case.scores['sample']:.6g}, in another row order {shuffled:.6g}: {gain:.0%} of "
        f"the way to the answers (z = {z:.1f}){how}",
        "fill the sample with a constant or random values",
        Severity.WARNING if ruled else None,
    )


def _order_z(case: Case, sample: pd.DataFrame) -> float | None:
    """By how many standard deviations of other row orders the sample's own one is better: a permutation test.

    ``None`` when the metric does not score other orders.
    """
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    rng, columns = np.random.default_rng(_SEED + 2), _columns(case, sample)
    others = []
    for _ in range(case.limits.empirical.sample_orders):
        order = rng.permutation(len(sample))
        frame = sample.assign(**{column: sample[column].to_numpy()[order] for column in columns})
        score = case.grader.grade_frame(frame).raw_score
        if score is None:
            return None
        others.append(score)
    lead, spread = sign * (case.scores["sample"] - np.mean(others)), float(np.std(others, ddof=1))
    return float(lead / spread) if spread > 0 else math.copysign(math.inf, lead)


def _reproduced(case: Case, sample: pd.DataFrame) -> float:
    """How well a tree tells the sample's values from the test rows: the least of its columns."""
    test, features = case.test, case.features[:_PROBED_COLUMNS]
    if test is None or not features:
        return 0.0
    rows = sampled_rows(len(sample), case.limits.sampling.rows)
    by_id = test.drop_duplicates(case.id_column).set_index(case.id_column)
    chosen = by_id.reindex(sample[case.id_column].iloc[rows]).fillna("").reset_index(drop=True)
    numbers = np.column_stack([column_numbers(chosen[name]) for name in features])
    gains = []
    for column in _columns(case, sample):
        values = sample[column].iloc[rows].astype(str).reset_index(drop=True)
        kind = kind_of(values, case.task.spec.objective)
        gains.append(1.0 if values.nunique() == 1 else strength(numbers, values, kind).gain)
    return min(gains)
