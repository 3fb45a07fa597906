"""Which trials may be pooled on one board, and a refusal by name for those that may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from harness.budget import Budget
from harness.errors import InputError
from leaderboards.results import Results, Source

_FIXES = {
    "feedback-differs": "build one board per feedback policy, or run all candidates under the same policy",
    "agent-differs": "build one board per agent, or run all candidates with the same agent",
    "budget-differs": "build one board per budget, or run all candidates under the same budget",
    "spec-differs": "build one board per job, or run all candidates with the same agent settings",
    "task-differs": "run all candidates on the same version of the task, or leave the task out",
    "disjoint-models": "run the candidates on common tasks, or build one board per group",
}
_TASK_FIELDS = ("task_hash", "metric", "higher_is_better", "metric_best", "modality", "objective")
_SHOWN = 3


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (``error``) or worth knowing (``warning``)."""

    code: str
    severity: Literal["error", "warning"]
    evidence: str


class ComparabilityError(InputError):
    """Trials that must not be pooled were given for one board.

    Attributes:
        findings: the errors behind it.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        lines = [f"{f.code}: {f.evidence}; fix: {_FIXES[f.code]}" for f in self.findings]
        super().__init__("these trials cannot share a board: " + "; ".join(lines))


def check_comparable(results: Results) -> list[Finding]:
    """What keeps the counted trials from sharing a board (errors) or should be said beside it (warnings).

    Errors: another feedback policy, agent, budget or spec hash; a task in two versions; groups of models
    without a common task. Warnings: models that miss tasks, different sandboxes, memory, processors or GPUs,
    trials left out as infrastructure failures or as the oracle's.
    """
    sources = results.counted().sources
    findings = _check_conditions(sources) + _check_tasks(sources) + _check_overlap(results)
    findings += _differing("sandbox-differs", "warning", [(s.record.sandbox, s) for s in sources], "sandbox")
    findings += _check_resources(sources)
    if left_out := results.left_out():
        listed = ", ".join(f"{number} {status}" for status, number in left_out.items())
        findings.append(
            Finding(
                "trials-left-out", "warning", f"infrastructure failures say nothing about a model: {listed}"
            )
        )
    if results.oracle:
        told = f"{len(results.oracle)} of {results.oracle[0].record.model}"
        findings.append(
            Finding(
                "oracle-left-out",
                "warning",
                f"trials that hand in the answers say nothing about a model: {told}",
            )
        )
    return findings


def require_comparable(results: Results) -> list[Finding]:
    """The warnings of :func:`check_comparable`.

    Raises:
        ComparabilityError: there are errors: each with the differing field, the trials and the fix.
    """
    findings = check_comparable(results)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise ComparabilityError(errors)
    return findings


def _check_conditions(sources: tuple[Source, ...]) -> list[Finding]:
    """The same feedback, agent, budget and, when these explain nothing, spec hash."""
    findings = _differing(
        "feedback-differs", "error", [(s.record.feedback.value, s) for s in sources], "feedback"
    )
    findings += _differing("agent-differs", "error", [(s.record.agent, s) for s in sources], "agent")
    for name in Budget.model_fields:
        values = [(getattr(s.record.budget, name), s) for s in sources]
        findings += _differing("budget-differs", "error", values, f"budget.{name}")
    if not findings:
        findings = _differing(
            "spec-differs", "error", [(s.record.spec_hash, s) for s in sources], "spec_hash"
        )
    return findings


def _check_tasks(sources: tuple[Source, ...]) -> list[Finding]:
    """One version of each task."""
    by_task: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        by_task.setdefault((source.record.task_set, source.record.task), []).append(source)
    findings = []
    for (task_set, task), trials in by_task.items():
        for name in _TASK_FIELDS:
            values = [(getattr(s.record, name), s) for s in trials]
            findings += _differing("task-differs", "error", values, f"{name} of {task_set}/{task}")
    return findings


def _check_resources(sources: tuple[Source, ...]) -> list[Finding]:
    """As much to work with, as far as the records say it; older ones do not."""
    known = [(s.record.resources, s) for s in sources if s.record.resources is not None]
    found: dict[str, list[tuple[object, Source]]] = {
        "memory_gb": [(r.memory_gb, s) for r, s in known],
        "cpus": [(r.cpus, s) for r, s in known],
        "gpus": [(len(r.gpus), s) for r, s in known],
    }
    return [
        finding
        for name, values in found.items()
        for finding in _differing("resources-differ", "warning", values, f"resources.{name}")
    ]


def _check_overlap(results: Results) -> list[Finding]:
    """Models meet on common tasks, on all of them if possible."""
    scores = results.scores_frame()
    if scores.empty:
        return []
    met = pd.crosstab(scores["model"], scores["task"]) > 0
    number, group = connected_components(csr_array(met.to_numpy(dtype=int) @ met.to_numpy(dtype=int).T))
    if number > 1:
        groups = [", ".join(met.index[group == g]) for g in range(number)]
        return [
            Finding(
                "disjoint-models", "error", "no common task between " + " and ".join(f"[{g}]" for g in groups)
            )
        ]
    return [
        Finding("uneven-tasks", "warning", f"{model} has no counted trial on {_some(list(row.index[~row]))}")
        for model, row in met.iterrows()
        if not row.all()
    ]


def _differing(
    code: str, severity: Literal["error", "warning"], values: list[tuple[object, Source]], field: str
) -> list[Finding]:
    """One finding if the values are not all the same, naming each value and trials that have it."""
    groups: dict[object, list[Source]] = {}
    for value, source in values:
        groups.setdefault(value, []).append(source)
    if len(groups) < 2:
        return []
    parts = [f"{value} in {_some([str(s.path) for s in trials])}" for value, trials in groups.items()]
    return [Finding(code, severity, f"{field}: {'; '.join(parts)}")]


def _some(names: list[str]) -> str:
    """The first few names and how many more there are."""
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
