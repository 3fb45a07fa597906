"""Each defect of a metric is named, on tasks of several kinds; honest metrics are left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case
from generator.verifier.metric import (
    balance,
    coverage,
    direction,
    formula,
    gate,
    growth,
    lenience,
    malformed,
    order,
    probabilities,
    repetition,
    resolution,
)
from generator.verifier.metric.bench import Bench, Stop
from harness.sandboxes.base import SandboxProvider
from tests.generator.verifier.metric_tasks import HONEST, bench_of, opened, use_metric, write_all

Part = Callable[[Bench], Iterator[Finding]]
NOTHING = '        return "fine"'


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider) -> Iterator[dict[str, Case]]:
    """The tasks by name, each with an open grader."""
    roots: dict[str, Path] = write_all(tmp_path_factory.mktemp("tasks"))
    with ExitStack() as stack:
        yield {name: stack.enter_context(opened(root, sandbox)) for name, root in roots.items()}


def found_by(case: Case, part: Part, metric: str | None = None) -> dict[str, Finding]:
    """Findings of one part by code; a metric that cannot go on stops with one."""
    try:
        return {found.code: found for found in part(bench_of(case, metric))}
    except Stop as stop:
        return {stop.finding.code: stop.finding}


@pytest.mark.parametrize("name", sorted(HONEST))
def test_an_honest_metric_is_left_alone(name: str, cases: dict[str, Case]) -> None:
    use_metric(cases[name].prepared.root, HONEST[name])
    bench, found = bench_of(cases[name]), list[Finding]()
    for part in (direction, order, probabilities, coverage, balance, formula, malformed, lenience):
        found += part.check(bench)
    assert found == []


def test_the_whole_gate_leaves_what_reports_show(cases: dict[str, Case]) -> None:
    case = cases["prices"]
    use_metric(case.prepared.root, HONEST["prices"])
    found = list(gate.check(case))
    assert {one.severity for one in found} <= {Severity.WARNING}, found
    assert [point["share"] for point in case.exhibits["metric"]] == [0.0, 0.1, 0.3, 0.6, 1.0]
    assert {"sample", "constant"} <= {floor["name"] for floor in case.exhibits["floors"]}


def test_a_metric_that_checks_nothing_gives_warnings_only(cases: dict[str, Case]) -> None:
    case = cases["prices"]
    use_metric(case.prepared.root, HONEST["prices"].replace('"one_to_one"', "None"), NOTHING)
    found = found_by(case, lenience.check)
    assert "a NaN" in found["metric_lenient"].evidence  # pandas leaves NaN out of a mean
    assert "only the rows that are right score 0, better" in found["metric_partial"].evidence
    assert {one.severity for one in found.values()} == {Severity.WARNING}


ONE_HOT_LOSS = """\
chances = both[[c + "_said" for c in names]].to_numpy(float)
right = (np.clip(chances, 1e-6, 1 - 1e-6) * both[names].to_numpy()).sum(axis=1)
return float(-np.log(right).mean())"""
SET_ORDER = """\
first = list({"red", "green", "blue", "pink", "grey", "violet"})[0]
return (t == p).mean() - len(first) / 1e3"""
MACRO_F1 = "return f1_score(t, p, average='macro'{labels})"
AUC = "return roc_auc_score(t, p)"
PAIRS = """\
a = (t - p).tolist()
return float(np.mean([abs(x) + 0 * sum(1 for y in a if y > x) for x in a]))"""
NOISE = "return (t == p).mean() + np.random.default_rng().normal(0, 0.001)"
GLOBAL_NOISE = "return (t - p).abs().mean() + np.random.rand()"
CLOCK = "import time\nreturn (t - p).abs().mean() + time.time() // 86400"
TODAY = "from datetime import date\nreturn (t == p).mean() - date.today().year / 1e4"
MEMORY = "SEEN.append(1)\nreturn (t == p).mean() - len(SEEN) / 1e3"
DOUBLED = "y_true[names[0]] = t * 2\nreturn (t - p).abs().mean()"
BY_PLACE = "return (y_true[names[0]].to_numpy() == y_pred[names[0]].to_numpy()).mean()"
BY_INDEX = "return abs(y_true[names[0]] - y_pred[names[0]]).mean()"
SURPRISE = "return float(np.log2(1 / np.where(t == 1, p, 1 - p)).mean())"
TWO_CLASSES = MACRO_F1.format(labels=", labels=['red', 'blue']")
FILLED = "return (t == p.replace('', t.mode()[0])).mean()"
FIRST_IDS = "rows = both.sort_values('case').index[:60]\nreturn 1 - ((t - p) ** 2)[rows].mean()"

#: The code; by task and body of the metric, where it is looked for; another name of the metric, if need be.
DEFECTS: list[tuple[str, Part, str, str, str | None]] = [
    ("metric_insensitive", direction.check, "colours", "return 0.5", None),
    ("metric_insensitive", direction.check, "prices", "return abs(t.mean() - p.mean())", None),
    ("metric_insensitive", coverage.check, "prices", "return (t - p).abs().mean()", None),
    ("metric_insensitive", coverage.check, "shares", "return ((t - p) ** 2).mean()", None),
    ("metric_insensitive", coverage.check, "colours", "return (t == p).head(50).mean()", None),
    ("metric_insensitive", coverage.check, "chances", FIRST_IDS, None),
    ("metric_direction", direction.check, "colours", "return (t != p).mean()", None),
    ("metric_direction", direction.check, "prices", "return -(t - p).abs().mean()", None),
    ("oracle_not_best", direction.check, "prices", "return (p - 1.01 * t).abs().mean()", None),
    ("oracle_not_best", direction.check, "shares", "return ((t * 0.9 + 0.05 - p) ** 2).mean()", None),
    ("metric_unclipped", direction.check, "shares", HONEST["shares"].replace("1e-15", "0"), "surprise"),
    ("metric_unclipped", direction.check, "chances", SURPRISE, "surprise"),
    ("metric_random", repetition.check, "colours", NOISE, None),
    ("metric_random", repetition.check, "prices", GLOBAL_NOISE, None),
    ("metric_random", repetition.check, "prices", CLOCK, None),
    ("metric_random", repetition.check, "chances", TODAY, None),
    ("metric_random", repetition.check, "colours", SET_ORDER, None),
    ("metric_mutates", repetition.check, "colours", MEMORY, None),
    ("metric_mutates", repetition.check, "prices", DOUBLED, None),
    ("metric_positional", order.check, "colours", BY_PLACE, None),
    ("metric_positional", order.check, "prices", BY_INDEX, None),
    ("metric_label_order", order.check, "colours", TWO_CLASSES, "macro_f1"),
    ("metric_label_order", order.check, "colours", "return (t == p)[t > 'blue'].mean()", "accuracy"),
    ("metric_formula", formula.check, "colours", "return (t == p).mean() ** 2", None),
    ("metric_formula", formula.check, "prices", "return ((t - p) ** 2).mean()", None),
    ("metric_formula", formula.check, "chances", "return 1 - ((t - p) ** 2).mean()", None),
    ("metric_variant", formula.check, "colours", "return 100 * (t == p).mean()", None),
    ("metric_variant", formula.check, "colours", MACRO_F1.format(labels=""), "f1"),
    ("metric_thresholds", probabilities.check, "chances", AUC.replace("p)", "p >= 0.5)"), None),
    ("metric_lenient", probabilities.check, "shares", ONE_HOT_LOSS, None),
    ("metric_lenient", lenience.check, "colours", FILLED, None),
    ("coarse_metric", resolution.check, "colours", "return round((t == p).mean(), 0)", None),
    ("metric_not_finite", growth.check, "prices", "return np.expm1((t - p).abs().max() / 1e3)", None),
    ("metric_slow", growth.check, "prices", PAIRS, None),
]


@pytest.mark.parametrize(("code", "part", "name", "body", "metric"), DEFECTS)
def test_a_defect_is_named(
    code: str, part: Part, name: str, body: str, metric: str | None, cases: dict[str, Case]
) -> None:
    use_metric(cases[name].prepared.root, body, before="SEEN = []")
    found = found_by(cases[name], part, metric)
    assert code in found, found
    assert found[code].evidence and found[code].fix


@pytest.mark.parametrize(
    ("name", "body", "metric"),
    [
        ("colours", MACRO_F1.format(labels=""), "Macro F1"),
        ("colours", "return round((t == p).mean(), 5)", "accuracy"),  # as competitions round
        ("prices", "return np.sqrt(((t - p) ** 2).mean())", "profit"),
        ("prices", "return np.sqrt(np.mean([(both[c] - both[c + '_said']) ** 2 for c in names]))", "rmse"),
        ("shares", HONEST["shares"], "Multi-Class Log Loss"),
        ("chances", AUC, "AUROC"),
    ],
)
def test_the_named_formula_is_no_defect(name: str, body: str, metric: str, cases: dict[str, Case]) -> None:
    """Also where it is rounded, is one of two usual readings, or has a name of its own."""
    use_metric(cases[name].prepared.root, body)
    assert found_by(cases[name], formula.check, metric) == {}


def test_other_types_of_ids_are_no_alteration(cases: dict[str, Case]) -> None:
    """As nearly all metrics of MLE-Dojo do, and sort by them."""
    body = "y_pred['house'] = y_pred['house'].astype(str)\ny_true['house'] = y_true['house'].astype(str)\n"
    use_metric(cases["prices"].prepared.root, body + "return (t - p).abs().mean()")
    assert found_by(cases["prices"], repetition.check) == {}


def test_harmless_alterations_are_a_warning(cases: dict[str, Case]) -> None:
    use_metric(cases["prices"].prepared.root, "y_pred['more'] = 1\nreturn (t - p).abs().mean()")
    found = found_by(cases["prices"], repetition.check)["metric_mutates"]
    assert found.severity is Severity.WARNING
    assert "the columns of the submission" in found.evidence


def test_refused_order_is_a_warning(cases: dict[str, Case]) -> None:
    """Some metrics want the ids in the order of the answers, in which the framework hands them on."""
    check = """\
        if list(submission.iloc[:, 0]) != list(ground_truth.iloc[:, 0]):
            raise InvalidSubmissionError("other order")"""
    use_metric(cases["colours"].prepared.root, HONEST["colours"], check)
    assert found_by(cases["colours"], order.check)["metric_positional"].severity is Severity.WARNING


def test_every_malformed_file_is_refused_by_the_framework(cases: dict[str, Case]) -> None:
    use_metric(cases["prices"].prepared.root, HONEST["prices"], NOTHING)
    assert found_by(cases["prices"], malformed.check) == {}
