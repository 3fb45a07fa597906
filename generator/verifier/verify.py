"""Verification of task packages: the gates in order of cost, and one verdict for each task."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from generator.defects.base import Finding, Gate, has_errors
from generator.defects.registry import finding
from generator.verifier.case import open_case
from generator.verifier.exhibits import finite
from generator.verifier.gates import STEPS, Step
from generator.verifier.memory import CACHE_NAME, identity, recall, remember
from generator.verifier.review.reviewer import Reviewer
from generator.verifier.structure import gate as structure
from generator.verifier.structure.repeats import repeated
from generator.verifier.thresholds.config import DEFAULTS, Thresholds
from generator.verifier.verification import Verdict, Verification
from harness.errors import InputError, TaskError
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task

log = logging.getLogger(__name__)

Progress = Callable[[str, Gate, str], None]

_ATTEMPTS = 3
_WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class Plan:
    """How a task is verified.

    Attributes:
        deep: also run the gates that train baselines or ask models.
        execution: with ``deep``, let an agent work on the task at the end.
        last: stop after this gate.
        without: gates that are left out, to measure what each is good for.
        reviewer: with ``deep``, a language model that reviews the task.
        limits: the thresholds.
    """

    deep: bool = True
    execution: bool = True
    last: Gate | None = None
    without: frozenset[Gate] = frozenset()
    reviewer: Reviewer | None = None
    limits: Thresholds = field(default_factory=lambda: DEFAULTS)

    def steps(self) -> list[Step]:
        """The gates after the structure, in order."""
        steps = [step for step in STEPS if self.deep or not step.costly]
        if not self.execution:
            steps = [step for step in steps if step.gate is not Gate.EXECUTION]
        if self.deep and self.reviewer is not None:
            place = [step.gate for step in steps].index(Gate.DESCRIPTION) + 1
            steps.insert(place, Step(Gate.REVIEW, self.reviewer.check, blocked=None, costly=True))
        steps = [step for step in steps if step.gate not in self.without]
        if self.last is None:
            return steps
        order = list(Gate)
        return [step for step in steps if order.index(step.gate) <= order.index(self.last)]

    def identity(self, sandbox: str) -> dict[str, Any]:
        """All of it that a verdict depends on, as plain data."""
        return {
            "sandbox": sandbox,
            "deep": self.deep,
            "execution": self.execution,
            "last": self.last,
            "without": sorted(self.without),
            "reviewer": self.reviewer.identity if self.reviewer else None,
            "limits": asdict(self.limits),
        }


@dataclass
class _Record:
    """What is known so far."""

    findings: list[Finding] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)
    exhibits: dict[str, Any] = field(default_factory=dict)
    gates: dict[str, float] = field(default_factory=dict)


def verify_task(
    root: Path,
    provider: SandboxProvider,
    plan: Plan | None = None,
    *,
    progress: Progress | None = None,
    cache: Path | None = None,
    fresh: bool = False,
) -> Verification:
    """Verify one task package. It is not changed, but for the remembered verdict.

    Trouble of the machine is tried again, and at last gives the verdict ``error``; it is never a finding.

    Args:
        root: the package's folder.
        provider: opens the sandboxes in which the task's code and the baselines run.
        plan: which gates, with which thresholds.
        progress: told the task's name, the gate and what it does.
        cache: folder for remembered verdicts; without one they are kept as ``verified.json`` in the package.
        fresh: do not look for a remembered verdict.

    Raises:
        InputError: there is no such folder.
    """
    plan, root = plan or Plan(), root.resolve()
    if not root.is_dir():
        raise InputError(f"{root}: no such task folder")
    known_by = identity(root, plan.identity(provider.name))
    memory = (cache / f"{root.name}-{known_by[:16]}.json") if cache else root / CACHE_NAME
    known = None if fresh else recall(memory, known_by)
    if known is not None:
        return known
    started = time.monotonic()
    for attempt in range(1, _ATTEMPTS + 1):
        record, error = _attempt(root, provider, plan, progress)
        if error is None or attempt == _ATTEMPTS:
            break
        log.info("%s: verification was interrupted (%s) and starts again", root.name, error)
        time.sleep(_WAIT_SECONDS * attempt)
    verdict = Verdict.REJECTED if has_errors(record.findings) else Verdict.VERIFIED
    if error is not None:
        log.warning("%s: verification was interrupted: %s", root.name, error)
        verdict = Verdict.ERROR
    result = Verification(
        task=root.name,
        verdict=verdict,
        findings=tuple(record.findings),
        scores={name: score for name, score in record.scores.items() if math.isfinite(score)},
        seconds=time.monotonic() - started,
        error=error,
        gates=record.gates,
        exhibits=finite(record.exhibits),
    )
    if error is None:
        remember(memory, known_by, result)
    return result


def verify_tasks(
    roots: Iterable[Path],
    provider: SandboxProvider,
    plan: Plan | None = None,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    cache: Path | None = None,
    fresh: bool = False,
) -> list[Verification]:
    """Verify several packages at once, in the order given; one that repeats an earlier one is told so.

    That finding depends on the company a package is in, so it is not remembered with its verdict.
    """
    roots = list(roots)
    one = functools.partial(
        verify_task, provider=provider, plan=plan, progress=progress, cache=cache, fresh=fresh
    )
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        results = list(pool.map(one, roots))
    again = repeated(roots)
    return [
        replace(result, findings=(*result.findings, again[root])) if root in again else result
        for root, result in zip(roots, results, strict=True)
    ]


def _attempt(
    root: Path, provider: SandboxProvider, plan: Plan, progress: Progress | None
) -> tuple[_Record, str | None]:
    """Run the gates once; also what the machine did, if it got in the way."""
    record = _Record()
    try:
        _run_gates(root, provider, plan, record, progress)
    except TaskError as trouble:
        record.findings.append(finding("unreadable_table", str(trouble), "make the data fit task.toml"))
    except Exception as trouble:  # a lost sandbox, a full disk, a bug of ours: never the task's
        log.debug("%s", root, exc_info=True)
        return record, f"{type(trouble).__name__}: {trouble}"
    return record, None


def _run_gates(
    root: Path, provider: SandboxProvider, plan: Plan, record: _Record, progress: Progress | None
) -> None:
    def say(gate: Gate, text: str) -> None:
        log.debug("%s: %s: %s", root.name, gate, text)
        if progress is not None:
            progress(root.name, gate, text)

    say(Gate.STRUCTURE, "reading the package")
    started = time.monotonic()
    record.findings += structure.check(root)
    record.gates[Gate.STRUCTURE] = time.monotonic() - started
    if has_errors(record.findings):
        return
    with open_case(load_task(root), provider, plan.limits) as case:
        case.scores, case.findings, case.exhibits = record.scores, record.findings, record.exhibits
        for step in plan.steps():
            if step.is_blocked(record.findings):
                continue
            case.say = functools.partial(say, step.gate)
            case.say("started")
            started = time.monotonic()
            record.findings += step.check(case)
            record.gates[step.gate] = time.monotonic() - started
