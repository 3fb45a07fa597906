"""A page for each verified task and an index, from the verifications alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from generator.defects.base import Severity
from generator.defects.registry import DEFECTS
from generator.verifier.thresholds.config import DEFAULTS
from generator.verifier.verification import Verification, to_document
from harness.records import strict_json, write_atomically
from reports.figures.verification import ladder_plot, metric_plot, probe_plot, target_plot
from reports.style import save_figure
from reports.templating import render

Exhibits = Mapping[str, Any]


def write_verification(verifications: Sequence[Verification], out: Path) -> Path:
    """Write the report; an older one in the same folder is replaced.

    Args:
        verifications: in the order of the index.
        out: where ``index.html``, ``verification.json``, a page for each task and ``figures/`` go.

    Returns:
        The path of ``index.html``.
    """
    out.mkdir(parents=True, exist_ok=True)
    names = _page_names(verifications)
    for verification, name in zip(verifications, names, strict=True):
        page = render(
            "verified-task.html",
            result=verification,
            meanings={code: defect.meaning for code, defect in DEFECTS.items()},
            severities=_by_severity(verification),
            pictures=_pictures(verification.exhibits, out / "figures", name),
        )
        write_atomically(out / f"{name}.html", page)
    counts = Counter(str(verification.verdict) for verification in verifications)
    codes = Counter(
        found.code
        for verification in verifications
        for found in verification.findings
        if found.severity is not Severity.INFO
    )
    page = render(
        "verified-index.html",
        rows=list(zip(verifications, names, strict=True)),
        counts=counts,
        codes=sorted(codes.items(), key=lambda item: (-item[1], item[0])),
        meanings={code: defect.meaning for code, defect in DEFECTS.items()},
    )
    write_atomically(out / "verification.json", strict_json(to_document(verifications)) + "\n")
    write_atomically(out / "index.html", page)
    return out / "index.html"


def _page_names(verifications: Sequence[Verification]) -> list[str]:
    """The task's id, numbered where two packages share one."""
    seen: Counter[str] = Counter()
    names = []
    for verification in verifications:
        seen[verification.task] += 1
        number = seen[verification.task]
        names.append(f"task-{verification.task}" + (f"-{number}" if number > 1 else ""))
    return names


def _by_severity(verification: Verification) -> list[tuple[str, list[Any]]]:
    """Findings by severity, worst first, each in the order of the gates."""
    groups = [
        (severity.value, [found for found in verification.findings if found.severity is severity])
        for severity in Severity
    ]
    return [(name, found) for name, found in groups if found]


def _pictures(exhibits: Exhibits, folder: Path, name: str) -> list[dict[str, str]]:
    """The figures that the exhibits allow, with their captions."""
    plans: list[tuple[str, Callable[[Any], Figure], str]] = [
        ("targets", target_plot, "The target in train and test."),
        (
            "probes",
            lambda probes: probe_plot(probes, DEFAULTS.leaks.proxy),
            "What one column, or what else is seen of a row, tells of the target by itself. "
            "Beyond the dashed line it all but decides the target.",
        ),
        (
            "metric",
            metric_plot,
            "The score of the answers as more rows are exchanged among each other.",
        ),
        ("ladder", ladder_plot, "Baselines on the way from knowing nothing to perfect, with 95% intervals."),
    ]
    pictures = []
    for key, draw, caption in plans:
        if exhibits.get(key):
            saved = save_figure(draw(exhibits[key]), folder, f"{name}-{key}")
            pictures.append(
                {
                    "png": f"figures/{saved.png.name}",
                    "svg": f"figures/{saved.svg.name}",
                    "alt": caption,
                    "caption": caption,
                }
            )
    return pictures
