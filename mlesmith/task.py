"""``mlesmith task``: list, prepare, grade and verify task packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, SandboxName, Trust, emit, say, show_table

if TYPE_CHECKING:
    from harness.sandboxes.base import SandboxProvider

app = typer.Typer(
    help="List, prepare, grade and verify task packages.", no_args_is_help=True, rich_markup_mode=None
)
TaskDir = Annotated[Path, typer.Argument(metavar="TASK_DIR", help="The folder of a task package.")]
TaskDirs = Annotated[
    list[Path], typer.Argument(metavar="TASK_DIR...", help="Task folders, or folders of task folders.")
]


@app.command("list")
def list_tasks(folders: TaskDirs, json: Json = False) -> None:
    """Show the tasks found in folders.

    Example: mlesmith task list runs/demo/tasks/smith
    """
    from harness.tasks.package import find_tasks, load_task

    tasks = [load_task(root) for root in find_tasks(folders)]
    if json:
        emit({"schema_version": 1, "tasks": [task.spec.model_dump(mode="json") for task in tasks]})
        return
    show_table(
        f"{len(tasks)} tasks",
        ("task", "set", "modality", "objective", "metric", "difficulty", "prepared"),
        (
            (
                task.id,
                task.spec.set,
                task.spec.modality,
                task.spec.objective,
                task.spec.metric.name,
                task.spec.difficulty,
                "yes" if task.is_prepared else "no",
            )
            for task in tasks
        ),
        left=7,
    )


@app.command(cls=Grouped)
def prepare(
    folders: TaskDirs, sandbox: SandboxName = "auto", trust: Trust = False, json: Json = False
) -> None:
    """Make public/ and private/ from raw/ by the task's own prepare.py, in a sandbox.

    Example: mlesmith task prepare my-tasks/fuel-economy
    """
    from harness.tasks.package import find_tasks, load_task
    from harness.tasks.preparing import prepare_task

    roots = find_tasks(folders)
    provider = provider_for(sandbox, trust, roots)
    done = []
    for root in roots:
        task = load_task(root)
        report = prepare_task(task, provider)
        done.append({"task": task.id, "seconds": round(report.seconds, 3)})
        if not json:
            say(f"{task.id}: prepared in {report.seconds:.1f} s")
    if json:
        emit({"schema_version": 1, "tasks": done})


@app.command(cls=Grouped)
def grade(
    folder: TaskDir,
    submission: Annotated[Path, typer.Argument(help="The submission, a CSV file.")],
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Grade a submission against a task's answers.

    Example: mlesmith task grade my-tasks/fuel-economy submission.csv

    Exit code 1 when the submission is invalid.
    """
    from harness.tasks.grading import grade as grade_submission
    from harness.tasks.package import load_task

    task = load_task(folder)
    result = grade_submission(task, submission, provider_for(sandbox, trust, [folder]))
    if json:
        emit(
            {
                "schema_version": 1,
                "task": task.id,
                "valid": result.valid,
                "raw_score": result.raw_score,
                "reason_code": str(result.reason),
                "message": result.message,
            }
        )
    elif result.valid:
        direction = "higher" if task.spec.metric.higher_is_better else "lower"
        say(f"{task.id}: {task.spec.metric.name} {result.raw_score:.6g} ({direction} is better)")
    else:
        say(f"{task.id}: invalid ({result.reason}): {result.message}")
    if not result.valid:
        raise typer.Exit(EXIT_FELL_SHORT)


def provider_for(sandbox: str, trust: bool, roots: list[Path]) -> SandboxProvider:
    """The sandbox that was asked for; a task's own code is trusted when it is that of a reference task."""
    from harness.sandboxes.choose import choose_sandbox
    from harness.tasksets.catalogue import ships_with_us

    return choose_sandbox(sandbox, trusted=trust or all(ships_with_us(root.resolve()) for root in roots))
