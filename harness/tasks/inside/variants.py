"""Scores many variants of one submission in one run of the grader. Loaded by ``grade.py`` beside it.

The variants come as a pickled list of builtin types, written by the harness. Each is a dict with
``submission`` and maybe ``answers``, either as changes of the two tables of the request,
``{column: [rows, values]}``, or as the text of a whole CSV file. Numbers and rows are packed as bytes of
float64 and int32. With ``rows`` both tables are repeated under new ids until they have so many. With
``follow`` in the request, the lines of the metric are counted and timed, see ``lines.py``.
"""

from __future__ import annotations

import contextlib
import datetime
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

_MESSAGE = 300
Frames = tuple[pd.DataFrame, pd.DataFrame]


def score_variants(
    request: dict[str, Any],
    make: Callable[[], Any],
    read: Callable[..., pd.DataFrame],
    typed: Callable[[pd.DataFrame, dict[str, str]], pd.DataFrame],
    refused: type[Exception],
    lines: Any,
) -> list[dict[str, Any]]:
    """One result for each variant; those for which no time is left are ``skipped``.

    Args:
        request: of ``grade.py``, with ``variants`` (a path), ``same`` (one instance of the metric for all),
            ``twice`` (score the very same tables again and tell whether they were altered), ``seconds`` and
            maybe ``follow`` (how long its lines are counted and timed before the metric is stopped) with
            ``weigh`` (its memory instead).
        make: makes an instance of the metric.
        read: reads a CSV file.
        typed: gives columns their declared types.
        refused: what a metric raises to refuse a submission.
        lines: the module ``lines.py``.
    """
    with open(request["variants"], "rb") as stream:
        variants = pickle.load(stream)
    kinds = request["types"]
    base = {name: read(request[name], kinds, False) for name in ("answers", "submission")}
    # The time of the processor, so that a busy machine leaves out no variant.
    metric, ended, results = make(), time.process_time() + request["seconds"], []
    for variant in variants:
        if time.process_time() > ended:
            results.append({"outcome": "skipped"})
            continue
        try:
            answers, said = (
                _repeated(
                    _table(base[name], variant.get(name), kinds, read, typed),
                    kinds,
                    request["id"],
                    variant.get("rows", 0),
                )
                for name in ("answers", "submission")
            )
        except ValueError as error:
            results.append({"outcome": "unreadable", "message": str(error)[:_MESSAGE]})
            continue
        one = metric if request["same"] else make()
        if "follow" in request:
            results.append(_followed(one, answers, said, refused, lines, request))
        else:
            results.append(_scored(one, answers, said, refused, request["twice"]))
    return results


def _repeated(frame: pd.DataFrame, kinds: dict[str, str], column: str, rows: int) -> pd.DataFrame:
    """The rows again and again under new ids, the same ones in answers and submission."""
    if not rows:
        return frame
    old = frame[column].to_numpy()
    places = np.arange(rows) % len(frame)
    longer = frame.iloc[places].reset_index(drop=True)
    if kinds.get(column) == "integer":
        longer[column] = np.arange(rows)
    else:
        longer[column] = [f"{number // len(frame)}_{old[place]}" for number, place in enumerate(places)]
    return longer


def judge(metric: Any, answers: pd.DataFrame, said: pd.DataFrame, refused: type[Exception]) -> float:
    """Validate, evaluate, and insist on a number."""
    verdict = metric.validate_submission(said.copy(), answers.copy())
    told = verdict if isinstance(verdict, tuple) and verdict else (verdict,)
    if isinstance(told[0], (bool, np.bool_)) and not told[0]:
        raise refused(str(told[1]) if len(told) > 1 else "refused by the metric")
    return as_number(metric.evaluate(answers, said))


def as_number(score: Any) -> float:
    """A score as a float; scalars of numpy are fine, truth values are not."""
    if hasattr(score, "item"):
        score = score.item()
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise TypeError(f"evaluate must return a number, not {type(score).__name__}")
    return float(score)


def _scored(
    metric: Any,
    answers: pd.DataFrame,
    said: pd.DataFrame,
    refused: type[Exception],
    twice: bool,
    stopped: type[BaseException] | tuple[()] = (),
) -> dict[str, Any]:
    before = (answers.copy(), said.copy()) if twice else None
    started, worked = time.monotonic(), time.process_time()
    try:
        result: dict[str, Any] = {"outcome": "score", "score": judge(metric, answers, said, refused)}
    except refused as error:
        result = {"outcome": "rejected", "message": str(error)[:_MESSAGE]}
    except stopped:
        result = {"outcome": "stopped"}
    except BaseException as error:  # an error of the metric is a result
        result = {"outcome": "failed", "message": f"{type(error).__name__}: {error}"[:_MESSAGE]}
    result["seconds"], result["wall"] = time.process_time() - worked, time.monotonic() - started
    if before is not None:
        result["altered"] = [_altered(*pair) for pair in zip(before, (answers, said), strict=True)]
        result["validated"] = _validated(metric, before)
        try:
            result["again"] = as_number(metric.evaluate(answers, said))
        except BaseException:  # on tables that it altered, a metric may well fail
            result["again"] = None
    return result


def _followed(
    metric: Any,
    answers: pd.DataFrame,
    said: pd.DataFrame,
    refused: type[Exception],
    lines: Any,
    request: dict[str, Any],
) -> dict[str, Any]:
    """Score, and count and time the lines of the metric, until its time is up."""
    seen, result = lines.Lines(request["metric"]), {"outcome": "stopped"}
    with contextlib.suppress(lines.Stopped), seen.followed(request["follow"], request["weigh"]):
        result = _scored(metric, answers, said, refused, False, lines.Stopped)
    return result | {"lines": seen.seen, "step": seen.step, "peak": seen.peak}


def _validated(metric: Any, before: Frames) -> list[str | None]:
    """What ``validate_submission`` alters in the tables it is given."""
    answers, said = (frame.copy() for frame in before)
    with contextlib.suppress(BaseException):  # it was already asked once
        metric.validate_submission(said, answers)
    return [_altered(*pair) for pair in zip(before, (answers, said), strict=True)]


def _altered(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    """How a table was changed in place, or ``None``; ids and numbers written as text are no change."""
    if list(before.columns) != list(after.columns):
        return "columns"
    if len(before) != len(after):
        return "rows"
    if list(before.index) != list(after.index):
        return "order"
    for column in before.columns:
        ours, theirs = before[column], after[column]
        if ours.equals(theirs):
            continue
        numbers = [pd.to_numeric(values.astype(str), errors="coerce") for values in (ours, theirs)]
        text = ours.astype(str).to_numpy() == theirs.astype(str).to_numpy()
        if not (text | (numbers[0] == numbers[1]).to_numpy()).all():
            return f"values of {column}"
    return None


def _table(
    base: pd.DataFrame,
    change: Any,
    kinds: dict[str, str],
    read: Callable[..., pd.DataFrame],
    typed: Callable[[pd.DataFrame, dict[str, str]], pd.DataFrame],
) -> pd.DataFrame:
    if isinstance(change, str):
        return read(change, kinds, True, True)
    frame = base.copy()
    for column, (rows, values) in (change or {}).items():
        packed = np.frombuffer(values, dtype=np.float64) if isinstance(values, bytes) else values
        if rows is None:
            frame[column] = packed
            continue
        cells = np.array(frame[column], dtype=float if isinstance(values, bytes) else object)
        cells[np.frombuffer(rows, dtype=np.int32)] = packed
        frame[column] = cells
    return typed(frame, kinds)


def move_clock(seconds: float) -> None:
    """Let Python's clock run that far ahead, for a metric whose score must not depend on it."""
    moved, now, now_ns = datetime.timedelta(seconds=seconds), time.time, time.time_ns
    real, real_date = datetime.datetime, datetime.date

    def like(kind: type, **methods: Any) -> Any:
        """A class that stands in for another one, of which all its instances are."""
        meta = type("Meta", (type,), {"__instancecheck__": lambda cls, value: isinstance(value, kind)})
        return meta(kind.__name__, (kind,), {name: classmethod(made) for name, made in methods.items()})

    def ahead(cls: type, tz: Any = None) -> Any:
        return real.now(tz) + moved

    utc = datetime.UTC
    later = like(real, now=ahead, today=ahead, utcnow=lambda cls: real.now(utc).replace(tzinfo=None) + moved)
    other = like(real_date, today=lambda cls: real_date.today() + moved)
    for name, stand_in in (("datetime", later), ("date", other)):
        setattr(datetime, name, stand_in)
    for name, clock in (
        ("time", lambda: now() + seconds),
        ("time_ns", lambda: now_ns() + int(seconds * 1e9)),
    ):
        setattr(time, name, clock)
