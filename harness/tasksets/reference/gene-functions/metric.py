"""Micro F1 over the functions of the genes."""

import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID = "gene_id"
TARGETS = [f"class_{number:02d}" for number in range(1, 15)]



class FunctionsMetric(CompetitionMetrics):
    """Micro F1 over all pairs of gene and function; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """F1 of all cells together, genes matched by id; 0 when nothing is predicted."""
        true = y_true.set_index(ID)[TARGETS].astype(float)
        pred = y_pred.set_index(ID).loc[true.index, TARGETS].astype(float)
        hits = float((true.to_numpy() * pred.to_numpy()).sum())
        return 2 * hits / float(true.to_numpy().sum() + pred.to_numpy().sum())

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        if not submission[TARGETS].apply(pd.to_numeric, errors="coerce").isin([0, 1]).all(axis=None):
            raise InvalidSubmissionError("every function must be 0 or 1")
        return True, "the submission is valid"
