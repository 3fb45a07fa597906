"""Logarithmic loss of the probabilities of the nine speakers."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID = "utterance_id"
TARGETS = [f"speaker_{number}" for number in range(1, 10)]
FLOOR = 1e-6



class SpeakerMetric(CompetitionMetrics):
    """Logarithmic loss; lower is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The mean of -log(probability of the true class), recordings matched by id."""
        true = y_true.set_index(ID)[TARGETS].astype(float)
        pred = y_pred.set_index(ID).loc[true.index, TARGETS].astype(float)
        pred = pred.div(pred.sum(axis=1), axis=0)
        right = (pred.to_numpy() * true.to_numpy()).sum(axis=1)
        return abs(float(np.log(np.clip(right, FLOOR, 1)).mean()))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = submission[TARGETS].apply(pd.to_numeric, errors="coerce")
        if not ((values >= 0) & (values <= 1)).all(axis=None):
            raise InvalidSubmissionError("every probability must be between 0 and 1")
        if not np.isclose(values.sum(axis=1), 1, atol=0.01).all():
            raise InvalidSubmissionError("the probabilities of each row must add up to 1")
        return True, "the submission is valid"
