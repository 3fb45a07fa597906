"""Root mean squared logarithmic error of the predicted spending."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "row_id", "spending"



class SpendingMetric(CompetitionMetrics):
    """Root mean squared logarithmic error; lower is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The root mean squared difference of log(1 + spending), rows matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        error = np.log1p(both[f"{TARGET}_pred"].astype(float)) - np.log1p(both[f"{TARGET}_true"].astype(float))
        return float(np.sqrt(np.mean(error**2)))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = pd.to_numeric(submission[TARGET], errors="coerce")
        if not np.isfinite(values).all():
            raise InvalidSubmissionError(f"{TARGET} must hold finite numbers")
        if (values < 0).any():
            raise InvalidSubmissionError(f"{TARGET} must not be negative")
        return True, "the submission is valid"
