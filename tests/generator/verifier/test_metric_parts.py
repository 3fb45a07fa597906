"""Parts of the metric gate that need tasks of special shapes; the metric is a function of this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case, open_case
from generator.verifier.metric import balance, declaration, direction, probabilities
from generator.verifier.metric.bench import Bench, Stop, cannot
from generator.verifier.metric.hashes import looks_at_hashes
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import GradeResult
from harness.tasks.package import load_task
from harness.tasks.submission import Reason
from harness.tasks.variants import Outcome, Variant, VariantResult
from tests.generator.verifier.metric_tasks import write_task

Metric = Callable[[pd.Series, pd.Series], float]


@dataclass
class PlainBench(Bench):
    """A bench whose metric is a function of the first target, its answers first."""

    metric: Metric = accuracy_score

    def grade(self, submission: pd.DataFrame) -> GradeResult:
        """The score that the function gives."""
        name = self.columns[0]
        return GradeResult(True, float(self.metric(self.oracle[name], submission[name])), Reason.OK, "valid")

    def many(self, frames: Any, *, same: bool = False, twice: bool = False) -> list[VariantResult]:
        """A result for each; a failure is a result, too."""
        results = []
        for frame in frames:
            said = frame.submission if isinstance(frame, Variant) else frame
            try:
                results.append(VariantResult(Outcome.SCORE, self.grade(said).raw_score))
            except KeyError as error:
                results.append(VariantResult(Outcome.FAILED, message=f"KeyError: {error}"))
        return results


def bench_for(
    folder: Path,
    provider: SandboxProvider,
    answers: pd.DataFrame,
    sample: pd.DataFrame,
    score: Metric,
    **how: Any,
) -> Bench:
    """A task with these answers on the bench; ``how`` goes to task.toml, and ``train`` beside the sample."""
    train = how.pop("train", None)
    root = write_task(folder / "task", answers, sample, **how)
    if train is not None:
        train.to_csv(root / "public" / "learn.csv", index=False)
        answers.iloc[:, :1].assign(size=1).to_csv(root / "public" / "to_predict.csv", index=False)
    with open_case(load_task(root), provider, DEFAULTS) as case:
        bench = PlainBench(case, case.key.answers, case.oracle(), case.sample(), 0.0, 0.0, score)
    bench.perfect = bench.score(bench.oracle, "the answers")
    bench.floor = bench.score(bench.sample, "the sample submission")
    return bench


def codes(found: Any) -> dict[str, Finding]:
    """Findings by code."""
    return {one.code: one for one in found}


CLASSES = {"objective": "classification", "metric": "accuracy", "higher": True, "best": 1.0}


def labels(*counts: int) -> list[str]:
    """That many labels of each class."""
    return [f"kind {place}" for place, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize(
    ("key", "target", "counts", "fires"),
    [
        ("id", "fraud", (193, 7), True),
        ("patient", "diagnosis", (290, 5, 5), True),
        ("id", "fraud", (180, 20), False),  # 90 % is usual
    ],
)
def test_accuracy_of_one_class(
    key: str, target: str, counts: tuple[int, ...], fires: bool, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    answers = pd.DataFrame({key: range(sum(counts)), target: labels(*counts)})
    sample = answers.assign(**{target: "kind 0"})
    found = codes(balance.check(bench_for(tmp_path, sandbox, answers, sample, accuracy_score, **CLASSES)))
    assert ("imbalanced_accuracy" in found) is fires
    if fires:
        assert found["imbalanced_accuracy"].severity is Severity.WARNING
        assert f"{counts[0] / sum(counts):.1%}" in found["imbalanced_accuracy"].evidence


@pytest.mark.parametrize(
    ("tested", "learnt", "fires"),
    [
        ((36, 4), (950, 50), True),  # a test row or two too many of the rare class
        ((39, 1), (700, 300), False),  # by luck all but one of the frequent class
    ],
)
def test_training_rows_tell_the_classes_where_test_rows_are_few(
    tested: tuple[int, int], learnt: tuple[int, int], fires: bool, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    answers = pd.DataFrame({"id": range(sum(tested)), "fraud": labels(*tested)})
    train = pd.DataFrame({"id": range(900, 900 + sum(learnt)), "fraud": labels(*learnt), "size": 2})
    sample = answers.assign(fraud="kind 0")
    bench = bench_for(tmp_path, sandbox, answers, sample, accuracy_score, train=train, **CLASSES)
    assert ("imbalanced_accuracy" in codes(balance.check(bench))) is fires


def test_a_metric_that_counts_classes_alike_is_no_accuracy(tmp_path: Path, sandbox: SandboxProvider) -> None:
    answers = pd.DataFrame({"id": range(200), "fraud": labels(193, 7)})
    macro = lambda t, p: f1_score(t, p, average="macro")  # noqa: E731
    bench = bench_for(tmp_path, sandbox, answers, answers.assign(fraud="kind 0"), macro, **CLASSES)
    assert codes(balance.check(bench)) == {}


@pytest.mark.parametrize("counts", [(150, 140, 5, 5), (600, 300, 10, 10, 10)])
def test_classes_that_the_metric_hardly_sees(
    counts: tuple[int, ...], tmp_path: Path, sandbox: SandboxProvider
) -> None:
    """Accuracy loses under a tenth of its way without the rare classes; macro F1 loses far more."""
    answers = pd.DataFrame({"row": range(sum(counts)), "species": labels(*counts)})
    sample = answers.assign(species="kind 0")
    bench = bench_for(tmp_path, sandbox, answers, sample, accuracy_score, **CLASSES)
    assert "hidden_classes" in codes(balance.check(bench))
    bench.metric = lambda t, p: f1_score(t, p, average="macro")  # type: ignore[attr-defined]
    assert codes(balance.check(bench)) == {}


def test_a_class_of_training_that_no_test_row_has(tmp_path: Path, sandbox: SandboxProvider) -> None:
    answers = pd.DataFrame({"row": range(60), "grade": labels(30, 30)})
    train = pd.DataFrame({"row": range(100, 190), "size": 1, "grade": labels(30, 30, 30)})
    ranks = {"kind 0": 0, "kind 1": 1}

    def ranked(truth: pd.Series, said: pd.Series) -> float:
        return float(np.mean([ranks[a] == ranks[b] for a, b in zip(truth, said, strict=True)]))

    sample = answers.assign(grade="kind 0")
    bench = bench_for(tmp_path, sandbox, answers, sample, ranked, train=train, **CLASSES)
    found = codes(balance.check(bench))
    assert "'kind 2' is a class of grade in training" in found["metric_failed"].evidence
    bench.metric = accuracy_score  # type: ignore[attr-defined]
    assert codes(balance.check(bench)) == {}


@pytest.mark.parametrize("objective", ["classification", "regression"])
def test_a_score_that_rises_again(objective: str, tmp_path: Path, sandbox: SandboxProvider) -> None:
    values = labels(60, 60, 60) if objective == "classification" else np.arange(180.0) ** 1.5
    answers = pd.DataFrame({"row": range(180), "value": values})

    def wavy(truth: pd.Series, said: pd.Series) -> float:
        right = float(np.mean(truth == said))
        return right if right > 0.75 else 0.75 - right / 2  # least good where a quarter is wrong

    how = {**CLASSES, "objective": objective, "metric": "own"}
    bench = bench_for(tmp_path, sandbox, answers, answers.assign(value=values[0]), wavy, **how)
    assert list(codes(direction.check(bench))) == ["metric_not_monotone"]


def test_labels_that_are_asked_for_as_probabilities(tmp_path: Path, sandbox: SandboxProvider) -> None:
    """The sample shows 0.5, and accuracy compares with 0 and 1."""
    rng = np.random.default_rng(0)
    answers = pd.DataFrame({"passenger": range(100), "lived": rng.integers(0, 2, 100)})
    bench = bench_for(
        tmp_path, sandbox, answers, answers.assign(lived=0.5), lambda t, p: float((t == p).mean()), **CLASSES
    )
    assert "compares labels" in codes(probabilities.check(bench))["metric_thresholds"].evidence
    bench.metric = lambda t, p: float((t == (p >= 0.5)).mean())  # type: ignore[attr-defined]
    assert "metric_thresholds" not in codes(probabilities.check(bench))


@pytest.mark.parametrize(("declared", "said"), [(True, False), (False, True)])
def test_two_directions(declared: bool, said: bool, tmp_path: Path, sandbox: SandboxProvider) -> None:
    answers = pd.DataFrame({"row": range(20), "value": labels(10, 10)})
    how = {**CLASSES, "higher": declared}
    bench = bench_for(tmp_path, sandbox, answers, answers, accuracy_score, **how)
    bench.case = cast(
        Case,
        SimpleNamespace(task=bench.case.task, limits=DEFAULTS, grader=SimpleNamespace(higher_is_better=said)),
    )
    assert list(codes(declaration.check(bench))) == ["direction_mismatch"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (Reason.METRIC_TIMEOUT, "metric_timeout"),
        (Reason.METRIC_REJECTED, "valid_rejected"),
        (Reason.METRIC_FAILED, "metric_failed"),
        (Reason.METRIC_NOT_FINITE, "metric_not_finite"),
    ],
)
def test_answers_without_a_score_stop_the_gate(reason: Reason, code: str) -> None:
    found = cannot(GradeResult(False, None, reason, "why"), "the answers")
    assert (found.code, found.evidence) == (code, "graded on the answers: why")
    assert Stop(found).finding is found


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        ("return list(set(t))[0]", True),
        ("for label in {'a', 'b'}:\n        pass", True),
        ("return hash(t)", True),
        ("return len(set(t))", False),
        ("return sum(f(t, c) for c in sorted(set(t) | set(p)))", False),
        ("if set(t) != set(p):\n        raise ValueError(set(t))", False),
        ("return (t == p).mean()", False),
    ],
)
def test_where_the_order_of_a_set_may_matter(line: str, looks: bool) -> None:
    assert looks_at_hashes(f"def evaluate(t, p):\n    {line}\n") is looks
    assert not looks_at_hashes(f"def validate_submission(t, p):\n    {line}\n")
