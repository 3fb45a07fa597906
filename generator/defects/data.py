"""What is wrong with the prepared tables: ids, answers, columns, classes, and how test differs from train."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

DATA: dict[str, Defect] = {
    "duplicate_ids": Defect(
        Gate.DATA,
        Severity.ERROR,
        "an id stands for more than one row",
        example="test_answer.csv: 2 values of image stand in several rows, 'img0000' for one",
    ),
    "missing_answers": Defect(
        Gate.DATA,
        Severity.ERROR,
        "some answers are empty",
        example="4 of 140 answers in progress are missing: 4 nan, null or infinite",
    ),
    "constant_target": Defect(
        Gate.DATA,
        Severity.ERROR,
        "all answers are the same",
        example="all 80 answers in digit are the same",
    ),
    "few_test_rows": Defect(
        Gate.DATA,
        Severity.WARNING,
        "too few test rows to tell candidates apart",
        example="29 test rows; scores will differ by luck below 30",
    ),
    "test_ids_differ": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the test table does not hold the ids of the answers",
        example="3 answers have no test row, 0 test rows have no answer, flower 'r00000' for one",
    ),
    "nothing_to_learn": Defect(
        Gate.DATA,
        Severity.ERROR,
        "no public table has a column that the test table lacks",
        example=(
            "progress is in no table, folder or file name under public/ (1 of 1 targets; no table "
            "holds a column that test lacks)"
        ),
    ),
    "undeclared_target": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the training table has a column, no target, that the test table lacks",
        example="swan_ganz is in train.csv, neither in test nor among the targets, but like them",
    ),
    "unseen_class": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a class among the answers does not occur in training data",
        example=(
            "1 of 10 classes of digit in the answers (8.8% of the test rows) never occur in the "
            "folders of media"
        ),
    ),
    "rare_class": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a class of the answers has too few training rows to be learnt",
        example=("2 of 11 classes of species in the answers have fewer than 5 training rows, 'Droid' has 4"),
    ),
    "target_shift": Defect(
        Gate.DATA,
        Severity.WARNING,
        "the answers lie far from the training values",
        example=(
            "answers in progress have the median 4.924, training values 142 (from 25 to 341); 0.0% "
            "of the answers lie outside, Kolmogorov-Smirnov distance 1.00"
        ),
    ),
    "columns_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "train and test tables do not have the same features",
        example="pl is in the test table only; petal_l of training is pl in test",
    ),
    "type_drift": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a feature is of another type in test than in training",
        example=(
            "petal_l is a number in 100.0% of the training cells and 0.0% of the test cells, '1,4' "
            "for one that is none"
        ),
    ),
    "category_drift": Defect(
        Gate.DATA,
        Severity.WARNING,
        "many categories of a feature occur in test only",
        example=("100.0% of the test rows have a category of region that training lacks, 'zone 0' for one"),
    ),
    "split_not_exchangeable": Defect(
        Gate.DATA,
        Severity.WARNING,
        "test rows can be told from training rows though the split is said to be random",
        example=(
            "test rows can be told from training rows with an area under the curve of 1.00 "
            "(standard error 0.030; 0.5 is chance) by the column bp (1.00), though the split is "
            "random"
        ),
    ),
    "side_table_keys": Defect(
        Gate.DATA,
        Severity.WARNING,
        "a side table covers training rows but not test rows",
        example="visits.csv knows 100.0% of the training keys by Patient, but 0.0% of the test keys",
    ),
    "sample_invalid": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the sample submission is no valid submission",
        example=("progress of the sample is not finite in 140 of 140 rows, while all answers are numbers"),
    ),
    "shared_ids": Defect(
        Gate.DATA,
        Severity.WARNING,
        "ids of test rows also stand in the training table",
        example="41.0% of the test ids also stand in the training table",
    ),
    "personal_data": Defect(
        Gate.DATA,
        Severity.WARNING,
        "cells look like personal data",
        example="column surname of train.csv: names of people by its name",
    ),
    "prompt_injection": Defect(
        Gate.DATA,
        Severity.WARNING,
        "text in the data or the description gives orders to a model",
        example="orders to a model: column remarks of train.csv, to ignore its instructions (1 cells)",
    ),
}
