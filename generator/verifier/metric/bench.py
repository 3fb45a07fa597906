"""The metric on the bench: what all its probes share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.metric import changes
from generator.verifier.sampling import sampled_rows
from harness.tasks.grading import GradeResult
from harness.tasks.metrics import NamedMetric, named_metric
from harness.tasks.submission import Reason
from harness.tasks.variants import Outcome, Variant, VariantResult

SEED = 20
NOISE = 1e-9
_CODES = {
    Reason.METRIC_FAILED: "metric_failed",
    Reason.METRIC_NOT_FINITE: "metric_not_finite",
    Reason.METRIC_TIMEOUT: "metric_timeout",
    Reason.METRIC_REJECTED: "valid_rejected",
}
#: Cells that are handed over at once.
_CELLS = 4_000_000


class Stop(Exception):
    """The metric cannot score what it must; nothing further can be learnt."""

    def __init__(self, found: Finding) -> None:
        super().__init__(found.code)
        self.finding = found


@dataclass
class Bench:
    """A task's metric, and submissions of known quality to try it with.

    Attributes:
        case: the verification.
        answers: the answers that are probed with, all cells as strings.
        oracle: the same as a submission.
        sample: the sample submission of these rows.
        perfect: the score of the answers.
        floor: the score of the sample, or of the answers in another order where the sample has none.
        unscored_sample: that the sample is one constant, which the metric has no score for.
    """

    case: Case
    answers: pd.DataFrame
    oracle: pd.DataFrame
    sample: pd.DataFrame
    perfect: float
    floor: float
    unscored_sample: Finding | None = field(default=None, kw_only=True)

    @property
    def columns(self) -> list[str]:
        """The columns of a submission but for the id."""
        return [column for column in self.oracle.columns if column != self.case.key.id_column]

    @property
    def flat_sample(self) -> bool:
        """Whether some column of the sample is one constant."""
        return bool((self.sample[self.columns].nunique() <= 1).any())

    @property
    def sign(self) -> float:
        """1 when higher is better, else -1."""
        return 1.0 if self.case.task.spec.metric.higher_is_better else -1.0

    @property
    def gap(self) -> float:
        """How much better the answers score than the sample."""
        return self.loss(self.floor)

    @property
    def known(self) -> NamedMetric | None:
        """The known metric of the declared name."""
        return named_metric(self.case.task.spec.metric.name)

    @functools.cached_property
    def flags(self) -> bool:
        """Whether the answers are 0 and 1, and predictions may be anything between."""
        if not set(self.columns) <= set(self.case.key.numeric):
            return False
        values = self.oracle[self.columns].to_numpy(dtype=float)
        if not np.isin(values, (0.0, 1.0)).all():
            return False
        if self.known is not None:
            return self.known.soft
        return bool((self.sample[self.columns].to_numpy(dtype=float) % 1 != 0).any())

    def loss(self, score: float) -> float:
        """How much worse than the answers a score is."""
        return self.sign * (self.perfect - score)

    def same(self, score: float | None) -> bool:
        """Whether a score is that of the answers."""
        return score is not None and close(score, self.perfect)

    def score(self, submission: pd.DataFrame, what: str) -> float:
        """The score of a submission that must have one.

        Raises:
            Stop: it has none.
        """
        result = self.grade(submission)
        if result.raw_score is None:
            if self.flags and result.task_defect:
                self._stop_unclipped(result, what)
            raise Stop(cannot(result, what))
        return result.raw_score

    def grade(self, submission: pd.DataFrame) -> GradeResult:
        """Score a submission in a run of its own."""
        return self.case.grader.score(self.answers, submission)

    def _stop_unclipped(self, result: GradeResult, what: str) -> None:
        """Where values of 0 and 1 have no score, see whether values a little off have one."""
        off = 1e-6
        near = {
            name: self.oracle[name] * (1 - max(2, len(self.columns)) * off) + off for name in self.columns
        }
        score, sample = (self.grade(frame).raw_score for frame in (self.oracle.assign(**near), self.sample))
        if score is None or sample is None:
            return
        told = (result.message.strip().splitlines() or [""])[-1][:200]
        # A logarithm has no value at 0 by its definition, and participants can keep away from it.
        by_definition = self.known is not None and self.known.name == "log_loss"
        # What the later gates compare with.
        self.case.scores = {"oracle": score, "sample": sample} | self.case.scores
        raise Stop(
            finding(
                "metric_unclipped",
                f"{what} hold probabilities of exactly 0 and 1 and get no score ({told}); "
                f"the answers moved off these by {off:g} score {score:.5g}",
                "keep probabilities away from 0 and 1 in evaluate, for example by 1e-15",
                Severity.WARNING if by_definition else None,
            )
        )

    def many(
        self, frames: Sequence[pd.DataFrame | Variant], *, same: bool = False, twice: bool = False
    ) -> list[VariantResult]:
        """The results of many submissions, of which the last ones are skipped when the metric is slow."""
        variants = [frame if isinstance(frame, Variant) else Variant(frame) for frame in frames]
        step = max(1, _CELLS // max(1, self.oracle.size))
        results: list[VariantResult] = []
        left = self.case.limits.metric.seconds
        for start in range(0, len(variants), step):
            batch = variants[start : start + step]
            if left <= 0:
                results += [VariantResult(Outcome.SKIPPED)] * len(batch)
                continue
            found = self.case.grader.score_variants(
                batch, same=same, twice=twice, seconds=left, answers=self.answers
            )
            left -= sum(result.seconds for result in found)
            results += found
        return results

    @functools.cached_property
    def worse(self) -> pd.DataFrame:
        """The answers with 30 % of the rows exchanged."""
        return changes.exchanged(self.oracle, self.columns, 0.3, np.random.default_rng(SEED))


def open_bench(case: Case) -> Bench:
    """Score the answers and the sample.

    Raises:
        Stop: one of them has no score.
    """
    oracle, sample = case.oracle(), case.sample()
    bench = Bench(case, case.key.answers, oracle, sample, 0.0, 0.0)
    bench.perfect = bench.score(oracle, "the answers")
    try:
        bench.floor = bench.score(sample, "the sample submission")
    except Stop as stop:
        if stop.finding.code != "metric_not_finite" or not bench.flat_sample:
            raise
        # A constant has no correlation; a correlation is a sound metric all the same.
        shuffled = changes.exchanged(oracle, bench.columns, 1.0, np.random.default_rng(SEED))
        bench.floor = bench.score(shuffled, "the answers in another order")
        bench.unscored_sample = replace(stop.finding, severity=Severity.WARNING)
    case.scores |= {"oracle": bench.perfect, "sample": bench.floor}
    return bench


def narrowed(bench: Bench) -> Bench:
    """A bench with fewer rows, or the same where they are few already or where a part has no score."""
    most, rows = bench.case.limits.metric.rows, len(bench.answers)
    if rows <= most:
        return bench
    kept = sampled_rows(rows, most, SEED)
    answers, oracle, sample = (
        frame.iloc[kept].reset_index(drop=True) for frame in (bench.answers, bench.oracle, bench.sample)
    )
    small = Bench(bench.case, answers, oracle, sample, 0.0, 0.0)
    try:
        small.perfect = small.score(oracle, "the answers")
        small.floor = bench.floor if bench.unscored_sample else small.score(sample, "the sample submission")
    except Stop:
        return bench
    return small


def cannot(result: GradeResult, what: str) -> Finding:
    """The finding that a valid submission has no score."""
    last = (result.message.strip().splitlines() or [""])[-1][:300]
    return finding(
        _CODES[result.reason], f"graded on {what}: {last}", "make the metric score every valid submission"
    )


def close(a: float, b: float) -> bool:
    """Equal but for rounding."""
    return abs(a - b) <= NOISE * max(1.0, abs(a), abs(b))
