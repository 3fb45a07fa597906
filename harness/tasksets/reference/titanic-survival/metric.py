"""Area under the ROC curve of the predicted probability of survival."""

import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
from sklearn.metrics import roc_auc_score

ID, TARGET = "passenger_id", "survived"



class SurvivalMetric(CompetitionMetrics):
    """ROC AUC; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The area under the ROC curve, passengers matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        return float(roc_auc_score(both[f"{TARGET}_true"], both[f"{TARGET}_pred"]))

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
