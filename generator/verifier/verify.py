"""Verification of a task package: the gates in order of cost, one verdict, and a memory of verdicts."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from generator import defects
from generator.defects import Finding, Gate, Severity, finding
from generator.verifier import data, empirical, metric, preparation, structure
from generator.verifier.case import Case, has_errors, open_case
from generator.verifier.thresholds import DEFAULTS, Thresholds
from harness.errors import InputError, TaskError
from harness.records import strict_json, write_atomically
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import file_hash, folder_hash, load_task

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
CACHE_NAME = "verified.json"

#: The gates that look at a loaded task, in order; each yields findings and may set parts of the case.
GATES: tuple[tuple[Gate, Callable[[Case], Iterator[Finding]]], ...] = (
    (Gate.PREPARATION, preparation.check),
    (Gate.DATA, data.check),
    (Gate.METRIC, metric.check),
    (Gate.EMPIRICAL, empirical.check),
)


class Verdict(StrEnum):
    """``error`` says nothing about the task: the machine got in the way, and verifying again may help."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    ERROR = "error"


@dataclass(frozen=True)
class Verification:
    """What verification of one task gave.

    Attributes:
        task: the task's id, or its folder's name when it does not load.
        verdict: ``verified`` without a finding of severity error, else ``rejected``; or ``error``.
        findings: in the order of the gates.
        scores: raw scores by name: ``oracle``, ``sample``, ``constant``, ``ladder/<candidate>``, ...
        seconds: wall time; that of the verification itself when the verdict comes from the cache.
        error: with verdict ``error``, what the machine did.
        cached: the verdict was remembered.
    """

    task: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    scores: dict[str, float]
    seconds: float
    error: str | None = None
    cached: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The entry of one task in the document of :func:`to_document`."""
        return {
            "task": self.task,
            "verdict": str(self.verdict),
            "findings": [found.to_dict() for found in self.findings],
            "scores": self.scores,
            "seconds": round(self.seconds, 3),
            "error": self.error,
        }


def to_document(verifications: Iterable[Verification]) -> dict[str, Any]:
    """The document that ``mlesmith task verify --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "tasks": [each.to_dict() for each in verifications]}


def verify_task(
    root: Path,
    provider: SandboxProvider,
    *,
    deep: bool = True,
    progress: Callable[[str, Gate, str], None] | None = None,
    cache: Path | None = None,
    limits: Thresholds = DEFAULTS,
) -> Verification:
    """Verify one task package; stops after the first gate with errors.

    The package is not changed, but for the remembered verdict.

    Args:
        root: the package's folder.
        provider: opens the sandboxes in which the task's code and the baselines run.
        deep: also run the gates that train baselines.
        progress: told the task's name, the gate and what it does.
        cache: folder for remembered verdicts; without one they are kept as ``verified.json`` in the package.
        limits: the thresholds.

    Raises:
        InputError: there is no such folder.
    """
    root = root.resolve()
    if not root.is_dir():
        raise InputError(f"{root}: no such task folder")
    identity = _identity(root, provider.name, deep, limits)
    memory = (cache / f"{root.name}-{identity[:16]}.json") if cache else root / CACHE_NAME
    known = _recall(memory, identity)
    if known is not None:
        return known
    started = time.monotonic()
    findings: list[Finding] = []
    scores: dict[str, float] = {}
    verdict, error = Verdict.ERROR, None
    try:
        for found in _run_gates(root, provider, deep, limits, scores, progress):
            findings.append(found)
        verdict = Verdict.REJECTED if has_errors(findings) else Verdict.VERIFIED
    except TaskError as trouble:
        findings.append(finding("unreadable_table", str(trouble), "make the data fit task.toml"))
        verdict = Verdict.REJECTED
    except Exception as trouble:  # a lost sandbox, a full disk, a bug of ours: never the task's
        error = f"{type(trouble).__name__}: {trouble}"
        log.warning("%s: verification was interrupted: %s", root.name, error)
        log.debug("%s", root, exc_info=True)
    result = Verification(
        root.name, verdict, tuple(findings), scores, time.monotonic() - started, error
    )  # fmt: skip
    if verdict is not Verdict.ERROR:
        _remember(memory, identity, result)
    return result


def verify_tasks(
    roots: Iterable[Path],
    provider: SandboxProvider,
    *,
    workers: int = 1,
    deep: bool = True,
    progress: Callable[[str, Gate, str], None] | None = None,
    cache: Path | None = None,
) -> list[Verification]:
    """Verify several packages at once, in the order given."""
    one = functools.partial(verify_task, provider=provider, deep=deep, progress=progress, cache=cache)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        return list(pool.map(one, roots))


def _run_gates(
    root: Path,
    provider: SandboxProvider,
    deep: bool,
    limits: Thresholds,
    scores: dict[str, float],
    progress: Callable[[str, Gate, str], None] | None,
) -> Iterator[Finding]:
    def say(gate: Gate, text: str) -> None:
        log.debug("%s: %s: %s", root.name, gate, text)
        if progress is not None:
            progress(root.name, gate, text)

    say(Gate.STRUCTURE, "reading the package")
    found = list(structure.check(root))
    yield from found
    if has_errors(found):
        return
    with open_case(load_task(root), provider, limits) as case:
        case.scores = scores
        for gate, check in GATES:
            if gate is Gate.EMPIRICAL and not deep:
                return
            case.say = functools.partial(say, gate)
            case.say("started")
            found = list(check(case))
            yield from found
            if has_errors(found):
                return


def _identity(root: Path, sandbox: str, deep: bool, limits: Thresholds) -> str:
    """Hash of all that a verdict depends on: the package's bytes, this verifier's code, and how it is run."""
    digest = hashlib.sha256(strict_json([sandbox, deep, asdict(limits)]).encode())
    own = Path(__file__).parent
    for path in (Path(defects.__file__), *sorted(own.glob("*.py"))):
        digest.update(f"{path.name}\0{file_hash(path)}\n".encode())
    for name in ("task.toml", "description.txt", "prepare.py", "metric.py"):
        path = root / name
        digest.update(f"{name}\0{file_hash(path) if path.is_file() else '-'}\n".encode())
    for name in ("raw", "public", "private"):
        path = root / name
        digest.update(f"{name}\0{folder_hash(path) if path.is_dir() else '-'}\n".encode())
    return digest.hexdigest()


def _remember(path: Path, identity: str, result: Verification) -> None:
    text = strict_json({"schema_version": SCHEMA_VERSION, "identity": identity, **result.to_dict()})
    try:
        write_atomically(path, text + "\n")
    except OSError as error:
        log.info("the verdict is not remembered: %s", error)


def _recall(path: Path, identity: str) -> Verification | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema_version"] != SCHEMA_VERSION or data["identity"] != identity:
            return None
        findings = tuple(
            Finding(**each | {"severity": Severity(each["severity"]), "stage": Gate(each["stage"])})
            for each in data["findings"]
        )
        return Verification(
            data["task"], Verdict(data["verdict"]), findings, data["scores"], data["seconds"], cached=True
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
