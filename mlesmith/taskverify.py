"""``mlesmith task verify``: what is wrong with task packages."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith import modeloptions as models
from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, SandboxName, Trust, emit, fail, note, say
from mlesmith.task import TaskDirs, provider_for

if TYPE_CHECKING:
    from generator.verifier.review.reviewer import Reviewer
    from generator.verifier.verification import Verification


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(verify)


def verify(
    folders: TaskDirs,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out what trains baselines.")] = False,
    execution: Annotated[
        bool, typer.Option("--execution/--no-execution", help="Let an agent work on the task at the end.")
    ] = True,
    last: Annotated[
        str | None, typer.Option("--last", metavar="GATE", help="Stop after this gate.", show_default=False)
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(help="A TOML file with thresholds of your own, by gate.", show_default=False),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Tasks at the same time.", show_default="one per core")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder for remembered verdicts, instead of the packages.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not use remembered verdicts.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a readable report with plots to this folder.")
    ] = None,
    reviewer: models.ReviewerName = None,
    base_url: models.BaseUrl = None,
    key_variable: models.KeyVariable = None,
    api: models.ApiName = None,
    prices: models.Prices = None,
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Look for what is wrong with tasks, gate by gate, from the form of the files to an agent at work.

    Example: mlesmith task verify runs/demo/tasks/smith --html verified

    Exit code 1 when a task is rejected or could not be verified.
    """
    from generator.defects.base import Gate
    from generator.verifier.thresholds.config import DEFAULTS
    from generator.verifier.thresholds.reading import read_thresholds
    from generator.verifier.verification import to_document
    from generator.verifier.verify import Plan, verify_tasks
    from harness.tasks.package import find_tasks

    if last is not None and last not in list(Gate):
        fail(f"--last: no gate {last!r}; gates are {', '.join(Gate)}")
    roots = find_tasks(folders)
    plan = Plan(
        deep=not quick,
        execution=execution,
        last=None if last is None else Gate(last),
        limits=DEFAULTS if thresholds is None else read_thresholds(thresholds),
        reviewer=_reviewer(reviewer, base_url=base_url, key_variable=key_variable, api=api, prices=prices),
    )
    verifications = verify_tasks(
        roots,
        provider_for(sandbox, trust, roots),
        plan,
        workers=workers or os.cpu_count() or 1,
        progress=lambda task, gate, text: note(f"  {task}: {gate}: {text}"),
        cache=cache,
        fresh=fresh,
    )
    if json:
        emit(to_document(verifications))
    else:
        _tell(verifications)
    if html is not None:
        from reports.verification.pages import write_verification

        note(f"the report is {write_verification(verifications, html)}")
    if any(verification.verdict != "verified" for verification in verifications):
        raise typer.Exit(EXIT_FELL_SHORT)


def _reviewer(name: str | None, *, prices: Path | None, **endpoint: str | None) -> Reviewer | None:
    if name is None:
        if prices is not None or any(endpoint.values()):
            fail("--base-url, --key-variable, --api and --prices belong to --reviewer PROVIDER/MODEL")
        return None
    return models.reviewer_of(name, prices=prices, **endpoint)


def _tell(verifications: Iterable[Verification]) -> None:
    from rich.markup import escape

    colours = {"verified": "green", "rejected": "red", "error": "yellow", "warning": "yellow", "info": "dim"}
    for result in verifications:
        remembered = ", remembered" if result.cached else ""
        say(
            f"[bold]{escape(result.task)}[/]: [{colours[result.verdict]}]{result.verdict}[/] "
            f"({result.seconds:.1f} s{remembered})"
        )
        for found in result.findings:
            colour = "red" if found.severity == "error" else colours[found.severity]
            say(f"  [{colour}]{found.severity} {found.code}[/] ({found.stage}): {escape(found.evidence)}")
            if found.severity != "info":
                say(f"    fix: {escape(found.fix)}")
        if result.error:
            say(f"  {escape(result.error)}")
