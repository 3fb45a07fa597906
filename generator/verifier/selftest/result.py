"""What a self-test gives: recall with its interval, false alarms, and a row for each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.defects.base import Severity
from generator.verifier.selftest.classes import CLASSES, DefectClass
from generator.verifier.selftest.clean.task import CleanTask
from generator.verifier.selftest.trials import Outcome
from generator.verifier.verification import Verdict, Verification

SCHEMA_VERSION = 1
#: The least share of injected defects that must be caught.
LEAST_RECALL = 0.95


def interval(caught: int, injected: int) -> tuple[float, float]:
    """The 95 % interval of Clopper and Pearson (1934) for a share; ``(0, 1)`` of nothing."""
    from statsmodels.stats.proportion import proportion_confint

    if injected == 0:
        return 0.0, 1.0
    low, high = proportion_confint(caught, injected, alpha=0.05, method="beta")
    return float(low), float(high)


@dataclass(frozen=True)
class Row:
    """One class in the table."""

    kind: DefectClass
    outcomes: tuple[Outcome, ...]

    @property
    def sound(self) -> list[Outcome]:
        """Those whose injection worked."""
        return [each for each in self.outcomes if each.broken is None]

    def to_dict(self) -> dict[str, Any]:
        """The row as plain JSON data."""
        return {
            "number": self.kind.number,
            "name": self.kind.name,
            "codes": list(self.kind.codes),
            "applies": self.kind.applies,
            "injected": len(self.sound),
            "caught": sum(each.caught for each in self.sound),
            "by": dict(sorted(Counter(each.by for each in self.sound if each.by).items())),
            "missed": [
                f"{each.trial.clean.name}: {each.trial.injection.name}"
                for each in self.sound
                if not each.caught
            ],
            "tasks": sorted({each.trial.clean.name for each in self.sound}),
            "modalities": sorted({each.trial.clean.modality for each in self.sound}),
            "not_injectable": self.kind.not_injectable,
        }


@dataclass(frozen=True)
class SelfTest:
    """All outcomes.

    Attributes:
        outcomes: of the trials.
        clean: what the verifier says of the clean tasks, by their names.
        tasks: the clean tasks by name.
        numbers: the classes that were asked for.
    """

    outcomes: tuple[Outcome, ...]
    clean: Mapping[str, Verification]
    tasks: Mapping[str, CleanTask]
    numbers: tuple[int, ...] = field(default_factory=lambda: tuple(CLASSES))

    @property
    def sound(self) -> list[Outcome]:
        """The outcomes whose injection worked."""
        return [each for each in self.outcomes if each.broken is None]

    @property
    def caught(self) -> int:
        """How many defects were named."""
        return sum(each.caught for each in self.sound)

    @property
    def recall(self) -> float:
        """The share of injected defects that were named; 0 when none was injected."""
        return self.caught / len(self.sound) if self.sound else 0.0

    def rows(self) -> list[Row]:
        """One row for each class, by number."""
        return [
            Row(CLASSES[n], tuple(each for each in self.outcomes if each.trial.injection.number == n))
            for n in self.numbers
        ]

    def alarms(self, severity: Severity) -> list[dict[str, str]]:
        """Findings about clean tasks."""
        return [
            {"task": name, **found.to_dict()}
            for name, said in sorted(self.clean.items())
            for found in said.findings
            if found.severity is severity
        ]

    @property
    def errors(self) -> list[str]:
        """Clean tasks that could not be verified, and injections that did not work."""
        lost = [
            f"{name}: {said.error}"
            for name, said in sorted(self.clean.items())
            if said.verdict is Verdict.ERROR
        ]
        return lost + [
            f"{each.trial.injection.number} ({each.trial.injection.name}) on {each.trial.clean.name}: "
            f"{each.broken}"
            for each in self.outcomes
            if each.broken
        ]

    @property
    def passed(self) -> bool:
        """Recall is high enough, no clean task is rejected, and everything could be tried."""
        enough = self.recall >= LEAST_RECALL or not self.outcomes
        return enough and not self.alarms(Severity.ERROR) and not self.errors

    def to_dict(self) -> dict[str, Any]:
        """The document that ``mlesmith verifier selftest --json`` prints."""
        low, high = interval(self.caught, len(self.sound))
        return {
            "schema_version": SCHEMA_VERSION,
            "classes": len(self.numbers),
            "injected": len(self.sound),
            "caught": self.caught,
            "recall": self.recall,
            "recall_low": low,
            "recall_high": high,
            "false_alarms": self.alarms(Severity.ERROR),
            "warnings": self.alarms(Severity.WARNING),
            "clean_tasks": len(self.clean),
            "table": [row.to_dict() for row in self.rows()],
            "tasks": [
                {
                    "name": name,
                    "modality": self.tasks[name].modality,
                    "data": self.tasks[name].data,
                    "verdict": str(said.verdict),
                    "errors": _codes(said, Severity.ERROR),
                    "warnings": _codes(said, Severity.WARNING),
                    "seconds": round(said.seconds, 1),
                }
                for name, said in self.clean.items()
            ],
            "trials": [_trial(each) for each in self.outcomes],
            "errors": self.errors,
            "passed": self.passed,
        }


def _codes(said: Verification, severity: Severity) -> list[str]:
    return sorted({found.code for found in said.findings if found.severity is severity})


def _trial(outcome: Outcome) -> dict[str, Any]:
    return {
        "number": outcome.trial.injection.number,
        "injection": outcome.trial.injection.name,
        "task": outcome.trial.clean.name,
        "caught": outcome.caught,
        "by": outcome.by,
        "found": sorted({found.code for found in outcome.verification.findings}),
        "seconds": round(outcome.verification.seconds, 1),
        "broken": outcome.broken,
    }


def by_task(said: Iterable[tuple[str, Verification]]) -> dict[str, Verification]:
    """Verifications by the clean task's name, in alphabetical order."""
    return dict(sorted(said))
