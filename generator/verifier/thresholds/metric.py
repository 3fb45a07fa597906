"""Limits of the metric gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MetricLimits:
    """Limits of the metric gate.

    Attributes:
        rows: test rows that the metric is probed with; 2,000 exchanged at random tell every share that the
            probes ask for to 1 %, and answers of a class of 1 % are among them 20 times.
        oracle_gap: how far the score of the answers may lie from the declared best, as a share of the way
            from best to the sample's score; covers clipped logarithms.
        perturbed_shares: shares of rows whose answers are exchanged among each other.
        perturbations: draws per share that are averaged.
        monotone_slack: a step may be better than the one before by this share of the whole way; sampling
            noise of the averages.
        much_worse: fully exchanged answers must lose at least this share of the way from best to the sample's
            score. Exchanged answers keep the right level, which alone is worth most where the level differs
            much between training and test, so only nearly nothing is wrong.
        seconds: how long one batch of probes may take; a slow metric gets fewer probes.
        small_errors: changed answers of many kinds that must not beat the answers; 120 miss an exception that
            holds for one in thirty of them once in fifty times.
        blocks: parts of the rows, in file order and in id order, that must each matter to the score.
        ignored_share: rows that do not matter are an error from this share on. Below it they may be left out
            on purpose, as the rows of a competition that were never scored.
        majority: share of the largest class among the test rows from which accuracy says little; where it is
            0.95 of all rows, some tests have less.
        majority_rows: with fewer test rows the training rows have a say in it: where one class has 0.95, its
            share of 100 rows has a standard error of 0.02, of 300 rows 0.013.
        rare_class: classes of a smaller share of the test rows are rare.
        rare_worth: rare classes together must be worth this share of the way from the majority's score to the
            best; if all of them can be given up for less, nobody will look for them.
        error_share: a standard error above this share of the way from floor to best cannot tell candidates
            apart that differ by a tenth of all there is to learn.
        few_scores: so few different scores of many different submissions tie most candidates.
        slow_seconds: scoring one submission should take no longer; a trial asks for it after each step.
        growth: the power of the rows with which work may grow, that is how often a line of metric.py runs
            times how long it takes; sorting needs little more than 1, comparing all pairs 2.
        loop: a line whose count grows with at least this power of the rows runs in a loop over them.
        loop_ratio: in such a loop a line may take this many times as long for sixteen times the rows; other
            programs may slow down one that does the same work each time, but hardly in three measurements of
            many rows and never in between in three of few.
        loop_seconds: and this much longer, well above what caches cost a look-up.
        line_seconds: shorter lines outside of loops are not timed well enough.
        tick: what one measurement of processor time may be wrong by, where the system counts it in ticks.
        follow_seconds: processor time for which the metric is followed with each number of rows.
        follow_step_seconds: how long one step of it may be expected to take with the next number of rows.
        large: a legal number far out of the data, whose square is still finite.
    """

    rows: int = 2_000
    oracle_gap: float = 1e-3
    perturbed_shares: tuple[float, ...] = (0.1, 0.3, 0.6, 1.0)
    perturbations: int = 3
    monotone_slack: float = 0.1
    much_worse: float = 0.02
    seconds: float = 4.0
    small_errors: int = 120
    blocks: int = 10
    ignored_share: float = 0.3
    majority: float = 0.93
    majority_rows: int = 300
    rare_class: float = 0.05
    rare_worth: float = 0.1
    error_share: float = 0.1
    few_scores: int = 10
    slow_seconds: float = 5.0
    growth: float = 1.5
    loop: float = 0.8
    loop_ratio: float = 1.5
    loop_seconds: float = 2e-5
    line_seconds: float = 0.05
    tick: float = 4e-3
    follow_seconds: float = 1.0
    follow_step_seconds: float = 8.0
    large: float = 1e30
