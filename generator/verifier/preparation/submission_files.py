"""Sample and answers: readable, with the declared columns and the same ids."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from harness.tasks.package import Task
from harness.tasks.submission import InvalidSubmission, read_strings


def check_submission_files(task: Task) -> Iterator[Finding]:
    """Findings about the sample submission and the answers of a prepared task."""
    frames = {}
    for path in (task.sample_path, task.answer_path):
        try:
            frames[path.name] = read_strings(path)
        except InvalidSubmission as error:
            yield finding(
                "unreadable_table", str(error), f"write {path.name} with pandas' to_csv(index=False)"
            )
            return
    declared = {task.spec.id_column, *task.spec.target_columns}
    wrong = False
    for name, frame in frames.items():
        missing, extra = declared - set(frame.columns), set(frame.columns) - declared
        if missing or extra:
            wrong = wrong or bool(missing)
            parts = [f"lacks {', '.join(sorted(missing))}"] * bool(missing)
            parts += [f"has {', '.join(sorted(extra))} besides"] * bool(extra)
            yield finding(
                "columns_differ",
                f"{name} {' and '.join(parts)}",
                "give both files exactly id_column and target_columns of task.toml",
                # Further columns of the answers, as Kaggle's Usage, are never asked of a submission.
                Severity.INFO if not missing and name == task.answer_path.name else None,
            )
    if wrong:
        return
    sample, answers = (set(frame[task.spec.id_column]) for frame in frames.values())
    if sample != answers:
        example = sorted(sample ^ answers)[0]
        yield finding(
            "ids_differ",
            f"{len(sample - answers)} ids only in the sample, {len(answers - sample)} only in the answers, "
            f"{task.spec.id_column} {example!r} for one",
            "write both files from the same test rows",
        )
