"""What submissions of known skill show."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

EMPIRICAL: dict[str, Defect] = {
    "sample_informative": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "the sample knows the answers of its own rows",
    ),
    "floor_spread": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "uninformed submissions score far apart",
    ),
    "ladder_failed": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "no baseline makes a valid submission from the public data",
    ),
    "unlearnable": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "no baseline is clearly better than an uninformed submission",
    ),
    "answers_misaligned": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "what training rows teach fails on the answers only",
    ),
    "trivial": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "a simple baseline is as good as perfect, and stronger ones add nothing",
    ),
    "ceiling": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the best baseline leaves almost no room above it",
    ),
    "weak_signal": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the best baseline rises only a little way from the floor",
    ),
    "noisy_scores": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the seed of a baseline changes its score more than its skill",
    ),
}
