"""Limits of the data gate, but for its leaks and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataLimits:
    """Limits of the data gate, but for its leaks and files.

    Attributes:
        few_rows: below this many test rows the standard error of an accuracy near 0.7 exceeds 0.08, which is
            more than most candidates differ by.
        shared_ids: share of test ids also used in the training table that is worth a word; row numbers
            that start anew in each file are common and harmless.
        unseen_rows: test rows of one unseen class that can still be chance: a class of so few rows falls
            wholly into test now and then when rows are drawn at random.
        unseen_share: share of test rows of unseen classes from which the ceiling of every candidate is lower
            by as much, however they came about.
        rare_training: training rows of a class below which nothing general can be learnt of it.
        certain: p-value, divided by the number of columns that are compared, below which a difference
            between train and test is no chance.
        prior_distance: total variation distance between the classes of train and test from which a model that
            is calibrated in training is off in test.
        shift_distance: Kolmogorov-Smirnov distance between training values and answers of a split at random
            that is worth a word; halves of one sample of 1,000 differ by 0.09 once in 100,000.
        shift_error: the distance from which the answers of such a split are on another scale.
        shift_grouped: the distance that is worth a word where rows were not drawn one by one: whole groups
            differ by nature.
        outside_share: share of answers outside the range of the training values, by a tenth of it, that makes
            the task one of extrapolation.
        outside_warning: the share of them that is worth a word.
        outside_ranges: how many training ranges away the median answer of a split in time must be before a
            trend no longer explains it.
        numeric_share: share of cells that are numbers from which a column is numeric.
        worded_share: the share below which it is none.
        mixed_drop: by how much the share of numbers may fall in test.
        drift_rows: cells on each side below which types and categories are not compared.
        unseen_category: share of test rows with categories unseen in training that is worth a word.
        unseen_dated: that share where the split is not at random, and new categories are to be expected.
        repeated: how often the categories of a column occur at least, on average; else they are names.
        auc_warning: area under the curve of telling test rows from training rows; 0.5 is chance.
        auc_z: by how many standard errors it must exceed 0.5; 4 of them come by chance once in 30,000.
        side_keys: distinct test keys below which the coverage of a side table is not judged.
        side_share: a side table knows at most this share of the test keys, relative to the training keys,
            when something is missing.
        personal_cells: cells of a column that must look like personal data; one may be an accident.
        text_files: text files under public/ that are read for personal data and orders.
        text_bytes: how much of each is read.
    """

    few_rows: int = 30
    shared_ids: float = 0.01
    unseen_rows: int = 2
    unseen_share: float = 0.05
    rare_training: int = 5
    certain: float = 1e-6
    prior_distance: float = 0.1
    shift_distance: float = 0.1
    shift_error: float = 0.5
    shift_grouped: float = 0.5
    outside_share: float = 0.5
    outside_warning: float = 0.05
    outside_ranges: float = 10.0
    numeric_share: float = 0.95
    worded_share: float = 0.5
    mixed_drop: float = 0.2
    drift_rows: int = 10
    unseen_category: float = 0.1
    unseen_dated: float = 0.5
    repeated: float = 4.0
    auc_warning: float = 0.6
    auc_z: float = 4.0
    side_keys: int = 10
    side_share: float = 0.5
    personal_cells: int = 3
    text_files: int = 2_000
    text_bytes: int = 65_536
