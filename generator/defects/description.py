"""What description.txt says, against the real files."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

DESCRIPTION: dict[str, Defect] = {
    "description_columns": Defect(
        Gate.DESCRIPTION,
        Severity.WARNING,
        "description.txt does not name the id column or a target column",
        example="description.txt does not name image_id, digit",
    ),
    "description_names": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt names columns or files that are not there",
        example="description.txt names the file 'weather.csv', which is not under public/",
    ),
    "description_omits": Defect(
        Gate.DESCRIPTION,
        Severity.WARNING,
        "description.txt does not say what a participant must know",
        example="description.txt does not say how submissions are scored, which direction is better",
    ),
    "description_metric": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt names another metric than task.toml",
        example="description.txt says that submissions are scored by 'Brier score' (brier); task.toml "
        "declares log_loss",
    ),
    "description_direction": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt says the wrong direction",
        example="description.txt says 'Higher is better'; task.toml declares higher_is_better = false",
    ),
    "description_counts": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt states counts that the files do not have",
        example='description.txt says "test.csv 5,100 images to"; sample_submission.csv has 1,500, '
        "test.csv has 1,500, train.csv has 1,000",
    ),
    "description_reveals": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "description.txt tells answers or how to get at them",
        example="description.txt tells how the test rows were drawn or where the answers are: "
        "'random_state=1983'",
    ),
    "unpromised_labels": Defect(
        Gate.DESCRIPTION,
        Severity.ERROR,
        "the answers hold labels that the description does not list",
        example="description.txt lists 4 classes of phase, but the answers also hold 'Descent', 'En "
        "Route' (127 of 1500 rows)",
    ),
}
