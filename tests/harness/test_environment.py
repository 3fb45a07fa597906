"""The environment: every bad action is an observation, and only a run's own submission is graded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.actions import INFO_TYPES, TOOLS, Action, Observation
from harness.budget import Budget, BudgetMeter
from harness.environment import SHOWN_OUTPUT, Environment
from harness.errors import Submitted, TimeLimit
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import GIB, MIB, Limits, SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, load_task
from harness.tasks.submission import Rows
from tests.harness.dying import LONG, dying_sandboxes
from tests.harness.replies import SAMPLE

#: Predictions that are right for a part of the rows: more of them with each name.
PREDICT = """
import pandas as pd
test = pd.read_csv('/mlesmith/public/test.csv', dtype={'flower': str})
wide = test['petal width (cm)']
kinds = ['setosa', 'versicolor', 'virginica'][:%d]
species = ['setosa' if w < 0.8 else kinds[-1] if w >= 1.7 else kinds[min(1, len(kinds) - 1)] for w in wide]
pd.DataFrame({'flower': test['flower'], 'species': species}).to_csv('submission.csv', index=False)
"""


class Stage:
    """An environment with a counter of steps."""

    def __init__(self, environment: Environment, paths: TrialPaths) -> None:
        self.environment, self.paths, self.number = environment, paths, 0

    def __call__(self, name: str, **params: object) -> Observation:
        self.number += 1
        return self.environment.step(Action(name, dict(params)), self.number)

    def run(self, code: str) -> Observation:
        return self("execute_code", code=code)


@pytest.fixture(scope="module")
def grader(_prepared_iris: Path, sandbox: SandboxProvider) -> Iterator[Grader]:
    with Grader(load_task(_prepared_iris), sandbox) as opened:
        yield opened


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, grader: Grader, tmp_path: Path, sandbox: SandboxProvider
) -> Iterator[Stage]:
    feedback = getattr(request, "param", Feedback.TEST)
    paths = TrialPaths(tmp_path / "trial")
    budget = Budget.model_validate({"execution_seconds": 20.0})
    with Environment(grader.task, grader, sandbox, paths, BudgetMeter(budget), feedback) as environment:
        yield Stage(environment, paths)


@pytest.mark.parametrize("info_type", INFO_TYPES)
def test_what_can_be_asked(stage: Stage, info_type: str) -> None:
    seen = stage("request_info", info_type=info_type)
    assert seen.ok
    expected = {
        "overview": "metric: accuracy (higher is better, best 1)",
        "data_structure": "train.csv (100 rows, 6 columns",
        "sample_submission": "flower,species\n",
        "data_path": "/mlesmith/public",
        "output_path": "/mlesmith/work",
    }
    assert expected[info_type] in seen.text


def test_nothing_asked_for_shows_an_answer_file(stage: Stage) -> None:
    told = " ".join(stage("request_info", info_type=kind).text for kind in INFO_TYPES)
    assert "test_answer" not in told
    assert "private" not in told


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("fly", {}, "Allowed: request_info, validate_code, execute_code, get_history, reset, submit"),
        ("", {}, "Unknown action ''"),
        ("__init__", {}, "Unknown action"),
        ("request_info", {}, "missing ['info_type']"),
        ("request_info", {"info_type": "answers"}, "Allowed: overview, data_structure"),
        ("request_info", {"info_type": 3}, "info_type must be a string, not int"),
        ("request_info", {"info_type": "overview", "number": "1"}, "unknown ['number']"),
        ("execute_code", {"code": None}, "code must be a string, not NoneType"),
        ("execute_code", {"code": ["print(1)"]}, "not list"),
        ("execute_code", {"program": "1"}, "missing ['code']; unknown ['program']"),
        ("reset", {"hard": "yes"}, "no parameters; unknown ['hard']"),
        ("submit", {"file": "x"}, "unknown ['file']"),
        ("execute_code", {"code": "x = '\ud800'"}, "not valid Unicode"),
    ],
)
def test_a_bad_action_is_answered_with_what_is_allowed(
    stage: Stage, name: str, params: dict[str, object], said: str
) -> None:
    seen = stage(name, **params)
    assert (seen.ok, seen.scores) == (False, None)
    assert said in seen.text
    assert "15 steps" in seen.budget_left


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("request_info", {"info_type": "a" * 500_000}),
        ("execute_code", {"code": "1", "a" * 500_000: "1"}),
        ("submit", {f"a{n}": "1" for n in range(50_000)}),
    ],
)
def test_the_answer_to_an_endless_bad_action_is_short(
    stage: Stage, name: str, params: dict[str, object]
) -> None:
    seen = stage(name, **params)
    assert not seen.ok
    assert "characters left out" in seen.text
    assert len(seen.text) < SHOWN_OUTPUT + 100


def test_a_better_submission_is_told_as_the_best_so_far(stage: Stage) -> None:
    first, second, third = (stage.run(PREDICT % kinds) for kinds in (1, 3, 2))
    assert first.ok and first.scores and first.scores.shown is not None
    assert second.scores and third.scores
    best = second.scores.shown
    assert best is not None and best > first.scores.shown
    assert third.scores.best_shown == best
    assert "Best so far: " in third.text
    assert (stage.paths.step(2) / "submission.csv").is_file()
    assert (stage.paths.step(2) / "code.py").read_text() == PREDICT % 3
    assert (stage.paths.step(2) / "output.txt").is_file()


def test_a_stale_submission_is_never_graded(stage: Stage) -> None:
    assert stage.run(SAMPLE).ok
    for code in ("pass", "1 / 0", "import os; print(os.path.exists('submission.csv'))"):
        seen = stage.run(code)
        assert (seen.ok, seen.scores) == (False, None)
        assert "No submission.csv was written" in seen.text
    assert "False" in seen.text


def test_validating_grades_nothing_and_leaves_nothing_to_grade(stage: Stage) -> None:
    seen = stage("validate_code", code=SAMPLE)
    assert (seen.ok, seen.scores) == (True, None)
    assert stage.run("pass").scores is None


def test_a_program_that_fails_after_writing_is_graded_but_not_ok(stage: Stage) -> None:
    seen = stage.run(f"{SAMPLE}\n1 / 0")
    assert seen.scores is not None and seen.scores.grade.valid
    assert not seen.ok
    assert "ZeroDivisionError" in seen.text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.mkdir('submission.csv')", "not_a_file"),
        ("import os; os.mkfifo('submission.csv')", "not_a_file"),
        ("import os; os.symlink('/mlesmith/public/sample_submission.csv', 'submission.csv')", "not_a_file"),
        ("import os; os.symlink({answers!r}, 'submission.csv')", "not_a_file"),
        ("open('submission.csv', 'w')", "empty"),
        ("open('submission.csv', 'w').write('a,b')", "wrong_columns"),
        ("open('submission.csv', 'wb').truncate((1 << 30) + 1)", "too_large"),
        ("import os; os.makedirs('submission.csv/a/b'); os.chmod('submission.csv', 0)", "not_a_file"),
    ],
)
def test_what_is_no_submission_is_invalid_and_gone_at_the_next_step(
    stage: Stage, code: str, reason: str
) -> None:
    seen = stage.run(code.format(answers=str(stage.environment.task.answer_path)))
    assert seen.scores is not None
    assert (seen.ok, seen.scores.counted, str(seen.scores.grade.reason)) == (False, None, reason)
    assert f"Invalid submission ({reason})" in seen.text
    assert stage.run("pass").scores is None
    assert stage.run(SAMPLE).ok


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(:\n", "SyntaxError"),
        ("a\0b", "null bytes"),
        ("-" * 200_000 + "1", "failed"),
        ("x = " + "+".join(["1"] * 100_000), "RecursionError"),
        ("[a " + "for a in a " * 60_000 + "]", ""),  # crashes Python's own compiler
        ("('x' * 4000)" + " + ('x' * 4000)" * 2_000, "memory"),  # folded to gigabytes as it is compiled
    ],
    ids=["syntax", "NUL", "nested", "long", "crash", "memory"],
)
def test_a_program_that_cannot_be_compiled_fails_inside_and_not_in_the_harness(
    grader: Grader, tmp_path: Path, sandbox: SandboxProvider, code: str, said: str
) -> None:
    paths, meter = TrialPaths(tmp_path / "trial"), BudgetMeter(Budget.model_validate({}))
    limits = Limits(memory_bytes=GIB)
    with Environment(grader.task, grader, sandbox, paths, meter, Feedback.TEST, limits) as environment:
        seen = environment.step(Action("execute_code", {"code": code}), 1)
        assert not seen.ok and said.lower() in seen.text.lower(), seen.text
        assert environment.step(Action("validate_code", {"code": "print(1)"}), 2).ok


@pytest.mark.parametrize("stage", [Feedback.SPLIT], indirect=True)
def test_under_split_the_shown_and_the_counted_score_are_of_different_rows(stage: Stage) -> None:
    seen = stage.run(PREDICT % 2)
    assert seen.scores is not None and seen.scores.shown is not None and seen.scores.counted is not None
    key = stage.environment._grader.key
    sizes = [len(key.positions(rows)) for rows in (Rows.FEEDBACK, Rows.HELD_BACK)]
    whole = stage.environment._grader.grade(stage.paths.step(1) / "submission.csv").raw_score
    assert whole is not None
    right = seen.scores.shown * sizes[0] + seen.scores.counted * sizes[1]
    assert right == pytest.approx(whole * 50)
    assert f"Score: {seen.scores.shown:.6g}" in seen.text


@pytest.mark.parametrize("stage", [Feedback.NONE], indirect=True)
def test_under_none_no_score_is_told(stage: Stage) -> None:
    seen = stage.run(SAMPLE)
    assert seen.ok and seen.scores is not None
    assert (seen.scores.shown, seen.scores.best_shown) == (None, None)
    assert seen.scores.counted is not None
    assert "Scores are not shown" in seen.text
    assert f"{seen.scores.counted:.6g}" not in seen.text
    assert "score" not in stage("get_history").text


def test_history_reset_and_submit(stage: Stage) -> None:
    assert stage("get_history").text == "Nothing yet."
    stage.run(SAMPLE + "; open('kept', 'w')")
    assert stage("fly").ok is False
    assert stage("validate_code", code="import os; print(os.path.exists('kept'))").text.endswith("True")
    history = stage("get_history").text.splitlines()
    assert history[1].startswith("2. execute_code: ok, score 0.")
    assert history[2] == "3. fly: error"
    assert stage("reset").ok
    assert stage("validate_code", code="import os; print(os.listdir('.'))").text.endswith("['main.py']")
    with pytest.raises(Submitted):
        stage("submit")


def test_long_output_keeps_the_end_of_a_traceback(stage: Stage) -> None:
    seen = stage("validate_code", code="print('start')\nprint('x' * 100_000)\nraise ValueError('the end')")
    assert "start" in seen.text
    assert "characters left out" in seen.text
    assert seen.text.endswith("ValueError: the end")
    assert len(seen.text) < SHOWN_OUTPUT + 200


def test_a_sandbox_that_dies_under_a_program_is_answered_and_never_infrastructure(stage: Stage) -> None:
    """Else a candidate that found a way could turn its failures into trials that do not count."""
    for _ in range(2):
        with dying_sandboxes():
            seen = stage("validate_code", code=LONG)
        assert not seen.ok
        assert "ended its own sandbox" in seen.text and "is empty again" in seen.text
    assert stage("validate_code", code="print(1)").ok


def test_tampering_with_the_working_folder_stops_nothing(stage: Stage) -> None:
    for code in (
        "import os; os.remove('main.py'); os.mkdir('main.py'); os.mkdir('main.py/x')",
        "import os; os.remove('main.py'); os.symlink('/etc/passwd', 'main.py')",
        "import os\ntry: os.chmod('.', 0)\nexcept PermissionError: pass",
        "import os; os.makedirs('a/b'); os.chmod('a', 0)",
    ):
        assert stage("validate_code", code=code).ok
    assert stage("reset").ok
    assert stage.run(SAMPLE).ok


def test_a_full_working_folder_is_told_and_reset_empties_it(
    grader: Grader, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    paths, meter = TrialPaths(tmp_path / "trial"), BudgetMeter(Budget.model_validate({}))
    limits = Limits(disk_bytes=16 * MIB)
    fill = "open('fill', 'wb').write(bytes(32 << 20))"
    with Environment(grader.task, grader, sandbox, paths, meter, Feedback.TEST, limits) as environment:
        seen = environment.step(Action("validate_code", {"code": fill}), 1)
        assert not seen.ok and "No space left" in seen.text
        long = "pass" + "#" * 20_000
        seen = environment.step(Action("validate_code", {"code": long}), 2)
        assert not seen.ok and "reset empties it" in seen.text
        assert environment.step(Action("reset", {}), 3).ok
        assert environment.step(Action("validate_code", {"code": long}), 4).ok


def test_the_trial_s_time_bounds_a_program(grader: Grader, tmp_path: Path, sandbox: SandboxProvider) -> None:
    meter = BudgetMeter(Budget.model_validate({"seconds": 5.0}))
    paths = TrialPaths(tmp_path / "trial")
    with Environment(grader.task, grader, sandbox, paths, meter, Feedback.TEST) as environment:
        seen = environment.step(Action("validate_code", {"code": "while True: pass"}), 1)
        assert "was stopped after" in seen.text
        with pytest.raises(TimeLimit):
            environment.step(Action("validate_code", {"code": "pass"}), 2)


def test_a_metric_that_fails_is_not_called_the_agent_s_fault(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    iris.metric_path.write_text("secret = 'setosa 017'\nraise ValueError(secret)\n")
    paths, meter = TrialPaths(tmp_path / "trial"), BudgetMeter(Budget.model_validate({}))
    with (
        Grader(iris, sandbox) as own,
        Environment(iris, own, sandbox, paths, meter, Feedback.TEST) as environment,
    ):
        seen = environment.step(Action("execute_code", {"code": SAMPLE}), 1)
    assert not seen.ok
    assert "Your code is not at fault" in seen.text
    assert "017" not in seen.text


def test_data_that_is_not_text_is_still_described(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    (iris.public / "latin.csv").write_bytes(b"caf\xe9,x\n1,2\n")
    (iris.public / "wide.csv").write_text("a\n" + "x" * 200_000 + "\n")
    paths, meter = TrialPaths(tmp_path / "trial"), BudgetMeter(Budget.model_validate({}))
    with (
        Grader(iris, sandbox) as own,
        Environment(iris, own, sandbox, paths, meter, Feedback.TEST) as environment,
    ):
        seen = environment.step(Action("request_info", {"info_type": "data_structure"}), 1)
    assert seen.ok
    assert "latin.csv (" in seen.text and "wide.csv (" in seen.text


def test_every_tool_has_a_handler_and_a_strict_schema(stage: Stage) -> None:
    assert [tool.name for tool in TOOLS] == list(stage.environment._handlers)
    for tool in TOOLS:
        assert tool.parameters["additionalProperties"] is False
        assert tool.parameters["required"] == list(tool.parameters["properties"])
