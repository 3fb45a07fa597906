"""``mlesmith taskset``: choose the tasks to evaluate on, freeze them, and check that they are the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mlesmith.console import (
    EXIT_FELL_SHORT,
    Grouped,
    Json,
    SandboxName,
    Trust,
    emit,
    fail,
    note,
    number,
    say,
    show_table,
    shown_path,
)
from mlesmith.task import TaskDirs, provider_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generator.selection.build import Verify
    from generator.selection.check import Check
    from generator.selection.taskset import TaskSet
    from generator.verifier.thresholds.config import Thresholds
    from generator.verifier.verification import Verification

app = typer.Typer(
    help="Choose the tasks to evaluate on, freeze them, and check that they are the same.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_CHOICE, _VERDICTS = "How to choose", "Verdicts"


@app.command(cls=Grouped)
def build(
    folders: TaskDirs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, such as taskset.toml.")],
    size: Annotated[int, typer.Option(min=1, help="How many tasks.")] = 50,
    name: Annotated[
        str | None, typer.Option(help="What the set is called.", show_default="the file's name")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="SCORES.csv",
            help="Results of models on these tasks, as for `mlesmith rate`; they tell better than baselines "
            "which tasks discriminate.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    balance: Annotated[
        Literal["proportional", "uniform"],
        typer.Option(help="Quotas as in the pool, or the same for every kind.", rich_help_panel=_CHOICE),
    ] = "proportional",
    per_dataset: Annotated[
        int, typer.Option(min=1, help="Most tasks of one dataset.", rich_help_panel=_CHOICE)
    ] = 2,
    balance_weight: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=100.0,
            help="What a task's step towards the quotas is worth, in discrimination.",
            rich_help_panel=_CHOICE,
        ),
    ] = 0.5,
    twin_weight: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=100.0,
            help="What a second task of the same raw data and targets costs.",
            rich_help_panel=_CHOICE,
        ),
    ] = 1.0,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Verify the tasks without a remembered verdict.", rich_help_panel=_VERDICTS
        ),
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder of remembered verdicts, beside the packages' own.", rich_help_panel=_VERDICTS
        ),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(
            help="The thresholds with which they were verified.",
            show_default=False,
            rich_help_panel=_VERDICTS,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tasks verified at the same time.",
            show_default="one per core",
            rich_help_panel=_VERDICTS,
        ),
    ] = None,
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Choose verified tasks that tell models apart, balanced over kinds, and freeze them by hash.

    \b
    Example: mlesmith taskset build tasks --size 50 --out taskset.toml
             mlesmith taskset build tasks --size 20 --scores scores.csv --out taskset.toml
    """
    from generator.selection.build import build as build_set
    from generator.selection.build import judge
    from generator.selection.pool import Options
    from generator.selection.taskset import write_task_set
    from generator.verifier.thresholds.config import DEFAULTS
    from generator.verifier.thresholds.reading import read_thresholds
    from harness.tasks.package import find_tasks
    from leaderboards.scores import read_scores_csv

    if out.suffix != ".toml":
        fail(f"--out {out}: name a .toml file")
    if out.exists() and not force:
        fail(f"--out {out}: it exists; name another file, or add --force to replace it")
    options = Options(balance, per_dataset, balance_weight, twin_weight)
    table = None if scores is None else read_scores_csv(scores)
    limits = DEFAULTS if thresholds is None else read_thresholds(thresholds)
    roots = find_tasks(folders)
    verifier = _verifier(sandbox, trust, limits, workers, cache) if verify else None
    facts = judge(roots, cache=cache, limits=limits, verify=verifier)
    task_set = build_set(facts, size, out, name=name or out.stem, options=options, scores=table)
    write_task_set(task_set, out)
    if json:
        emit(task_set.to_document())
    else:
        _show(task_set, out)


@app.command("check")
def check_set(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `mlesmith taskset build` wrote.")],
    json: Json = False,
) -> None:
    """Compare the tasks with their hashes in the file, and name what changed or is missing.

    Example: mlesmith taskset check taskset.toml

    Exit code 1 when a task is missing or is not what it was.
    """
    from generator.selection.check import check

    checked = check(file)
    if json:
        emit(checked.to_document())
    else:
        _tell(checked)
    if not checked.ok:
        raise typer.Exit(EXIT_FELL_SHORT)


def _verifier(
    sandbox: str, trust: bool, limits: Thresholds, workers: int | None, cache: Path | None
) -> Verify:
    """What is asked for missing verdicts."""

    def run(roots: Sequence[Path]) -> list[Verification]:
        from generator.verifier.verify import Plan, verify_tasks

        return verify_tasks(
            roots,
            provider_for(sandbox, trust, list(roots)),
            Plan(limits=limits),
            workers=workers or os.cpu_count() or 1,
            progress=lambda task, gate, text: note(f"  {task}: {gate}: {text}"),
            cache=cache,
        )

    return run


def _show(task_set: TaskSet, out: Path) -> None:
    from rich.markup import escape

    from generator.selection.build import overview
    from generator.selection.comparison import MEASURES

    show_table(
        f"{task_set.name}: {task_set.size} tasks",
        ("task", "modality", "objective", "metric", "difficulty", "dataset", "discrimination"),
        (
            (
                *map(
                    escape,
                    (task.task, task.modality, task.objective, task.metric, task.difficulty, task.dataset),
                ),
                number(task.discrimination, 2),
            )
            for task in task_set.tasks
        ),
        left=6,
    )
    for axis, counts in overview(task_set).items():
        if axis != "dataset":
            say(escape(f"{axis}: {', '.join(f'{count} {level}' for level, count in counts.items())}"))
    show_table(
        "Beside random sets of this size",
        ("measure", "this set", "random", "low", "high"),
        (
            (
                MEASURES[measure],
                *(number(value) for value in (each.chosen, each.random, each.random_low, each.random_high)),
            )
            for measure, each in task_set.quality.items()
        ),
    )
    say(f"{len(task_set.left_out)} left out; why, and why the others were chosen, stands in the file")
    say(escape(f"{shown_path(out)}: {task_set.hash}"))


def _tell(checked: Check) -> None:
    from rich.markup import escape

    for each in checked.tasks:
        if each.what:
            say(escape(f"{each.task}: {each.state}: {each.what}"))
    same = sum(each.state == "same" for each in checked.tasks)
    say(escape(f"{checked.task_set.name}: {same} of {len(checked.tasks)} tasks are as they were frozen"))
