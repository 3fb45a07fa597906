"""The base class of a task's metric, interface-compatible with MLE-Dojo's ``mledojo.metrics.base``."""

from __future__ import annotations

from typing import Any


class InvalidSubmissionError(Exception):
    """Raised by a metric to refuse a submission; the message is shown to the participant."""


class CompetitionMetrics:
    """Derive exactly one class from this in ``metric.py``; it is constructed without arguments.

    Args:
        higher_is_better: the direction of the score.
    """

    def __init__(self, higher_is_better: bool = True) -> None:
        self.higher_is_better = higher_is_better

    def evaluate(self, y_true: Any, y_pred: Any) -> float:
        """The raw score of predictions ``y_pred`` against answers ``y_true``, both data frames."""
        raise NotImplementedError(f"{type(self).__name__} does not define evaluate(y_true, y_pred)")

    def validate_submission(self, submission: Any, ground_truth: Any) -> Any:
        """Raise :class:`InvalidSubmissionError` for a submission that cannot be graded.

        Note the order of the arguments, which is not that of :meth:`evaluate`.
        """
        return True, "valid"
