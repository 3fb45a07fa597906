"""Accuracy of the digits read from the images."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "image_id", "digit"



class DigitMetric(CompetitionMetrics):
    """Accuracy; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The share of images with the right digit, matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        return float(np.mean(both[f"{TARGET}_pred"].astype(float) == both[f"{TARGET}_true"].astype(float)))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = pd.to_numeric(submission[TARGET], errors="coerce")
        if not values.isin(range(10)).all():
            raise InvalidSubmissionError(f"{TARGET} must hold whole numbers from 0 to 9")
        return True, "the submission is valid"
