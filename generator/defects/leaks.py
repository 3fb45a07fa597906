"""Answers that can be had without learning: copies, proxies, orders, shared rows, what files tell."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

LEAKS: dict[str, Defect] = {
    "target_in_test": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the test table holds a target column",
        example="the test table holds Diagnosis_, which is diagnosis",
    ),
    "target_copied": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a column of the test table is the target under another name",
        example="column index of test.csv is progression itself: equal values (agreement beyond "
        "chance 1.000)",
    ),
    "proxy_column": Defect(
        Gate.DATA,
        Severity.ERROR,
        "one column alone all but decides the target",
        example="note alone gives diagnosis: a tree on it reaches 1.000 of the way from knowing nothing to "
        "perfect on test rows, 1.000 on training rows",
    ),
    "missingness_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "which cells are empty tells the target",
        example="which cells are empty, or hold a word or code for it, tells progression: "
        "correlation 0.84 of "
        "what a tree on 2 such patterns predicts, z 11; lab alone 0.84",
    ),
    "id_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the id tells the target",
        example="the number modulo 2 of case tells diagnosis: correlation 1.00, z 15, the best "
        "of 15 patterns",
    ),
    "row_order_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the order of the rows tells the target",
        example="neighbouring rows of the test table have like progression: correlation 1.00, z 13, and no "
        "visible column has that order",
    ),
    "future_aggregate": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a feature was aggregated over rows that include the test rows' answers",
        example="level is the mean of progression for each town over all rows, test rows with their answers "
        "among them: progression of test rows follows from it",
    ),
    "fitted_on_test": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a feature was scaled or encoded with the test rows or their answers",
        example="6 columns (mean radius, mean texture, mean area, mean symmetry) have mean 0 and standard "
        "deviation 1 over training and test rows together, and not over training rows alone",
    ),
    "sample_is_answers": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the sample submission holds the answers",
        example="column diagnosis of the sample submission: equal values (agreement beyond chance 1.000)",
    ),
    "sample_prior": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the sample's labels follow the distribution of the test answers",
        example="progression of the sample is the answers in another order: each of 128 values "
        "comes as often",
    ),
    "duplicates_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows repeat training rows with their label",
        example="33.1% of the test rows equal a training row in all 13 shared columns (agreement of their "
        "labels beyond chance: 1.00); 0.1% of the training rows equal another one, and 0.0% would by chance",
    ),
    "group_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "rows of one group stand on both sides of the split",
        example="98.5% of the test rows share company with training rows, and such rows have like "
        "avg_price_per_room beyond what other columns explain: correlation 0.20, z 12",
    ),
    "time_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows are earlier than training rows",
        example="100.0% of the test rows are not later than the last training row by arrival_date, and rows "
        "of near moments have like avg_price_per_room beyond what other columns explain: correlation "
        "0.30, z 20",
    ),
}
