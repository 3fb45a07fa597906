"""The order of the rows, and the names of the classes, of which no score may depend."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.metric import changes
from generator.verifier.metric.bench import SEED, Bench, close
from generator.verifier.targets import Kind
from harness.tasks.variants import Variant

#: Metrics to which classes are names and nothing else.
NOMINAL = frozenset(
    {
        "accuracy",
        "balanced_accuracy",
        "macro_f1",
        "micro_f1",
        "weighted_f1",
        "mcc",
        "cohen_kappa",
        "error_rate",
    }
)


def check(bench: Bench) -> Iterator[Finding]:
    """Rows in another order, then classes under each other's names."""
    yield from _check_rows(bench)
    yield from _check_labels(bench)


def _check_rows(bench: Bench) -> Iterator[Finding]:
    """The metric alone, given rows in another order; our grader aligns them, other users' graders may not."""
    order = np.random.default_rng(SEED).permutation(len(bench.oracle))
    frames = (("answers", bench.oracle, bench.perfect), ("sample", bench.sample, bench.floor))
    for what, frame, before in frames[: 1 if bench.unscored_sample else 2]:
        result = bench.grade(frame.iloc[order].reset_index(drop=True))
        if result.raw_score is not None and close(result.raw_score, before):
            continue
        refused = result.raw_score is None
        # The metrics of other benchmarks are as they are, and our framework aligns rows before they see them.
        imported = "imported_from" in (bench.case.task.spec.provenance or {})
        now = "are refused" if result.raw_score is None else f"score {result.raw_score:.6g}"
        yield finding(
            "metric_positional",
            f"the {what} score {before:.6g}, and in another row order {now}",
            f"join on {bench.case.key.id_column} before comparing",
            # Refused is not scored wrongly, and the framework always hands on the order of the answers.
            Severity.WARNING if refused or imported else None,
        )
        return


def _check_labels(bench: Bench) -> Iterator[Finding]:
    """Classes renamed among each other, in answers and submission alike, which keeps a fixed vocabulary."""
    name = bench.columns[0]
    if len(bench.columns) != 1 or bench.case.kinds.get(name) is not Kind.CLASS or bench.flags:
        return
    labels = sorted(set(bench.oracle[name].tolist()), key=str)
    nominal = bench.known is not None and bench.known.name in NOMINAL
    if len(labels) < 2:
        return
    submissions = [("answers", bench.oracle, bench.perfect)]
    if nominal:
        rng = np.random.default_rng(SEED + 4)
        submissions.append(("partly wrong answers", bench.worse, np.nan))
        most = bench.oracle[name].value_counts().index[0]
        rows = np.flatnonzero((bench.oracle[name] == most).to_numpy())
        lacking = changes.wrong_at(bench.oracle, [name], rows, rng)
        lacking[name] = lacking[name].where(lacking[name] != labels[0], labels[-1])
        submissions.append((f"answers without the class {labels[0]}", lacking, np.nan))
    before = [result.finite for result in bench.many([frame for _, frame, _ in submissions])]
    for renamed in (
        dict(zip(labels, labels[1:] + labels[:1], strict=True)),
        dict(zip(labels, reversed(labels), strict=True)),
    ):
        answers = bench.answers.copy()
        keys = {_text(old, answers[name]): _text(new, answers[name]) for old, new in renamed.items()}
        answers[name] = answers[name].map(lambda cell, keys=keys: keys.get(cell, cell))
        variants = [
            Variant(frame.assign(**{name: frame[name].map(renamed)}), answers) for _, frame, _ in submissions
        ]
        for (what, _, _), was, result in zip(submissions, before, bench.many(variants), strict=True):
            if was is None or result.finite is None or close(was, result.finite):
                continue
            yield finding(
                "metric_label_order",
                f"{what} score {was:.6g}, and {result.finite:.6g} when the classes of {name} swap their "
                "names in answers and submission alike",
                "treat classes as names: no fixed positive class, no order, no class left out",
                # Another metric may be worth more for one class than for another.
                None if nominal else Severity.WARNING,
            )
            return


def _text(label: object, cells: pd.Series) -> str:
    """How the answers write a label."""
    if isinstance(label, str):
        return label
    numbers = pd.to_numeric(
        cells.replace({"true": "1", "false": "0", "True": "1", "False": "0"}), errors="coerce"
    )
    same = cells[(numbers == label).to_numpy()]
    return str(same.iloc[0])
