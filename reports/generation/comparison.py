"""The page of several generations side by side, such as of a line with and without its parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generator.pipeline.comparison import QUANTITIES, compare, comparison_csv, comparison_document
from generator.pipeline.written import Written
from harness.records import strict_json, write_atomically
from reports.figures.generation import yields_plot
from reports.style import save_figure
from reports.templating import render


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
