"""Answers that can be had without learning: copies, proxies, orders, shared rows, what files tell."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

LEAKS: dict[str, Defect] = {
    "target_in_test": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the test table holds a target column",
    ),
    "target_copied": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a column of the test table is the target under another name",
    ),
    "proxy_column": Defect(
        Gate.DATA,
        Severity.ERROR,
        "one column alone all but decides the target",
    ),
    "missingness_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "which cells are empty tells the target",
    ),
    "id_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the id tells something of the target",
    ),
    "row_order_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the order of the rows tells something of the target",
    ),
    "future_aggregate": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a feature was aggregated over rows that include the test rows' answers",
    ),
    "fitted_on_test": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a feature was scaled or encoded with the test rows or their answers",
    ),
    "sample_is_answers": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the sample submission holds the answers",
    ),
    "sample_prior": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the sample's labels follow the distribution of the test answers",
    ),
    "duplicates_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows repeat training rows with their label",
    ),
    "group_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "rows of one group stand on both sides of the split",
    ),
    "time_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows are earlier than training rows",
    ),
}
