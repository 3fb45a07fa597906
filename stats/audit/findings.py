"""What cannot be true of a rating table, or is unlikely to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stats.audit.pooling import Pooling, pool
from stats.audit.statistics import SLACK, Checked

Floats = NDArray[np.float64]


class Severity(StrEnum):
    """How sure a finding is."""

    ERROR = "error"
    """Cannot be true, whatever was rounded."""
    WARNING = "warning"
    """True only if something holds that the table does not show."""
    HINT = "hint"
    """Where to look; no finding by itself."""


@dataclass(frozen=True)
class Finding:
    """One thing found: a stable code, its severity, where, and the figures that show it."""

    code: str
    severity: Severity
    where: str
    evidence: str

    @property
    def label(self) -> str:
        """Code and place."""
        return f"{self.code}: {self.where}"


@dataclass(frozen=True, eq=False)
class Case:
    """The table under audit, and how it is read.

    Attributes:
        models, sets: n and k names.
        table: (n, k) ratings; NaN where there is none.
        offset: what the ratings of a set average to.
        decimals: printed places of the ratings.
        wholes: whole to the sets it pools.
    """

    models: tuple[str, ...]
    sets: tuple[str, ...]
    table: Floats
    offset: float
    decimals: int
    wholes: Mapping[str, tuple[str, ...]]

    @property
    def half(self) -> float:
        """Half a unit of the last printed place: how far a rounded rating can lie from the true one."""
        return 0.5 * 10.0**-self.decimals

    def off_mean(self, tables: Floats) -> NDArray[Any]:
        """(..., k) columns of (..., n, k) tables whose mean is not the offset, however they were rounded.

        n ratings, each rounded by at most `half`, have a mean that is rounded by at most `half`.
        """
        rated = ~np.isnan(tables)
        with np.errstate(invalid="ignore"):
            mean = np.where(rated, tables, 0.0).sum(axis=-2) / rated.sum(axis=-2)
        return np.asarray(np.abs(mean - self.offset) > self.half + SLACK)

    def pooled(self, table: Floats, known: Sequence[Pooling] = ()) -> tuple[Pooling, ...]:
        """How each whole follows from its parts, where that can be said; unknown shares are estimated."""
        shares = {item.whole: item.shares for item in known}
        column = {name: table[:, place] for place, name in enumerate(self.sets)}
        made = (
            pool(
                column[whole],
                np.stack([column[part] for part in parts]),
                self.decimals,
                whole,
                parts,
                shares.get(whole),
            )
            for whole, parts in self.wholes.items()
        )
        return tuple(found for found in made if found is not None)


def mean_findings(case: Case) -> list[Finding]:
    """Columns whose mean is not the offset."""
    findings = []
    for place in np.flatnonzero(case.off_mean(case.table)):
        column = case.table[:, place]
        rated = column[~np.isnan(column)]
        total, wanted, room = rated.sum(), case.offset * rated.size, case.half * rated.size
        evidence = (
            f"{rated.size} ratings sum to {total:.{case.decimals}f}; a fit with offset {case.offset:g} makes "
            f"that {wanted:.{case.decimals}f}, and rounding can move it by {room:g} at most: off by "
            f"{total - wanted:+.{case.decimals}f}"
        )
        severity = Severity.ERROR
        if rated.size < len(column):
            severity = Severity.WARNING
            evidence += (
                f"; {len(column) - rated.size} models have no rating here, and may have had one in the fit"
            )
        findings.append(Finding("mean-not-offset", severity, case.sets[place], evidence))
    return findings


def part_findings(case: Case, pooled: Sequence[Pooling]) -> list[Finding]:
    """Ratings of a whole that do not follow from its parts as those of the other models do.

    A warning: a model that lacks results which the others have may deviate too, by a point or two as a rule.
    """
    findings = []
    for item in pooled:
        for place in item.outliers:
            row = dict(zip(case.sets, case.table[place], strict=True))
            low, high = min(row[part] for part in item.parts), max(row[part] for part in item.parts)
            shown = ", ".join(f"{part} {row[part]:.{case.decimals}f}" for part in item.parts)
            side = "within" if low <= row[item.whole] <= high else "outside"
            evidence = (
                f"{item.whole} {row[item.whole]:.{case.decimals}f} ({side} {shown}) lies "
                f"{item.deviations[place]:+.{case.decimals}f} from what pooling the parts "
                f"gives; as the other models go, {item.tolerance:.2f} is allowed: one of its ratings is off, "
                "or it lacks results in one set"
            )
            where = f"{case.models[place]} in {item.whole}"
            findings.append(Finding("outside-parts", Severity.WARNING, where, evidence))
    return findings


def statistic_findings(checked: Sequence[Checked], decimals: int) -> list[Finding]:
    """Published statistics that do not follow from the ratings; a warning where rounding could explain it."""
    return [
        Finding(
            "statistic-mismatch",
            Severity.WARNING if item.within_rounding else Severity.ERROR,
            item.label,
            f"published {item.published:.{decimals}f}; the ratings give {item.recomputed:z.{decimals}f}, and "
            f"{item.low:z.{decimals + 2}f} to {item.high:z.{decimals + 2}f} within their rounding"
            if np.isfinite(item.recomputed)
            else f"published {item.published:.{decimals}f}; undefined for these ratings",
        )
        for item in checked
        if not item.reproduced
    ]


def duplicate_hints(case: Case) -> list[Finding]:
    """Cells of a column with a wrong mean that repeat a neighbour's printed value, in row or column."""
    findings = []
    bad = case.off_mean(case.table)
    n, k = case.table.shape
    pairs = [((i, j), (i, j + 1)) for i in range(n) for j in range(k - 1)]
    pairs += [((i, j), (i + 1, j)) for i in range(n - 1) for j in range(k)]
    for one, two in pairs:
        if case.table[one] == case.table[two] and (bad[one[1]] or bad[two[1]]):
            cells = " and ".join(f"{case.models[i]} in {case.sets[j]}" for i, j in (one, two))
            evidence = f"both print {case.table[one]:.{case.decimals}f}: perhaps copied from the neighbour"
            findings.append(Finding("duplicate-values", Severity.HINT, cells, evidence))
    return findings
