"""Accuracy of the predicted species."""

import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "leaf_id", "species"
SPECIES = {"circinatum", "glabrum", "macrophyllum", "negundo", "garryana", "kelloggii"}



class SpeciesMetric(CompetitionMetrics):
    """Accuracy; higher is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The share of leaves with the right species, matched by id."""
        both = y_true.merge(y_pred, on=ID, suffixes=("_true", "_pred"), validate="one_to_one")
        return float((both[f"{TARGET}_pred"] == both[f"{TARGET}_true"]).mean())

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        unknown = set(submission[TARGET]) - SPECIES
        if unknown:
            raise InvalidSubmissionError(f"{TARGET} holds {sorted(map(str, unknown))[0]!r}, which is no species here")
        return True, "the submission is valid"
