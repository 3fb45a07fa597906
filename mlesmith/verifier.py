"""``mlesmith verifier``: prove the verifier by injected defects, and list what it can report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, SandboxName, emit, note, say, show_table

if TYPE_CHECKING:
    from generator.verifier.selftest.result import SelfTest

app = typer.Typer(
    help="Prove the verifier by injected defects, and list what it can report.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(cls=Grouped)
def selftest(
    classes: Annotated[
        list[str] | None,
        typer.Option(
            "--class", metavar="N|CODE", help="Only this class of defects (1 to 80), or those of a code."
        ),
    ] = None,
    tasks: Annotated[
        list[str] | None, typer.Option("--task", metavar="NAME", help="Only this clean task.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Every variant on every task, not two trials for each class.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Packages verified at once.")] = os.cpu_count() or 1,
    seed: Annotated[int, typer.Option(help="Draws the trials, and what injections draw.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the JSON document to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the table as a page of Markdown.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Remembered verdicts, so that a run that was stopped goes on."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the packages of defects that were missed.")
    ] = None,
    sandbox: SandboxName = "auto",
    json: Json = False,
) -> None:
    """Inject every class of defects into clean tasks, and show which of them the verifier catches.

    Example: mlesmith verifier selftest

    Exit code 1 when recall is below 0.95 or a clean task is rejected.
    """
    from generator.verifier.selftest.page import page
    from generator.verifier.selftest.selftest import numbers_of, self_test
    from harness.records import strict_json, write_atomically
    from harness.sandboxes.choose import choose_sandbox

    result = self_test(
        choose_sandbox(sandbox, trusted=True),
        numbers=numbers_of(classes or ()),
        tasks=tasks or (),
        full=full,
        workers=workers,
        seed=seed,
        cache=cache or _cache(),
        keep=keep,
        progress=lambda text: note(f"  {text}"),
    )
    document = result.to_dict()
    if out is not None:
        write_atomically(out, strict_json(document) + "\n")
    if markdown is not None:
        write_atomically(markdown, page(result))
    if json:
        emit(document)
    else:
        _show(result)
    if not result.passed:
        raise typer.Exit(EXIT_FELL_SHORT)


@app.command()
def codes(
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list as a page of Markdown.")
    ] = None,
    json: Json = False,
) -> None:
    """List what the verifier can report: codes, gates, severities, meanings, examples.

    Example: mlesmith verifier codes
    """
    from generator.defects.listing import listing, listing_page
    from harness.records import write_atomically

    if markdown is not None:
        write_atomically(markdown, listing_page())
    if json:
        emit(listing())
    elif markdown is None:
        defects = listing()["defects"]
        show_table(
            f"{len(defects)} defects",
            ("code", "gate", "severity", "meaning"),
            ((each["code"], each["gate"], each["severity"], each["meaning"]) for each in defects),
            left=4,
        )


def _cache() -> Path:
    """Where verdicts of the self-test are remembered unless told otherwise."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "mlesmith" / "selftest"


def _show(result: SelfTest) -> None:
    document = result.to_dict()
    show_table(
        "Injected defects",
        ("#", "defect", "caught by", "injected", "caught"),
        (
            (
                str(row["number"]),
                row["name"],
                ", ".join(row["by"]) or ("not injectable" if row["not_injectable"] else "-"),
                str(row["injected"]),
                str(row["caught"]),
            )
            for row in document["table"]
        ),
        left=3,
    )
    for row in document["table"]:
        for missed in row["missed"]:
            say(f"missed {row['number']} ({row['name']}): {missed}")
    for problem in document["errors"]:
        say(f"not tried: {problem}")
    for alarm in document["false_alarms"]:
        say(f"false alarm in {alarm['task']}: {alarm['code']}: {alarm['evidence']}")
    say(
        f"caught {document['caught']} of {document['injected']} (recall {document['recall']:.3f}, "
        f"95 % interval {document['recall_low']:.3f} to {document['recall_high']:.3f}); "
        "false alarms of severity error in "
        f"{document['clean_tasks']} clean tasks: {len(document['false_alarms'])}"
    )
