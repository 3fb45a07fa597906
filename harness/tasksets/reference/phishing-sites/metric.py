"""Logarithmic loss of the predicted probability of phishing."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "site_id", "is_phishing"
FLOOR = 1e-6



class PhishingMetric(CompetitionMetrics):
    """Logarithmic loss; lower is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The mean of -log(probability of the truth), sites matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        truth, chance = both[f"{TARGET}_true"].astype(float), both[f"{TARGET}_pred"].astype(float)
        right = np.where(truth == 1, chance, 1 - chance)
        return abs(float(np.log(np.maximum(right, FLOOR)).mean()))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = pd.to_numeric(submission[TARGET], errors="coerce")
        if not values.between(0, 1).all():
            raise InvalidSubmissionError(f"{TARGET} must be a probability between 0 and 1")
        return True, "the submission is valid"
