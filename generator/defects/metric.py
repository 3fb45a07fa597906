"""What probing the metric shows."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

METRIC: dict[str, Defect] = {
    "metric_failed": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric crashes on a valid submission",
        example="graded on the answers: ZeroDivisionError: division by zero",
    ),
    "metric_not_finite": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric gives NaN or infinity for a valid submission",
        example="graded on the answers: the metric returned nan, which is not a finite number",
    ),
    "metric_timeout": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric ran longer than its limit",
        example="graded on the answers: the metric ran longer than 300 s",
    ),
    "metric_slow": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric takes long, or longer than in proportion to the rows",
        example="line 17 of metric.py runs 4,096 times for 64 rows, 65,536 for 256",
    ),
    "valid_rejected": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric refuses a valid submission",
        example="graded on the sample submission: unknown species 'setosa'",
    ),
    "oracle_not_best": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the answers do not get the declared best score",
        example="the answers score 1, metric.best is 2",
    ),
    "direction_mismatch": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "metric.py and task.toml declare different directions",
        example="task.toml says higher_is_better = false, metric.py says true",
    ),
    "metric_direction": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "wrong answers score better in the declared direction",
        example="answers with 0%, 10%, 30%, 60%, 100% of the rows exchanged score 0, 0.058, 0.18, 0.37, 0.62",
    ),
    "metric_insensitive": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the score does not depend on the submission",
        example="the score does not change however wrong rent is; 2 columns are asked for",
    ),
    "metric_not_monotone": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "more wrong answers do not always score worse",
        example="answers with 0%, 10%, 30%, 60%, 100% of the rows exchanged score 1, 0.7, 0.4, 0.6, 0.3",
    ),
    "metric_positional": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric compares rows by position, not by id",
        example="the answers score 1, and in another row order score 0.36",
    ),
    "metric_random": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the same submission gets different scores",
        example="one submission scores 0.82, and with the clock 400 days ahead 0.8199",
    ),
    "metric_mutates": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric changes what it is given, or remembers earlier submissions",
        example="evaluate or validate_submission changes the values of price of the answers in place",
    ),
    "metric_label_order": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the score changes with the names or the order of the classes",
        example="partly wrong answers score 0.764, and 0.803 when the classes of colour swap "
        "their names in answers and submission alike",
    ),
    "malformed_accepted": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a malformed submission gets a score",
        example="a file with an empty value scores 0.94",
    ),
    "metric_lenient": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric alone scores values that no submission may hold",
        example="where the framework's checks are not made, the metric scores a NaN 0; nothing "
        "but NaN 0 (the answers 0)",
    ),
    "metric_partial": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric alone scores a part of the rows, or rows given twice",
        example="where the framework's checks are not made, only the rows that are right score 0, "
        "better than all rows with 4.61",
    ),
    "metric_formula": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "the metric differs from the known metric of that name",
        example="partly wrong answers score 35.2; mae is 3.91, and mse is what it computes",
    ),
    "metric_variant": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric is another variant than its name says",
        example="the metric is named 'f1', and it is macro_f1 on all wrong answers tried",
    ),
    "metric_thresholds": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a metric of scores looks at rounded labels only",
        example="predictions between 0 and 1 score 0.741, and the same when they are rounded at 0.5",
    ),
    "metric_unclipped": Defect(
        Gate.METRIC,
        Severity.ERROR,
        "a sure but wrong prediction has no finite score",
        example="answers with 30% of the rows exchanged hold probabilities of exactly 0 and 1 and get no "
        "score (the metric returned inf, which is not a finite number); the answers moved off these by "
        "1e-06 score 3e-06",
    ),
    "imbalanced_accuracy": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "one class alone earns nearly all of the metric",
        example="the most frequent class is 96.5% of the test rows, and predicting it everywhere "
        "scores 0.965",
    ),
    "hidden_classes": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the metric hardly sees the rare classes",
        example="2 of 5 classes of kind have less than 5% of the test rows each; answers that "
        "never name them score 0.98 of 1, and the most frequent class alone 0.41",
    ),
    "coarse_metric": Defect(
        Gate.METRIC,
        Severity.WARNING,
        "the test rows are too few for the metric to tell good from better",
        example="25 submissions with 2% to 80% of 500 rows exchanged get 2 different scores",
    ),
}
