"""The 80 classes of defects, and what the verifier must say of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DefectClass:
    """One class of the catalogue.

    Attributes:
        number: 1 to 80.
        name: the defect in a few words.
        codes: the findings that count as caught; empty for a verdict that is no finding.
        applies: to which tasks.
        not_injectable: why no package can have it, if so.
    """

    number: int
    name: str
    codes: tuple[str, ...]
    applies: str
    not_injectable: str | None = None


_TABLES = "tasks with tables"
_FEATURES = "tables of items with features"
_MEDIA = "items that are files"
_CLASSES = "answers that are classes"
_LABELS = "submissions of labels"
_ALL = "all tasks"


def _table(*rows: tuple[int, str, str, str]) -> dict[int, DefectClass]:
    return {n: DefectClass(n, name, tuple(codes.split()), applies) for n, name, codes, applies in rows}


CLASSES: dict[int, DefectClass] = _table(
    (1, "target column left in test", "target_in_test target_copied", _TABLES),
    (2, "target copied under another name", "target_copied", _TABLES),
    (3, "affine or monotone copy of the target", "target_copied proxy_column", _TABLES),
    (4, "near-deterministic proxy", "proxy_column target_copied missingness_leak", _TABLES),
    (5, "missing cells encode the target", "missingness_leak proxy_column", _FEATURES),
    (6, "id encodes the label", "id_leak", "tasks whose ids mean nothing"),
    (7, "test rows ordered by label", "row_order_leak", _TABLES),
    (8, "row number predicts the target", "row_order_leak id_leak target_copied proxy_column", _TABLES),
    (9, "exact duplicates across the split", "duplicates_across_split media_across_split", _TABLES),
    (
        10,
        "near-duplicates across the split",
        "near_duplicates duplicates_across_split",
        "features, texts, images",
    ),
    (11, "same file in train and test", "media_across_split duplicates_across_split", _MEDIA),
    (12, "group leakage", "group_leak", _TABLES),
    (13, "temporal leakage", "time_leak", _TABLES),
    (14, "future aggregates in features", "future_aggregate fitted_on_test", _FEATURES),
    (15, "scaling or encoding fitted on all data", "fitted_on_test future_aggregate", _FEATURES),
    (16, "answers file in public/", "answers_public", _ALL),
    (17, "labels inside side files", "answers_public", _ALL),
    (18, "label in the name or folder of test media", "label_in_path", _MEDIA),
    (19, "time, size or metadata of a file tell the label", "file_metadata_leak", _MEDIA),
    (20, "link from public/ to raw or private", "linked_output", _ALL),
    (21, "labelled raw data in public/", "raw_in_public answers_public", _ALL),
    (22, "constant target", "constant_target", _ALL),
    (23, "class in the answers that training lacks", "unseen_class", _CLASSES),
    (24, "answers outside the training range", "target_shift", "answers that are numbers"),
    (25, "severe imbalance with accuracy", "imbalanced_accuracy", "tasks scored by accuracy"),
    (26, "unlearnable target", "unlearnable", _ALL),
    (27, "trivial target", "trivial ceiling proxy_column target_copied", _FEATURES),
    (28, "answers misaligned with the test rows", "answers_misaligned unlearnable", _ALL),
    (29, "empty answers", "missing_answers", _ALL),
    (30, "duplicate ids", "duplicate_ids sample_invalid", _ALL),
    (31, "ids of test, sample and answers differ", "ids_differ test_ids_differ", _ALL),
    (32, "sample has wrong columns", "columns_differ", _ALL),
    (33, "sample has a wrong number of rows", "ids_differ duplicate_ids sample_invalid", _ALL),
    (34, "sample holds the answers, or nearly", "sample_is_answers sample_informative", _ALL),
    (35, "sample is empty or of a wrong type", "sample_invalid", _ALL),
    (
        36,
        "sample follows the distribution of the answers",
        "sample_prior",
        "submissions of labels or numbers",
    ),
    (37, "metric ignores the predictions", "metric_insensitive", _ALL),
    (38, "metric is random", "metric_random", _ALL),
    (39, "metric direction wrong", "direction_mismatch metric_direction description_direction", _ALL),
    (40, "metric not best at the truth", "oracle_not_best metric_direction", _ALL),
    (41, "metric compares by position", "metric_positional", _ALL),
    (42, "metric does not see a shuffle", "metric_insensitive metric_not_monotone", _ALL),
    (
        43,
        "metric crashes on or accepts malformed values",
        "malformed_accepted metric_lenient metric_failed valid_rejected",
        _ALL,
    ),
    (44, "metric accepts parts, repeats, foreign ids", "metric_partial malformed_accepted", _ALL),
    (45, "metric gives NaN or infinity", "metric_not_finite", _ALL),
    (46, "metric changes its inputs or keeps state", "metric_mutates", _ALL),
    (
        47,
        "metric differs from its named formula",
        "metric_formula metric_variant",
        "metrics with a known name",
    ),
    (
        48,
        "labels and probabilities mixed up",
        "metric_thresholds metric_unclipped metric_formula metric_variant",
        "submissions of probabilities",
    ),
    (
        49,
        "averaging hides classes, or the set of classes varies",
        "hidden_classes metric_variant metric_label_order metric_formula",
        _LABELS,
    ),
    (50, "metric too coarse", "few_test_rows coarse_metric", _ALL),
    (51, "metric slow or overflowing", "metric_slow metric_timeout metric_not_finite metric_failed", _ALL),
    (52, "train lacks the target", "nothing_to_learn", _TABLES),
    (53, "features of train and test differ", "columns_across_split undeclared_target", _FEATURES),
    (54, "types or categories drift by parsing", "type_drift category_drift", _FEATURES),
    (
        55,
        "test can be told from train",
        "split_not_exchangeable",
        "tables of items with features, random splits",
    ),
    (56, "prepare.py does not compile or import", "syntax_error prepare_failed", _ALL),
    (57, "prepare.py is not deterministic", "not_deterministic environment_dependent", _ALL),
    (58, "prepare.py depends on a library's version", "environment_dependent", _ALL),
    (59, "prepare.py alters raw/", "prepare_alters_raw", _ALL),
    (
        60,
        "absolute paths, dependence on the folder",
        "absolute_path prepare_needs_place prepare_failed",
        _ALL,
    ),
    (61, "prepare.py needs the network", "prepare_needs_network uses_network prepare_failed", _ALL),
    (62, "prepare.py reads what lay there before", "reads_leftovers", _ALL),
    (63, "shipped data are not what prepare.py makes", "stale_data", "packages shipped with data"),
    (64, "rows lost or invented", "rows_lost rows_invented", _TABLES),
    (65, "values fabricated", "values_fabricated", _TABLES),
    (66, "raw data truncated", "truncates_raw rows_lost", _TABLES),
    (67, "delimiter, header or encoding misread", "misparsed_table", _TABLES),
    (68, "description names what is not there", "description_names", _ALL),
    (
        69,
        "description omits metric, direction, form, id",
        "description_omits description_columns description_empty",
        _ALL,
    ),
    (70, "description names another metric", "description_metric", _ALL),
    (71, "description reveals answers, seed, split", "description_reveals", _ALL),
    (72, "description states wrong counts", "description_counts", _ALL),
    (73, "media missing or orphaned", "media_missing media_orphaned", _MEDIA),
    (74, "private/ reachable from the agent's process", "private_reachable", "a sandbox that shows private/"),
    (76, "personal data, licence not allowed", "personal_data licence_unclear", _ALL),
    (77, "the same task twice", "duplicate_task", _ALL),
    (78, "orders to a model in the data", "prompt_injection", _ALL),
    (79, "the seed decides more than the skill", "noisy_scores unlearnable coarse_metric", _ALL),
    (80, "trouble of the machine taken for the task's", "", "a machine that loses its sandboxes"),
)
CLASSES[75] = DefectClass(
    75,
    "test scores shown during the search",
    (),
    "jobs",
    "the feedback policy belongs to a job, not to a package: it is recorded with every result, and results "
    "of different policies are never pooled",
)
CLASSES = dict(sorted(CLASSES.items()))
