"""What probing the metric shows."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

METRIC: dict[str, Defect] = {
    "metric_failed": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric crashes on a valid submission",
    ),
    "metric_not_finite": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric gives NaN or infinity for a valid submission",
    ),
    "metric_timeout": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric ran longer than its limit",
    ),
    "metric_slow": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric takes long, or longer than in proportion to the rows",
    ),
    "valid_rejected": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric refuses a valid submission",
    ),
    "oracle_not_best": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the answers do not get the declared best score",
    ),
    "direction_mismatch": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "metric.py and task.toml declare different directions",
    ),
    "metric_direction": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "wrong answers score better in the declared direction",
    ),
    "metric_insensitive": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the score does not depend on the submission",
    ),
    "metric_not_monotone": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "more wrong answers do not always score worse",
    ),
    "metric_positional": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric compares rows by position, not by id",
    ),
    "metric_random": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the same submission gets different scores",
    ),
    "metric_mutates": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric changes what it is given, or remembers earlier submissions",
    ),
    "metric_label_order": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the score changes with the names or the order of the classes",
    ),
    "malformed_accepted": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a malformed submission gets a score",
    ),
    "metric_lenient": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric alone scores values that no submission may hold",
    ),
    "metric_partial": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric alone scores a part of the rows, or rows given twice",
    ),
    "metric_formula": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric differs from the known metric of that name",
    ),
    "metric_variant": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric is another variant than its name says",
    ),
    "metric_thresholds": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a metric of scores looks at rounded labels only",
    ),
    "metric_unclipped": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a sure but wrong prediction has no finite score",
    ),
    "imbalanced_accuracy": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "one class alone earns nearly all of the metric",
    ),
    "hidden_classes": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric hardly sees the rare classes",
    ),
    "coarse_metric": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the test rows are too few for the metric to tell good from better",
    ),
}
