"""What a report shows of a task: small pieces of plain JSON data that the gates leave in ``case.exhibits``.

split    {"kind": str, "reason": str, "train_rows": int, "test_rows": int, "sampled": bool}
targets  [{"column": str, "kind": str, "labels": [str], "train": [share], "test": [share]}]  for classes
         [{"column": str, "kind": str, "edges": [float], "train": [share], "test": [share]}]  for numbers,
         where len(edges) == len(train) + 1
probes   [{"column": str, "target": str, "what": str, "gain": float, "z": float}], strongest first
metric   [{"share": float, "scores": [float]}] scores of the answers with that share of rows exchanged
floors   [{"name": str, "score": float}] uninformed submissions
ladder   [{"name": str, "score": float, "gain": float, "low": float, "high": float}] baselines with the
         95 % interval of their gain over the best uninformed submission
review   {"model": str, "version": str | null, "prompts": str, "calls": int, "cost_usd": float | null,
         "tokens": {"input": int, "output": int}, "grades": {aspect: {"grade": str, "reason": str,
         "quotes": [{"file": str, "quote": str, "found": bool}]}}} what a language model said of the task
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(exhibits: Mapping[str, Any]) -> dict[str, Any]:
    """The exhibits without the entries that hold NaN or infinity, which JSON has no word for."""
    kept = {
        name: [entry for entry in value if _is_finite(entry)] if isinstance(value, list) else value
        for name, value in exhibits.items()
    }
    return {name: value for name, value in kept.items() if _is_finite(value)}


def _is_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
