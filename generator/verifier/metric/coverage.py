"""Whether the score sees all of a submission: each column, and each part of the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import SEED, Bench, close
from generator.verifier.targets import Kind
from harness.tasks.metrics import NamedMetric
from harness.tasks.variants import VariantResult

_SMALLEST_BLOCK = 5
_CLASSES = 10
_SINGLE_ROWS = 30
_MOST_COLUMNS = 60


def check(bench: Bench) -> Iterator[Finding]:
    """Columns, blocks of rows, classes and single rows that do not matter to the score."""
    yield from _check_columns(bench)
    blocks = list(_check_blocks(bench))
    yield from blocks
    if not blocks and not isinstance(bench.known, NamedMetric):
        yield from _check_classes(bench)


def _check_columns(bench: Bench) -> Iterator[Finding]:
    """Each column alone is made wrong, in the answers and in a wrong submission made right."""
    if len(bench.columns) < 2:
        return
    rng = np.random.default_rng(SEED + 2)
    varied = [name for name in bench.columns if bench.oracle[name].nunique() > 1][:_MOST_COLUMNS]
    everything = changes.exchanged(bench.oracle, bench.columns, 1.0, rng)
    rows = np.arange(len(bench.oracle))
    results = bench.many([changes.wrong_at(bench.oracle, [name], rows, rng) for name in varied])
    unseen = [name for name, one in zip(varied, results, strict=True) if _unmoved(bench.perfect, one)]
    if unseen:  # what is right must be worth nothing either
        results = bench.many(
            [everything, *(everything.assign(**{name: bench.oracle[name]}) for name in unseen)]
        )
        before = results[0].finite
        unseen = [name for name, one in zip(unseen, results[1:], strict=True) if _unmoved(before, one)]
    if unseen:
        yield finding(
            "metric_insensitive",
            f"the score does not change however wrong {', '.join(unseen[:8])} is"
            + (f" (and {len(unseen) - 8} more columns)" if len(unseen) > 8 else "")
            + f"; {len(bench.columns)} columns are asked for",
            "score every target column, or ask for none that is not scored",
        )


def _unmoved(before: float | None, result: VariantResult) -> bool:
    return before is not None and result.finite is not None and close(before, result.finite)


def _unseen(bench: Bench, groups: list[changes.Rows]) -> list[bool]:
    """Which groups of rows can be made wrong in the answers, and right in a wrong submission, for nothing."""
    rng = np.random.default_rng(SEED + 3)
    results = bench.many([changes.wrong_at(bench.oracle, bench.columns, rows, rng) for rows in groups])
    unmoved = [_unmoved(bench.perfect, result) for result in results]
    if not any(unmoved):
        return unmoved
    base = changes.wrong_at(bench.oracle, bench.columns, np.arange(len(bench.oracle)), rng)
    frames: list[pd.DataFrame] = [base]
    for rows, nothing in zip(groups, unmoved, strict=True):
        frames += [changes.taken(base, bench.columns, rows, bench.oracle, rows)] if nothing else []
    results = bench.many(frames)
    second = iter(results[1:])
    return [nothing and _unmoved(results[0].finite, next(second)) for nothing in unmoved]


def _check_blocks(bench: Bench) -> Iterator[Finding]:
    count = min(bench.case.limits.metric.blocks, len(bench.oracle) // _SMALLEST_BLOCK)
    if count < 2:
        return
    by_id = bench.oracle[bench.case.key.id_column].astype(str).argsort(kind="stable").to_numpy()
    orders = [(np.arange(len(bench.oracle)), "in file order"), (by_id, "in id order")]
    for order, what in orders[: 1 if (np.diff(by_id) == 1).all() else 2]:
        groups = np.array_split(order, count)
        unseen = _unseen(bench, [rows.astype(np.intp) for rows in groups])
        if not any(unseen):
            continue
        share = sum(len(rows) for rows, ignored in zip(groups, unseen, strict=True) if ignored) / len(order)
        places = ", ".join(str(place + 1) for place, ignored in enumerate(unseen) if ignored)
        grave = share >= bench.case.limits.metric.ignored_share
        yield finding(
            "metric_insensitive",
            f"of {count} parts of the rows {what}, part {places} can be all wrong at the same score",
            "score every row",
            Severity.ERROR if grave else Severity.WARNING,
        )
        return


def _check_classes(bench: Bench) -> Iterator[Finding]:
    """Rows of one class, or group, and single rows. What is left out may be left out on purpose."""
    parts: list[tuple[str, changes.Rows]] = []
    if len(bench.columns) == 1 and bench.case.kinds.get(bench.columns[0]) is Kind.CLASS:
        labels = bench.answers[bench.columns[0]]
        for label in labels.value_counts().index[:_CLASSES]:
            rows = np.flatnonzero((labels == label).to_numpy())
            if len(rows) >= _SMALLEST_BLOCK:
                parts.append((f"the {len(rows)} rows of class {label!r}", rows))
    groups = bench.case.key.groups
    if groups:
        named = bench.answers[bench.case.key.id_column].map(groups)
        for group in named.value_counts().index[:_CLASSES]:
            rows = np.flatnonzero((named == group).to_numpy())
            if len(rows) >= _SMALLEST_BLOCK:
                parts.append((f"the {len(rows)} rows of group {group!r}", rows))
    chosen = np.random.default_rng(SEED).permutation(len(bench.oracle))[:_SINGLE_ROWS]
    unseen = _unseen(bench, [rows for _, rows in parts] + [np.array([row]) for row in chosen])
    ignored = [what for (what, _), nothing in zip(parts, unseen, strict=False) if nothing]
    single = unseen[len(parts) :]
    if len(single) >= 10 and np.mean(single) >= bench.case.limits.metric.ignored_share:
        ignored.append(f"{sum(single)} of {len(single)} single rows")
    if ignored:
        yield finding(
            "metric_insensitive",
            f"{' and '.join(ignored)} can be wrong at the same score",
            "score every row, or say in the description which are not scored",
            Severity.WARNING,
        )
