"""Limits of the search for leaks in tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeakLimits:
    """Limits of the search for leaks in tables.

    Attributes:
        copy_agreement: chance-corrected agreement (Cohen's kappa) or absolute rank correlation from which a
            column is the target itself; noisy but honest features stay below it.
        copy_rows: with fewer rows than this a column may equal the target by accident.
        rare_rows: a class of fewer rows than this can coincide with a feature by accident.
        duplicate_share: share of test rows found again in training that matters; below it, the gain from
            looking them up is lost in the noise of a usual test size.
        duplicate_agreement: kappa between a repeated row's label and its copy's from which the copies give
            the answer away; rows alike by chance (few, coarse columns) disagree more often.
        time_warning, time_error: share of test rows earlier than the last training row. A panel cut series by
            series has some; when it is most rows, time was not respected.
    """

    copy_agreement: float = 0.995
    copy_rows: int = 20
    rare_rows: int = 5
    duplicate_share: float = 0.02
    duplicate_agreement: float = 0.95
    time_warning: float = 0.05
    time_error: float = 0.5
