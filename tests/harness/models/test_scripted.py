"""Scripted candidates, through the real loop, sandbox and grader."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from sklearn.metrics import f1_score

from harness.actions import TOOLS, Action, Observation
from harness.agents.parsing import read_actions
from harness.agents.prompting import render
from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import InputError
from harness.models.base import Message, Settings, Tool, ToolCall
from harness.models.registry import scripted_names
from harness.models.scripted.model import ScriptedModel, policy_names, policy_summaries
from harness.models.scripted.problems import metric_family
from harness.models.scripted.programs import _environment
from harness.models.scripted.reading import (
    Facts,
    Unreadable,
    read_answer,
    read_facts,
    read_outcome,
    read_printed,
)
from harness.records import Feedback, TrialPaths, TrialResult
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, load_task
from harness.tasks.preparing import prepare_task
from harness.tasksets.catalogue import reference_task
from harness.trial import run_trial
from harness.trialspec import TrialSpec

Run = Callable[[Task, str, Feedback], TrialResult]


@pytest.fixture
def run(sandbox: SandboxProvider, tmp_path: Path) -> Iterator[Run]:
    """Runs one trial of a candidate; its folder is named after the candidate."""
    graders: dict[Path, Grader] = {}

    def trial(task: Task, candidate: str, feedback: Feedback = Feedback.TEST) -> TrialResult:
        if task.root not in graders:
            graders[task.root] = opened.enter_context(Grader(task, sandbox))
        spec = TrialSpec(task, "hash", 1, Budget(steps=10, seconds=120), AgentConfig(), feedback)
        grader = graders[task.root]
        model = ScriptedModel(candidate, task)
        return run_trial(spec, model, grader, sandbox, TrialPaths(tmp_path / candidate))

    with ExitStack() as opened:
        yield trial


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider) -> Callable[[str], Task]:
    """A prepared copy of a reference task by name."""

    def prepare(name: str) -> Task:
        root = tmp_path_factory.mktemp("reference") / name
        shutil.copytree(reference_task(name), root)
        prepare_task(load_task(root), sandbox)
        return load_task(root)

    return prepare


def test_every_candidate_on_iris(iris: Task, run: Run, tmp_path: Path) -> None:
    results = {name: run(iris, name, Feedback.TEST) for name in policy_names()}
    assert [name for name, result in results.items() if not result.valid] == ["nop"]
    assert {result.status for result in results.values()} == {"submitted"}
    assert all(len(result.steps) <= 9 for result in results.values())
    assert all(result.usage.input == result.usage.output == 0 for result in results.values())
    score = {name: result.score or 0.0 for name, result in results.items()}
    # One species in three; the four measurements tell nearly all of them.
    assert score["sample"] < 0.5 and score["constant"] < 0.5
    for name in ("tree", "neighbours", "linear", "forest", "boosting", "tuned", "blended"):
        assert score[name] > 0.85
    actions = [event for event in _events(tmp_path / "tuned") if event.get("event") == "action"]
    names = [event["action"] for event in actions]
    assert names[:5] == ["request_info"] * 4 + ["validate_code"]
    assert names[-1] == "submit" and "execute_code" in names
    assert all(event["thought"] for event in actions)


def test_regression_beats_the_median(prepared: Callable[[str], Task], run: Run) -> None:
    task = prepared("fuel-economy")
    answers = pd.read_csv(task.private / "test_answer.csv")["mpg"]
    median = pd.read_csv(task.public / "train.csv")["mpg"].median()
    score = run(task, "linear", Feedback.TEST).score
    assert score is not None and score < 0.6 * (answers - median).abs().mean()


def test_several_labels_beat_the_majority(prepared: Callable[[str], Task], run: Run) -> None:
    task = prepared("gene-functions")
    answers = pd.read_csv(task.private / "test_answer.csv").iloc[:, 1:]
    majority = pd.read_csv(task.public / "train.csv")[answers.columns].mean().round().astype(int)
    said = pd.DataFrame([majority] * len(answers))
    score = run(task, "tree", Feedback.TEST).score
    assert score is not None and score > 0.05 + f1_score(answers, said, average="micro")


def test_without_scores_the_validated_best_counts(iris: Task, run: Run, tmp_path: Path) -> None:
    result = run(iris, "neighbours", Feedback.NONE)
    assert result.valid
    texts = [
        event["text"] for event in _events(tmp_path / "neighbours") if event.get("event") == "observation"
    ]
    told = [read_outcome(read_answer(f"ok: {text}\n\n[left: 1 steps]")) for text in texts]
    merits = [outcome.validation for outcome in told if outcome.validation is not None]
    assert all(outcome.score is None for outcome in told)
    assert merits[-1] == max(merits)


def test_the_oracle_hands_in_the_answers_in_the_samples_columns(iris: Task, run: Run, tmp_path: Path) -> None:
    answers = pd.read_csv(iris.answer_path, dtype=str)
    answers.assign(note="not for participants")[["note", "species", "flower"]].to_csv(
        iris.answer_path, index=False
    )
    result = run(iris, "oracle", Feedback.NONE)
    assert (result.status, result.score) == ("submitted", 1.0)
    handed_in = pd.read_csv(tmp_path / "oracle" / "steps" / "002" / "submission.csv", dtype=str)
    pd.testing.assert_frame_equal(handed_in, answers)


def test_the_oracle_hands_in_several_columns_in_a_small_program(
    prepared: Callable[[str], Task], run: Run, tmp_path: Path
) -> None:
    task = prepared("gene-functions")
    assert run(task, "oracle", Feedback.TEST).score == task.spec.metric.best
    program = tmp_path / "oracle" / "steps" / "002" / "code.py"
    assert program.stat().st_size < task.answer_path.stat().st_size / 3


def test_the_oracle_needs_a_task_with_answers_to_every_column(iris: Task) -> None:
    with pytest.raises(InputError, match=r"scripted/oracle hands in the answers of a task"):
        ScriptedModel("oracle")
    answers = pd.read_csv(iris.answer_path, dtype=str)
    answers.rename(columns={"species": "kind"}).to_csv(iris.answer_path, index=False)
    with pytest.raises(InputError, match=r"test_answer\.csv: no column species, which a submission has"):
        ScriptedModel("oracle", iris)
    iris.answer_path.unlink()
    with pytest.raises(InputError, match=r"test_answer\.csv: not found; run `mlesmith task prepare"):
        ScriptedModel("oracle", iris)


def test_the_oracle_is_no_rung_of_the_ladder() -> None:
    assert "oracle" not in policy_names() and "scripted/oracle" not in scripted_names()
    assert list(policy_summaries()) == [*policy_names(), "oracle"]


# --- replay and reactions: conversations written by hand, in the words of the environment

OVERVIEW = """\
title: Name the iris
modality: tabular
objective: classification
metric: accuracy (higher is better, best 1)
id column: flower
target columns: ["species"]

Name the species of each iris."""
TREE = """\
description.txt (20 bytes)
sample_submission.csv (50 rows, 2 columns: flower, species)
test.csv (50 rows, 3 columns: flower, width, length)
train.csv (100 rows, 4 columns: flower, width, length, species)"""
LOOK = json.dumps(
    {
        "rows": [100, 50],
        "numbers": ["width", "length"],
        "blocks": {},
        "identities": [],
        "words": {},
        "documents": [],
        "targets": {"species": {"unique": 3, "numeric": False, "whole": False, "low": None, "high": None}},
        "one_of": False,
        "id_dates": 0.0,
        "id_prefixes": 0,
    }
)
LOOKED = f"The program ended without an error after 0.1 s.\nOutput:\n{LOOK}"
STUDIED = (OVERVIEW, TREE, "/data", "/out", LOOKED)
GOOD = (
    "The program ended without an error after 0.1 s.\nOutput:\nvalidation: 0.9\nScore: {} (higher is better)."
)


def _talk(model: ScriptedModel, *texts: str, tools: tuple[Tool, ...] = TOOLS) -> Iterator[Action]:
    """The model's actions, each answered with the next text; ``!`` marks an error."""
    messages = [Message("system", "..."), Message("user", "Begin.")]
    for number, text in enumerate((*texts, None), start=1):
        reply = model.complete(messages, tools, Settings())
        assert reply == model.complete(messages, tools, Settings())
        action = read_actions(reply).asks[0].wish
        assert isinstance(action, Action)
        yield action
        if text is None:
            return
        ok = not text.startswith("!")
        observation = Observation(action.name, ok, text.lstrip("!"), None, f"{12 - number} steps", 0.1)
        rendered = render("observation", observation=observation)
        messages.append(Message("assistant", reply.text, reply.tool_calls))
        calls = reply.tool_calls
        messages.append(
            Message("tool", rendered, tool_call_id=calls[0].id) if calls else Message("user", rendered)
        )


def test_the_same_conversation_gets_the_same_reply_with_and_without_tools() -> None:
    texts = (*STUDIED, GOOD.format(0.9), GOOD.format(0.95))
    called = list(_talk(ScriptedModel("linear"), *texts))
    written = list(_talk(ScriptedModel("linear"), *texts, tools=()))
    assert called == written
    assert [action.name for action in called] == ["request_info"] * 4 + ["validate_code"] + [
        "execute_code"
    ] * 2 + ["submit"]


def test_no_improvement_ends_the_trial() -> None:
    first = list(_talk(ScriptedModel("tree"), *STUDIED, GOOD.format(0.9)))[-1]
    assert first.name == "execute_code" and "max_depth=5" in first.params["code"]
    *_, worse = _talk(ScriptedModel("tree"), *STUDIED, GOOD.format(0.9), GOOD.format(0.8))
    assert worse.name == "submit"


def test_an_error_is_answered_with_a_simpler_program() -> None:
    failed = "!The program failed with exit code 1 after 0.1 s.\nOutput:\nMemoryError: no room"
    *_, again = _talk(ScriptedModel("boosting"), *STUDIED, failed)
    assert again.name == "execute_code" and "[:2000]" in again.params["code"]
    *_, once_more = _talk(ScriptedModel("boosting"), *STUDIED, failed, failed)
    assert "DummyClassifier" in once_more.params["code"]
    *_, gives_up = _talk(ScriptedModel("boosting"), *STUDIED, failed, failed, failed)
    assert gives_up.name == "submit"


def test_an_invalid_submission_is_answered_with_a_simpler_program() -> None:
    invalid = (
        "!The program ended without an error after 0.1 s.\nIt printed nothing.\nInvalid submission (x): y"
    )
    *_, again = _talk(ScriptedModel("forest"), *STUDIED, invalid)
    assert again.name == "execute_code" and "[:2000]" in again.params["code"]


def test_what_cannot_be_read_is_said_and_nothing_is_handed_in() -> None:
    *_, action = _talk(ScriptedModel("linear"), OVERVIEW, "notes.txt (5 bytes)", "/data", "/out")
    assert action == Action("submit")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"unknown scripted candidate 'forrest'; did you mean scripted/forest.*nop, sample"
    ):
        ScriptedModel("forrest")


def test_reading_facts_and_files() -> None:
    facts = read_facts(OVERVIEW, TREE + "\nimages/ (2 entries)\n  train.csv (1 rows, 1 columns: a)")
    assert facts == Facts(
        "Name the iris", "tabular", "classification", "accuracy", True, "flower", ("species",),
        {
            "description.txt": (), "sample_submission.csv": ("flower", "species"),
            "test.csv": ("flower", "width", "length"), "train.csv": ("flower", "width", "length", "species"),
            "images/": (),
        },
    )  # fmt: skip
    assert facts.table("train") == "train.csv"
    with pytest.raises(Unreadable, match="metric"):
        read_facts("title: x", "")


def test_reading_outcomes() -> None:
    answer = read_answer(
        "ok: Output:\nvalidation: 0.5\nScore: 0.75 (lower is better).\n\n[left: 3 steps, 10 s]"
    )
    assert answer.ok and answer.steps_left == 3
    outcome = read_outcome(answer)
    assert (outcome.valid, outcome.score, outcome.validation, outcome.merit) == (True, 0.75, 0.5, 0.75)
    error = read_outcome(read_answer("error: failed\nTraceback\nValueError: bad: worse\n\n[left: 2 steps]"))
    assert not error.valid and error.reason == "ValueError: bad: worse"
    with pytest.raises(Unreadable):
        read_printed('Output:\n{"rows": [1, ... 90 characters left out ...')


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("quadratic_weighted_kappa", "quadratic_weighted_kappa"), ("Macro F1", "macro_f1"),
        ("roc-auc", "roc_auc"), ("auc", "roc_auc"), ("mase", "mae"),
        ("mean_columnwise_nrmse", "normalised_rmse"), ("rmsle", "rmsle"),
        ("log_loss", "log_loss"), ("mcrmse", "rmse"), ("ndcg", "ndcg"), ("something", None),
    ],
)  # fmt: skip
def test_metric_families(name: str, family: str | None) -> None:
    assert metric_family(name) == family


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("kind", ["classes", "flags"])
def test_programs_compute_f1_as_scikit_learn_does(average: str, kind: str) -> None:
    """On labels, some never said and some never true, and on columns of flags, one of them empty."""
    rng = np.random.default_rng(5)
    labels = np.array(list("abcdef"))
    if kind == "classes":
        truth, said = rng.choice(labels[:4], 60), rng.choice(labels[1:5], 60)
    else:
        truth, said = rng.integers(2, size=(2, 60, 3))
        truth[:, 1] = said[:, 1] = 0
    template = _environment().get_template("validation.py.j2")
    problem = SimpleNamespace(
        kind=kind, metric=f"{average}_f1", time=None, group=None, id_is_group=False, higher_is_better=True
    )
    program: dict[str, Any] = {"np": np, "model_selection": model_selection, "labels": labels}
    program |= {"train": truth, "Y": truth, "truth": truth}
    exec(template.render(problem=problem, plan=SimpleNamespace(folds=1)), program)
    expected = f1_score(truth, said, average=average, zero_division=0)
    assert program["score"](said, np.arange(60)) == pytest.approx(expected)


@pytest.mark.parametrize("levels", [[4, 6, 8], [0, 1, 2], [-1, 5], [0.5, 1.0, 4.0]])
def test_steps_of_a_scale_are_answered_with_steps_that_exist(levels: list[float]) -> None:
    """Five cylinders are none of 4, 6 and 8, so a metric refuses them."""
    answers = pd.DataFrame({"step": np.repeat(levels, 10)})
    template = _environment().get_template("target.py.j2")
    program: dict[str, Any] = {"np": np, "pd": pd, "answers": answers, "TARGETS": ["step"]}
    problem = SimpleNamespace(
        kind="levels", output="label", logarithm=False, metric="quadratic_weighted_kappa"
    )
    exec(template.render(problem=problem, plan=SimpleNamespace(thresholds=True, is_constant=False)), program)
    guesses = np.linspace(min(levels) - 3, max(levels) + 3, 200).reshape(-1, 1)
    for knob in program["KNOBS"]:
        said = program["decide"](guesses, knob)
        assert set(said.ravel().astype(str)) == set(answers["step"].astype(str))
    nearest = [min(levels, key=lambda level: abs(level - guess)) for guess in guesses.ravel()]
    assert program["decide"](guesses).ravel().tolist() == nearest


def test_a_tool_call_is_json() -> None:
    reply = ScriptedModel("nop").complete([Message("user", "Begin.")], TOOLS, Settings())
    assert reply.tool_calls == (ToolCall("call_1", "request_info", '{"info_type": "overview"}'),)


def _events(root: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (root / "trajectory.jsonl").read_text().splitlines()]
