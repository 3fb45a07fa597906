"""Small prepared tasks of several kinds for tests of the metric gate, whose metric.py a test can rewrite.

The body of a metric finds ``both``, answers and submission (``_said``) joined by id, the ``names`` of the
targets, and the first of them as ``t`` (truth) and ``p`` (prediction).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from generator.verifier.case import Case, open_case
from generator.verifier.metric.bench import Bench, open_bench
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task, load_task

ROWS = 120
TOML = """\
schema_version = 1
id = "{id}"
title = "A task"
set = "own"
modality = "tabular"
objective = "{objective}"
id_column = "{key}"
target_columns = {targets}
difficulty = "easy"
[source]
name = "made up"
licence = "CC0-1.0"
sha256 = "0"
[metric]
name = "{metric}"
higher_is_better = {higher}
best = {best}
[split]
kind = "random"
"""
HEAD = """\
import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
from sklearn.metrics import f1_score, roc_auc_score


class TheMetric(CompetitionMetrics):
    def __init__(self):
        super().__init__(higher_is_better={higher})

    def evaluate(self, y_true, y_pred):
        both = y_true.merge(y_pred, on={key!r}, suffixes=("", "_said"), validate="one_to_one")
        names = list(y_true.columns[1:])
        t, p = both[names[0]], both[names[0] + "_said"]
{body}

    def validate_submission(self, submission, ground_truth):
{check}
"""
CHECK = """\
        if set(submission.columns) != set(ground_truth.columns) or len(submission) != len(ground_truth):
            raise InvalidSubmissionError("other rows or columns")
        if set(submission.iloc[:, 0]) != set(ground_truth.iloc[:, 0]):
            raise InvalidSubmissionError("other ids")
        numbers = submission.select_dtypes("number")
        if not np.isfinite(numbers).all(axis=None):
            raise InvalidSubmissionError("not finite")
        if ground_truth.dtypes.map(pd.api.types.is_numeric_dtype).sum() > len(numbers.columns):
            raise InvalidSubmissionError("words for numbers")
        if "high" in submission and not ((numbers >= 0) & (numbers <= 1)).all(axis=None):
            raise InvalidSubmissionError("no probabilities")
        return "fine"
"""


def write_task(
    root: Path,
    answers: pd.DataFrame,
    sample: pd.DataFrame,
    objective: str,
    metric: str,
    higher: bool,
    best: float,
) -> Path:
    """A prepared package without raw data; the first column holds the ids."""
    key, *targets = answers.columns
    for name in ("public", "private", "raw"):
        (root / name).mkdir(parents=True)
    answers.to_csv(root / "private" / "test_answer.csv", index=False)
    sample.to_csv(root / "public" / "sample_submission.csv", index=False)
    (root / "task.toml").write_text(
        TOML.format(
            id=root.name,
            objective=objective,
            key=key,
            targets=str(targets).replace("'", '"'),
            metric=metric,
            higher=str(higher).lower(),
            best=best,
        )
    )
    (root / "metric.py").write_text(
        HEAD.format(higher=higher, key=key, body="        return 0.0", check=CHECK)
    )
    return root


def write_all(folder: Path) -> dict[str, Path]:
    """Colours (labels), prices (two columns of numbers), chances (0, 1) and shares (one of three classes)."""
    rng = np.random.default_rng(3)
    ids = [f"x{number:03d}" for number in rng.permutation(ROWS)]
    colours = rng.choice(["red", "green", "blue"], ROWS, p=[0.5, 0.3, 0.2])
    truth = rng.integers(0, 2, ROWS)
    prices = pd.DataFrame(
        {"house": range(ROWS), "price": rng.gamma(3, 9, ROWS), "rent": rng.gamma(2, 1, ROWS)}
    )
    shares = pd.DataFrame(np.eye(3, dtype=int)[rng.integers(0, 3, ROWS)], columns=["low", "mid", "high"])
    shares.insert(0, "row", ids)
    return {
        "colours": write_task(
            folder / "colours",
            pd.DataFrame({"thing": ids, "colour": colours}),
            pd.DataFrame({"thing": ids, "colour": "red"}),
            "classification",
            "accuracy",
            True,
            1.0,
        ),
        "prices": write_task(
            folder / "prices",
            prices,
            prices.assign(price=27.0, rent=2.0),
            "regression",
            "mae",
            False,
            0.0,
        ),
        "chances": write_task(
            folder / "chances",
            pd.DataFrame({"case": ids, "ill": truth}),
            pd.DataFrame({"case": ids, "ill": 0.5}),
            "classification",
            "roc_auc",
            True,
            1.0,
        ),
        "shares": write_task(
            folder / "shares",
            shares,
            shares.assign(low=1 / 3, mid=1 / 3, high=1 / 3),
            "classification",
            "log_loss",
            False,
            0.0,
        ),
    }


#: For each task the body of an honest metric.
HONEST = {
    "colours": "return (t == p).mean()",
    "prices": 'return np.mean([(both[c] - both[c + "_said"]).abs().mean() for c in names])',
    "chances": "return roc_auc_score(t, p)",
    "shares": """\
chances = both[[c + "_said" for c in names]].to_numpy(float)
chances = chances / chances.sum(axis=1, keepdims=True)
return float(-np.log(np.clip((chances * both[names].to_numpy()).sum(axis=1), 1e-15, 1)).mean())""",
}


def use_metric(root: Path, body: str, check: str = CHECK, before: str = "") -> None:
    """Rewrite metric.py in place: an open grader reads it afresh for each run."""
    task = load_task(root)
    indented = "\n".join("        " + line for line in body.splitlines())
    text = HEAD.format(
        higher=task.spec.metric.higher_is_better, key=task.spec.id_column, body=indented, check=check
    )
    (root / "metric.py").write_text(text.replace("\n\n\nclass", f"\n{before}\n\n\nclass"))


@contextmanager
def opened(root: Path, provider: SandboxProvider) -> Iterator[Case]:
    """A case of the task."""
    with open_case(load_task(root), provider, DEFAULTS) as case:
        yield case


def bench_of(case: Case, metric: str | None = None) -> Bench:
    """The metric as it is now, under another name if one is given."""
    spec = load_task(case.prepared.root).spec
    if metric is not None:
        spec = spec.model_copy(update={"metric": spec.metric.model_copy(update={"name": metric})})
    case.task = Task(case.prepared.root, spec)
    bench = open_bench(case)
    case.exhibits["floors"] = [{"name": "sample", "score": bench.floor}]
    return bench
