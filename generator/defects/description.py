"""What description.txt says, against the real files."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

DESCRIPTION: dict[str, Defect] = {
    "description_columns": Defect(
        Gate.DESCRIPTION,
        Severity.WARNING,
        "description.txt does not name the id column or a target column",
    ),
    "description_names": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt names columns or files that are not there",
    ),
    "description_omits": Defect(
        Gate.DESCRIPTION,
        Severity.WARNING,
        "description.txt does not say what a participant must know",
    ),
    "description_metric": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt names another metric than task.toml",
    ),
    "description_direction": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt says the wrong direction",
    ),
    "description_counts": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt states counts that the files do not have",
    ),
    "description_reveals": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt tells answers or how to get at them",
    ),
    "unpromised_labels": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "the answers hold labels that the description does not list",
    ),
}
