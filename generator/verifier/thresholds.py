"""Every number that a gate compares with, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """The limits of the gates. The defaults judge all tasks alike; a test may tighten one.

    Attributes:
        prepare_seconds: limit of one run of prepare.py, that of an ordinary preparation.
        few_rows: below this many test rows the standard error of an accuracy near 0.7 exceeds 0.08, which is
            more than most candidates differ by.
        copy_agreement: chance-corrected agreement (Cohen's kappa) or absolute rank correlation from which a
            column is the target itself; noisy but honest features stay below it.
        copy_rows: with fewer rows than this a column may equal the target by accident.
        rare_rows: a class of fewer rows than this can coincide with a feature by accident.
        shared_ids: share of test ids also used in the training table that is worth a word; row numbers
            that start anew in each file are common and harmless.
        duplicate_share: share of test rows found again in training that matters; below it, the gain from
            looking them up is lost in the noise of a usual test size.
        duplicate_agreement: kappa between a repeated row's label and its copy's from which the copies give
            the answer away; rows alike by chance (few, coarse columns) disagree more often.
        time_warning, time_error: share of test rows earlier than the last training row. A panel cut series by
            series has some; when it is most rows, time was not respected.
        oracle_gap: how far the score of the answers may lie from the declared best, as a share of the way
            from best to the sample's score; covers clipped logarithms.
        perturbed_shares: shares of rows whose answers are exchanged among each other.
        perturbations: draws per share that are averaged.
        monotone_slack: a step may be better than the one before by this share of the whole way; sampling
            noise of the averages.
        much_worse: fully exchanged answers must lose at least this share of the way from best to the sample's
            score. Exchanged answers keep the right level, which alone is worth most where the level differs
            much between training and test, so only nearly nothing is wrong.
        floor_spread: uninformed submissions may differ by this share of the way from floor to best.
        sample_gain: a sample that covers this share of the way from a constant to the best knows something.
        halvings: random halvings of the test rows for the standard error of a difference: two halves each, so
            the standard error itself is known to about 15 %.
        separation: the best baseline must beat the floor by this many standard errors; at 3 an unlearnable
            task passes about once in 700.
        smallest_gain: and by this share of the way from floor to best, so that huge test sets do not let
            meaningless differences pass.
        trivial_gain: the share of the way from floor to best at which a plain linear model says that nothing
            is left to do.
        ceiling_gain: the same for the best baseline, which only deserves a warning.
        ladder_steps: actions each baseline may take: enough to look at the task, to submit,
            and to repair or improve it once or twice.
        ladder_seconds: wall time of each baseline.
    """

    prepare_seconds: float = 1_800.0
    few_rows: int = 30
    copy_agreement: float = 0.995
    copy_rows: int = 20
    rare_rows: int = 5
    shared_ids: float = 0.01
    duplicate_share: float = 0.02
    duplicate_agreement: float = 0.95
    time_warning: float = 0.05
    time_error: float = 0.5
    oracle_gap: float = 1e-3
    perturbed_shares: tuple[float, ...] = (0.1, 0.3, 0.6, 1.0)
    perturbations: int = 3
    monotone_slack: float = 0.1
    much_worse: float = 0.02
    floor_spread: float = 0.5
    sample_gain: float = 0.25
    halvings: int = 12
    separation: float = 3.0
    smallest_gain: float = 0.02
    trivial_gain: float = 0.995
    ceiling_gain: float = 0.98
    ladder_steps: int = 8
    ladder_seconds: float = 600.0


DEFAULTS = Thresholds()
