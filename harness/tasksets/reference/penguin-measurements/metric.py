"""Mean normalised error of the four predicted measurements."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID = "penguin_id"
SCALES = {"culmen_length_mm": 5.46, "culmen_depth_mm": 1.97, "flipper_length_mm": 14.06, "body_mass_g": 802.0}
TARGETS = list(SCALES)



class MeasurementsMetric(CompetitionMetrics):
    """Mean over the measurements of RMSE / standard deviation; lower is better."""

    def __init__(self) -> None:
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """The mean of the four normalised errors, penguins matched by id."""
        true = y_true.set_index(ID)[TARGETS].astype(float)
        pred = y_pred.set_index(ID).loc[true.index, TARGETS].astype(float)
        rmse = np.sqrt(((pred - true) ** 2).mean())
        return float((rmse / pd.Series(SCALES)).mean())

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError unless columns and ids match the answers and the values are usable."""
        if list(submission.columns) != list(ground_truth.columns):
            raise InvalidSubmissionError(f"the columns must be {', '.join(ground_truth.columns)}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError(f"{ID} holds duplicates")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError(f"{ID} must hold exactly the ids of the test set")
        values = submission[TARGETS].apply(pd.to_numeric, errors="coerce")
        if not np.isfinite(values).all(axis=None):
            raise InvalidSubmissionError("every measurement must be a finite number")
        return True, "the submission is valid"
