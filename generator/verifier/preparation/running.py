"""One run of prepare.py into a folder of its own, and what its end says about it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from harness.sandboxes.base import ROOT
from harness.tasks.package import Task, raw_hash
from harness.tasks.preparing import Conditions, Preparation, run_prepare

_FAILURES = {
    "ran longer": "prepare_timeout",
    "did not write": "missing_output",
    "a link or a special file": "linked_output",
}
#: What Python, the system, requests, urllib3, botocore and huggingface_hub say where there is no network.
_NO_NETWORK = re.compile(
    r"gaierror|name resolution|NameResolutionError|getaddrinfo|Name or service not known"
    r"|nodename nor servname"
    r"|No address associated with hostname|Network is unreachable|No route to host|ConnectionRefusedError"
    r"|NewConnectionError|Max retries exceeded|ConnectTimeout|EndpointConnectionError|URLError|ProxyError"
    r"|ConnectionError\b|Could not resolve host|Cannot connect to host|unable to resolve host address"
    r"|LocalEntryNotFound|OfflineMode|couldn't connect to '?https?:|Failed to establish a new connection",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    r"(?:No such file or directory|Permission denied|Not a directory|Read-only file system"
    r"|FileNotFoundError|does not exist|not found)[^'\"\n]*['\"](?P<path>[^'\"\n]+)['\"]"
)
_LAST_LINES = 60
_FIXES = {
    "prepare_needs_network": "put what it downloads into raw/, and read it from there",
    "prepare_needs_place": "build every path from raw, public and private, and bring all it needs",
    "linked_output": "copy the data instead of linking them",
    "missing_output": "write public/sample_submission.csv and private/test_answer.csv",
    "prepare_timeout": "do less work, or do it in whole columns rather than row by row",
}


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        made: the package with what the run made.
        problem: why it is of no use.
        seconds: wall time.
    """

    made: Task
    problem: Finding | None
    seconds: float


def run(
    case: Case, name: str, conditions: Conditions, *, old: Task | None = None, guarded: bool = True
) -> Run:
    """Run prepare.py once.

    Args:
        case: the task.
        name: of the run's folder in the case's scratch.
        conditions: under which it runs.
        old: a prepared package whose ``public/`` and ``private/`` it finds; by default it finds them empty.
        guarded: ``raw/`` is read-only; otherwise it is a copy that is compared afterwards, as always in a
            sandbox that isolates nothing.
    """
    root = case.scratch / name / case.task.id
    root.mkdir(parents=True)
    files = (case.task.prepare_path, case.task.metric_path, case.task.description_path)
    for path in (case.task.root / "task.toml", *files):
        shutil.copyfile(path, root / path.name)
    made, copied = Task(root, case.task.spec), not (guarded and case.provider.capabilities.isolated)
    if copied:
        shutil.copytree(case.task.raw, made.raw)
    for folder in ("public", "private") if old is not None else ():
        if old is not None:
            shutil.copytree(old.root / folder, root / folder)
    source = made if copied else case.task
    report = run_prepare(
        source,
        root,
        case.provider,
        seconds=case.limits.preparation.seconds,
        conditions=conditions,
        raw_writable=copied and case.provider.capabilities.isolated,
    )
    problem = _altered(case, report, source, copied) or (
        None if report.ok else _failure(report, source, root)
    )
    if copied:
        shutil.rmtree(made.raw, ignore_errors=True)
    return Run(made, problem, report.seconds)


def _altered(case: Case, report: Preparation, source: Task, copied: bool) -> Finding | None:
    changed = copied and (not source.raw.is_dir() or raw_hash(source.raw) != raw_hash(case.task.raw))
    if not changed and not _touched_raw(report, source.raw):
        return None
    return finding(
        "prepare_alters_raw",
        "raw/ differs after the run" if changed else f"raw/ is given read-only: {report.message}",
        "read from raw/ only; write to public/ and private/",
    )


def _touched_raw(report: Preparation, raw: Path) -> bool:
    """Whether the run ended because raw/ is mounted read-only; errors name a path, or only a file's name."""
    last = report.output.strip().splitlines()[-1:]
    if report.ok or not last or "Read-only file system" not in last[0]:
        return False
    return "/raw" in last[0] or any(f"'{path.name}'" in last[0] for path in raw.rglob("*"))


def _failure(report: Preparation, source: Task, root: Path) -> Finding:
    code = next((code for words, code in _FAILURES.items() if words in report.message), None)
    if code is None and "prepare.py failed" in report.message:
        code = _reason(report.output, (ROOT, str(source.root), str(root)))
    code = code or "prepare_failed"
    tail = " | ".join(report.output.strip().splitlines()[-3:])
    bare = code in ("prepare_timeout", "missing_output", "linked_output") and "failed" not in report.message
    evidence = report.message if bare else f"{report.message} ({tail[-400:]})"
    return finding(
        code,
        evidence,
        _FIXES.get(code, "make prepare(raw, public, private) run alone, offline, in any folder"),
    )


def _reason(output: str, ours: tuple[str, ...]) -> str | None:
    """The code for what the last lines of a failed run say, when they say something known."""
    lines = output.strip().splitlines()[-_LAST_LINES:]
    # Source lines of a traceback say what was tried; only the errors' own lines say what went wrong.
    errors = "\n".join(line for line in lines if line[:1].strip())
    if "Invalid cross-device link" in errors:
        return "linked_output"
    if _NO_NETWORK.search(errors):
        return "prepare_needs_network"
    places = [match["path"] for match in _NO_PLACE.finditer(errors)]
    if places and not places[-1].startswith(ours):
        return "prepare_needs_place"
    return None
