"""Grades one submission inside the grader sandbox. A standalone script: pandas and the standard library only.

    grade.py REQUEST.json RESULT.json

The request names the metric file, the two CSV files and the types of their columns. With ``parts``, lists of
row positions, each part is scored alone. With ``variants``, see ``variants.py``, many changed submissions are
scored; ``clock`` moves the clock ahead first. Without CSV files the metric is only constructed, which tells
its direction. The result is ``{"outcome": "score" | "parts" | "variants" | "described" | "rejected" |
"failed", "score": float, "scores": [float | null], "results": [dict], "message": str,
"higher_is_better": bool}``.
"""

from __future__ import annotations

import importlib.util
import io
import json
import sys
import traceback
import types
from pathlib import Path
from typing import Any

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
    many, lines = (_load(name, str(Path(__file__).with_name(f"{name}.py"))) for name in ("variants", "lines"))
    if "clock" in request:
        many.move_clock(request["clock"])
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
    if "variants" in request:
        results = many.score_variants(request, leaves[0], _read, _typed, base.InvalidSubmissionError, lines)
        return {"outcome": "variants", "results": results, "higher_is_better": higher_is_better}
    answers = _read(request["answers"], request["types"])
    submission = _read(request["submission"], request["types"])
    if "parts" in request:
        scores = [
            _part_score(leaves[0](), answers, submission, rows, base, many) for rows in request["parts"]
        ]
        return {"outcome": "parts", "scores": scores}
    score = many.judge(leaves[0](), answers, submission, base.InvalidSubmissionError)
    return {"outcome": "score", "score": score, "higher_is_better": higher_is_better}


def _part_score(
    metric: Any, answers: pd.DataFrame, submission: pd.DataFrame, rows: list[int], base: Any, many: Any
) -> float | None:
    """The score of some rows alone; a metric may well fail on a part, for example one with a single class."""
    try:
        known, said = (frame.iloc[rows].reset_index(drop=True) for frame in (answers, submission))
        return float(many.judge(metric, known, said, base.InvalidSubmissionError))
    except Exception:
        return None


def _read(path: str, kinds: dict[str, str], whole: bool = True, text: bool = False) -> pd.DataFrame:
    """Read every cell as text, then convert the columns declared as numbers.

    Args:
        path: the file, or with ``text`` what it would hold.
        kinds: the types by column.
        whole: make whole numbers integers; not for a table that is still to be changed.
        text: also leave a column as it is that cannot be converted.
    """
    source = io.StringIO(path) if text else path
    frame = pd.read_csv(source, dtype=str, keep_default_na=False, na_filter=False)
    for column in frame.columns:
        kind = kinds.get(column, "text")
        try:
            if kind == "integer":
                frame[column] = frame[column].astype("int64")
            elif kind in ("number", "boolean"):
                frame[column] = _numbers(frame[column])
        except ValueError:
            if not text:
                raise
    return _typed(frame, kinds) if whole else frame


def _numbers(cells: pd.Series) -> pd.Series:
    """Numbers, true and false as 1 and 0."""
    lowered = cells.str.strip().str.lower()
    return pd.to_numeric(lowered.map({"true": "1", "false": "0"}).fillna(lowered))


def _typed(frame: pd.DataFrame, kinds: dict[str, str]) -> pd.DataFrame:
    """Whole numbers become integers, as label metrics tell 1 from 1.0, and booleans become these."""
    for column in frame.columns:
        kind, values = kinds.get(column), frame[column]
        if kind == "boolean" and bool(values.isin((0, 1)).all()):
            frame[column] = values.astype(bool)
        elif kind not in ("number", "boolean") or not pd.api.types.is_float_dtype(values):
            continue
        elif bool((values % 1 == 0).all()) and bool((values.abs() < 2**53).all()):
            frame[column] = values.astype("int64")
    return frame


main()
