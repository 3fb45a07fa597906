"""Features computed over rows that include the test rows' answers, or rows of the future."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.rows import Rows, all_rows, near_zero, resolution
from generator.verifier.leaks.view import View
from generator.verifier.probing import Floats
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers

_WAYS = ("mean", "sum", "max", "min", "median", "std")
_FEWEST = 4
_LOOKED = 5_000
_ENTITIES = 8
_TRIED = 40
_COLUMNS = 60
_SOURCES = 20


@dataclass(frozen=True)
class Entity:
    """A column whose values may name what an aggregate was taken over.

    Attributes:
        name: the column.
        keys: shape (n,), its values as numbers.
        mixed: values that stand in training and in test.
        few: rows of some of them.
    """

    name: str
    keys: np.ndarray
    mixed: np.ndarray
    few: np.ndarray


def check(view: View) -> Iterator[Finding]:
    """Columns that equal an aggregate over train and test together, and over training alone do not."""
    rows = all_rows(view.case)
    if rows is None:
        return
    numbers = _numbers(rows, min(_COLUMNS, view.limits.columns))
    entities = _candidates(rows)
    for name, values in numbers.items():
        held = _holding(entities, values)
        how = _encoding(rows, name, values) or _of_outcomes(rows, name, values, held)
        if how:
            outcome, words = how
            yield finding(
                "future_aggregate",
                f"{name} is {words} over all rows, test rows with their answers among them: "
                f"{outcome} of test rows follows from it",
                f"compute {name} from training rows alone",
                Severity.ERROR,
            )
            if "mean" in words:
                yield finding(
                    "fitted_on_test",
                    f"{name} encodes categories by {words} over training and test rows together",
                    f"fit the encoding {name} on training rows alone",
                )
        elif words := _of_features(rows, name, values, numbers, held):
            yield finding(
                "future_aggregate",
                f"{name} is {words} over all rows, test rows among them",
                f"compute {name} from training rows, or from rows before the moment of prediction",
            )


def _numbers(rows: Rows, most: int) -> dict[str, Floats]:
    """Numeric columns without gaps that repeat values, as aggregates do."""
    found = {}
    part = sampled_rows(len(rows.table), _LOOKED)
    for name in rows.table.columns[:most]:
        some = to_numbers(rows.table[name].iloc[part])
        if some.isna().any() or some.nunique() < 3:
            continue
        values = to_numbers(rows.table[name]).to_numpy()
        if np.isfinite(values).all():
            found[name] = values
    return found


def _encoding(rows: Rows, name: str, values: Floats) -> tuple[str, str] | None:
    """Whether a column is its own rows' mean of an outcome, smoothed or not; the category may be gone."""
    if (values % 1 == 0).all():
        return None
    keys, distinct = pd.factorize(values)
    if len(distinct) > len(values) / 2:
        return None
    for outcome, wanted in rows.outcomes.items():
        # A mean for each value has the mean of all; smoothing moves it little.
        if abs(values.mean() - wanted.mean()) > 0.1 * wanted.std():
            continue
        if _fits_encoding(rows, name, values, keys, wanted):
            return outcome, f"the mean of {outcome} for each of its {len(distinct)} values"
    return None


def _fits_encoding(rows: Rows, name: str, values: Floats, keys: np.ndarray, wanted: Floats) -> bool:
    groups = _grouped(values, keys, wanted, rows.in_test)
    mixed = groups[(groups["tests"] > 0) & (groups["tests"] < groups["count"])]
    if len(mixed) < _FEWEST:
        return False
    tolerance = _tolerance(rows, name, values)
    shares = []
    for total, count in (("sum", "count"), ("train_sum", "train_count")):
        said, value = mixed[total] / mixed[count], mixed["value"]
        plain = float(((said - value).abs() <= tolerance).mean())
        shares.append(max(plain, _smoothed(mixed, total, count, tolerance)))
    return shares[0] >= 0.95 and shares[1] <= 0.6


def _smoothed(groups: pd.DataFrame, total: str, count: str, tolerance: float) -> float:
    """The share of groups whose value is (sum + weight * prior) / (count + weight), for the best weight.

    value * count - sum = weight * prior - weight * value is linear in weight * prior and weight.
    """
    if len(groups) < 3 * _FEWEST:
        return 0.0
    value = groups["value"].to_numpy()
    left = value * groups[count].to_numpy() - groups[total].to_numpy()
    sides = np.column_stack([np.ones(len(value)), -value])
    (offset, weight), *_ = np.linalg.lstsq(sides, left, rcond=None)
    if weight < 0:
        return 0.0
    said = (groups[total] + offset) / (groups[count] + weight)
    return float(((said - groups["value"]).abs() <= 2 * tolerance).mean())


def _grouped(values: Floats, keys: np.ndarray, wanted: Floats, in_test: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame({"value": values, "all": wanted, "test": in_test.astype(float)})
    frame["train"] = np.where(in_test, 0.0, wanted)
    groups = frame.groupby(keys).agg(
        value=("value", "first"), sum=("all", "sum"), count=("all", "size"),
        tests=("test", "sum"), train_sum=("train", "sum"),
    )  # fmt: skip
    groups["train_count"] = groups["count"] - groups["tests"]
    return groups


def _tolerance(rows: Rows, name: str, values: Floats) -> float:
    spread = float(np.nanstd(values))
    return min(max(near_zero(spread), resolution(rows.table[name])), 0.02 * spread)


def _of_outcomes(rows: Rows, name: str, values: Floats, held: list[Entity]) -> tuple[str, str] | None:
    """Whether a column, constant for each entity, is an aggregate of an outcome over the entity's rows."""
    for entity in held:
        for outcome, wanted in rows.outcomes.items():
            way = _way(rows, name, values, entity, wanted)
            if way:
                return outcome, f"the {way} of {outcome} for each {entity.name}"
    return None


def _of_features(
    rows: Rows, name: str, values: Floats, numbers: dict[str, Floats], held: list[Entity]
) -> str:
    for entity in held:
        for source in list(numbers)[:_SOURCES]:
            if source in (name, entity.name):
                continue
            way = _way(rows, name, values, entity, numbers[source])
            if way:
                return f"the {way} of {source} for each {entity.name}"
    return ""


def _way(rows: Rows, name: str, values: Floats, entity: Entity, wanted: Floats) -> str:
    """The aggregate that fits nearly all entities with test rows, and not when training rows alone count.

    A few entities are tried first.
    """
    tolerance = _tolerance(rows, name, values)
    for part in (entity.few, slice(None)):
        keys, in_test = entity.keys[part], rows.in_test[part]
        value = pd.Series(values[part]).groupby(keys).first()
        if value.nunique() < 3:
            return ""
        ways = _fitting(value, keys, in_test, wanted[part], tolerance)
        if not ways:
            return ""
    return ways[0]


def _fitting(
    value: pd.Series, keys: np.ndarray, in_test: np.ndarray, wanted: Floats, tolerance: float
) -> list[str]:
    everything = pd.Series(wanted).groupby(keys)
    learnt = pd.Series(np.where(in_test, np.nan, wanted)).groupby(keys)
    found = []
    for way in _WAYS:
        said = everything.agg(way)
        fits = (said - value).abs() <= tolerance
        if fits.mean() < 0.5:
            continue
        moved = ((said - learnt.agg(way)).abs() > 2 * tolerance) & (learnt.size() > 0)
        if moved.sum() >= _FEWEST and fits[moved].mean() >= 0.95 and value[moved].nunique() >= 3:
            found.append(way)
    return found


def _candidates(rows: Rows) -> list[Entity]:
    """Columns that may name entities: they repeat, and are no measurements; the finest ones first.

    What is constant in a fine one need not be in a coarse one.
    """
    part = sampled_rows(len(rows.table), _LOOKED)
    found = {}
    for name in rows.table.columns:
        cells = rows.table[name].iloc[part]
        numbers = to_numbers(cells)
        measured = numbers.notna().all() and (numbers % 1 != 0).any()
        if 3 <= cells.nunique() <= 0.7 * len(cells) and not measured:
            found[name] = cells.nunique()
    order = sorted(found, key=lambda name: -found[name])[:_ENTITIES]
    return [_entity(rows, name) for name in order]


def _entity(rows: Rows, name: str) -> Entity:
    keys = pd.factorize(rows.table[name])[0].astype(np.intp)
    tests, counts = np.bincount(keys, weights=rows.in_test), np.bincount(keys)
    mixed = np.flatnonzero((tests > 0) & (tests < counts))
    few = np.flatnonzero(np.isin(keys, mixed[:_TRIED]))
    return Entity(name, keys, mixed, few)


def _holding(entities: list[Entity], values: Floats) -> list[Entity]:
    """Entities for each of which the column is constant, judged in a few and then in all."""
    return [
        entity
        for entity in entities
        if len(entity.mixed) >= _FEWEST
        and _constant(entity.keys[entity.few], values[entity.few])
        and _constant(entity.keys, values)
    ]


def _constant(keys: np.ndarray, values: Floats) -> bool:
    grouped = pd.Series(values).groupby(keys)
    return bool((grouped.max() == grouped.min()).mean() >= 0.99 and grouped.size().max() > 1)
