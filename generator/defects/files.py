"""What the files beside the tables give away, and which are missing."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

FILES: dict[str, Defect] = {
    "media_missing": Defect(
        Gate.DATA,
        Severity.ERROR,
        "rows name files that are not there",
    ),
    "media_orphaned": Defect(
        Gate.DATA,
        Severity.WARNING,
        "media files that belong to no row",
    ),
    "media_unreadable": Defect(
        Gate.DATA,
        Severity.ERROR,
        "media files that cannot be opened",
    ),
    "answers_public": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a file under public/ holds the answers",
    ),
    "raw_in_public": Defect(
        Gate.DATA,
        Severity.ERROR,
        "raw data with the answers lie under public/",
    ),
    "label_in_path": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the name or folder of a test file tells its label",
    ),
    "file_metadata_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "size, time or embedded metadata of a test file tell its label",
    ),
    "near_duplicates": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows all but repeat training rows with their label",
    ),
    "media_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the same media file lies in train and in test",
    ),
}
