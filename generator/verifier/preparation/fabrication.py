"""Prepared cells beside the raw cells they stand for: what differs must follow a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.cells import EMPTY, cell_hashes
from generator.verifier.preparation.tracing import Trace
from generator.verifier.sampling import sampled_rows, told
from generator.verifier.targets import to_numbers

Floats = npt.NDArray[np.float64]

#: A rule may fail for so many of the cells: corrections, ties.
_EXCEPTIONS = 0.01
#: Share of the variance that neighbours in the order of the raw values leave unexplained under a rule.
_ROUGHNESS = 0.01
#: Below this correlation with the raw numbers, made ones have nothing to do with them.
_RELATED = 0.5
#: How far slope and level, in standard deviations, may be off in the same unit.
_UNIT = 0.2
#: Values that stand so often can show whether one raw value always becomes the same.
_REPEATED = 0.3
_MOST_COLUMNS = 60
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class _Verdict:
    """Cells of one column that follow no rule."""

    count: int
    severity: Severity
    what: str
    example: tuple[str, str]


def check_values(case: Case, trace: Trace) -> Iterator[Finding]:
    """Columns of the same name as a raw one whose cells differ from it without a rule."""
    limits = case.limits.preparation
    chosen = sampled_rows(len(trace.made), case.limits.sampling.rows)
    for name in list(trace.pairs)[:_MOST_COLUMNS]:
        key = [other for other in trace.key if other != name]
        if name == case.id_column or not key or trace.uniqueness(key) < limits.unique:
            continue
        made, raw = _aligned(trace, name, key, chosen)
        if len(made) < limits.least_rows * 2:
            continue
        verdict = _judge(made, raw, limits.fabricated, limits.fabricated_values, limits.foreign_words)
        if verdict is None or verdict.count < max(limits.least_rows, limits.fabricated * len(made)):
            continue
        dated = case.task.spec.split.kind == "time" or case.task.spec.objective == "forecasting"
        moved = not trace.foreign_cells(name).any()
        was, now = verdict.example
        yield finding(
            "values_fabricated",
            f"{name}: {verdict.count:,} of {len(made):,} cells {verdict.what} "
            f"{trace.raw.name}, as {now!r} for {was!r}{told(len(chosen), len(trace.made))}",
            "keep the raw values, or say in description.txt how they were changed",
            # Values of the right column in other rows: a forecast's target is that of a later row.
            Severity.WARNING if dated and moved else verdict.severity,
        )


def _aligned(
    trace: Trace, name: str, key: list[str], chosen: npt.NDArray[np.intp]
) -> tuple[pd.Series, pd.Series]:
    """Cells of a prepared column and of the raw rows that the key finds, where it finds one alone."""
    rows, places = trace.partners(key, chosen)
    left = trace.made[name].iloc[rows].reset_index(drop=True)
    right = trace.raw.rows[trace.pairs[name]].iloc[places].reset_index(drop=True)
    return left, right.astype(str).where(right.notna(), "")


def _judge(
    made: pd.Series, raw: pd.Series, tolerated: float, constants: int, words: float
) -> _Verdict | None:
    """What is wrong with a column, beside the raw one; both strings of the same rows."""
    now, was = cell_hashes(made), cell_hashes(raw)
    filled, differs = (was == EMPTY) & (now != EMPTY), (was != EMPTY) & (now != EMPTY) & (now != was)
    example = _example(made, raw, differs if differs.any() else filled)
    if differs.sum() > tolerated * len(made):
        severity = _unruled(made[was != EMPTY], raw[was != EMPTY], differs[was != EMPTY], constants, words)
        if severity is not None:
            return _Verdict(int(differs.sum()), severity, "are not what the same rows hold in", example)
    fillings = np.unique(now[filled])
    if filled.sum() > tolerated * len(made) and len(fillings) > constants:
        new = filled & ~np.isin(now, was)
        if new.sum() * 2 > filled.sum():
            return _Verdict(
                int(filled.sum()),
                Severity.WARNING,
                "hold values where there are none in",
                _example(made, raw, filled),
            )
    return None


def _example(made: pd.Series, raw: pd.Series, where: npt.NDArray[np.bool_]) -> tuple[str, str]:
    places = np.flatnonzero(where)
    if not len(places):
        return "", ""
    return str(raw.iloc[places[0]])[:40], str(made.iloc[places[0]])[:40]


def _unruled(
    made: pd.Series, raw: pd.Series, differs: npt.NDArray[np.bool_], constants: int, words: float
) -> Severity | None:
    """How bad it is that cells differ, or nothing when a rule explains them."""
    distinct = made[differs].nunique()
    if distinct <= constants and raw[differs].nunique() > 2 * distinct:
        # Many values became few: outliers, rare categories or names were replaced.
        return None
    one, other = to_numbers(raw).to_numpy(), to_numbers(made).to_numpy()
    numeric = np.isfinite(one) & np.isfinite(other)
    if numeric.mean() > 0.95:
        return _unruled_numbers(one[numeric], other[numeric], differs[numeric])
    if _is_function(raw, made) is True:
        return None
    if _is_function(raw, made) is False and raw.nunique() < _REPEATED * len(raw):
        return Severity.ERROR
    pairs = list(zip(raw[differs], made[differs], strict=True))
    shared = np.array([_shared_words(was, now) for was, now in pairs])
    long = np.mean([len(_WORDS.findall(was)) for was, _ in pairs]) >= 3
    return Severity.ERROR if long and float((shared < words).mean()) > 0.5 else None


def _is_function(raw: pd.Series, made: pd.Series) -> bool | None:
    """Whether a raw value always becomes the same; ``None`` where too few values repeat to tell."""
    repeated = raw.duplicated(keep=False)
    if repeated.mean() < _REPEATED:
        return None
    frame = pd.DataFrame({"was": raw[repeated], "now": made[repeated]})
    usual = frame.groupby("was")["now"].agg(lambda values: values.value_counts().iloc[0]).sum()
    return bool(usual >= (1 - 2 * _EXCEPTIONS) * len(frame))


def _unruled_numbers(raw: Floats, made: Floats, differs: npt.NDArray[np.bool_]) -> Severity | None:
    """Numbers may be any function of the raw ones: scaled, rounded, clipped, coded, their logarithm."""
    function = _is_function(pd.Series(raw), pd.Series(made))
    if function is True:
        return None
    order = np.lexsort((made, raw))
    ordered = made[order]
    for steps in (np.diff(ordered), -np.diff(made[np.lexsort((-made, raw))])):
        scale = float(np.ptp(made)) or 1.0
        if function is None and float((steps < -1e-9 * scale).mean()) <= _EXCEPTIONS:
            return None
    if function is None and len(ordered) > 2:
        rough = ordered[1:-1] - (ordered[:-2] + ordered[2:]) / 2
        if float(rough.var()) <= _ROUGHNESS * float(ordered.var()):
            return None
    if differs.mean() < 0.5:
        return Severity.ERROR
    related = abs(float(np.corrcoef(raw, made)[0, 1])) if np.ptp(raw) > 0 and np.ptp(made) > 0 else 0.0
    # What follows the raw values may be scaled by group or by another column; noise keeps their unit.
    return Severity.WARNING if related >= _RELATED and not _is_noise(raw, made) else Severity.ERROR


def _is_noise(raw: Floats, made: Floats) -> bool:
    """Whether made numbers are the raw ones and something random: the same unit, and all steps different."""
    slope, base = np.polyfit(raw, made, 1)
    same_unit = abs(slope - 1) < _UNIT and abs(base + (slope - 1) * raw.mean()) < _UNIT * float(raw.std())
    steps = np.unique(np.round(made - raw, 9))
    return bool(same_unit and len(steps) > _REPEATED * len(raw))


def _shared_words(was: str, now: str) -> float:
    """Share of the words of a new text that stand in the raw one."""
    new = [word.lstrip("0") for word in _WORDS.findall(now.lower())]
    known = {word.lstrip("0") for word in _WORDS.findall(was.lower())}
    return sum(word in known for word in new) / len(new) if new else 1.0
