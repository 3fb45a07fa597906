"""Machines that are wrong, while the task is sound (classes 74 and 80)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from generator.defects.base import Gate
from generator.verifier.selftest.injections.base import Injection, Machine, Subject, anything
from harness.errors import SandboxLost
from harness.sandboxes.base import ROOT, Mount, Sandbox, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap

if TYPE_CHECKING:
    from generator.verifier.selftest.clean.task import CleanTask


class ShowsPrivate(Bubblewrap):
    """Sandboxes that show the folder of the answers to all code inside, by mistake.

    Args:
        private: the folder.
    """

    name = "shows-private"

    def __init__(self, private: Path) -> None:
        super().__init__()
        self._private = private

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Start one with a mount too many."""
        from dataclasses import replace

        extra = Mount(self._private, f"{ROOT}/data/private")
        return super().start(replace(spec, mounts=(*spec.mounts, extra)))


class LosesSandboxes(Bubblewrap):
    """The machine kills every sandbox, as one without memory or disk does."""

    name = "loses-sandboxes"

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Never starts one.

        Raises:
            SandboxLost: always.
        """
        raise SandboxLost("the sandbox was killed: no space left on the disk")


def _nothing(subject: Subject) -> None:
    """The package stays as it is."""


def _ship(subject: Subject) -> None:
    subject.ship()


def _quick(task: CleanTask) -> bool:
    return task.name in ("credit-papers", "strike-remarks", "scanned-digits", "demand-days", "biopsy-cells")


INJECTIONS = (
    Injection(
        74,
        "the answers are mounted",
        _ship,
        _quick,
        last=Gate.EXECUTION,
        unshipped=True,
        machine=Machine.SHOWS_PRIVATE,
    ),
    Injection(
        80, "every sandbox is killed", _nothing, anything, last=Gate.DATA, machine=Machine.LOSES_SANDBOXES
    ),
)
