"""What can be told from the files of a package, without running anything."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

STRUCTURE: dict[str, Defect] = {
    "missing_file": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "a file or folder of the package is not there",
        "metric.py is not there",
    ),
    "bad_task_toml": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "task.toml cannot be read or breaks its schema",
    ),
    "unknown_word": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "modality or objective is not one of the known words",
        "modality is 'tables'",
    ),
    "syntax_error": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "prepare.py or metric.py is not valid Python",
    ),
    "prepare_signature": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "prepare.py has no prepare(raw, public, private)",
        "prepare.py defines no function prepare",
    ),
    "metric_class": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "metric.py has not exactly one class deriving from CompetitionMetrics",
        "metric.py has 2 such classes: IrisMetrics, OtherMetrics",
    ),
    "raw_missing": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "the package comes without raw data, so its data cannot be made again",
        "raw/ is not there or holds no file; public/ and private/ are looked at as they are shipped",
    ),
    "raw_hash": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "raw/ is not what source.sha256 declares",
    ),
    "licence_unclear": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "the licence of the raw data is not stated, or may not allow their use",
        "source.licence is 'CC BY-NC-SA 4.0': it forbids commercial use",
    ),
    "description_empty": Defect(
        Gate.STRUCTURE,
        Severity.ERROR,
        "description.txt says nothing",
        "description.txt is empty",
    ),
    "asks_for_network": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "task.toml opens the network for participants",
        "sandbox.allow_hosts is example.org",
    ),
    "absolute_path": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "prepare.py or metric.py names a path of one machine",
        "prepare.py: line 10: '/home/me/flowers.csv'",
    ),
    "uses_network": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "prepare.py or metric.py imports what talks to the network",
        "prepare.py: line 5: import of requests",
    ),
    "environment_dependent": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "prepare.py depends on the clock, a version, or the machine",
        "prepare.py: line 57: random.shuffle(all_files)",
    ),
    "truncates_raw": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "prepare.py reads only the first rows of the raw data",
        "prepare.py: line 23: old_train = pd.read_csv(raw / 'train.csv')[:cutoff_index]",
    ),
    "duplicate_task": Defect(
        Gate.STRUCTURE,
        Severity.WARNING,
        "another task asks the same of the same data",
        "flowers-2 and iris have the same raw data, answers and metric",
    ),
}
