"""Limits of the empirical gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EmpiricalLimits:
    """Limits of the empirical gate.

    Attributes:
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

    floor_spread: float = 0.5
    sample_gain: float = 0.25
    halvings: int = 12
    separation: float = 3.0
    smallest_gain: float = 0.02
    trivial_gain: float = 0.995
    ceiling_gain: float = 0.98
    ladder_steps: int = 8
    ladder_seconds: float = 600.0
