"""Grades one submission inside the grader sandbox. A standalone script: pandas and the standard library only.

    grade.py REQUEST.json RESULT.json

The request names the metric file, the two CSV files and the types of their columns. With ``parts``, lists of
row positions, each part is scored alone. Without CSV files the metric is only constructed, which tells its
direction. The result is ``{"outcome": "score" | "parts" | "described" | "rejected" | "failed",
"score": float, "scores": [float | null], "message": str, "higher_is_better": bool}``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
import types
from typing import Any

import numpy as np
import pandas as pd


def main() -> None:
    """Grade and write the result; an error of the metric is a result, not a crash."""
    request_path, result_path = sys.argv[1:]
    with open(request_path, encoding="utf-8") as stream:
        request = json.load(stream)
    base = _offer_base_class(request["base"])
    try:
        result = _grade(request, base)
    except base.InvalidSubmissionError as error:
        result = {"outcome": "rejected", "message": str(error)}
    except BaseException as error:
        trace = "".join(traceback.format_exception(error)[-3:])
        result = {"outcome": "failed", "message": trace}
    with open(result_path, "w", encoding="utf-8") as stream:
        json.dump(result, stream)


def _offer_base_class(path: str) -> Any:
    """Load our base class and register it under the names that metrics of others import."""
    base = _load("competition_metrics", path)
    for name in ("mledojo", "mledojo.metrics"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["mledojo.metrics.base"] = base
    sys.modules["mledojo.metrics"].base = base  # type: ignore[attr-defined]
    sys.modules["mledojo"].metrics = sys.modules["mledojo.metrics"]  # type: ignore[attr-defined]
    for name in ("CompetitionMetrics", "InvalidSubmissionError"):
        setattr(sys.modules["mledojo.metrics"], name, getattr(base, name))
    return base


def _load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _grade(request: dict[str, Any], base: Any) -> dict[str, Any]:
    module = _load("task_metric", request["metric"])
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base.CompetitionMetrics)
        and value is not base.CompetitionMetrics
    ]
    leaves = [
        kind
        for kind in classes
        if not any(other is not kind and issubclass(other, kind) for other in classes)
    ]
    if len(leaves) != 1:
        raise TypeError(
            f"metric.py must define exactly one class deriving from CompetitionMetrics, found {len(leaves)}"
        )
    higher_is_better = bool(getattr(leaves[0](), "higher_is_better", True))
    if "answers" not in request:
        return {"outcome": "described", "higher_is_better": higher_is_better}
    answers = _read(request["answers"], request["types"])
    submission = _read(request["submission"], request["types"])
    if "parts" in request:
        scores = [_part_score(leaves[0](), answers, submission, rows, base) for rows in request["parts"]]
        return {"outcome": "parts", "scores": scores}
    score = _score(leaves[0](), answers, submission, base)
    return {"outcome": "score", "score": score, "higher_is_better": higher_is_better}


def _score(metric: Any, answers: pd.DataFrame, submission: pd.DataFrame, base: Any) -> float:
    verdict = metric.validate_submission(submission.copy(), answers.copy())
    said = verdict if isinstance(verdict, tuple) and verdict else (verdict,)
    if isinstance(said[0], (bool, np.bool_)) and not said[0]:
        raise base.InvalidSubmissionError(str(said[1]) if len(said) > 1 else "refused by the metric")
    score = metric.evaluate(answers, submission)
    if hasattr(score, "item"):
        score = score.item()  # a scalar of numpy
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise TypeError(f"evaluate must return a number, not {type(score).__name__}")
    return float(score)


def _part_score(
    metric: Any, answers: pd.DataFrame, submission: pd.DataFrame, rows: list[int], base: Any
) -> float | None:
    """The score of some rows alone; a metric may well fail on a part, for example one with a single class."""
    try:
        known, said = (frame.iloc[rows].reset_index(drop=True) for frame in (answers, submission))
        return _score(metric, known, said, base)
    except Exception:
        return None


def _read(path: str, kinds: dict[str, str]) -> pd.DataFrame:
    """Read every cell as text, then convert the columns declared as numbers."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    for column in frame.columns:
        kind = kinds.get(column, "text")
        if kind == "integer":
            frame[column] = frame[column].astype("int64")
        elif kind == "number":
            frame[column] = _numbers(frame[column])
        elif kind == "boolean":
            numbers = _numbers(frame[column])
            frame[column] = numbers.astype(bool) if bool(numbers.isin((0, 1)).all()) else numbers
    return frame


def _numbers(cells: pd.Series) -> pd.Series:
    """Numbers, true and false as 1 and 0. Whole ones become integers: label metrics tell 1 from 1.0."""
    lowered = cells.str.strip().str.lower()
    numbers = pd.to_numeric(lowered.map({"true": "1", "false": "0"}).fillna(lowered))
    whole = pd.api.types.is_float_dtype(numbers) and bool((numbers % 1 == 0).all())
    return numbers.astype("int64") if whole and bool((numbers.abs() < 2**53).all()) else numbers


main()
