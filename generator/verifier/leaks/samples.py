"""Sample submissions that know the answers, or how often each occurs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.comparing import Values, agreement, same_where_filled
from generator.verifier.leaks.view import View
from generator.verifier.probing import Floats
from generator.verifier.targets import Kind, to_numbers

#: How probable the same counts may be by chance for a warning, and for an error.
_LUCK, _NO_LUCK = 0.1, 1e-3
_FIX = "fill the sample with a constant, or with values drawn from training"


def check(view: View) -> Iterator[Finding]:
    """Sample values near the answers row by row, or distributed as they are."""
    case = view.case
    sample = case.tables.get(case.prepared.sample_path)
    if sample is None or case.id_column not in sample.columns:
        return
    said = sample.drop_duplicates(case.id_column).set_index(case.id_column)
    answers = case.answers.drop_duplicates(case.id_column).set_index(case.id_column)
    common = answers.index.intersection(said.index)
    if len(common) < view.limits.copy_rows:
        return
    for target in case.targets[: view.limits.targets]:
        if target in said.columns:
            yield from _check_target(view, target, said.loc[common, target], answers.loc[common, target])


def _check_target(view: View, target: str, said: pd.Series, truth: pd.Series) -> Iterator[Finding]:
    sample, answers = Values(said), Values(truth)
    if same_where_filled(sample, answers, view.limits):
        return  # The search for copies has reported it.
    near = _nearness(sample, answers)
    z = near * len(truth) ** 0.5
    if z >= view.limits.z and near >= view.limits.sample_agreement:
        yield finding(
            "sample_is_answers",
            f"{target} of the sample submission is the answers with noise: agreement {near:.3f}",
            _FIX,
        )
        return
    train = view.case.train
    known = train[target] if train is not None and target in train.columns else None
    if view.case.kinds[target] is Kind.NUMBER:
        yield from _check_numbers(view, target, sample, answers, known)
    elif view.case.kinds[target] is Kind.CLASS:
        yield from _check_classes(view, target, sample, answers, known)


def _nearness(sample: Values, answers: Values) -> float:
    """Kappa, or the correlation of numbers when that is higher; a constant sample has none."""
    if len(sample.counts) < 2 or len(answers.counts) < 2:
        return 0.0
    best = agreement(sample, answers)
    if sample.numbers is not None and answers.numbers is not None:
        best = max(best, abs(float(np.corrcoef(sample.numbers, answers.numbers)[0, 1])))
    return best


def _check_numbers(
    view: View, target: str, sample: Values, answers: Values, known: pd.Series | None
) -> Iterator[Finding]:
    if sample.numbers is None or answers.numbers is None:
        return
    learnt = None if known is None else to_numbers(known).dropna().to_numpy()
    if len(sample.counts) == 1:
        value = float(sample.numbers[0])
        name = _constant_of(value, answers.numbers, learnt)
        if name:
            yield finding(
                "sample_prior",
                f"the sample's constant {target} {value:g} is the {name} of the test answers, not of "
                "training",
                "take the constant from training rows",
            )
        return
    if len(answers.counts) >= 20 and np.array_equal(np.sort(sample.numbers), np.sort(answers.numbers)):
        yield _shuffled(target, len(answers.counts), Severity.ERROR)
    elif (
        learnt is not None and len(learnt) and _closer_numbers(sample.numbers, answers.numbers, learnt, view)
    ):
        yield finding(
            "sample_prior",
            f"{target} of the sample is distributed as the test answers are, which training values are not",
            _FIX,
        )


def _constant_of(value: float, answers: Floats, learnt: Floats | None) -> str:
    for name, of in (("mean", np.mean), ("median", np.median)):
        wanted, other = float(of(answers)), None if learnt is None or not len(learnt) else float(of(learnt))
        close = max(1e-6 * float(np.std(answers)), 1e-12)
        if value % 1 == 0 or (name == "median" and value in answers and other is None):
            continue
        if abs(value - wanted) <= close and other is not None and abs(value - other) > 10 * close:
            return name
    return ""


def _closer_numbers(sample: Floats, answers: Floats, learnt: Floats, view: View) -> bool:
    if len(np.unique(sample)) < 10:
        return False
    sure = view.limits.prior_sure
    differ = stats.ks_2samp(answers, learnt).pvalue < sure and stats.ks_2samp(sample, learnt).pvalue < sure
    return bool(differ and stats.ks_2samp(sample, answers).pvalue > 0.2)


def _check_classes(
    view: View, target: str, sample: Values, answers: Values, known: pd.Series | None
) -> Iterator[Finding]:
    learnt = None if known is None else known[known.str.strip() != ""]
    if len(sample.counts) == 1:
        yield from _check_share(target, sample, answers, learnt)
        return
    said, truth, before = _counts(sample, answers, learnt)
    if len(set(said.index) | set(truth.index)) > max(50, len(answers.text) // 5):
        return
    names = truth.index.union(said.index)
    said, truth = said.reindex(names, fill_value=0), truth.reindex(names, fill_value=0)
    luck = _luck(truth, before) if said.equals(truth) else 1.0
    if luck < _LUCK:
        yield _shuffled(target, len(names), None if luck > _NO_LUCK else Severity.ERROR)
        return
    if before is None or not len(before):
        return
    before = before.reindex(names, fill_value=0)
    sure = view.limits.prior_sure
    if _p(truth, before) < sure and _p(said, before) < sure and _p(said, truth) > 0.2:
        yield finding(
            "sample_prior",
            f"classes of {target} are as frequent in the sample as in the test answers, not as in training: "
            + ", ".join(f"{name} {said[name]}, {truth[name]}" for name in list(names)[:4]),
            _FIX,
        )


def _check_share(target: str, sample: Values, answers: Values, learnt: pd.Series | None) -> Iterator[Finding]:
    """A constant probability that is the share of a class among the answers."""
    if sample.numbers is None or answers.numbers is None or learnt is None:
        return
    value = float(sample.numbers[0])
    before = to_numbers(learnt).dropna()
    wanted = float(answers.numbers.mean())
    if not 0 < value < 1 or abs(value - 0.5) < 1e-9 or before.empty:
        return
    digits = len(f"{value:.10f}".rstrip("0").split(".")[1])
    if digits >= 4 and abs(value - wanted) <= 0.51 * 10.0**-digits < 0.1 * abs(value - float(before.mean())):
        yield finding(
            "sample_prior",
            f"the sample's constant {target} {value:g} is the share of 1 in the test answers, not of "
            "training",
            "take the constant from training rows",
        )


def _shuffled(target: str, distinct: int, severity: Severity | None) -> Finding:
    return finding(
        "sample_prior",
        f"{target} of the sample is the answers in another order: each of {distinct} values comes as often",
        _FIX,
        severity,
    )


def _counts(
    sample: Values, answers: Values, learnt: pd.Series | None
) -> tuple[pd.Series, pd.Series, pd.Series | None]:
    numeric = sample.numbers is not None and answers.numbers is not None
    said = pd.Series(sample.numbers if numeric else sample.text).value_counts()
    truth = pd.Series(answers.numbers if numeric else answers.text).value_counts()
    before = None
    if learnt is not None:
        before = (to_numbers(learnt) if numeric else learnt).value_counts()
    return said, truth, before


def _luck(truth: pd.Series, before: pd.Series | None) -> float:
    """About how probable it is that a draw has exactly these counts: the mode of the multinomial law.

    A balanced table of few classes may be meant: equal counts are the author's, not the answers'.
    """
    counts = truth.to_numpy(dtype=float)
    if counts.max() - counts.min() <= 1:
        return 1.0
    total = counts.sum()
    if before is not None and np.allclose(
        truth / total, before.reindex(truth.index, fill_value=0) / max(before.sum(), 1), atol=1.0 / total
    ):
        return 1.0  # A stratified split has the same shares on both sides.
    return float(np.exp(stats.multinomial(int(total), counts / total).logpmf(counts)))


def _p(left: pd.Series, right: pd.Series) -> float:
    """p of the chi-square test that two tables of counts are from one distribution."""
    table = np.array([left.to_numpy(), right.to_numpy()])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
