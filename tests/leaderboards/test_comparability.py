"""What may share a board, and the refusals by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.budget import Budget
from harness.errors import InputError, Status
from harness.records import Feedback, TrialResult
from harness.resources import LeasedGpu, Resources
from leaderboards.board import build_boards
from leaderboards.comparability import ComparabilityError, check_comparable, require_comparable
from leaderboards.results import Results, load_results
from tests.leaderboards.trials import trial, write_job

A, B = "scripted/a", "scripted/b"


def load(tmp_path: Path, *trials: TrialResult) -> Results:
    return load_results([write_job(tmp_path / "job", *trials)])


def test_like_trials_have_no_findings(tmp_path: Path) -> None:
    assert check_comparable(load(tmp_path, trial("t", A, 1.0), trial("t", B, 2.0))) == []


@pytest.mark.parametrize(
    ("changes", "code", "named"),
    [
        ({"feedback": Feedback.NONE}, "feedback-differs", "feedback: test in "),
        ({"agent": "other"}, "agent-differs", "agent: react in "),
        ({"budget": Budget.model_validate({"steps": 3})}, "budget-differs", "budget.steps: 15 in "),
        ({"budget": Budget.model_validate({"tokens": 9})}, "budget-differs", "budget.tokens: None in "),
        ({"spec_hash": "spec-2"}, "spec-differs", "spec_hash: spec-1 in "),
        ({"task_hash": "new"}, "task-differs", "task_hash of reference/t: hash-of-t in "),
        ({"higher_is_better": True}, "task-differs", "higher_is_better of reference/t: False in "),
    ],
)
def test_each_difference_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], code: str, named: str
) -> None:
    results = load(tmp_path, trial("t", A, 1.0), trial("t", B, 2.0, **changes))
    findings = check_comparable(results)
    assert [(f.code, f.severity) for f in findings] == [(code, "error")]
    assert findings[0].evidence.startswith(named)
    with pytest.raises(ComparabilityError) as caught:
        build_boards([tmp_path / "job"], tmp_path / "boards")
    message = str(caught.value)
    for part in (code, named, "scripted--a/1/result.json", "scripted--b/1/result.json", "fix: "):
        assert part in message
    assert not (tmp_path / "boards").exists()


def test_a_changed_budget_is_named_rather_than_its_hash(tmp_path: Path) -> None:
    other = trial("t", B, 2.0, budget=Budget.model_validate({"steps": 3}), spec_hash="spec-2")
    assert [f.code for f in check_comparable(load(tmp_path, trial("t", A, 1.0), other))] == ["budget-differs"]


def test_the_same_task_name_in_two_sets_is_two_tasks(tmp_path: Path) -> None:
    trials = [
        trial("t", model, 1.0, task_set=s, task_hash=s) for s in ("reference", "smith") for model in (A, B)
    ]
    results = load(tmp_path, *trials)
    assert check_comparable(results) == []
    assert sorted(set(results.scores_frame()["task"])) == ["reference/t", "smith/t"]


@pytest.mark.parametrize("oracle", ["scripted/oracle", "scripted/oracle@again"])
def test_the_oracle_is_on_no_board_and_said_to_be_left_out(tmp_path: Path, oracle: str) -> None:
    """Its trial would win every task, and its budget would even forbid the board."""
    trials = [trial(task, model, 2.0) for task in ("t", "u") for model in (A, B)]
    knowing = trial("t", oracle, 0.0, budget=Budget.model_validate({"steps": 3}))
    results = load(tmp_path, *trials, knowing)
    assert [(f.code, f.severity, f.evidence) for f in check_comparable(results)] == [
        (
            "oracle-left-out", "warning",
            f"trials that hand in the answers say nothing about a model: 1 of {oracle}",
        )
    ]  # fmt: skip
    (board, _) = build_boards([tmp_path / "job"], tmp_path / "boards")
    assert [row.model for row in board.board.rows] == [A, B]
    assert not any("oracle" in path.read_text() for path in (board.csv, board.scores))
    assert "oracle-left-out" in board.json.read_text()


def test_the_oracle_alone_makes_no_board(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"only trials of scripted/oracle.*run a model"):
        load(tmp_path, trial("t", "scripted/oracle", 0.0))


def test_warnings_do_not_refuse(tmp_path: Path) -> None:
    results = load(
        tmp_path,
        trial("t", A, 1.0),
        trial("t", B, 2.0, sandbox="bubblewrap"),
        trial("u", A, 1.0),
        trial("u", B, None, status=Status.CANCELLED),
    )
    findings = require_comparable(results)
    assert {f.code: f.evidence for f in findings}[
        "uneven-tasks"
    ] == "scripted/b has no counted trial on reference/u"
    assert sorted((f.code, f.severity) for f in findings) == [
        ("sandbox-differs", "warning"), ("trials-left-out", "warning"), ("uneven-tasks", "warning"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"memory_gb": 16.0}, "resources.memory_gb: 8.0 in "),
        ({"cpus": 4}, "resources.cpus: 1 in "),
        ({"gpus": (LeasedGpu(id="GPU-a"),)}, "resources.gpus: 0 in "),
    ],
)
def test_more_to_work_with_is_a_warning(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    usual: dict[str, Any] = {"memory_gb": 8.0, "disk_gb": 4.0, "processes": 256, "cpus": 1, "warm": True}
    results = load(
        tmp_path,
        trial("t", A, 1.0, resources=Resources(**usual)),
        trial("t", B, 2.0, resources=Resources(**{**usual, "warm": False, **changes})),
        trial("t", "scripted/old", 3.0),
    )
    [finding] = require_comparable(results)
    assert (finding.code, finding.severity) == ("resources-differ", "warning")
    assert finding.evidence.startswith(said)


def test_trials_that_do_not_count_are_not_compared(tmp_path: Path) -> None:
    stray = trial("t", "scripted/c", None, status=Status.PROVIDER_ERROR, spec_hash="spec-2")
    results = load(tmp_path, trial("t", A, 1.0), trial("t", B, 2.0), stray)
    assert [f.code for f in require_comparable(results)] == ["trials-left-out"]


def test_chains_of_common_tasks_connect_models(tmp_path: Path) -> None:
    # a-b meet on t, b-c on u; d and e only on v.
    chain = [trial("t", A, 1.0), trial("t", B, 1.0), trial("u", B, 1.0), trial("u", "scripted/c", 1.0)]
    assert {f.code for f in check_comparable(load(tmp_path, *chain))} == {"uneven-tasks"}
    island = [trial("v", "scripted/d", 1.0), trial("v", "scripted/e", 1.0)]
    [finding] = check_comparable(load(tmp_path / "more", *chain, *island))
    assert finding.code == "disjoint-models"
    assert "[scripted/a, scripted/b, scripted/c] and [scripted/d, scripted/e]" in finding.evidence
