"""Classes of the answers, against those that training shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.labels import FOLDERS, spelled, visible
from generator.verifier.data.unscored import is_unscored
from generator.verifier.targets import Kind, listed, separator

_CATEGORICAL = ("classification", "multi-label classification")
_DRAWN = ("random", "stratified")


def check(case: Case) -> Iterator[Finding]:
    """Classes that are unseen in training, rare there, or of another share."""
    if case.task.spec.objective not in _CATEGORICAL:
        return
    for target in case.targets:
        if case.kinds[target] not in (Kind.CLASS, Kind.LABELS):
            continue
        labels = visible(case, target)
        if labels is None or not (labels.named or labels.where == FOLDERS):
            continue
        asked, seen = single(case, target, labels.values)
        yield from _check_unseen(case, target, asked, seen, labels.where)
        if labels.named:
            yield from _check_rare(case, target, asked, seen)
            if not asked.index.has_duplicates:
                yield from _check_prior(case, target, asked, seen)


def single(case: Case, target: str, values: pd.Series | None) -> tuple[pd.Series, pd.Series]:
    """Labels of the answers and of training, one a row; a list of labels becomes several rows."""
    truth = case.answers[target]
    truth = truth[truth.str.strip() != ""]
    values = truth.iloc[:0] if values is None else values
    mark = separator(truth) if case.kinds[target] is Kind.LABELS else None
    if mark is not None:
        return listed(truth, mark), listed(values, mark)
    # Both columns are spelled at once: 1 and 1.0 are one class only if all the others are numbers as well.
    both = spelled(pd.concat([truth, values], ignore_index=True))
    return both.iloc[: len(truth)].set_axis(truth.index), both.iloc[len(truth) :]


def _check_unseen(
    case: Case, target: str, asked: pd.Series, seen: pd.Series, where: str
) -> Iterator[Finding]:
    limits = case.limits.data
    rows = asked[~asked.isin(set(seen))]
    if not len(rows):
        return
    share = rows.index.nunique() / len(case.answers)
    most = int(rows.value_counts().iloc[0])
    drawn = case.task.spec.split.kind in _DRAWN
    serious = share > limits.unseen_share or (drawn and most > limits.unseen_rows)
    known = {label.casefold().strip() for label in seen.unique()}
    respelled = sum(label.casefold().strip() in known for label in rows.unique())
    severity = None if serious else Severity.WARNING
    evidence = (
        f"{rows.nunique()} of {asked.nunique()} classes of {target} in the answers ({share:.1%} of the test "
        f"rows) never occur in {where}" + (f"; {respelled} only in another spelling" * bool(respelled))
    )
    if serious and is_unscored(case, target, rows.index.unique()):
        severity, evidence = Severity.INFO, f"{evidence}; the metric does not score these rows"
    yield finding("unseen_class", evidence, "split stratified, or drop classes that are too rare", severity)


def _check_rare(case: Case, target: str, asked: pd.Series, seen: pd.Series) -> Iterator[Finding]:
    counts = seen.value_counts()
    few = counts[counts < case.limits.data.rare_training]
    rare = sorted(set(few.index) & set(asked))
    if rare:
        yield finding(
            "rare_class",
            f"{len(rare)} of {asked.nunique()} classes of {target} in the answers have fewer than "
            f"{case.limits.data.rare_training} training rows, {rare[0]!r} has {int(few[rare[0]])}",
            "drop or merge classes that are too rare to be learnt",
        )


def _check_prior(case: Case, target: str, asked: pd.Series, seen: pd.Series) -> Iterator[Finding]:
    """Shares of the classes, when rows were drawn by chance."""
    if case.task.spec.split.kind not in _DRAWN or asked.nunique() + seen.nunique() < 3:
        return
    table = pd.concat([seen.value_counts(), asked.value_counts()], axis=1).fillna(0.0).to_numpy()
    shares = table / table.sum(axis=0)
    distance = float(np.abs(shares[:, 0] - shares[:, 1]).sum() / 2)
    common = table[table.sum(axis=1) >= 10]
    if distance < case.limits.data.prior_distance or len(common) < 2:
        return
    if float(chi2_contingency(common).pvalue) * len(case.targets) < case.limits.data.certain:
        worst = int(np.abs(shares[:, 0] - shares[:, 1]).argmax())
        yield finding(
            "target_shift",
            f"classes of {target} differ between training and answers by {distance:.2f} in total variation, "
            f"though the split is {case.task.spec.split.kind}: one has {shares[worst, 0]:.1%} of the "
            f"training rows and {shares[worst, 1]:.1%} of the answers",
            "draw test rows from the same rows as training, or declare how they were drawn",
        )
