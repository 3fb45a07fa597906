"""What makes tasks: the work of Brainstormer, Designer and Refactor behind one protocol.

The line (:mod:`generator.pipeline`) says when an agent works and what it has to mend; a backend does the
work, by rules, by a language model, or by both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from generator.datasets.catalogue import DatasetCard
from generator.defects.base import Finding
from generator.ledger import Effort
from generator.profile import Profile
from generator.proposals import Formulation, Refusal
from harness.sandboxes.base import SandboxProvider

#: Told the stage and what happens in it.
Say = Callable[[str, str], None]


class GaveUp(Exception):
    """An agent ends its work without a result that is worth another look.

    Attributes:
        code: a short word for the funnel.
        again: another attempt may go better, as of a model that ran out of steps.
    """

    def __init__(self, code: str, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.code = code
        self.again = again


@dataclass(frozen=True)
class Desk:
    """One dataset, and what an agent needs to work on it.

    Attributes:
        folder: its raw files; only ever read.
        card: what is known about it.
        profile: what its files hold.
        provider: opens the sandboxes in which code runs.
        transcripts: the folder for what models were asked and answered.
        ablated: parts that are left out on purpose, see :data:`generator.pipeline.ablation.PARTS`.
        say: progress.
    """

    folder: Path
    card: DatasetCard
    profile: Profile
    provider: SandboxProvider
    transcripts: Path
    ablated: frozenset[str] = frozenset()
    say: Say = field(default=lambda stage, text: None)


@dataclass(frozen=True)
class Brainstorm:
    """What a Brainstormer found: formulations to design, and those it refused."""

    formulations: tuple[Formulation, ...]
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Tried:
    """A formulation of an earlier round, and what was wrong with the idea, if anything was."""

    formulation: Formulation
    findings: tuple[Finding, ...]


class Backend(Protocol):
    """How the three agents work. All methods may be called from several threads, for different datasets.

    They raise :class:`GaveUp` for what is the formulation's own fault, and let trouble of the machine or of a
    model's endpoint (:class:`harness.errors.TrialEnd`) pass: that is never held against a task.
    """

    @property
    def name(self) -> str:
        """``rules``, ``llm`` or ``mixed``."""
        ...

    @property
    def parts(self) -> frozenset[str]:
        """The parts of :data:`generator.pipeline.ablation.PARTS` that it can work without."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """All that its work depends on beside the dataset, as plain data: code, prompts, models, settings."""
        ...

    def remembered(self, data: dict[str, Any]) -> Formulation:
        """The formulation that ``model_dump(mode="json")`` gave ``data`` for."""
        ...

    def brainstorm(self, desk: Desk, most: int, tried: Sequence[Tried], effort: Effort) -> Brainstorm:
        """At most ``most`` formulations, none of them one of ``tried``, proven learnable and derivable."""
        ...

    def design(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> Formulation:
        """Write a package to ``root``, with what it needs of the raw data in ``root / "raw"``.

        Args:
            desk: the dataset.
            formulation: what to build.
            root: an empty folder, or one that holds the last design when ``findings`` tell what to mend.
            findings: defects of the last design.
            effort: is added what the work takes.

        Returns:
            The formulation as it was built: mending may change it.
        """
        ...

    def check_draft(self, desk: Desk, formulation: Formulation, root: Path) -> Iterable[Finding]:
        """What keeps a design from being refactored: the assertions before the Refactor."""
        ...

    def refactor(
        self, desk: Desk, formulation: Formulation, root: Path, findings: Sequence[Finding], effort: Effort
    ) -> None:
        """Bring the package in ``root`` into the unified structure, prepared, and mend ``findings``."""
        ...
