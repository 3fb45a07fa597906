"""``mlesmith trial``: look at single trials, and take them elsewhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import Json, emit, fail, is_narrow, note, say, show_table, shown_path
from mlesmith.replay import register as register_replay

if TYPE_CHECKING:
    from reports.trials.listing import ListedTrial

app = typer.Typer(
    help="List, show, export and replay trials.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
TrialDir = Annotated[
    Path,
    typer.Argument(
        metavar="TRIAL_DIR", help="A trial's folder: <job>/trials/<set>/<task>/<model>/<attempt>."
    ),
]
Prices = Annotated[Path | None, typer.Option(help="A TOML file of prices that override the table.")]


#: Columns of the terminal below which the table of trials breaks words.
_TABLE_WIDTH = 120


class Format(StrEnum):
    """The formats that trials are exported to."""

    ATIF = "atif"
    OPENAI = "openai"


@app.command("list")
def list_trials(
    job: Annotated[Path, typer.Argument(metavar="JOB_DIR", help="The --out folder of `mlesmith run`.")],
    model: Annotated[str, typer.Option(help="Only these models; * stands for anything.")] = "*",
    task: Annotated[str, typer.Option(help="Only these tasks; * stands for anything.")] = "*",
    status: Annotated[str, typer.Option(help="Only trials that ended so; * stands for anything.")] = "*",
    prices: Prices = None,
    json: Json = False,
) -> None:
    """Show the trials of a job, also those that are not finished.

    Example: mlesmith trial list runs/demo/job --model 'scripted/*' --status submitted
    """
    from harness.models.pricing import read_price_table
    from reports.templating import count
    from reports.trials.listing import list_job

    trials = list_job(job, read_price_table(prices), model=model, task=task, status=status)
    if json:
        emit({"schema_version": 1, "trials": [trial.document() for trial in trials]})
        return
    if is_narrow(_TABLE_WIDTH):
        for trial in trials:
            _say_in_two_lines(trial)
        say(count(len(trials), "trial"))
        return
    show_table(
        count(len(trials), "trial"),
        ("set", "task", "model", "attempt", "status", "valid", "score", "steps", "tokens", "cost", "time"),
        (_row(trial) for trial in trials),
        left=6,
    )


@app.command()
def show(
    folder: TrialDir,
    step: Annotated[int | None, typer.Option(min=1, help="Only this step.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Cut nothing.")] = False,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Also what the agent was told first: its system and task text.")
    ] = False,
    messages: Annotated[
        int | None,
        typer.Option(min=1, metavar="STEP", help="Instead, the whole conversation as sent for this step."),
    ] = None,
    prices: Prices = None,
    json: Json = False,
) -> None:
    """Show what an agent thought, did and saw, step by step; also of a trial that is still running.

    Example: mlesmith trial show runs/demo/job/trials/reference/fuel-economy/scripted--linear/1 --step 3
    """
    from harness.models.pricing import read_price_table
    from harness.trajectories.conversation import exchange_at
    from harness.trajectories.openai_messages import to_chat
    from harness.trajectories.trials import read_trial
    from reports.trials.listing import chosen_turns, trial_document
    from reports.trials.terminal import TrialPrinter, trial_console

    trial = read_trial(folder)
    printer = TrialPrinter(
        trial_console(is_terminal=sys.stdout.isatty()), full=full, prices=read_price_table(prices)
    )
    if messages is not None:
        exchange = exchange_at(trial.log, messages)
        if json:
            sent = [to_chat(message) for message in exchange.sent]
            verified = exchange.is_as_sent
            emit({"schema_version": 1, "step": messages, "messages": sent, "verified": verified})
        else:
            printer.messages(exchange.sent)
        if exchange.is_as_sent is False:
            note("warning: this is not what was sent: its fingerprint is not the logged one")
        return
    turns = chosen_turns(trial, step)
    if json:
        emit(trial_document(trial, turns))
        return
    printer.trial(trial, turns, prompts=prompts, whole=step is None)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="TRIAL_OR_JOB_DIR", help="A trial's or a job's folder.")],
    out: Annotated[
        Path,
        typer.Option(help="The file to write; for atif and a job, the folder, with a file per trial in it."),
    ],
    format: Annotated[
        Format,
        typer.Option(
            help="atif: Agent Trajectory Interchange Format, as Harbor reads it. "
            "openai: Chat Completions messages, a JSON line per conversation, for SFT and RL."
        ),
    ] = Format.ATIF,
    reasoning: Annotated[
        bool, typer.Option("--reasoning", help="With openai: keep reasoning, as reasoning_content.")
    ] = False,
    prices: Prices = None,
    json: Json = False,
) -> None:
    """Write finished trials in a format that other tools read.

    Example: mlesmith trial export runs/demo/job --format openai --out demo.jsonl
    """
    from harness.models.pricing import read_price_table
    from harness.trajectories.exporting import export_atif, export_openai

    if reasoning and format is Format.ATIF:
        fail("--reasoning belongs to --format openai; atif always has the reasoning")
    if format is Format.ATIF:
        report = export_atif(folder, out, read_price_table(prices))
    else:
        report = export_openai(folder, out, reasoning=reasoning)
    for line in report.left_out:
        note(f"left out: {line}")
    if json:
        files = [str(path) for path in report.files]
        emit({"schema_version": 1, "trials": report.trials, "files": files, "left_out": report.left_out})
        return
    from rich.markup import escape

    from reports.templating import count

    where = shown_path(report.files[0]) if len(report.files) == 1 else f"{len(report.files)} files in {out}"
    say(escape(f"{count(report.trials, 'trial')} -> {where}"))


register_replay(app)


def _say_in_two_lines(trial: ListedTrial) -> None:
    """What its row says, for a terminal that would break the row's words."""
    task_set, task, model, attempt, status, valid, score, steps, tokens, cost, time = _row(trial)
    say(f"{task_set}/{task}  {model}  attempt {attempt}")
    came_to = score if valid == "yes" else "no valid submission"
    rest = "" if trial.record is None else f", {came_to}, {steps} steps, {tokens} tokens, {cost}, {time}"
    say(f"  {status}{rest}")


def _row(trial: ListedTrial) -> tuple[str, ...]:
    from rich.markup import escape

    from reports.templating import duration, score
    from reports.trials.words import cost_words, shown

    words = (trial.task_set, trial.task, trial.model, str(trial.attempt), trial.status.replace("_", " "))
    names = tuple(escape(shown(word)) for word in words)
    record = trial.record
    if record is None:
        return (*names, *["-"] * 6)
    return (
        *names,
        "yes" if record.valid else "no",
        score(record.score) if record.valid else "-",
        str(len(record.steps)),
        f"{record.usage.input + record.usage.output:,}",
        cost_words(trial.cost_usd),
        duration(record.timings.total),
    )
