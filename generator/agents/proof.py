"""The proof that an idea holds before design: derivable, traceable, learnable, and not given away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image, UnidentifiedImageError

from generator.agents.derivation import Derivation, Underivable
from generator.agents.idea import Idea
from generator.backend import Desk
from generator.columns import Column, Kind, as_numbers
from generator.datasets.catalogue import raw_files
from generator.profile import profile_table
from generator.proposals import Evidence, Refusal
from generator.rules.context import (
    LEAST_ROWS,
    MOST_RANKING_SKILL,
    MOST_SKILL,
    PROXY_SKILL,
    Context,
    usable,
    verdict,
)
from generator.rules.probe import encode, proxies, skill
from generator.series import times_of
from generator.tables import UnreadableTable, read_table
from harness.tasks.metrics import named_metric

_CLASSES = ("classification", "anomaly detection")
_TARGETS = 5
#: A target with more different texts is written, not chosen, and no quick check says anything about it.
_MOST_CLASSES = 200
_THUMBNAIL, _IMAGES = (16, 16), 1_500


@dataclass(frozen=True)
class Flaw:
    """What is wrong with an idea: a short word for the funnel, and what the model is told."""

    code: str
    text: str


@dataclass(frozen=True)
class Proven:
    """An idea that holds, with what was measured, or its flaws."""

    idea: Idea
    flaws: tuple[Flaw, ...] = ()
    table: pd.DataFrame | None = None

    def refusal(self) -> Refusal:
        """For the funnel."""
        reason = "; ".join(f"{flaw.text.splitlines()[0]}" for flaw in self.flaws)
        return Refusal(
            target=", ".join(self.idea.targets), objective=self.idea.objective,
            reason=reason[:1_000], code=self.flaws[0].code,
        )  # fmt: skip


def prove(desk: Desk, idea: Idea, seconds: float = 300.0) -> Proven:
    """Run an idea's derivation and measure what it gives.

    What was measured goes into the idea: evidence, and the features.

    Args:
        desk: the dataset.
        idea: the idea.
        seconds: that one run of the derivation may take.
    """
    flaws, derivation = [*_declared(desk, idea)], Derivation(desk, idea.derivation, seconds)
    try:
        first = derivation.run()
        again = derivation.run(hash_seed=1)
    except Underivable as error:
        return Proven(idea, (*flaws, Flaw("not_derivable", f"the derivation does not run: {error}")))
    table = first.table
    if first.sha256 != again.sha256:
        flaws.append(Flaw("not_deterministic", "two runs of the derivation give different tables: sort what "
                          "has no order, and draw nothing at random"))  # fmt: skip
    flaws += _shape(idea, table)
    if not flaws:
        flaws += _origin(derivation, idea, table)
    if flaws:
        return Proven(idea, tuple(flaws), table)
    features = tuple(name for name in table.columns if name not in idea.targets)
    idea = idea.model_copy(update={"features": features})
    if "probe" in desk.ablated:
        return Proven(idea, (), table)
    return _probed(desk, idea, table)


def apart(ideas: Sequence[Proven]) -> list[Proven]:
    """The same ideas, with a flaw where one asks what an earlier one asks that holds: by name or values."""
    found: list[Proven] = []
    for each in ideas:
        flaws = [
            Flaw(
                "same_as_other",
                f"it asks the same as {earlier.idea.id} ({same}): choose another target or objective",
            )
            for earlier in found
            if not (each.flaws or earlier.flaws) and (same := _same(each, earlier))
        ]
        found.append(replace(each, flaws=(*each.flaws, *flaws[:1])))
    return found


def _same(one: Proven, other: Proven) -> str:
    a, b = one.idea, other.idea
    if a.id == b.id:
        return "the same id"
    if (a.objective, a.modality) != (b.objective, b.modality):
        return ""
    if set(a.targets) == set(b.targets):
        return "target, objective and modality"
    if one.table is None or other.table is None or len(one.table) != len(other.table):
        return ""
    values = [
        {tuple(sorted(map(str, each.table[name]))) for name in each.idea.targets}
        for each in (one, other) if each.table is not None
    ]  # fmt: skip
    return "targets of the same values" if values[0] == values[1] else ""


def _declared(desk: Desk, idea: Idea) -> Iterable[Flaw]:
    """What can be told without running anything."""
    files = {path.relative_to(desk.folder).as_posix() for path in raw_files(desk.folder)}
    for name in idea.data_files:
        wanted = name.strip().removeprefix("./").removeprefix("raw/").rstrip("/")
        if (
            wanted not in ("", ".")
            and wanted not in files
            and not any(f.startswith(f"{wanted}/") for f in files)
        ):
            yield Flaw("no_such_file", f"data_files names {name!r}, which is no raw file or folder")
    known = named_metric(idea.metric)
    if known is not None and known.higher_is_better != idea.scoring.higher_is_better:
        right = str(known.higher_is_better).lower()
        yield Flaw("metric_direction", f"scoring.higher_is_better of {idea.metric} must be {right}")
    if known is not None and known.best != idea.scoring.best:
        yield Flaw("metric_best", f"scoring.best of {idea.metric} must be {known.best:g}")


def _shape(idea: Idea, table: pd.DataFrame) -> Iterable[Flaw]:
    """Whether the table has the targets, complete, with something to tell apart, and features."""
    missing = [name for name in idea.targets if name not in table.columns]
    if missing:
        yield Flaw("no_target", f"the derived table has no column {missing[0]!r}; it has "
                   f"{', '.join(map(str, table.columns[:30]))}")  # fmt: skip
        return
    if len(table) < LEAST_ROWS:
        yield Flaw("few_rows", f"the derived table has {len(table)} rows; at least {LEAST_ROWS} are needed")
    if len(table.columns) == len(idea.targets):
        yield Flaw("no_features", "the derived table has no column beside the targets")
    if idea.media_column and idea.media_column not in table.columns:
        yield Flaw(
            "no_media", f"the derived table has no column {idea.media_column!r}, which media_column names"
        )
    for name in idea.targets:
        gone = int(table[name].isna().sum())
        if gone:
            yield Flaw("missing_target", f"target {name!r} is missing in {gone} of {len(table)} rows: leave "
                       "these rows out")  # fmt: skip
        if table[name].nunique() < 2:
            yield Flaw("constant_target", f"target {name!r} has the same value in all rows")


def _origin(derivation: Derivation, idea: Idea, table: pd.DataFrame) -> Iterable[Flaw]:
    """Whether everything in the table comes from the raw data."""
    desk = derivation.desk
    if derivation.reads_nothing(table):
        yield Flaw("invented", "the derived table stays the same when half of the raw rows are taken away: "
                   "it is not derived from the raw data")  # fmt: skip
        return
    if idea.media_column:
        root = desk.folder.resolve()
        gone = [p for p in table[idea.media_column].astype(str) if not _is_inside(root, p)]
        if gone:
            yield Flaw("no_media", f"{len(gone)} paths in {idea.media_column!r} are no files of the raw "
                       f"folder, {gone[0][:200]!r} for one: write them relative to raw")  # fmt: skip
    raw = []
    for each in desk.profile.tables:
        try:
            raw.append(each.recipe.read(desk.folder) if each.recipe else read_table(desk.folder / each.path))
        except UnreadableTable:
            continue
    try:
        invented = derivation.untraceable(table, raw)
    except Underivable as error:
        yield Flaw("untraceable", f"the derivation depends on the order of the raw rows: {error}")
        return
    if invented:
        yield Flaw("untraceable", f"values of {', '.join(map(repr, invented[:5]))} are in no raw cell and "
                   "change when the raw rows change places: derive them from what the rows hold")  # fmt: skip


def _is_inside(root: Path, path: str) -> bool:
    place = (root / path).resolve()
    return place.is_relative_to(root) and place.is_file()


def _probed(desk: Desk, idea: Idea, table: pd.DataFrame) -> Proven:
    """The rules' quick check of each target: learnable by the features, and by none of them alone."""
    profile = profile_table(table, "derived")
    context = Context(desk.card.name, desk.card.title, idea.modality, profile, table)
    left = {*idea.targets, idea.media_column, *(name for name, _ in usable(context)[1])}
    columns = [
        column for column in profile.columns if column.name not in left and column.kind is not Kind.PATH
    ]
    flaws, found = list[Flaw](), list[Evidence]()
    for name in idea.targets[:_TARGETS]:
        target = profile.column(name)
        classes = idea.objective in _CLASSES or not target.is_number
        if classes and target.unique > _MOST_CLASSES:
            continue
        try:
            matrix = _matrix(desk, idea, table, columns)
            if matrix is None:
                continue
            truth = table.loc[matrix.index, name]
            truth = truth if classes else as_numbers(truth)
            flaws += _given_away(matrix, truth, columns, classes)
            found.append(_skill(idea, table.loc[matrix.index], matrix, truth, classes))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            flaws.append(Flaw("unprobed", f"no model could be tried on target {name!r}: {error}"))
    if flaws or not found:
        return Proven(idea, tuple(flaws), table)
    evidence = max(found, key=lambda each: each.skill)
    problem = verdict(evidence, MOST_RANKING_SKILL if idea.objective == "ranking" else MOST_SKILL)
    if problem is not None:
        return Proven(idea, (Flaw(*problem),), table)
    return Proven(idea.model_copy(update={"evidence": evidence}), (), table)


def _skill(
    idea: Idea, table: pd.DataFrame, matrix: pd.DataFrame, truth: pd.Series, classes: bool
) -> Evidence:
    """Cross-validated as the task will be split, where the derived table has the columns for that."""
    groups, order, by = None, None, list(idea.split.columns)
    if by and set(by) <= set(table.columns):
        if idea.split.kind == "group":
            groups = table.groupby(by, dropna=False, sort=False).ngroup()
        elif idea.split.kind == "time":
            order = times_of(table, tuple(by))
    return skill(matrix, truth, classes=classes, groups=groups, order=order)


def _given_away(
    matrix: pd.DataFrame, truth: pd.Series, columns: Sequence[Column], classes: bool
) -> Iterable[Flaw]:
    single = matrix[
        [name for name in matrix.columns if " topic " not in name and not name.startswith("pixel ")]
    ]
    for feature, alone in proxies(single, truth, classes=classes, limit=PROXY_SKILL):
        owner = next(
            (c.name for c in columns if feature == c.name or feature.startswith(f"{c.name} ")), feature
        )
        yield Flaw("given_away", f"column {owner!r} alone determines {str(truth.name)!r} (skill "
                   f"{alone:.2f}): leave it out of the derived table and name it among ignored")  # fmt: skip


def _matrix(desk: Desk, idea: Idea, table: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame | None:
    """Numbers for a quick model: encoded columns, else thumbnails of images; ``None`` for other media."""
    if columns:
        return encode(table, columns)
    if not idea.media_column:
        raise ValueError("no usable feature is left beside constants and row numbers")
    rows, index = [], []
    step = max(1, len(table) // _IMAGES)
    for position, path in table[idea.media_column].iloc[::step].items():
        place = desk.folder / str(path)
        try:
            with Image.open(place) as image:
                rows.append(np.asarray(image.convert("L").resize(_THUMBNAIL), dtype=float).ravel())
        except (OSError, UnidentifiedImageError, ValueError):
            continue
        index.append(position)
    if len(rows) < LEAST_ROWS:
        return None
    pixels = [f"pixel {number}" for number in range(len(rows[0]))]
    return pd.DataFrame(np.stack(rows), index=index, columns=pixels)
