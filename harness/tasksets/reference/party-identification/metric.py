"""Quadratic weighted kappa of the predicted party identification."""

import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
from sklearn.metrics import cohen_kappa_score

ID, TARGET = "respondent_id", "party"



class PartyMetric(CompetitionMetrics):
    """Cohen's kappa with quadratic weights on the scale 0 to 6; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The weighted kappa of the rounded predictions, persons matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        true = both[f"{TARGET}_true"].astype(float).astype(int)
        pred = both[f"{TARGET}_pred"].astype(float).round().astype(int)
        return float(cohen_kappa_score(true, pred, labels=range(7), weights="quadratic"))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = pd.to_numeric(submission[TARGET], errors="coerce")
        if not values.between(0, 6).all():
            raise InvalidSubmissionError(f"{TARGET} must be a number from 0 to 6")
        return True, "the submission is valid"
