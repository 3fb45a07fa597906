"""Macro F1 of the predicted phases of flight."""

import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
from sklearn.metrics import f1_score

ID, TARGET = "report_id", "phase"
PHASES = ["Approach", "Climb", "Descent", "En Route", "Landing Roll", "Take-off run"]



class PhaseMetric(CompetitionMetrics):
    """Macro F1 over the six phases; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The unweighted mean of the F1 of each phase, reports matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        true, pred = both[f"{TARGET}_true"], both[f"{TARGET}_pred"]
        return float(f1_score(true, pred, labels=PHASES, average="macro", zero_division=0))

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        unknown = set(submission[TARGET]) - set(PHASES)
        if unknown:
            raise InvalidSubmissionError(f"{TARGET} holds {sorted(map(str, unknown))[0]!r}; use {', '.join(PHASES)}")
        return True, "the submission is valid"
