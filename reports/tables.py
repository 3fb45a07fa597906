"""The paper's tables for any ratings, and how a table is printed: fixed formats as Markdown, CSV or HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pandas as pd

AGREEMENT_COLUMNS = {
    "pearson_r": "r",
    "r_squared": "R²",
    "spearman_rho": "ρ",
    "kendall_tau_b": "τ-b",
    "ccc": "CCC",
    "top3_overlap": "Top-3",
    "top5_overlap": "Top-5",
}
STATISTICS = {
    "pearson_r": "Pearson r",
    "r_squared": "R²",
    "slope": "slope, least squares",
    "spearman_rho": "Spearman ρ",
    "kendall_tau_b": "Kendall τ-b",
    "ccc": "Lin's CCC",
    "top3_overlap": "Top-3 overlap",
    "top5_overlap": "Top-5 overlap",
}
LINES = {"deming": "slope, Deming", "passing_bablok": "slope, Passing-Bablok"}
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """A table with its formats.

    Attributes:
        title: what it shows.
        frame: the numbers at full precision; a missing value prints as a dash (as nothing in CSV).
        formats: column to format specification (``.1f``); others print as they are.
        headers: column to printed header.
        notes: lines below the table.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def header(self) -> list[str]:
        """Printed headers."""
        return [self.headers.get(column, column) for column in self.frame.columns]

    def cells(self, nothing: str = NOTHING) -> list[list[str]]:
        """All cells as text."""
        return [
            [self._cell(column, value, nothing) for column, value in row.items()]
            for row in self.frame.astype(object).to_dict("records")
        ]

    def is_number(self, column: Any) -> bool:
        """Whether a column is aligned as numbers."""
        return column in self.formats

    def markdown(self) -> str:
        """A Markdown table with its title and notes."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rule = ["---:" if self.is_number(column) else "---" for column in self.frame.columns]
        lines = [f"**{self.title}**", "", line(self.header), line(rule), *map(line, self.cells())]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)]) + "\n"

    def csv(self) -> str:
        """CSV with the frame's own column names."""
        stream = io.StringIO()
        frame = pd.DataFrame(self.cells(nothing=""), columns=self.frame.columns)
        frame.to_csv(stream, index=False, lineterminator="\n")
        return stream.getvalue()

    def html(self) -> str:
        """An HTML table with caption and header cells; everything is escaped."""
        kinds = ['class="number"' if self.is_number(column) else "" for column in self.frame.columns]

        def cell(tag: str, text: str, attributes: str) -> str:
            return f"<{' '.join(filter(None, (tag, attributes)))}>{escape(text)}</{tag}>"

        head = "".join(
            cell("th", text, f'scope="col" {kind}'.strip())
            for text, kind in zip(self.header, kinds, strict=True)
        )
        body = []
        for row in self.cells():
            first = cell("th", row[0], 'scope="row"')
            body.append(f"<tr>{first}{''.join(map(cell, ['td'] * (len(row) - 1), row[1:], kinds[1:]))}</tr>")
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        return (
            f'<div class="scroll"><table><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table></div>{notes}"
        )

    def _cell(self, column: Any, value: Any, nothing: str) -> str:
        if value is None or (isinstance(value, float) and pd.isna(value)):
            return nothing
        return format(value, self.formats.get(column, ""))


def ratings_table(
    sets: Mapping[str, Mapping[str, float]],
    *,
    title: str,
    order_by: str | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Table 1: the Elo of every model in every set, with its rank there, best first.

    Args:
        sets: by name of the set, Elo by model; a missing or NaN Elo is a model without a rating there.
        title, notes: of the table.
        order_by: the set whose ranks give the order; the first by default.
    """
    wide = pd.DataFrame({name: pd.Series(dict(ratings), dtype=float) for name, ratings in sets.items()})
    ranks = wide.rank(ascending=False, method="min")
    first = order_by or next(iter(sets))
    wide["model"] = wide.index.astype(str)
    order = ranks.assign(model=wide["model"]).sort_values([first, "model"], na_position="last").index
    frame = pd.DataFrame({"model": wide.loc[order, "model"]})
    for name in sets:
        frame[name] = wide.loc[order, name]
        frame[f"{name}_rank"] = ranks.loc[order, name]
    return Table(
        title=title,
        frame=frame.reset_index(drop=True),
        formats={**dict.fromkeys(sets, ".1f"), **{f"{name}_rank": ".0f" for name in sets}},
        headers={"model": "Model", **{f"{name}_rank": "rank" for name in sets}},
        notes=notes,
    )


def agreement_table(document: Mapping[str, Any], *, title: str, notes: Sequence[str] = ()) -> Table:
    """Table 2: one row per pair of an agreement document (see :mod:`reports.agreement`)."""
    rows = []
    for pair in document["pairs"]:
        limits = pair["bland_altman"] or {}
        rows.append(
            {
                "pair": f"{pair['a']} - {pair['b']}",
                "n": pair["n"],
                **{name: pair[name] for name in AGREEMENT_COLUMNS},
                "slope": pair["slope"],
                **{name: limits.get(name) for name in ("bias", "loa_low", "loa_high")},
                "cronbach_alpha": pair["cronbach_alpha"],
                "icc_2_1": pair["icc_2_1"],
            }
        )
    decimals = dict.fromkeys([*AGREEMENT_COLUMNS, "cronbach_alpha", "icc_2_1"], ".3f")
    return Table(
        title=title,
        frame=pd.DataFrame(rows),
        formats={
            "n": ".0f",
            **decimals,
            "slope": ".2f",
            **dict.fromkeys(("bias", "loa_low", "loa_high"), "z.1f"),
        },
        headers={
            "pair": "Pair",
            **AGREEMENT_COLUMNS,
            "bias": "bias",
            "loa_low": "lower limit",
            "loa_high": "upper limit",
            "cronbach_alpha": "α",
            "icc_2_1": "ICC(2,1)",
        },
        notes=notes,
    )


def evidence_table(pair: Mapping[str, Any], *, title: str) -> Table:
    """One row per statistic of a pair with evidence: intervals by what was sampled, and what it rests on.

    Args:
        pair: of an agreement document, with the keys that evidence adds.
        title: of the table; its notes name the methods.
    """
    known = pair["intervals"] | pair["intervals_by_models"]
    level = next((f"{interval['level']:.0%}" for interval in known.values()), "interval")
    headers = {
        "statistic": "Statistic",
        "value": "value",
        "tasks": f"{level} over tasks",
        "models": f"{level} over models",
        "without_task": "without any one task",
        "without_model": "without any one model",
        "p": "p, random pairing",
    }
    rows = []
    for name, words in STATISTICS.items():
        row = {
            "statistic": words,
            "value": pair[name],
            "models": _limits(pair["intervals_by_models"].get(name)),
            "without_model": _without(pair["influence"]["models"], name),
            "p": pair["permutation"].get(name, {}).get("p"),
        }
        if pair["by_tasks"]:
            row["tasks"] = _limits(pair["intervals"].get(name))
            row["without_task"] = _without(pair["influence"]["tasks"], name)
        rows.append(row)
    for name, words in LINES.items():
        line = pair["lines"][name] or {}
        rows.append(
            {"statistic": words, "value": line.get("slope"), "models": _limits(line.get("slope_interval"))}
        )
    columns = [name for name in headers if pair["by_tasks"] or name not in ("tasks", "without_task")]
    frame = pd.DataFrame(rows, columns=columns).astype({"value": float, "p": float})
    return Table(
        title=title,
        frame=frame,
        formats={
            "value": ".3f",
            "p": ".2g",
            **dict.fromkeys(set(columns) - {"statistic", "value", "p"}, "s"),
        },
        headers=headers,
        notes=_methods(pair, headers),
    )


def _methods(pair: Mapping[str, Any], headers: Mapping[str, str]) -> list[str]:
    """How the intervals of each column were computed, and from how many units."""
    lines = [line["slope_interval"] for line in pair["lines"].values() if line is not None]
    columns = {
        "tasks": list(pair["intervals"].values()) if pair["by_tasks"] else [],
        "models": [*pair["intervals_by_models"].values(), *lines],
    }
    notes = []
    for column, intervals in columns.items():
        known = [i for i in intervals if i["low"] is not None and i["high"] is not None]
        if not known:
            continue
        methods = dict.fromkeys(i["method"].removesuffix("; models as the sample") for i in known)
        note = f"{headers[column]}: {'; '.join(methods)}; n = {known[0]['n']} {column}"
        if known[0]["replicates"]:
            note += f", {known[0]['replicates']} resamples, {known[0]['failed']} of them without a finite fit"
        notes.append(f"{note}.")
    return notes


def _limits(interval: Mapping[str, Any] | None) -> str | None:
    if interval is None or interval["low"] is None or interval["high"] is None:
        return None
    return f"{interval['low']:z.3f} to {interval['high']:z.3f}"


def _without(influence: Mapping[str, Any] | None, name: str) -> str | None:
    """Smallest and largest value without any one model or task."""
    values = [row[name] for row in (influence or {"without": []})["without"] if row[name] is not None]
    return f"{min(values):z.3f} to {max(values):z.3f}" if values else None
