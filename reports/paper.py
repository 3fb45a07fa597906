"""The paper's Table 1 (Overall), Table 2 and figures from its published ratings, beside what it printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from harness.records import strict_json, write_atomically
from leaderboards.published import REPAIR_NOTE, facts, published_agreement, published_ratings
from reports.agreement import agreement_document, is_part_whole
from reports.audit import audit_document, findings_table, repairs_table
from reports.tables import AGREEMENT_COLUMNS, Table, agreement_table, ratings_table
from reports.templating import render
from stats.agreement.pair import Agreement, agree
from stats.audit.consistency import INFERENCE, audit
from stats.audit.statistics import Published

SETS = ("dojo", "smith", "combined")
TITLE = "The paper's tables and figures, regenerated"
NOT_PUBLIC = (
    "Elo per modality (the other columns of Table 1)",
    "intervals of the ratings, so the forest plot shows points only",
    "scores per task, so no step-wise curves, no distributions per set and no bootstrap over tasks",
    "the lists of the 50 Dojo and the 50 Smith tasks",
)
CAUTIONS = (
    REPAIR_NOTE,
    "Every set has a mean rating of 1000: a Bland-Altman bias of 0 holds by construction and shows nothing.",
    "Combined contains the tasks of both other sets: its agreement with them, and alpha and ICC(2,1) over "
    "all three, are inflated.",
)


@dataclass(frozen=True)
class Comparison:
    """One published figure beside what the published ratings give; ``None`` where undefined."""

    statistic: str
    published: float
    from_repaired: float | None
    from_printed: float | None

    @property
    def match(self) -> bool:
        """Whether the repaired ratings give the published figure to its three decimals."""
        return _same(self.published, self.from_repaired)

    @property
    def match_printed(self) -> bool:
        """The same for the ratings as printed."""
        return _same(self.published, self.from_printed)


@dataclass(frozen=True)
class Summary:
    """What :func:`regenerate` made.

    Attributes:
        comparisons: every published statistic.
        files: all written files.
    """

    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]

    @property
    def all_match(self) -> bool:
        """Whether every statistic comes out as published."""
        return all(comparison.match for comparison in self.comparisons)

    def rows(self) -> list[tuple[str, ...]]:
        """The comparisons as text."""
        return [tuple(cells) for cells in _comparison_table(self.comparisons).cells()]

    def document(self) -> dict[str, Any]:
        """The summary as strict JSON data."""
        return {
            "schema_version": 1,
            "all_match": self.all_match,
            "matches": sum(comparison.match for comparison in self.comparisons),
            "matches_as_printed": sum(comparison.match_printed for comparison in self.comparisons),
            "statistics": [
                {
                    "statistic": c.statistic,
                    "published": c.published,
                    "regenerated_from_repaired": c.from_repaired,
                    "regenerated_from_printed": c.from_printed,
                    "match": c.match,
                }
                for c in self.comparisons
            ],
            "notes": [*CAUTIONS, *(f"not public: {thing}" for thing in NOT_PUBLIC)],
            "files": [str(path) for path in self.files],
        }


def regenerate(out: Path) -> Summary:
    """Write the tables, the figures, ``published_vs_regenerated.csv`` and an index as Markdown and HTML."""
    repaired, printed = published_ratings(repaired=True), published_ratings(repaired=False)
    results, document = _agreement(repaired)
    comparisons = _compare(document, _agreement(printed)[1])
    tables = {
        "table-1-overall": _ratings(repaired, "Table 1 (Overall): Elo, o4-mini repaired", (REPAIR_NOTE,)),
        "table-1-overall-as-printed": _ratings(printed, "Table 1 (Overall): Elo, as printed", _sums(printed)),
        "table-2-agreement": agreement_table(
            document,
            title="Table 2: agreement, from the repaired ratings",
            notes=_reliability_notes(document),
        ),
        "published_vs_regenerated": _comparison_table(comparisons),
    }
    audits = {name: _audit(frame) for name, frame in (("as_printed", printed), ("repaired", repaired))}
    audited = {
        "audit": findings_table(audits["as_printed"], title="What the audit finds in the table as printed"),
        "audit-repairs": repairs_table(
            audits["as_printed"],
            title="Repairs of one row that would explain it, best first",
            notes=(INFERENCE,),
        ),
    }
    files = [_write(out / "audit.json", strict_json({"schema_version": 1, **audits}) + "\n")]
    for name, table in {**tables, **audited}.items():
        files.append(_write(out / f"{name}.csv", table.csv()))
    figures = _draw(repaired, results, out / "figures")
    files += [path for _, png, svg in figures for path in (png, svg)]
    words = {
        "title": TITLE,
        "tables": tables,
        "audited": audited,
        "verdicts": _verdicts(audits),
        "figures": [(title, f"figures/{png.name}", f"figures/{svg.name}") for title, png, svg in figures],
        "cautions": CAUTIONS,
        "not_public": NOT_PUBLIC,
        "matched": sum(c.match for c in comparisons),
        "matched_printed": sum(c.match_printed for c in comparisons),
        "total": len(comparisons),
    }
    files.append(_write(out / "index.md", _index(words)))
    files.append(_write(out / "index.html", render("paper.html", **words)))
    return Summary(tuple(comparisons), tuple(files))


def _ratings(frame: pd.DataFrame, title: str, notes: tuple[str, ...]) -> Table:
    return ratings_table({name: _series(frame, name) for name in SETS}, title=title, notes=notes)


def _series(frame: pd.DataFrame, name: str) -> dict[str, float]:
    return {str(m): float(v) for m, v in zip(frame["model"], frame[name], strict=True)}


def _agreement(frame: pd.DataFrame) -> tuple[list[Agreement], dict[str, Any]]:
    tables = {name: _series(frame, name) for name in SETS}
    results = [
        agree(tables[a], tables[b], a, b, part_whole=is_part_whole(a, b)) for a, b in combinations(SETS, 2)
    ]
    return results, agreement_document(results, tables, {})


def _compare(repaired: Mapping[str, Any], printed: Mapping[str, Any]) -> list[Comparison]:
    """Every statistic of Table 2, then the reliability of all three sets."""
    compared = []
    published = {str(row.pop("pair")): row for row in published_agreement().to_dict("records")}
    for new, old in zip(repaired["pairs"], printed["pairs"], strict=True):
        pair = f"{new['a']}-{new['b']}"
        for name in AGREEMENT_COLUMNS:
            compared.append(Comparison(f"{pair} {name}", float(published[pair][name]), new[name], old[name]))
    for name, value in facts()["reliability_three_sets"].items():
        compared.append(
            Comparison(f"three sets {name}", value, repaired["all_sets"][name], printed["all_sets"][name])
        )
    return compared


def _audit(frame: pd.DataFrame) -> dict[str, Any]:
    """The audit of a table against every published statistic; Combined pools the tasks of both other sets."""
    published = [
        Published(name, tuple(str(row["pair"]).split("-")), float(row[name]))
        for row in published_agreement().to_dict("records")
        for name in AGREEMENT_COLUMNS
    ]
    published += [Published(name, SETS, value) for name, value in facts()["reliability_three_sets"].items()]
    result = audit(frame.set_index("model"), published=published, wholes={"combined": ("dojo", "smith")})
    return audit_document(result, decimals=1)


def _verdicts(audits: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the audit says of either table, and what its best repair is, as sentences."""
    said = []
    for name, words in (("as_printed", "The table as printed"), ("repaired", "The repaired table")):
        document = audits[name]
        fine = sum(item["reproduced"] for item in document["statistics"])
        found = f"{len(document['findings'])} findings" if document["findings"] else "nothing found"
        said.append(
            f"{words}: {found}; {fine} of {len(document['statistics'])} published statistics reproduced."
        )
        said += [f"{words}: {note}." for note in document["notes"] if note != INFERENCE]
    for repair in audits["as_printed"]["repairs"][:1]:
        changes = ", ".join(f"{name} {change['repaired']:.1f}" for name, change in repair["changes"].items())
        said.append(
            f"The repair that restores most, found by search: {repair['model']} with {changes}; "
            f"{repair['reproduced']} of {repair['total']} statistics reproduced, "
            f"{len(repair['remaining'])} findings left."
        )
    return said


def _comparison_table(comparisons: list[Comparison] | tuple[Comparison, ...]) -> Table:
    frame = pd.DataFrame(
        {
            "statistic": [c.statistic for c in comparisons],
            "published": [c.published for c in comparisons],
            "regenerated_from_repaired": [c.from_repaired for c in comparisons],
            "regenerated_from_printed": [c.from_printed for c in comparisons],
            "match": ["yes" if c.match else "no" for c in comparisons],
        }
    )
    numbers = ("published", "regenerated_from_repaired", "regenerated_from_printed")
    return Table(
        title="Published against regenerated",
        frame=frame,
        formats=dict.fromkeys(numbers, ".3f"),
        headers={
            "statistic": "Statistic",
            "published": "published",
            "regenerated_from_repaired": "from the repaired table",
            "regenerated_from_printed": "from the printed table",
            "match": "match",
        },
        notes=("Match: the repaired table gives the published figure to three decimals.",),
    )


def _sums(frame: pd.DataFrame) -> tuple[str, ...]:
    sums = ", ".join(f"{name} {frame[name].sum():.1f}" for name in SETS)
    return (f"A fit with offset 1000 makes eight ratings sum to 8000; these columns sum to {sums}.",)


def _reliability_notes(document: Mapping[str, Any]) -> tuple[str, ...]:
    both, alone = document["all_sets"], document["pairs"][0]
    return (
        f"All three sets: Cronbach's alpha {both['cronbach_alpha']:.3f}, ICC(2,1) {both['icc_2_1']:.3f}; "
        f"Dojo and Smith alone: {alone['cronbach_alpha']:.3f} and {alone['icc_2_1']:.3f}.",
        *document["notes"],
    )


def _draw(ratings: pd.DataFrame, results: list[Agreement], folder: Path) -> list[tuple[str, Path, Path]]:
    """Titles and files of the figures."""
    from reports.figures.agreement import agreement_scatter, bland_altman_plot
    from reports.figures.forest import forest_plot
    from reports.style import looks, save_figure

    table = ratings.set_index("model")
    look = looks(table.index)
    boards = {name: ratings[["model", name]].rename(columns={name: "elo"}) for name in SETS}
    drawn = [("Ratings of the eight models in each set", "ratings", forest_plot(boards, look))]
    for result in results:
        pair = f"{result.a}-{result.b}"
        drawn.append(
            (f"{result.b} against {result.a}", f"scatter-{pair}", agreement_scatter(result, table, look))
        )
        drawn.append(
            (
                f"Bland-Altman plot of {result.a} and {result.b}",
                f"bland-altman-{pair}",
                bland_altman_plot(result, table, look),
            )
        )
    saved = [(title, save_figure(figure, folder, name)) for title, name, figure in drawn]
    return [(title, files.png, files.svg) for title, files in saved]


def _index(words: Mapping[str, Any]) -> str:
    """The index as Markdown."""
    lines = [
        f"# {TITLE}",
        "",
        f"{words['matched']} of {words['total']} published statistics follow from the repaired ratings to "
        f"three decimals; {words['matched_printed']} from the ratings as printed.",
        "",
        *(f"- {caution}" for caution in CAUTIONS),
        "",
        "Not available publicly, and so not shown:",
        "",
        *(f"- {thing}" for thing in NOT_PUBLIC),
        "",
    ]
    for name, table in words["tables"].items():
        lines += [table.markdown(), f"As a file: [{name}.csv]({name}.csv)", ""]
    lines += ["## Audit of the ratings", "", *(f"- {verdict}" for verdict in words["verdicts"]), ""]
    for name, table in words["audited"].items():
        lines += [table.markdown(), f"As a file: [{name}.csv]({name}.csv)", ""]
    lines += ["Both audits in full: [audit.json](audit.json)", "", "## Figures", ""]
    for title, png, _ in words["figures"]:
        lines += [f"![{title}]({png})", ""]
    return "\n".join(lines)


def _same(published: float, regenerated: float | None) -> bool:
    return regenerated is not None and f"{published:.3f}" == f"{regenerated:.3f}"


def _write(path: Path, text: str) -> Path:
    write_atomically(path, text)
    return path
