"""The page of several generations side by side, such as of a line with and without its parts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from generator.pipeline.comparison import Compared, Difference, compare
from generator.pipeline.written import Written
from harness.records import strict_json, write_atomically
from reports.figures.generation import yields_plot
from reports.style import save_figure
from reports.templating import render

#: What each difference is of, and how many digits it is told with.
QUANTITIES = {
    "verified": ("Verified tasks for each dataset", 2),
    "proposed": ("Proposed formulations for each dataset", 2),
    "yield": ("Share of the proposed that were verified", 2),
    "seconds": ("Seconds for each dataset", 0),
    "cost_usd": ("US dollars for each dataset", 2),
}


def write_comparison(generations: Sequence[Written], out: Path) -> Path:
    """Write the page; an older one in the same folder is replaced.

    Args:
        generations: the first is what the others are compared with.
        out: where ``index.html``, ``comparison.csv``, ``comparison.json`` and ``figures/`` go.

    Returns:
        The path of ``index.html``.

    Raises:
        InputError: fewer than two, or one of them twice.
    """
    compared = compare(generations)
    out.mkdir(parents=True, exist_ok=True)
    saved = save_figure(yields_plot(compared), out / "figures", "yields")
    alt = "Share of the proposed formulations that were verified: " + ", ".join(
        f"{each.name} {each.statistics.of_proposed.value:.0%}"
        for each in compared
        if each.statistics.of_proposed.value is not None
    )
    page = render(
        "generation-comparison.html",
        compared=compared,
        quantities=QUANTITIES,
        yields={"png": f"figures/{saved.png.name}", "svg": f"figures/{saved.svg.name}", "alt": f"{alt}."},
    )
    write_atomically(out / "comparison.csv", comparison_csv(compared))
    write_atomically(out / "comparison.json", strict_json(comparison_document(compared)) + "\n")
    write_atomically(out / "index.html", page)
    return out / "index.html"


def comparison_document(compared: Sequence[Compared]) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "schema_version": 1,
        "first": compared[0].name,
        "generations": [
            {
                "name": each.name,
                "statistics": each.statistics.as_json(),
                "shared_datasets": each.shared,
                "differences": [asdict(difference) for difference in each.differences],
            }
            for each in compared
        ],
    }


def comparison_csv(compared: Sequence[Compared]) -> str:
    """One line for each difference; what does not exist is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        ["generation", "shared_datasets", *(field.name for field in fields(Difference))],
        lineterminator="\n",
    )
    writer.writeheader()
    for each in compared:
        for difference in each.differences:
            row = {"generation": each.name, "shared_datasets": each.shared, **asdict(difference)}
            writer.writerow(
                {key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()}
            )
    return text.getvalue()
