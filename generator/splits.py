"""Choosing how train and test are separated from what the data are, and saying why."""

from __future__ import annotations

import numpy as np
import pandas as pd

from generator.profile import Table
from generator.proposals import SplitChoice
from generator.series import times_of

_RESEMBLANCE = 0.15
_REPEATED_SHARE = 0.3
_ALIKE_SHARE = 0.15
_WIDEST = 60
_PERIODS = 20


def choose_split(
    table: Table, frame: pd.DataFrame, features: tuple[str, ...], target: pd.Series, *, classes: bool
) -> SplitChoice:
    """The split that keeps what belongs together on one side.

    A series is cut in time, and so are dated rows whose target changes with it; rows of one entity, repeated
    experiments and equal rows stay together; classes keep their shares; all else is drawn at random.

    Args:
        table: the profile of ``frame``.
        frame: the raw table.
        features: the columns that the participant gets.
        target: the values to predict, aligned to ``frame``; may have missing values.
        classes: whether ``target`` holds classes.
    """
    time = table.time
    if time is not None and time.series and time.span > 0.5:
        owner = f" of each {time.entity}" if time.entity else ""
        return SplitChoice(
            kind="time",
            columns=time.columns,
            reason=f"the rows{owner} follow each other in time, so the test rows are the latest",
        )
    if time is not None and time.series and time.entity is not None and time.entity in features:
        return SplitChoice(
            kind="group",
            columns=(time.entity,),
            reason=f"the rows of each {time.entity} follow each other in time and it is soon over, "
            "so each is on one side whole",
        )
    known = target.notna()
    best: tuple[float, str] | None = None
    for name in table.groups:
        if name == target.name:
            continue
        share = resemblance(target[known], frame.loc[known, name], classes=classes)
        if share >= _RESEMBLANCE and (best is None or share > best[0]):
            best = (share, name)
    if best is not None:
        return SplitChoice(
            kind="group",
            columns=(best[1],),
            reason=f"rows that share {best[1]} resemble each other (it explains {best[0]:.0%} of the "
            "variation of the target beyond chance), so none appears on both sides",
        )
    if time is not None:
        periods = pd.qcut(times_of(frame, time.columns)[known], _PERIODS, labels=False, duplicates="drop")
        drift = resemblance(target[known], periods, classes=classes)
        if drift >= _RESEMBLANCE:
            return SplitChoice(
                kind="time",
                columns=time.columns,
                reason=f"the target changes with time ({drift:.0%} of its variation lies between periods), "
                "so the test rows are the latest",
            )
    entity = repeated_experiment(frame.loc[known, list(features)])
    if entity is not None:
        varied = [name for name in features if name not in entity]
        return SplitChoice(
            kind="group",
            columns=entity,
            reason=f"many rows differ in {' and '.join(varied)} only, so rows that agree in everything else "
            "stay on one side",
        )
    repeated = float(frame.loc[known, list(features)].astype(str).duplicated().mean())
    if repeated > _ALIKE_SHARE:
        return SplitChoice(
            kind="group",
            columns=features,
            reason=f"{repeated:.0%} of the rows repeat another row in all features, so rows "
            "that are alike stay on one side",
        )
    if classes:
        return SplitChoice(kind="stratified", reason="independent rows; each class keeps its share")
    return SplitChoice(
        kind="random", reason="independent rows without dates that order them or entities that repeat"
    )


def resemblance(target: pd.Series, groups: pd.Series, *, classes: bool) -> float:
    """Share of the target's variance that lies between groups, corrected for chance (omega squared, from 0).

    For classes it is that of the indicator columns, weighted by their variance.
    """
    columns = pd.get_dummies(target.astype(str)).astype(float) if classes else target.astype(float).to_frame()
    codes = pd.factorize(groups, use_na_sentinel=False)[0]
    count, kinds = len(columns), len(np.unique(codes))
    if kinds < 2 or kinds >= count:
        return 0.0
    total = float(((columns - columns.mean()) ** 2).to_numpy().sum())
    means = columns.groupby(codes).transform("mean")
    within = float(((columns - means) ** 2).to_numpy().sum())
    if total == 0:
        return 0.0
    noise = within / (count - kinds)
    omega = (total - within - (kinds - 1) * noise) / (total + noise)
    return max(0.0, omega)


def repeated_experiment(features: pd.DataFrame) -> tuple[str, ...] | None:
    """The columns that identify a repeated experiment: rows of numbers that repeat in all columns but one.

    The column left out is the one whose removal makes most rows collide, when it is the cause of at least
    30 % repeated rows.
    """
    numbers = features.select_dtypes("number").shape[1]
    if not 3 <= features.shape[1] <= _WIDEST or numbers < features.shape[1]:
        return None
    rows = len(features)
    full = features.astype(str)
    repeated = float(full.duplicated().mean())
    shares = {name: float(full.drop(columns=name).duplicated().sum()) / rows for name in full.columns}
    name, share = max(shares.items(), key=lambda item: item[1])
    others = sorted(shares.values())[:-1]
    if share - repeated < _REPEATED_SHARE or (others and share - others[-1] < 0.1):
        return None
    return tuple(column for column in features.columns if column != name)
