"""Tasks that ask the same of the same data under other names."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.tables import UnreadableTable
from generator.verifier.public.tables import public_tables
from harness.errors import TaskError
from harness.tasks.package import Task, file_hash, load_task
from harness.tasks.submission import InvalidSubmission, read_strings

log = logging.getLogger(__name__)

#: Names of one metric. What is not here stands for itself.
_FAMILIES = {
    "roc_auc": "auc", "auroc": "auc", "auc_roc": "auc", "area_under_roc": "auc", "log_loss": "logloss",
    "cross_entropy": "logloss", "mean_absolute_error": "mae", "mean_squared_error": "mse", "rmse": "mse",
    "root_mean_squared_error": "mse", "categorization_accuracy": "accuracy", "accuracy_score": "accuracy",
    "error_rate": "accuracy",
}  # fmt: skip


def repeated(roots: Sequence[Path]) -> dict[Path, Finding]:
    """Packages that repeat an earlier one of the list, whatever their ids, titles and order of rows.

    Args:
        roots: the packages; what does not load repeats nothing.

    Returns:
        One finding for each repeating package, by the path as it was given.
    """
    seen: dict[str, Path] = {}
    found: dict[Path, Finding] = {}
    for root in roots:
        try:
            prints = list(_fingerprints(load_task(root)))
        except (TaskError, InvalidSubmission, UnreadableTable, OSError, ValueError) as error:
            log.debug("%s is compared with no other task: %s", root, error)
            continue
        for fingerprint, what in prints:
            earlier = seen.setdefault(fingerprint, root)
            if earlier.resolve() != root.resolve() and root not in found:
                found[root] = finding(
                    "duplicate_task",
                    f"{root.name} and {earlier.name} have {what}",
                    "keep one of the two, or let them ask for different things",
                )
    return found


def _fingerprints(task: Task) -> Iterator[tuple[str, str]]:
    """Fingerprints of which one in common makes two tasks the same, each with what it stands for."""
    family = _family(task.spec.metric.name)
    raw = _raw_content(task)
    if raw:
        names = sorted("".join(filter(str.isalnum, name.lower())) for name in task.spec.target_columns)
        yield _joined("names", raw, *names, family), "the same raw data, target columns and metric"
    if not task.is_prepared:
        return
    answers = read_strings(task.answer_path)
    targets = [name for name in task.spec.target_columns if name in answers.columns]
    if not targets:
        return
    if raw:
        values = sorted(_column(answers[name]) for name in targets)
        yield _joined("answers", raw, *values, family), "the same raw data, answers and metric"
    content = _test_content(task, answers, targets)
    if content:
        yield _joined("rows", content, family), "the same test rows, answers and metric"


def _family(metric: str) -> str:
    name = "_".join(metric.lower().replace("-", " ").replace("_", " ").split())
    return _FAMILIES.get(name, name)


def _raw_content(task: Task) -> str:
    """Hash of the raw files by content, whatever they are called; empty without any."""
    files = sorted(file_hash(path) for path in task.raw.rglob("*") if path.is_file())
    return _joined(*files) if files else ""


def _column(cells: pd.Series) -> str:
    """Hash of a column's cells in any order."""
    hashes = np.sort(pd.util.hash_array(cells.to_numpy(dtype=object)))
    return hashlib.sha256(hashes.tobytes()).hexdigest()


def _test_content(task: Task, answers: pd.DataFrame, targets: list[str]) -> str:
    """Hash of the test rows with their answers, without ids, whatever order rows and columns have.

    Empty when there is no test table that tells rows apart.
    """
    identity = task.spec.id_column
    for path, table in public_tables(task.public).items():
        if path == task.sample_path or identity not in table.columns or "train" in path.name.lower():
            continue
        whole = table.merge(answers[[identity, *targets]], on=identity, suffixes=("", " answer"))
        features = [name for name in whole.columns if name not in answers.columns]
        if len(whole) < len(answers) // 2 or not features:
            continue
        kept = [whole[name].to_numpy(dtype=object) for name in whole.columns if name != identity]
        cells = [pd.util.hash_array(column) for column in kept]
        rows = np.asarray(np.sum(cells, axis=0, dtype=np.uint64))
        if len(np.unique(rows)) * 2 > len(rows):
            return hashlib.sha256(np.sort(rows).tobytes()).hexdigest()
    return ""


def _joined(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
