"""Descriptions that mislead (classes 68 to 72), and the same task twice (77)."""

from __future__ import annotations

import shutil

from generator.defects.base import Gate
from generator.verifier.selftest.injections.base import Injection, Subject, anything
from harness.tasks.package import load_task

_LAST = Gate.DESCRIPTION
_OTHER = {
    "accuracy": "the root mean squared error (RMSE); lower is better",
    "macro_f1": "log loss; lower is better",
    "rmse": "the mean absolute percentage error (MAPE)",
    "mae": "the root mean squared error (RMSE)",
    "roc_auc": "accuracy",
    "log_loss": "the area under the ROC curve (ROC AUC)",
    "micro_f1": "accuracy",
}


def _say(subject: Subject, text: str) -> None:
    subject.rewrite("description.txt", subject.read("description.txt").rstrip() + "\n\n" + text + "\n")


def _drop_lines(subject: Subject, *words: str) -> None:
    """Take out every line, and those of its paragraph, that holds one of these words."""
    kept = [
        part
        for part in subject.read("description.txt").split("\n\n")
        if not any(word in part.lower() for word in words)
    ]
    subject.rewrite("description.txt", "\n\n".join(kept) + "\n")


_METRIC_WORDS = ("metric", "accuracy", "f1", "rmse", "mae", "auc", "log loss", "scor", "evaluat", "better")


def _other_metric(subject: Subject) -> None:
    _drop_lines(subject, *_METRIC_WORDS)
    _say(subject, f"Metric: submissions are evaluated by {_OTHER[subject.clean.metric]}.")
    spec = load_task(subject.root).spec
    _say(subject, f"Submit a CSV file with {spec.id_column} and {', '.join(spec.target_columns)}.")


def _without_format(subject: Subject) -> None:
    _drop_lines(subject, "submi", "csv")
    _say(subject, "Do your best.")


def _bare(subject: Subject) -> None:
    subject.rewrite("description.txt", "Build the best model you can for these data. Good luck!\n")


def _reveal(subject: Subject) -> None:
    """The answers of the first rows, as an example of a submission."""
    subject.ship()
    lines = (subject.root / "private" / "test_answer.csv").read_text(encoding="utf-8").splitlines()[:25]
    _say(subject, "For example:\n" + "\n".join(lines))


def _again(subject: Subject) -> None:
    """The same package under another name lies beside it."""
    other = subject.root.parent / f"{subject.root.name}-revisited"
    shutil.copytree(subject.root, other)
    text = (other / "task.toml").read_text(encoding="utf-8")
    text = text.replace(f'id = "{subject.root.name}"', f'id = "{other.name}"', 1)
    (other / "task.toml").write_text(text, encoding="utf-8")


INJECTIONS = (
    Injection(
        68,
        "a file that is not there",
        lambda s: _say(s, "Further measurements are in `weather_2019.csv`, keyed by `station_code`."),
        anything,
        last=_LAST,
    ),
    Injection(
        68,
        "a column that is not there",
        lambda s: _say(s, "Columns\n- `household_income`: yearly income\n- `postcode_area`: two letters"),
        anything,
        last=_LAST,
    ),
    Injection(69, "everything", _bare, anything, last=_LAST),
    Injection(
        69,
        "the metric and its direction",
        lambda s: _drop_lines(s, *_METRIC_WORDS),
        lambda task: task.package is not None,
        last=_LAST,
    ),
    Injection(
        69, "the form of a submission", _without_format, lambda task: task.package is not None, last=_LAST
    ),
    Injection(70, "another metric", _other_metric, lambda task: task.metric in _OTHER, last=_LAST),
    Injection(71, "the answers of some rows", _reveal, anything, last=_LAST),
    Injection(
        71,
        "how the split was made",
        lambda s: _say(
            s,
            "The split was made with train_test_split(data, test_size=0.3, random_state=42).",
        ),
        anything,
        last=_LAST,
    ),
    Injection(
        71,
        "where the answers lie",
        lambda s: _say(s, "Your predictions are compared with private/test_answer.csv."),
        anything,
        last=_LAST,
    ),
    Injection(
        72,
        "rows",
        lambda s: _say(
            s,
            f"The file {s.clean.train} has 48,213 rows and {s.clean.test} has 9,120 rows."
            if s.clean.tables
            else "There are 48,213 training images and 9,120 test images.",
        ),
        anything,
        last=_LAST,
    ),
    Injection(
        72,
        "test rows",
        lambda s: _say(s, "Submissions must hold exactly 1,234 rows, one for each of the 1,234 test rows."),
        anything,
        last=_LAST,
    ),
    Injection(77, "a copy with another name", _again, anything, last=Gate.STRUCTURE),
)
