"""Limits of the metric gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MetricLimits:
    """Limits of the metric gate.

    Attributes:
        oracle_gap: how far the score of the answers may lie from the declared best, as a share of the way
            from best to the sample's score; covers clipped logarithms.
        perturbed_shares: shares of rows whose answers are exchanged among each other.
        perturbations: draws per share that are averaged.
        monotone_slack: a step may be better than the one before by this share of the whole way; sampling
            noise of the averages.
        much_worse: fully exchanged answers must lose at least this share of the way from best to the sample's
            score. Exchanged answers keep the right level, which alone is worth most where the level differs
            much between training and test, so only nearly nothing is wrong.
    """

    oracle_gap: float = 1e-3
    perturbed_shares: tuple[float, ...] = (0.1, 0.3, 0.6, 1.0)
    perturbations: int = 3
    monotone_slack: float = 0.1
    much_worse: float = 0.02
