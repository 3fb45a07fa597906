"""The report of a generation: what is drawn and told is what was counted, and text of others stays text."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from generator.defects.registry import DEFECTS
from generator.pipeline.comparison import compare
from generator.pipeline.funnel import Funnel, Passage, Stage
from generator.pipeline.statistics import statistics_of
from generator.pipeline.written import Written, read_generation
from reports.figures import generation as figures
from reports.generation.comparison import write_comparison
from reports.generation.pages import write_generation
from reports.generation.published import beside_the_paper
from tests.generator.pipeline.example import ATTEMPTS, FUNNEL, attempt, write

FOUND = statistics_of(FUNNEL, ATTEMPTS)


def widths(figure: Figure, panel: int = 0) -> list[list[float]]:
    """The lengths of the horizontal bars of each series."""
    return [
        [bar.get_width() for bar in series.patches if isinstance(bar, Rectangle)]
        for series in figure.axes[panel].containers
        if isinstance(series, BarContainer)
    ]


class Reader(HTMLParser):
    """Collects the text of cells by row, and links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True
        elif tag == "a":
            self.links.append(str(dict(attrs)["href"]))
        elif tag == "img":
            self.images.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += " ".join(data.split()) + " "

    def row(self, *first: str) -> list[str]:
        """The only row that begins with these cells."""
        told = [[cell.strip() for cell in row] for row in self.rows]
        (found,) = [row for row in told if tuple(row[: len(first)]) == first]
        return found


def test_funnel_is_drawn_as_counted() -> None:
    passed, stopped, undecided = widths(figures.funnel_plot(FOUND.funnel))
    assert passed == [7, 6, 6, 5, 3, 3, 3]
    assert stopped == [0, 1, 0, 1, 1, 0, 0]
    assert undecided == [0, 0, 0, 0, 1, 0, 0]


def test_reasons_beyond_what_fits_are_others() -> None:
    passages = tuple(Passage("d", str(i), Stage.CONSIDERED, f"code_{i:02}") for i in range(20))
    figure = figures.reasons_plot(statistics_of(Funnel(passages), ()).funnel)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 17 and labels[-1] == "others" and sum(widths(figure)[0]) == 20


def test_attempts_and_steps_are_drawn_as_counted() -> None:
    one, two, more = widths(figures.attempts_plot(FOUND.agents))
    agents = [work.agent for work in FOUND.agents]
    refactor = agents.index("refactor")
    assert (one[refactor], two[refactor], more[refactor]) == pytest.approx((3 / 5, 1 / 5, 1 / 5))
    assert np.allclose(np.add(np.add(one, two), more), 1)
    axes = figures.steps_plot(FOUND.agents).axes[2]
    bars = {
        round(bar.get_x() + bar.get_width() / 2): bar.get_height()
        for bar in axes.patches
        if isinstance(bar, Rectangle)
    }
    assert bars == {15: 2, 16: 1, 18: 1, 22: 1, 25: 3}


def test_an_unknown_price_is_not_drawn_as_free() -> None:
    figure = figures.agents_spending_plot(FOUND.agents)
    texts = [text.get_text().strip() for text in figure.axes[1].texts]
    assert texts[[work.agent for work in FOUND.agents].index("reviewer")] == "unpriced"
    (points,) = [line for line in figures.task_spending_plot(FOUND.tasks).axes[1].lines if line.get_gid()]
    assert np.sort(np.asarray(points.get_xdata(), float)) == pytest.approx([0.37, 0.65])


def test_page_tells_what_was_counted(tmp_path: Path) -> None:
    folder = write(tmp_path / "tasks")
    kept = folder / ".rejected" / "a-3"
    kept.mkdir(parents=True)
    findings = {"schema_version": 1, "task": "a-3", "findings": [{"code": "trivial"}]}
    (kept / "findings.json").write_text(json.dumps(findings))
    index = write_generation(read_generation(folder), tmp_path / "report")
    page = Reader(index.read_text())
    assert page.row("refactored", "5")[:6] == ["refactored", "5", "", "83% (5/6)", "14–99%", "71% (5/7)"]
    assert page.row("reviewed", "trivial")[2:] == ["1", DEFECTS["trivial"].meaning]
    assert page.row("proposed", "unlearnable")[3] == DEFECTS["unlearnable"].meaning
    assert not page.row("considered", "7")[2].strip("–")
    assert page.row("refactor", "9")[3] == "60% (3/5)"
    assert page.row("verified task", "included")[-1] == "at least 0.84"
    assert page.row("verified task", "left out")[2:4] == ["2.9 min", "50 s"]
    assert page.row("c-2")[2] == "not judged" and page.row("b-x")[2] == "stopped"
    assert page.row("Designer: at most 15 steps")[1:3] == ["about 92%", "66.7% (4/6)"]
    assert "findings/a-3.json" in page.links
    assert json.loads((index.parent / "findings" / "a-3.json").read_text()) == findings
    for link in page.links:
        assert link.startswith("#") or (index.parent / link).is_file(), link
    assert len(page.images) == 10 and all(image["alt"] for image in page.images)
    for image in page.images:
        with Image.open((index.parent / str(image["src"])).with_suffix(".png")) as picture:
            assert len(set(picture.convert("L").resize((64, 64)).tobytes())) > 2, image
    document = json.loads((index.parent / "statistics.json").read_text())
    assert (document["schema_version"], document["verified"]) == (1, 3)


def test_the_same_generation_gives_the_same_report(tmp_path: Path) -> None:
    written = read_generation(write(tmp_path / "tasks"))
    first = write_generation(written, tmp_path / "report").parent
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    write_generation(written, first)
    assert {path: path.read_bytes() for path in first.rglob("*") if path.is_file()} == before


def test_text_of_data_and_models_stays_text_and_paths_stay_inside(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    passages = (
        Passage("d", "../../secret", Stage.CONSIDERED, evil, evil, 0, evil, evil, evil),
        dataclasses.replace(FUNNEL.passages[2], reason=evil),
    )
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "findings.json").write_text("{}")
    written = Written(tmp_path / "tasks", Funnel(passages), (attempt("a-3", evil, 1, "done", 1, 2),))
    index = write_generation(written, tmp_path / "report")
    text = index.read_text()
    assert evil not in text and "&lt;script&gt;" in text
    assert not (index.parent / "findings").exists()


def test_a_code_that_is_no_defect_is_told_by_its_first_reason(tmp_path: Path) -> None:
    passages = tuple(Passage("d", str(i), Stage.CONSIDERED, "few_rows", f"{i} rows") for i in (3, 4))
    index = write_generation(Written(tmp_path, Funnel(passages), ()), tmp_path / "report")
    assert Reader(index.read_text()).row("proposed", "few_rows")[2:] == ["2", "for example: 3 rows"]


def test_nothing_is_a_page_too(tmp_path: Path) -> None:
    index = write_generation(Written(tmp_path, Funnel(()), ()), tmp_path / "report")
    assert "0 verified tasks from 0 datasets" in index.read_text()
    assert not re.search(r"\bnan\b|None", index.read_text())


def test_the_papers_figures_are_as_published() -> None:
    """arXiv 2510.07307, section 4: 224 of 300 datasets, 606 of 807 tasks, 2.71 and 0.78 USD for each."""
    paper = {each.name: each.paper for each in beside_the_paper(FOUND)}
    assert paper["Datasets that gave a verified task"] == f"224 of 300 ({224 / 300:.1%})"
    assert paper["Verified of generated tasks"] == f"606 of 807 ({606 / 807:.1%})"
    assert paper["Verified tasks for each dataset that gave one"] == f"{606 / 224:.2f}"
    assert paper["US dollars for each dataset that gave one"] == f"{0.78 * 606 / 224:.2f}"


def test_comparison_page(tmp_path: Path) -> None:
    whole = read_generation(write(tmp_path / "whole"))
    fewer = Funnel(tuple(each for each in FUNNEL.passages if each.task != "a-2"))
    less = read_generation(write(tmp_path / "<b>less", fewer))
    index = write_comparison([whole, less], tmp_path / "page")
    text = index.read_text()
    page = Reader(text)
    # Shared are a and b: two tasks and one against one and one.
    assert page.row("Verified tasks for each dataset")[1:4] == ["1.50", "1.00", "-0.50"]
    assert "2 shared datasets" in text and "<b>less" not in text
    lines = (index.parent / "comparison.csv").read_text().splitlines()
    assert len(lines) == 6 and lines[0].startswith("generation,shared_datasets,quantity")
    document = json.loads((index.parent / "comparison.json").read_text())
    assert [each["name"] for each in document["generations"]] == ["whole", "<b>less"]
    points = {line.get_gid(): line for line in figures.yields_plot(compare([whole, less])).axes[0].lines}
    assert np.asarray(points["whole"].get_xdata()).tolist() == [0.6]
