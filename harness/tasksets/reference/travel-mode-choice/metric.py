"""Mean reciprocal rank of the chosen way to travel."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "option_id", "choice"



class ChoiceMetric(CompetitionMetrics):
    """Mean reciprocal rank, ties sharing their mean rank; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The mean of 1 / rank of the chosen option; the traveller is the part of the id before the dash."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        traveller = both[ID].astype(str).str.split("-").str[0]
        ranks = both.groupby(traveller)[f"{TARGET}_pred"].rank(ascending=False, method="average")
        return float((1 / ranks[both[f"{TARGET}_true"] == 1]).mean())

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
