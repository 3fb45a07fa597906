"""Root mean squared error of the forecast concentration."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "date", "co2"



class ConcentrationMetric(CompetitionMetrics):
    """Root mean squared error in parts per million; lower is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The root mean squared error, weeks matched by date."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        return float(np.sqrt(np.mean((both[f"{TARGET}_pred"] - both[f"{TARGET}_true"]) ** 2)))

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
        return True, "the submission is valid"
