"""The audit of a published rating table: what cannot be true of it, and which small error would explain that.

A Bradley-Terry fit makes the ratings of a set average to its offset, a pooled set follows from its parts, and
published statistics follow from the ratings. A table that breaks one of these was printed or copied wrongly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stats.audit.findings import (
    Case,
    Finding,
    Severity,
    duplicate_hints,
    mean_findings,
    part_findings,
    statistic_findings,
)
from stats.audit.pooling import Pooling
from stats.audit.repairs import Repair, find_repairs
from stats.audit.statistics import Checked, Published, check, check_published
from stats.vectors import LARGEST

Floats = NDArray[np.float64]

INFERENCE = (
    "A repair is an inference from the figures, never a published correction; wherever it is used, say so."
)


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found.

    Attributes:
        models, sets: of the table.
        findings: errors first, then warnings and hints.
        statistics: every published statistic beside what the ratings give.
        pooled: how each whole follows from its parts.
        repairs: readings of one row that explain wrong means, best first; inferences, not corrections.
        notes: what could not be checked, and why.
    """

    models: tuple[str, ...]
    sets: tuple[str, ...]
    findings: tuple[Finding, ...]
    statistics: tuple[Checked, ...]
    pooled: tuple[Pooling, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings

    @property
    def reproduced(self) -> int:
        """Number of published statistics that follow from the ratings."""
        return sum(item.reproduced for item in self.statistics)


def audit(
    ratings: pd.DataFrame,
    *,
    published: Sequence[Published] | None = None,
    offset: float = 1000.0,
    wholes: Mapping[str, Sequence[str]] | None = None,
    decimals: int = 1,
    statistic_decimals: int = 3,
) -> Audit:
    """Audit a table of Elo ratings (base 10, scale 400).

    Args:
        ratings: one row per model (the index), one column per set; NaN where a model has no rating.
        published: statistics that were published about these ratings, named as in `stats.agreement`.
        offset: what the ratings of each set average to.
        wholes: whole to its parts, such as {"combined": ("dojo", "smith")}.
        decimals, statistic_decimals: printed places of the ratings and of the statistics.

    Raises:
        ValueError: an empty table, repeated names, a rating that is no finite number, an unknown set or
            statistic; the message names it.
    """
    if not np.isfinite(offset) or decimals < 0 or statistic_decimals < 0:
        raise ValueError("offset must be finite and decimals not negative")
    case = _case(ratings, offset, wholes or {}, decimals)
    published = tuple(published or ())
    check_published(published, case.sets)
    checked = check(
        published, case.sets, case.table, decimals=decimals, statistic_decimals=statistic_decimals
    )
    pooled = case.pooled(case.table)
    findings = [
        *mean_findings(case),
        *part_findings(case, pooled),
        *statistic_findings(checked, statistic_decimals),
        *duplicate_hints(case),
    ]
    findings.sort(key=lambda finding: list(Severity).index(finding.severity))
    repairs = find_repairs(case, published, statistic_decimals, pooled)
    return Audit(
        case.models, case.sets, tuple(findings), checked, pooled, repairs, _notes(case, pooled, repairs)
    )


def _case(ratings: pd.DataFrame, offset: float, wholes: Mapping[str, Sequence[str]], decimals: int) -> Case:
    """The table, checked."""
    models, sets = tuple(map(str, ratings.index)), tuple(map(str, ratings.columns))
    if not models or not sets:
        raise ValueError(f"need at least one model and one set, not a table of shape {ratings.shape}")
    for kind, names in (("model", models), ("set", sets)):
        if repeated := [name for name, times in Counter(names).items() if times > 1]:
            raise ValueError(f"{kind} named more than once: {', '.join(repeated)}")
    table = np.empty(ratings.shape)
    for i, model in enumerate(models):
        for j, name in enumerate(sets):
            value: Any = ratings.iat[i, j]
            try:
                table[i, j] = np.nan if value is None or value is pd.NA else float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{model}, {name}: rating {value!r} is not a number") from None
            if abs(table[i, j]) > LARGEST:
                raise ValueError(f"{model}, {name}: rating {value} is no finite rating; leave it out as NaN")
    for place in np.flatnonzero(np.isnan(table).all(axis=0)):
        raise ValueError(f"set {sets[place]} has no rating at all")
    for whole, parts in wholes.items():
        if unknown := [name for name in (whole, *parts) if name not in sets]:
            raise ValueError(
                f"whole {whole}: unknown set {', '.join(unknown)}; the table has {', '.join(sets)}"
            )
        if len(parts) < 2 or len({whole, *parts}) != len(parts) + 1:
            raise ValueError(f"whole {whole}: needs two or more different parts, itself not among them")
    return Case(
        models, sets, table, offset, decimals, {whole: tuple(parts) for whole, parts in wholes.items()}
    )


def _notes(case: Case, pooled: Sequence[Pooling], repairs: Sequence[Repair]) -> tuple[str, ...]:
    """What was not checked, and what the checks rest on."""
    notes = []
    missing = [
        f"{model} in {name}"
        for i, model in enumerate(case.models)
        for j, name in enumerate(case.sets)
        if np.isnan(case.table[i, j])
    ]
    if missing:
        notes.append(
            f"no rating: {', '.join(missing)}; statistics leave these models out, and no repair solves there"
        )
    done = {item.whole: item for item in pooled}
    for whole, parts in case.wholes.items():
        if whole not in done:
            notes.append(
                f"{whole} was not compared with {', '.join(parts)}: that needs every rating, ratings not "
                f"too far apart, and {len(parts) + 3} models or more"
            )
            continue
        item = done[whole]
        shares = ", ".join(f"{share:.2f} {part}" for share, part in zip(item.shares, parts, strict=True))
        how = (
            "within rounding" if item.exact else f"within {item.tolerance:.1f} points: results may be missing"
        )
        notes.append(
            f"{whole} follows from its parts ({shares} of the tasks) {how}"
            + (
                f", except for {len(item.outliers)} of {len(case.models)} models"
                if item.outliers.size
                else ""
            )
        )
    if repairs:
        notes.append(INFERENCE)
    return tuple(notes)
