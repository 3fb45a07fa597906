"""Proposals from series: forecasts by the calendar, changes after a stretch of values, ends of curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from generator.columns import Column, Kind, as_numbers
from generator.proposals import Proposal, Refusal, SplitChoice, Window
from generator.rules.context import (
    LEAST_ROWS,
    MOST_NUMBER_SKILL,
    Context,
    Outcome,
    difficulty,
)
from generator.rules.metricchoice import number_metric
from generator.rules.naming import duration, outcome_score, plain, snake, succession, task_id
from generator.rules.probe import calendar, encode, skill
from generator.series import times_of

_DAY = 86_400
#: Distances of neighbours, in usual steps, that count as one step; months differ by a tenth.
STEP_BOUNDS = (0.8, 1.2)
_TIME = "mlesmith time"
#: Rows from which stretches that do not overlap are enough for a test set.
_LONG_SERIES = 8_000
#: Columns of a table of series that are forecast.
_MOST_FORECASTS, _MOST_TRIED = 2, 5
#: Neighbours at the usual distance that a forecast of changes needs: a change across a gap is another thing.
_REGULAR = 0.8


def propose_series(context: Context) -> Outcome:
    """Forecasts and window tasks of a table whose rows are a series, and of one whose rows are curves."""
    found: list[Proposal | Refusal] = []
    time = context.table.time
    if context.table.wide_series and context.table.rows >= LEAST_ROWS:
        found.append(_end_of_curve(context))
    if time is not None and time.series and time.span > 0.5:
        named = {name.lower() for name in time.columns}
        numbers = [
            c for c in context.table.columns
            if c.is_number and c.unique >= 20 and c.name not in time.columns and c.name.lower() not in named
            and c.missing <= 0.4 * context.table.rows and outcome_score(c.name, context.about) >= 0
        ]  # fmt: skip
        ranked = sorted(numbers, key=lambda c: (-outcome_score(c.name, context.about), c.missing))
        long = time.entity is None and time.regular >= 0.95 and context.table.rows >= _LONG_SERIES
        for place, column in enumerate(ranked[:_MOST_TRIED]):
            if sum(isinstance(each, Proposal) for each in found) >= _MOST_FORECASTS:
                break
            level = _forecast(context, column)
            found.append(level)
            if isinstance(level, Refusal) and time.regular >= _REGULAR:
                found.append(_step(context, column))
            if long and not place:
                found.append(_change(context, column))
    return Outcome(
        tuple(p for p in found if isinstance(p, Proposal)), tuple(p for p in found if isinstance(p, Refusal))
    )


def window_table(times: pd.Series, values: pd.Series, window: Window, stride: int) -> pd.DataFrame:
    """Stretches without a gap, one every ``stride`` steps: columns ``t000`` ..., ``change``, ``time``."""
    known = pd.DataFrame({"time": times, "value": values}).dropna().sort_values("time", kind="stable")
    known = known.drop_duplicates("time")
    seconds = (known["time"] - known["time"].iloc[0]).dt.total_seconds().to_numpy()
    series = known["value"].to_numpy(float)
    reach = window.history - 1 + window.ahead
    starts = np.arange(0, len(series) - reach, stride)
    whole = (
        np.abs(seconds[starts + reach] - seconds[starts] - reach * window.step_seconds) < window.step_seconds
    )
    starts = starts[whole]
    table = pd.DataFrame({f"t{i:03d}": series[starts + i] for i in range(window.history)})
    table["change"] = series[starts + reach] - series[starts + window.history - 1]
    table["time"] = known["time"].to_numpy()[starts]
    return table


def _forecast(context: Context, column: Column) -> Proposal | Refusal:
    """The latest values of a series, from the calendar and the earlier values."""
    time = context.table.time
    assert time is not None
    values = as_numbers(context.frame[column.name]).rename(column.name)
    known = values.dropna().index
    order = times_of(context.frame.loc[known], time.columns)
    # The forecast covers the latest part of the series; what is long past says little about it.
    features = [
        context.table.column(name) for name in (*time.columns, *([time.entity] if time.entity else []))
    ]
    matrix = encode(context.frame.loc[known], [c for c in features if c.kind is not Kind.DATE])
    stamps = pd.DataFrame({"time": order})
    calendar = encode(stamps, [Column("time", Kind.DATE, 0, time.points)])
    matrix = pd.concat([matrix, calendar], axis=1)
    metric = number_metric(values)
    target = values.loc[known]
    evidence = skill(matrix, np.log1p(target) if metric == "rmsle" else target, classes=False, order=order)
    problem = context.unfit(evidence, MOST_NUMBER_SKILL)
    if problem is not None:
        return _refuse(column.name, problem)
    given = {c.name for c in features}
    owner = f" of each {plain(time.entity)}" if time.entity else ""
    return Proposal(
        id=task_id(context.dataset, column.name, "forecast"),
        title=f"Forecast the {plain(column.name)}{owner}: {context.title or context.dataset}",
        shape="table",
        table=context.table.path,
        modality="time series",
        objective="forecasting",
        targets=(column.name,),
        metric="smape" if values.min() > 0 else "mae",
        features=tuple(c.name for c in features),
        ignored=_not_in_advance(context, (*given, column.name)),
        split=SplitChoice(
            kind="time",
            columns=time.columns,
            reason="a forecast looks ahead, so the test rows are the latest",
        ),
        difficulty=difficulty(evidence),
        rationale=f"The past of the series and the calendar explain its course (skill {evidence.skill:.2f}, "
        f"{evidence.measure}, on the last quarter).",
        evidence=evidence,
    )


def _step(context: Context, column: Column) -> Proposal | Refusal:
    """How a series changes from each time to the next, over a whole stretch ahead, by the calendar alone.

    This is for series whose level lies beyond anything seen before, as that of a rising one does: their steps
    are of the size of earlier ones, and no test row shows the answer of another.
    """
    time = context.table.time
    assert time is not None
    frame = context.frame.assign(
        **{_TIME: times_of(context.frame, time.columns), column.name: as_numbers(context.frame[column.name])}
    )
    frame = frame.dropna(subset=[_TIME, column.name]).sort_values(_TIME, kind="stable")
    series = frame.groupby(frame[time.entity] if time.entity else np.zeros(len(frame)))
    target = series[column.name].diff()
    near = (series[_TIME].diff().dt.total_seconds() / time.step_seconds).between(*STEP_BOUNDS)
    target = target[near & target.notna()]
    if len(target) < LEAST_ROWS:
        return _refuse(f"change of {column.name}", ("few_rows", f"only {len(target)} steps without a gap"))
    matrix = pd.DataFrame(calendar(frame.loc[target.index, _TIME], "time"), index=target.index)
    if time.entity:
        matrix["series"] = pd.factorize(frame.loc[target.index, time.entity], sort=True)[0]
    evidence = skill(matrix, target, classes=False, order=frame.loc[target.index, _TIME])
    problem = context.unfit(evidence, MOST_NUMBER_SKILL)
    if problem is not None:
        return _refuse(f"change of {column.name}", problem)
    owner = f" of each {plain(time.entity)}" if time.entity else ""
    features = (*time.columns, *([time.entity] if time.entity else []))
    every = duration(time.step_seconds)
    return Proposal(
        id=task_id(context.dataset, column.name, "step"),
        title=f"Forecast how the {plain(column.name)}{owner} changes {succession(time.step_seconds)}: "
        f"{context.title or context.dataset}",
        shape="table",
        table=context.table.path,
        modality="time series",
        objective="forecasting",
        targets=(f"{column.name if column.name.isidentifier() else snake(column.name)}_change",),
        change_of=column.name,
        step_seconds=time.step_seconds,
        metric="rmse",
        features=features,
        ignored=(
            (column.name, "the target is its change, which its values would tell"),
            *_not_in_advance(context, (*features, column.name)),
        ),
        split=SplitChoice(
            kind="time",
            columns=time.columns,
            reason="a forecast looks ahead, so the test rows are the latest",
        ),
        difficulty=difficulty(evidence),
        rationale=f"The calendar explains how the series changes within {every} (skill {evidence.skill:.2f}, "
        f"{evidence.measure}, on the last quarter), where its level lies beyond what was seen before.",
        evidence=evidence,
    )


def _change(context: Context, column: Column) -> Proposal | Refusal:
    """How a series changes after a stretch of it was seen."""
    time = context.table.time
    assert time is not None
    per_day = _DAY / time.step_seconds
    history = int(per_day) if 24 <= per_day <= 48 else 24
    window = Window(value=column.name, history=history, ahead=history // 4, step_seconds=time.step_seconds)
    times = times_of(context.frame, time.columns)
    table = window_table(times, as_numbers(context.frame[column.name]), window, stride=max(2, history // 6))
    matrix = table.drop(columns=["change", "time"])
    # Differences to the last value are what a tree can use.
    matrix = matrix.sub(matrix.iloc[:, -1], axis=0)
    evidence = skill(matrix, table["change"], classes=False, order=table["time"])
    problem = context.unfit(evidence, MOST_NUMBER_SKILL)
    if problem is not None:
        return _refuse(f"change of {column.name}", problem)
    after = duration(window.ahead * window.step_seconds)
    about = context.title or context.dataset
    return Proposal(
        id=task_id(context.dataset, column.name, "change"),
        title=f"Foresee the change of the {plain(column.name)} within {after}: {about}",
        shape="windows",
        table=context.table.path,
        modality="time series",
        objective="forecasting",
        targets=("change",),
        source_target=column.name,
        metric="rmse",
        features=(*time.columns, column.name),
        ignored=tuple(
            (c.name, "the task is about one series")
            for c in context.table.columns
            if c.name not in (*time.columns, column.name)
        ),
        window=window,
        split=SplitChoice(
            kind="time",
            columns=time.columns,
            reason="the stretches of the test set are the latest ones and do not overlap each other, so that "
            "none shows the answer of another",
        ),
        difficulty=difficulty(evidence),
        rationale=f"The last {duration(history * window.step_seconds)} say how the series goes on (skill "
        f"{evidence.skill:.2f}, {evidence.measure}, against no change).",
        evidence=evidence,
    )


def _not_in_advance(context: Context, known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns that a forecast must do without."""
    return tuple(
        (c.name, "it is measured at the same time as the target, so it is not known in advance")
        for c in context.table.columns
        if c.name not in known
    )


def _end_of_curve(context: Context) -> Proposal | Refusal:
    """The last values of each curve from its first ones."""
    steps = context.table.wide_series
    count = max(2, len(steps) // 6)
    shown, hidden = steps[:-count], steps[-count:]
    rest = [c.name for c in context.table.columns if c.name not in steps and c.kind != Kind.ID]
    matrix = encode(context.frame, [context.table.column(name) for name in (*shown, *rest)])
    target = context.frame[list(hidden)].apply(as_numbers).mean(axis=1).rename("end")
    evidence = skill(matrix, target, classes=False)
    problem = context.unfit(evidence, MOST_NUMBER_SKILL)
    if problem is not None:
        return _refuse(f"{hidden[0]} to {hidden[-1]}", problem)
    return Proposal(
        id=task_id(context.dataset, "", f"{'-'.join(context.dataset.split('-')[1:])} last {count} values"),
        title=f"Continue each curve by its last {count} values: {context.title or context.dataset}",
        shape="table",
        table=context.table.path,
        modality="time series",
        objective="forecasting",
        targets=hidden,
        metric="mean_columnwise_rmse",
        features=(*shown, *rest),
        split=SplitChoice(
            kind="random", reason="each row is a whole curve; curves carry no date that orders them"
        ),
        difficulty=difficulty(evidence),
        rationale=f"The first {len(shown)} values of a curve tell much of the last {count} (skill "
        f"{evidence.skill:.2f}, {evidence.measure}, of their mean).",
        evidence=evidence,
        tags=("multi-output",),
    )


def _refuse(target: str, problem: tuple[str, str]) -> Refusal:
    code, reason = problem
    return Refusal(target=target, objective="forecasting", reason=reason, code=code)
