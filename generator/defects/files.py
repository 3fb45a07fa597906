"""What the files beside the tables give away, and which are missing."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

FILES: dict[str, Defect] = {
    "media_missing": Defect(
        Gate.DATA,
        Severity.ERROR,
        "rows name files that are not there",
        example="60 of 1,200 test rows (5.0%) name by id a file that is not there, test/00000.png for one",
    ),
    "media_orphaned": Defect(
        Gate.DATA,
        Severity.WARNING,
        "media files that belong to no row",
        example="120 files lie among the 3,000 of the rows and belong to none, test/zz0.png for one",
    ),
    "media_unreadable": Defect(
        Gate.DATA,
        Severity.ERROR,
        "media files that cannot be opened",
        example="120 of 3,000 media files cannot be opened, test/00000.png for one (cannot identify "
        "image file 'test/00000.png')",
    ),
    "answers_public": Defect(
        Gate.DATA,
        Severity.ERROR,
        "a file under public/ holds the answers",
        example="public/cache.json entry data entries: column meta.gt tells species of the test rows: "
        "its values are the answers (agreement beyond chance 1.000) for the 100% of the test "
        "ids that it names",
    ),
    "raw_in_public": Defect(
        Gate.DATA,
        Severity.ERROR,
        "raw data with the answers lie under public/",
        example="public/original.csv is raw/data.csv and holds 100% of the test rows, found by 4 "
        "shared columns, with species in its column species",
    ),
    "label_in_path": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the name or folder of a test file tells its label",
        example="the paths of 100% of the test files name their kind (by chance 22%), as "
        "public/test/letters/00000.wav",
    ),
    "file_metadata_leak": Defect(
        Gate.DATA,
        Severity.ERROR,
        "size, time or embedded metadata of a test file tell its label",
        example="the embedded Comment of the test files names digit, 92% of the way from chance to all",
    ),
    "near_duplicates": Defect(
        Gate.DATA,
        Severity.ERROR,
        "test rows all but repeat training rows with their label",
        example="157 of 1,200 test files (13.1%) all but equal a training file, test/00000.png and "
        "train/01201.png for one; within training 3.1% do (agreement of their labels beyond "
        "chance: 0.98)",
    ),
    "media_across_split": Defect(
        Gate.DATA,
        Severity.ERROR,
        "the same media file lies in train and in test",
        example="60 of 1,200 test files (5.0%) equal a training file, test/00000.png and "
        "train/01201.png for one (agreement of their labels beyond chance: 1.00)",
    ),
}
