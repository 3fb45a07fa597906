"""What submissions of known skill show."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

EMPIRICAL: dict[str, Defect] = {
    "sample_informative": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "the sample knows the answers of its own rows",
        example="the sample scores 1.56915, in another row order 2.66981: 41% of the way to the "
        "answers (z = 10.3)",
    ),
    "floor_spread": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "uninformed submissions score far apart",
        example="sample 100.15, shuffled_sample 100.15, constant 1.9005, prior 2.6125; the answers 0",
    ),
    "ladder_failed": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "no baseline makes a valid submission from the public data",
        example="tree: handed in nothing (submitted after 6 steps); neighbours: handed in nothing "
        "(submitted after 6 steps); linear: handed in nothing (submitted after 6 steps); forest: "
        "handed in nothing (submitted after 6 steps); boosting: handed in nothing (submitted "
        "after 6 steps)",
    ),
    "unlearnable": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "no baseline is clearly better than an uninformed submission",
        example="sample scores 1.5753, the best baseline (tuned) 1.4921: 5.3% of the way to the "
        "answers, 95% interval -6.6% to 17.2%",
    ),
    "answers_misaligned": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "what training rows teach fails on the answers only",
        example="linear trained on two thirds of the training rows goes 41% of the way from the floor "
        "to perfect on the rest; on the answers the best baseline (linear) goes -33% (gap z = "
        "7.4)",
    ),
    "trivial": Defect(
        Gate.EMPIRICAL,
        Severity.ERROR,
        "a simple baseline is as good as perfect, and stronger ones add nothing",
        example="of the way from constant (1.66037) to the answers (0): linear 99.7% with 0.00437145; "
        "200 test rows",
    ),
    "ceiling": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the best baseline leaves almost no room above it",
        example="of the way from sample (0.40678) to the answers (1): tree 88.6% with 0.932203, "
        "neighbours 100.0% with 1, linear 100.0% with 1, forest 97.1% with 0.983051; 59 test "
        "rows",
    ),
    "weak_signal": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the best baseline rises only a little way from the floor",
        example="of the way from constant (0.989921) to the answers (0): tree 3.1% with 0.959539, "
        "neighbours -0.7% with 0.996827, linear 3.2% with 0.958434, forest 0.3% with 0.987233",
    ),
    "noisy_scores": Defect(
        Gate.EMPIRICAL,
        Severity.WARNING,
        "the seed of a baseline changes its score more than its skill",
        example="forest with 5 seeds scores 1.9435, 1.9056, 4.202, 2.1862, 2.3179: a spread of 2.3, "
        "and it stands 0.1 above the floor",
    ),
}
