"""The metric.py of the clean tasks: one text for each way to score, as careful authors write them."""

from __future__ import annotations

_HEAD = '''"""{title}."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
{imports}
ID, TARGET = "{id}", "{target}"


class {name}(CompetitionMetrics):
    """{title}."""

    def __init__(self) -> None:
        super().__init__(higher_is_better={higher})

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The score of predictions, joined to the answers by id."""
        self.validate_submission(y_pred, y_true)
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        truth, said = both[TARGET + "_true"], both[TARGET + "_pred"]
{score}

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> str:
        """Refuse what cannot be scored."""
        if sorted(submission.columns) != sorted([ID, TARGET]):
            raise InvalidSubmissionError(f"the columns must be {{ID}} and {{TARGET}}")
        if submission[ID].duplicated().any() or set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{{ID}} must hold each id of the test set once")
{check}
        return "valid"
'''

_NUMBERS = """\
        values = pd.to_numeric(submission[TARGET], errors="coerce")
        if not np.isfinite(values).all():
            raise InvalidSubmissionError(f"{TARGET} must hold finite numbers")"""
_PROBABILITIES = (
    _NUMBERS
    + """
        if not values.between(0, 1).all():
            raise InvalidSubmissionError(f"{TARGET} must hold probabilities between 0 and 1")"""
)
_LABELS = """\
        unknown = set(submission[TARGET].astype(str)) - {labels}
        if unknown:
            raise InvalidSubmissionError(f"{TARGET} holds {sorted(unknown)[0]!r}, which is no label")"""
_SETS = """\
        if submission[TARGET].isna().any():
            raise InvalidSubmissionError(f"{TARGET} must hold labels, separated by spaces")
        known = {labels}
        for cell in submission[TARGET].astype(str):
            if not set(cell.split()) <= known:
                raise InvalidSubmissionError(f"{TARGET} holds {cell!r}, with labels that do not exist")"""


def metric(
    kind: str, name: str, columns: tuple[str, str], *, labels: tuple[str, ...] = (), title: str = ""
) -> str:
    """The text of a metric.py.

    Args:
        kind: ``accuracy``, ``macro_f1``, ``rmse``, ``mae``, ``roc_auc``, ``log_loss`` or ``micro_f1``.
        name: of the class.
        columns: the id column and the target column.
        labels: the classes, where the submission holds labels.
        title: one line for the docstrings.
    """
    imports, score, check, higher = {
        "accuracy": (
            "",
            "        return float((truth.astype(str) == said.astype(str)).mean())",
            _LABELS,
            True,
        ),
        "macro_f1": (
            "from sklearn.metrics import f1_score\n",
            '        return float(f1_score(truth.astype(str), said.astype(str), average="macro"))',
            _LABELS,
            True,
        ),
        "rmse": ("", "        return float(np.sqrt(((truth - said) ** 2).mean()))", _NUMBERS, False),
        "mae": ("", "        return float((truth - said).abs().mean())", _NUMBERS, False),
        "roc_auc": (
            "from sklearn.metrics import roc_auc_score\n",
            "        return float(roc_auc_score(truth, said))",
            _PROBABILITIES,
            True,
        ),
        "log_loss": (
            "",
            "        sure = said.clip(1e-15, 1 - 1e-15)\n"
            "        return float(-np.where(truth == 1, np.log(sure), np.log(1 - sure)).mean())",
            _PROBABILITIES,
            False,
        ),
        "micro_f1": (
            "",
            "        truths, saids = ([set(cell.split()) for cell in c.astype(str)] for c in (truth, said))\n"
            "        hits = sum(len(a & b) for a, b in zip(truths, saids, strict=True))\n"
            "        named = sum(len(a) + len(b) for a, b in zip(truths, saids, strict=True))\n"
            "        return float(2 * hits / named) if named else 1.0",
            _SETS,
            True,
        ),
    }[kind]
    shown = "{" + ", ".join(repr(label) for label in labels) + "}"
    return _HEAD.format(
        title=title or kind,
        imports=imports,
        id=columns[0],
        target=columns[1],
        name=name,
        higher=higher,
        score=score,
        check=check.replace("{labels}", shown),
    )
