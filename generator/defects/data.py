"""What is wrong with the prepared tables: ids, answers, columns, classes, and how test differs from train."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

DATA: dict[str, Defect] = {
    "duplicate_ids": Defect(
        Gate.DATA,
        Severity.ERROR,
        "an id stands for more than one row",
    ),
    "missing_answers": Defect(
        Gate.DATA,
        Severity.ERROR,
        "some answers are empty",
    ),
    "constant_target": Defect(
        Gate.DATA,
        Severity.ERROR,
        "all answers are the same",
    ),
    "few_test_rows": Defect(
        Gate.DATA,
        Severity.WARNING,
        "too few test rows to tell candidates apart",
    ),
    "test_ids_differ": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the test table does not hold the ids of the answers",
    ),
    "nothing_to_learn": Defect(
        Gate.DATA,
        Severity.ERROR,
        "no public table has a column that the test table lacks",
    ),
    "undeclared_target": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the training table has a column, no target, that the test table lacks",
    ),
    "unseen_class": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a class among the answers does not occur in training data",
    ),
    "rare_class": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a class of the answers has too few training rows to be learnt",
    ),
    "target_shift": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the answers lie far from the training values",
    ),
    "columns_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "train and test tables do not have the same features",
    ),
    "type_drift": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a feature is of another type in test than in training",
    ),
    "category_drift": Defect(
        Gate.DATA,
        Severity.WARNING,
        "many categories of a feature occur in test only",
    ),
    "split_not_exchangeable": Defect(
        Gate.DATA,
        Severity.WARNING,
        "test rows can be told from training rows though the split is said to be random",
    ),
    "side_table_keys": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a side table covers training rows but not test rows",
    ),
    "sample_invalid": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the sample submission is no valid submission",
    ),
    "shared_ids": Defect(
        Gate.DATA,
        Severity.WARNING,
        "ids of test rows also stand in the training table",
    ),
    "personal_data": Defect(
        Gate.DATA,
        Severity.WARNING,
        "cells look like personal data",
    ),
    "prompt_injection": Defect(
        Gate.DATA,
        Severity.WARNING,
        "text in the data or the description gives orders to a model",
    ),
}
