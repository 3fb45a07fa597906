"""Defects: what the verifier reports about a task, in codes that stay the same from release to release.

Only a gate makes findings, and only about the task. Trouble of the machine is never a finding.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Gate(StrEnum):
    """The stages of verification, in order of cost. Gates are only ever added."""

    STRUCTURE = "structure"
    PREPARATION = "preparation"
    DATA = "data"
    METRIC = "metric"
    EMPIRICAL = "empirical"


class Severity(StrEnum):
    """``error`` rejects the task, ``warning`` asks its author to look, ``info`` explains."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Defect:
    """One kind of defect: where it is looked for, how bad it is unless a gate knows better, what it means."""

    gate: Gate
    severity: Severity
    meaning: str


@dataclass(frozen=True)
class Finding:
    """One defect found in one task.

    Attributes:
        code: a key of :data:`DEFECTS`.
        severity: how bad it is here.
        stage: the gate that found it.
        evidence: what was seen, with names and numbers.
        fix: what to change.
    """

    code: str
    severity: Severity
    stage: Gate
    evidence: str
    fix: str

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {key: str(value) for key, value in asdict(self).items()}


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

DEFECTS: dict[str, Defect] = {
    # structure
    "missing_file": Defect(Gate.STRUCTURE, _E, "a file or folder of the package is not there"),
    "bad_task_toml": Defect(Gate.STRUCTURE, _E, "task.toml cannot be read or breaks its schema"),
    "unknown_word": Defect(Gate.STRUCTURE, _W, "modality or objective is not one of the known words"),
    "syntax_error": Defect(Gate.STRUCTURE, _E, "prepare.py or metric.py is not valid Python"),
    "prepare_signature": Defect(Gate.STRUCTURE, _E, "prepare.py has no prepare(raw, public, private)"),
    "metric_class": Defect(
        Gate.STRUCTURE, _E, "metric.py has not exactly one class deriving from CompetitionMetrics"
    ),
    "raw_hash": Defect(Gate.STRUCTURE, _E, "raw/ is not what source.sha256 declares"),
    "description_empty": Defect(Gate.STRUCTURE, _E, "description.txt says nothing"),
    "description_columns": Defect(
        Gate.STRUCTURE, _W, "description.txt does not name the id column or a target column"
    ),
    "asks_for_network": Defect(Gate.STRUCTURE, _W, "task.toml opens the network for participants"),
    # preparation
    "prepare_failed": Defect(Gate.PREPARATION, _E, "prepare.py ended with an error"),
    "prepare_timeout": Defect(Gate.PREPARATION, _E, "prepare.py ran longer than its limit"),
    "prepare_alters_raw": Defect(Gate.PREPARATION, _E, "prepare.py writes to or deletes from raw/"),
    "missing_output": Defect(Gate.PREPARATION, _E, "prepare.py does not write a file the grader needs"),
    "linked_output": Defect(Gate.PREPARATION, _E, "prepare.py leaves links that point out of its output"),
    "not_deterministic": Defect(Gate.PREPARATION, _E, "two runs of prepare.py give different bytes"),
    "stale_data": Defect(Gate.PREPARATION, _E, "the shipped data are not what prepare.py makes"),
    "not_prepared": Defect(Gate.PREPARATION, _I, "the package comes without public/ and private/"),
    "unreadable_table": Defect(Gate.PREPARATION, _E, "the answers or the sample are not a CSV table"),
    "columns_differ": Defect(
        Gate.PREPARATION, _E, "sample, answers and task.toml do not agree on the submission's columns"
    ),
    "ids_differ": Defect(Gate.PREPARATION, _E, "sample and answers do not hold the same ids"),
    # data
    "duplicate_ids": Defect(Gate.DATA, _E, "an id stands for more than one row"),
    "missing_answers": Defect(Gate.DATA, _E, "some answers are empty"),
    "constant_target": Defect(Gate.DATA, _E, "all answers are the same"),
    "few_test_rows": Defect(Gate.DATA, _W, "too few test rows to tell candidates apart"),
    "test_ids_differ": Defect(Gate.DATA, _E, "the test table does not hold the ids of the answers"),
    "target_in_test": Defect(Gate.DATA, _E, "the test table holds a target column"),
    "target_copied": Defect(Gate.DATA, _E, "a column of the test table is the target under another name"),
    "answers_public": Defect(Gate.DATA, _E, "a file under public/ holds the answers"),
    "sample_is_answers": Defect(Gate.DATA, _E, "the sample submission holds the answers"),
    "nothing_to_learn": Defect(Gate.DATA, _E, "no public table has a column that the test table lacks"),
    "unseen_class": Defect(Gate.DATA, _E, "a class among the answers does not occur in training data"),
    "shared_ids": Defect(Gate.DATA, _W, "ids of test rows also stand in the training table"),
    "duplicates_across_split": Defect(Gate.DATA, _E, "test rows repeat training rows with their label"),
    "group_leak": Defect(Gate.DATA, _E, "groups of a group split are on both sides"),
    "time_leak": Defect(Gate.DATA, _E, "test rows of a time split are earlier than training rows"),
    # metric
    "metric_failed": Defect(Gate.METRIC, _E, "the metric crashes on a valid submission"),
    "metric_not_finite": Defect(Gate.METRIC, _E, "the metric gives NaN or infinity for a valid submission"),
    "metric_timeout": Defect(Gate.METRIC, _E, "the metric ran longer than its limit"),
    "valid_rejected": Defect(Gate.METRIC, _E, "the metric refuses a valid submission"),
    "oracle_not_best": Defect(Gate.METRIC, _E, "the answers do not get the declared best score"),
    "direction_mismatch": Defect(Gate.METRIC, _E, "metric.py and task.toml declare different directions"),
    "metric_direction": Defect(Gate.METRIC, _E, "wrong answers score better in the declared direction"),
    "metric_insensitive": Defect(Gate.METRIC, _E, "the score does not depend on the submission"),
    "metric_not_monotone": Defect(Gate.METRIC, _W, "more wrong answers do not always score worse"),
    "metric_positional": Defect(Gate.METRIC, _E, "the metric compares rows by position, not by id"),
    "metric_random": Defect(Gate.METRIC, _E, "the same submission gets different scores"),
    "malformed_accepted": Defect(Gate.METRIC, _E, "a malformed submission gets a score"),
    "metric_partial": Defect(Gate.METRIC, _I, "the metric alone would score a part of the rows"),
    "metric_formula": Defect(Gate.METRIC, _W, "the metric differs from the known metric of that name"),
    # empirical
    "sample_informative": Defect(Gate.EMPIRICAL, _E, "the sample scores far better than a constant"),
    "floor_spread": Defect(Gate.EMPIRICAL, _W, "uninformed submissions score far apart"),
    "ladder_failed": Defect(Gate.EMPIRICAL, _E, "no baseline makes a valid submission from the public data"),
    "unlearnable": Defect(Gate.EMPIRICAL, _E, "no baseline is clearly better than an uninformed submission"),
    "trivial": Defect(Gate.EMPIRICAL, _E, "the simplest baseline is as good as perfect"),
    "ceiling": Defect(Gate.EMPIRICAL, _W, "the best baseline leaves almost no room above it"),
}  # fmt: skip


def finding(code: str, evidence: str, fix: str, severity: Severity | None = None) -> Finding:
    """A finding of a registered code, at its usual severity unless another is given.

    Raises:
        KeyError: the code is not registered.
    """
    kind = DEFECTS[code]
    return Finding(code, severity or kind.severity, kind.gate, evidence, fix)
