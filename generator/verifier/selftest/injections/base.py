"""An injection, and the package that it changes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from generator.defects.base import Gate
from generator.verifier.selftest.clean.task import Alter, Answers, CleanTask
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task, raw_hash
from harness.tasks.preparing import prepare_task


class Machine(StrEnum):
    """What is wrong with the machine, for the defects that are no property of a package."""

    SOUND = "sound"
    SHOWS_PRIVATE = "shows private/"
    LOSES_SANDBOXES = "loses sandboxes"


@dataclass
class Subject:
    """A copy of a clean package that an injection works on.

    Attributes:
        clean: what it is a copy of.
        root: the package's folder; no other package lies beside it unless an injection puts one there.
        provider: makes the data of packages that are shipped with them.
        seed: of all that is drawn at random.
    """

    clean: CleanTask
    root: Path
    provider: SandboxProvider
    seed: int = 0

    def read(self, file: str) -> str:
        """The text of one file of the package."""
        return (self.root / file).read_text(encoding="utf-8")

    def rewrite(self, file: str, text: str) -> None:
        """Put another text into a file of the package."""
        (self.root / file).write_text(text, encoding="utf-8")

    def replace(self, file: str, pattern: str, new: str, count: int = 1) -> None:
        """Change what matches a regular expression.

        Raises:
            ValueError: nothing matches, so the injection would do nothing.
        """
        text, found = re.subn(pattern, new, self.read(file), count=count, flags=re.MULTILINE)
        if not found:
            raise ValueError(f"{self.clean.name}: {file} holds nothing like {pattern!r}")
        self.rewrite(file, text)

    def alter_raw(self, alter: Alter) -> None:
        """Build the package anew from an altered raw table."""
        shutil.rmtree(self.root)
        self.clean.write(self.root, alter)

    def seal(self) -> None:
        """Declare the hash of raw/ as it is now."""
        self.replace("task.toml", r'^sha256 = ".*"', f'sha256 = "{raw_hash(self.root / "raw")}"')

    def ship(self) -> None:
        """Make public/ and private/, as an author does before handing the package on."""
        prepare_task(load_task(self.root), self.provider)


Apply = Callable[[Subject], None]


@dataclass(frozen=True)
class Injection:
    """One way to put one defect into a package.

    Attributes:
        number: the class of the catalogue.
        name: the variant, in a few words.
        apply: changes the package.
        applies: whether it makes sense for a task.
        last: the gate after which verification may end.
        unshipped: the package cannot be prepared, or must not be.
        machine: what is wrong with the machine beside it.
        codes: what counts as caught, where it is other than for the rest of its class.
    """

    number: int
    name: str
    apply: Apply
    applies: Callable[[CleanTask], bool] = lambda task: True
    last: Gate = Gate.DATA
    unshipped: bool = False
    machine: Machine = Machine.SOUND
    codes: tuple[str, ...] = ()


def anything(task: CleanTask) -> bool:
    """Every task."""
    return True


def has_tables(task: CleanTask) -> bool:
    """Training and test data are tables."""
    return task.tables


def has_free_tables(task: CleanTask) -> bool:
    """Tables whose rows are items of their own, not moments of one series."""
    return task.tables and not task.series


def has_features(task: CleanTask) -> bool:
    """Tables with columns that describe the items."""
    return task.tables and task.features


def has_media(task: CleanTask) -> bool:
    """Items are files."""
    return task.media is not None


def has_labels(task: CleanTask) -> bool:
    """Answers and submissions are one label each."""
    return task.answers is Answers.LABEL


def has_classes(task: CleanTask) -> bool:
    """Answers are classes, whatever submissions hold."""
    return task.answers in (Answers.LABEL, Answers.FLAG)


def has_numbers(task: CleanTask) -> bool:
    """Answers are numbers."""
    return task.answers is Answers.NUMBER


def has_own_raw(task: CleanTask) -> bool:
    """The raw table can be altered."""
    return task.raw_target is not None
