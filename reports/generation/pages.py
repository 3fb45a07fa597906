"""The page of one generation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from generator.defects.registry import DEFECTS
from generator.ledger import attempts_csv
from generator.pipeline.funnel import Funnel, Passage, Stage
from generator.pipeline.making import FINDINGS
from generator.pipeline.statistics import Statistics, is_undecided, statistics_of
from generator.pipeline.tidy import as_csv
from generator.pipeline.written import Written
from harness.records import strict_json, write_atomically
from reports.figures import generation as figures
from reports.generation.published import NOT_IN_THE_PAPER, beside_the_paper
from reports.style import save_figure
from reports.templating import render

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Fate:
    """What became of one formulation.

    Attributes:
        passage: how far it came.
        verdict: ``verified``, ``not judged`` or ``stopped``.
        findings: the file with what was found, relative to the page; empty where no package was kept.
    """

    passage: Passage
    verdict: str
    findings: str = ""


def write_generation(written: Written, out: Path) -> Path:
    """Write the report of a generation; an older one in the same folder is replaced.

    Args:
        written: its folder, read.
        out: where ``index.html``, the CSV files, ``statistics.json``, ``findings/`` and ``figures/`` go.

    Returns:
        The path of ``index.html``.
    """
    statistics = statistics_of(written.funnel, written.attempts)
    out.mkdir(parents=True, exist_ok=True)
    page = render(
        "generation.html",
        name=written.folder.resolve().name,
        record=written.record,
        statistics=statistics,
        meanings=_meanings(written.funnel),
        fates=_fates(written, out),
        pictures=_pictures(statistics, out / "figures"),
        paper=list(beside_the_paper(statistics)),
        not_in_the_paper=NOT_IN_THE_PAPER,
    )
    write_atomically(out / "statistics.csv", as_csv(statistics))
    write_atomically(out / "statistics.json", strict_json(_document(statistics)) + "\n")
    write_atomically(out / "funnel.csv", written.funnel.as_csv())
    write_atomically(out / "attempts.csv", attempts_csv(written.attempts))
    write_atomically(out / "index.html", page)
    return out / "index.html"


def _document(statistics: Statistics) -> dict[str, Any]:
    return {"schema_version": 1, **statistics.as_json()}


def _meanings(funnel: Funnel) -> dict[str, str]:
    """What each code means; for those that are no defects, such as of refused targets, the first reason."""
    first: dict[str, str] = {}
    for passage in funnel.passages:
        if passage.reason:
            first.setdefault(passage.code, f"for example: {passage.reason}")
    return first | {code: defect.meaning for code, defect in DEFECTS.items()}


def _fates(written: Written, out: Path) -> list[Fate]:
    """Every formulation by dataset; findings of kept packages are copied, so that a report can be moved."""
    fates = []
    for passage in written.funnel.passages:
        verified = passage.reached is Stage.VERIFIED
        verdict = "verified" if verified else "not judged" if is_undecided(passage) else "stopped"
        fates.append(
            Fate(passage, verdict, "" if verified else _keep_findings(written.folder, passage.task, out))
        )
    return sorted(fates, key=lambda fate: fate.passage.dataset)


def _keep_findings(folder: Path, task: str, out: Path) -> str:
    # The name of a target that was refused can be anything, a path, too.
    if not _ID.fullmatch(task):
        return ""
    try:
        document = json.loads((folder / ".rejected" / task / FINDINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    write_atomically(out / "findings" / f"{task}.json", strict_json(document) + "\n")
    return f"findings/{task}.json"


def _pictures(statistics: Statistics, folder: Path) -> Mapping[str, dict[str, str]]:
    """The figures by name, each with its files and its description for those who do not see it."""
    drawn: dict[str, tuple[Figure, str]] = {
        "funnel": (figures.funnel_plot(statistics.funnel), _funnel_in_words(statistics)),
        "reasons": (
            figures.reasons_plot(statistics.funnel),
            "Why formulations were stopped; the numbers are in the table below.",
        ),
        "attempts": (
            figures.attempts_plot(statistics.agents),
            "How many attempts each agent needed; the numbers are in the table below.",
        ),
        "steps": (figures.steps_plot(statistics.agents), _steps_in_words(statistics)),
        "agents-spending": (
            figures.agents_spending_plot(statistics.agents),
            "Seconds and US dollars of each agent; the numbers are in the table of agents.",
        ),
        "task-spending": (
            figures.task_spending_plot(statistics.tasks),
            "Seconds and US dollars of each verified task, with median and quartiles.",
        ),
        "tasks-per-dataset": (
            figures.tasks_per_dataset_plot(statistics.tasks_per_dataset),
            _listed(
                (f"{count} with {tasks}" for tasks, count in statistics.tasks_per_dataset.items()), "datasets"
            ),
        ),
    }
    for field, kinds in statistics.distributions.items():
        words = _listed(
            (f"{kind.value or 'not settled'} {kind.verified}" for kind in kinds), "verified tasks"
        )
        drawn[field] = (figures.kinds_plot(kinds), words)
    pictures = {}
    for name, (figure, alt) in drawn.items():
        saved = save_figure(figure, folder, name)
        pictures[name] = {
            "png": f"figures/{saved.png.name}", "svg": f"figures/{saved.svg.name}", "alt": alt,
        }  # fmt: skip
    return pictures


def _funnel_in_words(statistics: Statistics) -> str:
    return _listed((f"{each.passed} {each.stage}" for each in statistics.funnel), "formulations")


def _steps_in_words(statistics: Statistics) -> str:
    medians = (f"{each.agent} {each.steps.median:g}" for each in statistics.agents if each.steps)
    return _listed(medians, "median steps of an attempt")


def _listed(parts: Iterable[str], what: str) -> str:
    return f"{what.capitalize()}: {', '.join(parts) or 'none'}."
