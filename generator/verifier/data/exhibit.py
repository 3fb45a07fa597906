"""What a report shows of the data: the split, and the targets on its two sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.data.classes import single
from generator.verifier.data.labels import Labels, visible
from generator.verifier.targets import Kind, to_numbers

_BINS = 20
_SHOWN = 20
_OTHERS = "all others"


def show(case: Case) -> None:
    """Leave ``split`` and ``targets`` in the exhibits of a case."""
    split = case.task.spec.split
    reason = (case.task.spec.provenance or {}).get("split_reason")
    by = split.group_column or split.time_column
    rows = [0 if table is None else len(table) for table in (case.train, case.test)]
    case.exhibits["split"] = {
        "kind": split.kind,
        "reason": reason if isinstance(reason, str) else f"by {by}" if by else "",
        "train_rows": rows[0],
        "test_rows": rows[1] or len(case.answers),
        "sampled": max(rows) > case.limits.sampling.rows,
    }
    shown = [_shown(case, target) for target in case.targets]
    case.exhibits["targets"] = [target for target in shown if target is not None]


def _shown(case: Case, target: str) -> dict[str, Any] | None:
    kind, labels = case.kinds[target], visible(case, target)
    if kind is Kind.TEXT:
        return None
    head = {"column": target, "kind": str(kind)}
    if kind is Kind.NUMBER:
        return head | _histogram(case.answers[target], labels)
    asked, seen = single(case, target, labels.values if labels is not None and labels.named else None)
    order = pd.concat([seen, asked]).value_counts().index[:_SHOWN]
    names = (
        sorted(order, key=lambda label: (len(label), label))
        if all(map(str.isdigit, order))
        else sorted(order)
    )
    shares = {"train": _shares(seen, names), "test": _shares(asked, names)}
    if max(map(sum, shares.values())) and min(sum(share) for share in shares.values() if share) < 1 - 1e-9:
        names = [*names, _OTHERS]
        shares = {side: [*share, max(0.0, 1 - sum(share))] if share else [] for side, share in shares.items()}
    return head | {"labels": names} | shares


def _shares(values: pd.Series, names: list[str]) -> list[float]:
    counts = values.value_counts(normalize=True)
    return [float(counts.get(name, 0.0)) for name in names] if len(values) else []


def _histogram(answers: pd.Series, labels: Labels | None) -> dict[str, Any]:
    """Shares in bins of equal width; without training values there are none of them."""
    known = labels.values if labels is not None and labels.named else answers.iloc[:0]
    sides = [to_numbers(column).to_numpy() for column in (known, answers)]
    sides = [column[np.isfinite(column)] for column in sides]
    whole = np.concatenate(sides)
    if not len(whole):
        return {"edges": [], "train": [], "test": []}
    edges = np.histogram_bin_edges(whole, bins=_BINS)
    shares = [
        [float(count) / len(column) for count in np.histogram(column, edges)[0]] if len(column) else []
        for column in sides
    ]
    return {"edges": [float(edge) for edge in edges], "train": shares[0], "test": shares[1]}
