"""The verifier passes clean packages and names each injected defect by its code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from generator.defects.base import Gate, Severity
from generator.defects.registry import DEFECTS
from generator.verifier.exhibits import finite
from generator.verifier.memory import CACHE_NAME
from generator.verifier.structure import gate as structure
from generator.verifier.verification import Verdict, to_document
from generator.verifier.verify import Plan, verify_task, verify_tasks
from harness.errors import InputError, SandboxLost
from harness.sandboxes.base import Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import Task

REFERENCE = Path(__file__).parents[3] / "harness" / "tasksets" / "reference"


def test_a_clean_task_is_verified(iris: Task, sandbox: SandboxProvider) -> None:
    seen: list[tuple[str, Gate, str]] = []
    result = verify_task(iris.root, sandbox, Plan(deep=False), progress=lambda *said: seen.append(said))
    assert (result.verdict, result.error) == (Verdict.VERIFIED, None)
    assert not [found for found in result.findings if found.severity is Severity.ERROR]
    assert result.scores["oracle"] == 1.0
    # By hand: each class is a third of the flowers, so the sample's one class is right for about 50 / 3.
    answers = iris.answer_path.read_text()
    assert result.scores["sample"] == pytest.approx(answers.count("setosa") / 50)
    assert seen[0][1] is Gate.STRUCTURE
    assert {gate for _, gate, _ in seen} == set(Gate) - {Gate.EMPIRICAL, Gate.REVIEW, Gate.EXECUTION}


def test_unknown_words_are_worth_a_warning(iris: Task) -> None:
    """The modality is a made-up word."""
    (iris.root / "task.toml").write_text((iris.root / "task.toml").read_text().replace("tabular", "tables"))
    found = {finding.code: finding for finding in structure.check(iris.root)}
    assert found["unknown_word"].severity is Severity.WARNING
    assert "'tables'" in found["unknown_word"].evidence


def test_gates_stop_after_the_first_with_errors(iris: Task, sandbox: SandboxProvider) -> None:
    """Blank description (structure) and a constant metric: only the first is reported."""
    (iris.root / "description.txt").write_text("")
    (iris.root / "metric.py").write_text(iris.metric_path.read_text().replace(").mean()", ").mean() * 0"))
    result = verify_task(iris.root, sandbox)
    assert {found.stage for found in result.findings} == {Gate.STRUCTURE}
    assert result.scores == {}


@pytest.mark.parametrize("name", ["penguin-measurements", "phishing-sites"])
def test_reference_task_is_verified_and_left_alone(
    name: str, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """Several outputs in a group split, and probabilities, both from packages without prepared data."""
    before = sorted((REFERENCE / name).rglob("*"))
    result = verify_task(REFERENCE / name, sandbox, Plan(deep=False), cache=tmp_path)
    assert result.verdict is Verdict.VERIFIED, result.findings
    assert [found.code for found in result.findings] == ["not_prepared"]
    assert sorted((REFERENCE / name).rglob("*")) == before


def test_verdict_is_remembered_until_the_package_changes(iris: Task, sandbox: SandboxProvider) -> None:
    (iris.root / "description.txt").write_text("")
    first = verify_task(iris.root, sandbox)
    again = verify_task(iris.root, sandbox)
    assert (first.cached, again.cached) == (False, True)
    assert again.findings == first.findings and again.verdict is first.verdict
    (iris.root / "description.txt").write_text("Predict species for each flower.\n")
    (iris.root / "metric.py").unlink()
    changed = verify_task(iris.root, sandbox)
    assert not changed.cached
    assert [found.code for found in changed.findings] == ["missing_file"]
    (iris.root / CACHE_NAME).write_text("{}")
    assert not verify_task(iris.root, sandbox).cached


class LostSandboxes(Bubblewrap):
    """A provider whose sandboxes are gone, as when the machine kills them."""

    name = "lost"

    def start(self, spec: SandboxSpec) -> Sandbox:
        raise SandboxLost("the sandbox was killed")


def test_a_lost_sandbox_is_no_finding_and_is_not_remembered(iris: Task) -> None:
    result = verify_task(iris.root, LostSandboxes())
    assert result.verdict is Verdict.ERROR
    assert {found.stage for found in result.findings} <= {Gate.STRUCTURE}
    assert result.error == "SandboxLost: the sandbox was killed"
    assert not (iris.root / CACHE_NAME).exists()


def test_document_holds_what_the_command_promises(
    iris: Task, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """Two packages at once, of which one is empty; strict JSON with the fixed keys."""
    (iris.root / "prepare.py").unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    document = json.loads(
        json.dumps(to_document(verify_tasks([iris.root, empty], sandbox, workers=2)), allow_nan=False)
    )
    assert document["schema_version"] == 1
    assert [task["task"] for task in document["tasks"]] == ["iris", "empty"]
    assert [task["verdict"] for task in document["tasks"]] == ["rejected", "rejected"]
    assert set(document["tasks"][0]) >= {"task", "verdict", "findings", "scores"}
    assert set(document["tasks"][0]["findings"][0]) == {"code", "severity", "stage", "evidence", "fix"}


def test_no_such_folder_is_wrong_usage(tmp_path: Path, sandbox: SandboxProvider) -> None:
    with pytest.raises(InputError, match="no such task folder"):
        verify_task(tmp_path / "nowhere", sandbox)


def test_every_code_is_one_word_with_a_meaning() -> None:
    for code, defect in DEFECTS.items():
        assert code.isidentifier() and code == code.lower()
        assert len(defect.meaning.split()) >= 3


def test_numbers_that_json_has_no_word_for_are_left_out_of_exhibits() -> None:
    probes = [{"column": "a", "gain": 0.5}, {"column": "b", "gain": float("nan")}]
    shown = finite({"probes": probes, "split": {"rows": float("inf")}, "metric": [{"scores": [1.0]}]})
    assert shown == {"probes": probes[:1], "metric": [{"scores": [1.0]}]}


def test_empty_answers_of_numbers_are_told_and_remembered(
    iris: Task, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """A number to predict, of which some answers are missing: nothing of the record may be NaN."""
    text = iris.prepare_path.read_text().replace('columns="species"', 'columns="petal width (cm)"')
    text = text.replace('species="setosa"', '**{"petal width (cm)": 0.5}')
    text = text.replace('"flower", "species"', '"flower", "petal width (cm)"')
    text = text.replace(
        "test = flowers.iloc[:50]", "flowers.iloc[:5, 4] = float('nan')\n    test = flowers.iloc[:50]"
    )
    iris.prepare_path.write_text(text)
    toml = (iris.root / "task.toml").read_text()
    toml = toml.replace('"species"', '"petal width (cm)"').replace('"classification"', '"regression"')
    (iris.root / "task.toml").write_text(toml)
    for folder in (iris.public, iris.private):
        shutil.rmtree(folder)
    result = verify_task(iris.root, sandbox, Plan(last=Gate.DATA), cache=tmp_path)
    assert "missing_answers" in {found.code for found in result.findings}, (result.error, result.findings)
    assert verify_task(iris.root, sandbox, Plan(last=Gate.DATA), cache=tmp_path).cached
