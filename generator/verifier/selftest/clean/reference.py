"""Clean tasks of the reference set, as they are: ranking, several outputs, groups, and a long series."""

from __future__ import annotations

from generator.verifier.selftest.clean.task import Answers, CleanTask

TRAVEL = CleanTask(
    name="travel-mode-choice",
    modality="tabular",
    data="real: reference task (ranking)",
    answers=Answers.FLAG,
    metric="mrr",
    higher=True,
    free_ids=False,
)
PENGUINS = CleanTask(
    name="penguin-measurements",
    modality="tabular",
    data="real: reference task (four outputs)",
    answers=Answers.NUMBER,
    metric="mean_normalised_rmse",
    higher=False,
)
TITANIC = CleanTask(
    name="titanic-survival",
    modality="tabular",
    data="real: reference task (groups)",
    answers=Answers.FLAG,
    metric="roc_auc",
    higher=True,
    text="name",
    costly=True,
)
SUNSPOTS = CleanTask(
    name="sunspot-cycle",
    modality="time series",
    data="real: reference task (forecasting)",
    answers=Answers.NUMBER,
    metric="mase",
    higher=False,
    series=True,
    costly=True,
    free_ids=False,
    features=False,
)
