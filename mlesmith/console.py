"""What all commands share: exit codes, errors in one line, JSON on standard output, tables for people."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

EXIT_FELL_SHORT = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")
]
SandboxName = Annotated[
    str,
    typer.Option(
        "--sandbox",
        help="auto (bubblewrap), docker, or process (isolates nothing); see `mlesmith sandbox check`.",
        rich_help_panel="Sandbox",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run code that does not ship with this project also where nothing isolates it.",
        rich_help_panel="Sandbox",
    ),
]


class Grouped(TyperCommand):
    """A command whose help lists options under the headings that ``rich_help_panel`` names, in plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a heading, and then the headings as they are first used."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            usual = "Arguments" if param.param_type_name == "argument" else "Options"
            if record := param.get_help_record(ctx):
                sections.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def emit(document: Any) -> None:
    """Print one strict JSON document."""
    from harness.records import strict_json

    sys.stdout.write(strict_json(document) + "\n")


def say(text: str = "") -> None:
    """Print a line for people on standard output, with rich's markup."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(text)


def note(text: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(text + "\n")


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print a table; the first ``left`` columns are text, the others are aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        text = index < left
        table.add_column(column, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    for row in rows:
        table.add_row(*row)
    # A pipe has no width of its own; never cut figures there.
    width = None if sys.stdout.isatty() else 140
    Console(highlight=False, width=width).print(table)


def is_narrow(columns: int) -> bool:
    """Whether standard output is a terminal of fewer columns."""
    from rich.console import Console

    return sys.stdout.isatty() and Console().width < columns


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:z.{digits}f}"


def fail(message: str) -> NoReturn:
    """Say what is wrong with the input and end with exit code 2."""
    note(f"error: {message}")
    raise typer.Exit(EXIT_INPUT)


def set_up_logging() -> None:
    """Warnings and worse go to standard error, one line each."""
    logging.basicConfig(
        level=os.environ.get("MLESMITH_LOG", "WARNING").upper(),
        format="%(levelname)s: %(message)s",
        stream=sys.stderr,
    )


def guarded(run: Callable[[], None]) -> NoReturn:
    """Run the command line, turning expected errors into one line and an exit code."""
    from harness.errors import InputError

    signal.signal(signal.SIGTERM, _interrupt)
    try:
        run()
    except InputError as error:
        note(f"error: {error}")
        sys.exit(EXIT_INPUT)
    except KeyboardInterrupt:
        note("interrupted; what was finished is kept, run the same command again to go on")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone; that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        note(f"error: {error.filename or 'input/output'}: {_in_words(error)}")
        sys.exit(EXIT_INPUT)
    sys.exit(0)


def _in_words(error: OSError) -> str | None:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "a file is where a folder is to be; name another"
    return error.strerror


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def shown_path(path: Path) -> str:
    """A path as the user would type it: relative to the current folder where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
