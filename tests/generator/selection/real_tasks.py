"""Prepared reference tasks with the verdicts that the verifier gave of them.

``verifications.json`` is what ``mlesmith task verify --json`` printed of three of them, without the exhibits
that are not looked at here. It is remembered by the verifier's own memory, as if it had been given just now.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from generator.defects.base import Finding, Gate, Severity
from generator.verifier.memory import CACHE_NAME, identity, remember
from generator.verifier.verification import Verdict, Verification
from generator.verifier.verify import Plan
from harness.sandboxes.process import Process
from harness.tasks.package import load_task
from harness.tasks.preparing import prepare_task
from harness.tasksets.catalogue import reference_task

VERIFIED = ("fuel-economy", "titanic-survival", "travel-mode-choice")


def prepared(names: tuple[str, ...], folder: Path) -> Path:
    """A folder of prepared reference tasks."""
    for name in names:
        prepare_task(load_task(Path(shutil.copytree(reference_task(name), folder / name))), Process())
    return folder


def verifications() -> dict[str, Verification]:
    """What the verifier said, by task."""
    document = json.loads((Path(__file__).parent / "verifications.json").read_text(encoding="utf-8"))
    return {each["task"]: _verification(each) for each in document["tasks"]}


def remember_verdict(root: Path, verification: Verification, plan: Plan | None = None) -> str:
    """Keep a verdict of the package as it is now, in the package; its identity."""
    known_by = identity(root, (plan or Plan()).identity("bubblewrap"))
    remember(root / CACHE_NAME, known_by, verification)
    return known_by


def _verification(each: dict[str, Any]) -> Verification:
    findings = tuple(
        Finding(**found | {"severity": Severity(found["severity"]), "stage": Gate(found["stage"])})
        for found in each["findings"]
    )
    return Verification(
        task=each["task"],
        verdict=Verdict(each["verdict"]),
        findings=findings,
        scores=each["scores"],
        seconds=each["seconds"],
        gates=each["gates"],
        exhibits=each["exhibits"],
    )
