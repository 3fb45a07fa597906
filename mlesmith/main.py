"""The command's entry point: one file per noun, joined here."""

from __future__ import annotations

import sys

import typer

from mlesmith import (
    agree,
    audit,
    board,
    demo,
    funnel,
    generate,
    models,
    paper,
    rate,
    report,
    run,
    sandbox,
    task,
    taskimport,
    taskset,
    tasksplit,
    taskverify,
    trial,
    verifier,
)
from mlesmith.console import EXIT_INPUT, EXIT_INTERRUPTED, guarded, set_up_logging

app = typer.Typer(
    name="mlesmith",
    help="Generate verified MLE tasks, run LLM agents on them in sandboxes, rate them, and audit how far two "
    "benchmarks agree.\n\nStart with: mlesmith demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for module in (demo, generate, funnel, run, rate, agree, audit, report, paper):
    module.register(app)
for module in (taskverify, tasksplit, taskimport):
    module.register(task.app)
app.add_typer(models.app, name="models")
app.add_typer(task.app, name="task")
app.add_typer(taskset.app, name="taskset")
app.add_typer(trial.app, name="trial")
app.add_typer(verifier.app, name="verifier")
app.add_typer(board.app, name="board")
app.add_typer(sandbox.app, name="sandbox")


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("mle-smith"))
        raise typer.Exit


def main() -> None:
    """Run the command line; never returns."""
    set_up_logging()

    def call() -> None:
        try:
            app()
        except SystemExit as end:
            if end.code == EXIT_INTERRUPTED:  # typer's word for an interrupt, which guarded() explains
                raise KeyboardInterrupt from end
            if end.code not in (0, None):
                sys.exit(end.code if isinstance(end.code, int) else EXIT_INPUT)

    guarded(call)
