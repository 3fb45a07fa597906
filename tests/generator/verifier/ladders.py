"""Small prepared packages of two shapes for the tests of the empirical and the execution gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.thresholds.config import Thresholds
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task

_TOML = """\
schema_version = 1
id = "{id}"
title = "A task for a test"
set = "reference"
modality = "{modality}"
objective = "{objective}"
id_column = "{id_column}"
target_columns = ["{target}"]
difficulty = "easy"
[source]
name = "made for a test"
licence = "CC0-1.0"
sha256 = "0"
[metric]
name = "{metric}"
higher_is_better = {higher}
best = {best}
[split]
kind = "random"
"""
_METRIC = """\
from mledojo.metrics.base import CompetitionMetrics


class Metric(CompetitionMetrics):
    def evaluate(self, y_true, y_pred):
        merged = y_true.merge(y_pred, on=y_true.columns[0])
        true, said = merged.iloc[:, 1], merged.iloc[:, 2]
        return float({formula})

    def validate_submission(self, submission, ground_truth):
        return "fine"
"""

Change = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame], None]


def measured(rows: int = 600) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Numbers that tell three quarters of the variance of a number, by mean absolute error."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"unit": [f"u{i}" for i in range(rows)], **{c: rng.normal(size=rows) for c in "abc"}}
    )
    table["load"] = table["a"] * 2 + table["b"] + rng.normal(0, 1.2, rows)
    return table[rows // 3 :], table[: rows // 3], "mae"


def messages(rows: int = 600) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Lines of a log whose words tell which of two parts wrote them, by accuracy."""
    rng = np.random.default_rng(2)
    shared = [f"word{i}" for i in range(40)]
    own = {"disk": ["sector", "inode", "mount", "block"], "net": ["socket", "packet", "route", "port"]}
    parts = rng.choice(["disk", "net"], rows)
    lines = [
        " ".join([*rng.choice(shared, 6), *rng.choice(own[part], 1 + rng.integers(2))]) for part in parts
    ]
    other = rng.random(rows) < 0.1
    parts = np.where(other, np.where(parts == "disk", "net", "disk"), parts)
    table = pd.DataFrame({"line": np.arange(rows), "message": lines, "part": parts})
    return table[rows // 3 :], table[: rows // 3], "accuracy"


def case_of(
    made: tuple[pd.DataFrame, pd.DataFrame, str],
    folder: Path,
    sandbox: SandboxProvider,
    change: Change | None = None,
    limits: Thresholds | None = None,
) -> Case:
    """A prepared case of these rows, whose answers the metric has scored.

    Args:
        made: training rows, test rows with their targets, and the metric.
        folder: where to write the package and to work.
        sandbox: opens sandboxes.
        change: alters training rows, answers and sample in place before they are written.
        limits: the thresholds.
    """
    train, test, metric = made[0].copy(), made[1].copy(), made[2]
    id_column, target = train.columns[0], train.columns[-1]
    answers = test[[id_column, target]].reset_index(drop=True)
    numeric = metric == "mae"
    constant = train[target].mean() if numeric else train[target].mode()[0]
    sample = answers.assign(**{target: constant})
    if change is not None:
        change(train, answers, sample)
    root = folder / "task"
    for name in ("public", "private"):
        (root / name).mkdir(parents=True)
    train.to_csv(root / "public" / "train.csv", index=False)
    test.drop(columns=target).to_csv(root / "public" / "test.csv", index=False)
    sample.to_csv(root / "public" / "sample_submission.csv", index=False)
    answers.to_csv(root / "private" / "test_answer.csv", index=False)
    (root / "task.toml").write_text(
        _TOML.format(
            id="task",
            modality="tabular" if numeric else "logs",
            objective="regression" if numeric else "classification",
            id_column=id_column,
            target=target,
            metric=metric,
            higher="false" if numeric else "true",
            best="0.0" if numeric else "1.0",
        )
    )
    formula = "(true - said).abs().mean()" if numeric else "(true == said).mean()"
    (root / "metric.py").write_text(_METRIC.format(formula=formula))
    (root / "description.txt").write_text("Predict the last column.\n")
    scratch = folder / "scratch"
    scratch.mkdir()
    task = load_task(root)
    case = Case(task, sandbox, scratch, limits or Thresholds(), prepared=task)
    case.scores["oracle"] = 0.0 if numeric else 1.0
    return case
