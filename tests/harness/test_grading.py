"""Grading with real metrics in a real sandbox: scores by hand, and every way a metric can misbehave."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.errors import SandboxLost, TaskError
from harness.sandboxes.base import Limits, SandboxProvider
from harness.sandboxes.process import Process
from harness.tasks.grading import Grader, GradeResult, grade
from harness.tasks.package import Task, load_task
from harness.tasks.submission import Reason, Rows, read_strings
from tests.harness.dying import dying_sandboxes

LIMITS = Limits(seconds=3.0)
HEAD = """\
import json, os, sys, time
import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
RESULT = sys.argv[2]

class Metric(CompetitionMetrics):
"""


def use_metric(task: Task, evaluate: str, validate: str = "return True, 'fine'") -> Task:
    """Give the task a metric with these bodies."""
    body = f"    def evaluate(self, y_true, y_pred):\n        {evaluate}\n"
    body += f"    def validate_submission(self, submission, ground_truth):\n        {validate}\n"
    task.metric_path.write_text(HEAD + body)
    return task


def answers_as_submission(task: Task, tmp_path: Path) -> Path:
    path = tmp_path / "submission.csv"
    path.write_bytes(task.answer_path.read_bytes())
    return path


@pytest.fixture(scope="module")
def bench(
    _prepared_iris: Path, sandbox: SandboxProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Grader]:
    """One open grader for many metrics: its metric.py is rewritten in place, and a run reads it afresh."""
    root = Path(shutil.copytree(_prepared_iris, tmp_path_factory.mktemp("bench") / "iris"))
    with Grader(load_task(root), sandbox, LIMITS) as grader:
        yield grader


def result_of(
    bench: Grader, tmp_path: Path, evaluate: str, validate: str = "return True, 'fine'"
) -> GradeResult:
    task = use_metric(bench.task, evaluate, validate)
    return bench.grade(answers_as_submission(task, tmp_path))


def test_the_answers_score_best_and_one_error_costs_its_share(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    path = answers_as_submission(iris, tmp_path)
    with Grader(iris, sandbox) as grader:
        assert grader.grade(path) == GradeResult(True, 1.0, Reason.OK, "valid")
        frame = pd.read_csv(path, dtype=str)
        frame.loc[0, "species"] = "virginica" if frame.loc[0, "species"] != "virginica" else "setosa"
        frame.to_csv(path, index=False)
        assert grader.grade(path).raw_score == pytest.approx(49 / 50)
        frame.sample(frac=1, random_state=1).to_csv(path, index=False)
        assert grader.grade(path).raw_score == pytest.approx(49 / 50)
        # The two halves together hold the one error: their weighted mean is the whole.
        halves = {rows: grader.grade(path, rows).raw_score for rows in (Rows.FEEDBACK, Rows.HELD_BACK)}
        sizes = {rows: len(grader.key.positions(rows)) for rows in halves}
        assert sum((halves[rows] or 0) * sizes[rows] for rows in halves) == pytest.approx(49)


def test_parts_score_as_if_there_were_no_other_rows(iris: Task, sandbox: SandboxProvider) -> None:
    """Of the first ten rows one is wrong, of the others none; the metric refuses what has no rows at all."""
    said = read_strings(iris.answer_path)
    said.loc[3, "species"] = "virginica" if said.loc[3, "species"] != "virginica" else "setosa"
    use_metric(iris, "assert len(y_true); return (y_true['species'] == y_pred['species']).mean()")
    parts = [np.arange(50), np.arange(10), np.arange(10, 50), np.arange(0)]
    with Grader(iris, sandbox) as grader:
        assert grader.score_parts(said, parts) == [pytest.approx(0.98), pytest.approx(0.9), 1.0, None]


def test_the_metric_s_refusal_reaches_the_participant(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(iris.answer_path.read_text().replace("setosa", "rose"))
    assert grade(iris, path, sandbox) == GradeResult(
        False, None, Reason.METRIC_REJECTED, "unknown species 'rose'"
    )


@pytest.mark.parametrize(
    ("evaluate", "score"),
    [
        ("return 0.25", 0.25),
        ("return 1", 1.0),
        ("return np.float32(0.25)", 0.25),
        ("return np.int64(3)", 3.0),
        ("return np.array(0.25)", 0.25),
        ("return -1e300", -1e300),
        ("print('x' * 10_000_000); return 0.25", 0.25),
        ("sys.stdout.close(); return 0.25", 0.25),
        ("y_true.drop(y_true.index, inplace=True); return float(len(y_pred))", 50.0),
    ],
)
def test_scores_are_plain_floats(bench: Grader, tmp_path: Path, evaluate: str, score: float) -> None:
    result = result_of(bench, tmp_path, evaluate)
    assert (result.valid, result.raw_score, type(result.raw_score)) == (True, score, float)


@pytest.mark.parametrize(
    ("evaluate", "reason", "said"),
    [
        ("return float('nan')", Reason.METRIC_NOT_FINITE, "nan"),
        ("return np.inf", Reason.METRIC_NOT_FINITE, "inf"),
        ("return np.float32('nan')", Reason.METRIC_NOT_FINITE, "nan"),
        ("return None", Reason.METRIC_FAILED, "NoneType"),
        ("return '0.9'", Reason.METRIC_FAILED, "not str"),
        ("return True", Reason.METRIC_FAILED, "not bool"),
        ("return 0.5 + 1j", Reason.METRIC_FAILED, "complex"),
        ("return [0.5]", Reason.METRIC_FAILED, "list"),
        ("return np.array([0.5, 0.6])", Reason.METRIC_FAILED, "size"),
        ("return 10 ** 400", Reason.METRIC_FAILED, "OverflowError"),
        ("raise ValueError('odd')", Reason.METRIC_FAILED, "ValueError: odd"),
        ("raise ValueError('x' * 100_000)", Reason.METRIC_FAILED, "xxx"),
        ("return 1 / 0", Reason.METRIC_FAILED, "ZeroDivisionError"),
        ("raise SystemExit(0)", Reason.METRIC_FAILED, "SystemExit"),
        ("raise KeyboardInterrupt", Reason.METRIC_FAILED, "KeyboardInterrupt"),
        ("os._exit(0)", Reason.METRIC_FAILED, "ended with code 0"),
        ("os.kill(os.getpid(), 9)", Reason.METRIC_FAILED, "ended with code -9"),
        ("time.sleep(60)", Reason.METRIC_TIMEOUT, "longer than 3 s"),
        ("return bytearray(64 << 30)", Reason.METRIC_FAILED, "MemoryError"),
        ("return super().evaluate(y_true, y_pred)", Reason.METRIC_FAILED, "NotImplementedError"),
    ],
)
def test_a_metric_that_fails_is_the_task_s_defect(
    bench: Grader, tmp_path: Path, evaluate: str, reason: Reason, said: str
) -> None:
    result = result_of(bench, tmp_path, evaluate)
    assert (result.valid, result.raw_score, result.reason, result.task_defect) == (False, None, reason, True)
    assert said in result.message
    assert len(result.message) < 2000


@pytest.mark.parametrize(
    "write",
    [
        "open(RESULT, 'w').write('not json')",
        "open(RESULT, 'w').write('[1, 2]')",
        "open(RESULT, 'w').write('[' * 100_000)",
        'open(RESULT, "w").write(\'{"outcome": "score", "score": \' + "9" * 4000 + "}")',
        'open(RESULT, "w").write(\'{"outcome": "score", "score": true}\')',
        'open(RESULT, "w").write(\'{"outcome": "score", "score": NaN}\')',
        'open(RESULT, "w").write(\'{"outcome": "score"}\')',
        'open(RESULT, "w").write(\'{"outcome": "fame", "score": 1.0}\')',
        "open(RESULT, 'wb').write(b'\\xff\\xfe')",
        "open(RESULT, 'w').write(' ' * (2 << 20))",
        "os.symlink('/etc/hostname', RESULT)",
        "os.mkfifo(RESULT)",
        "os.mkdir(RESULT)",
        "d = os.path.dirname(RESULT); os.rename(d, d + 'x'); os.symlink('/etc', d)",
        "[os.makedirs(f'/mlesmith/exchange/{n}', exist_ok=True) for n in range(9)]",
    ],
)
def test_a_result_forged_by_the_metric_is_no_score(bench: Grader, tmp_path: Path, write: str) -> None:
    for _ in range(2):  # what one run leaves behind must not stop the next
        result = result_of(bench, tmp_path, f"{write}; os._exit(0)")
        assert (result.valid, result.raw_score, result.task_defect) == (False, None, True)


@pytest.mark.parametrize(
    ("validate", "valid", "message"),
    [
        ("return 'Submission is valid.'", True, "valid"),
        ("return None", True, "valid"),
        ("return True", True, "valid"),
        ("return True, 'fine'", True, "valid"),
        ("return False, 'too few colours'", False, "too few colours"),
        ("return (False,)", False, "refused by the metric"),
        ("return False", False, "refused by the metric"),
        ("return np.bool_(False), 'numpy says no'", False, "numpy says no"),
        ("raise InvalidSubmissionError('no colours')", False, "no colours"),
        ("raise InvalidSubmissionError", False, "refused by the metric"),
    ],
)
def test_ways_to_refuse_a_submission(
    bench: Grader, tmp_path: Path, validate: str, valid: bool, message: str
) -> None:
    result = result_of(bench, tmp_path, "return 0.5", validate)
    assert (result.valid, result.message, result.task_defect) == (valid, message, False)


@pytest.mark.parametrize(
    "look",
    [
        "print(open({host!r}).read())",
        "os.listdir({home!r})",
        "print(os.environ['OPENAI_API_KEY'])",
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import harness.tasks.grading as g; g.Grader",
    ],
)
def test_the_grader_s_sandbox_sees_nothing_of_the_host(
    bench: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-9f2")
    code = look.format(host=str(bench.task.answer_path), home=str(Path(__file__).parent))
    result = result_of(bench, tmp_path, f"{code}; return 1.0")
    assert result.reason is Reason.METRIC_FAILED
    assert "canary" not in result.message


def test_the_metric_runs_in_a_process_of_its_own(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    use_metric(iris, "sys.modules['count'] = count = sys.modules.get('count', 0) + 1; return float(count)")
    path = answers_as_submission(iris, tmp_path)
    with Grader(iris, sandbox, LIMITS) as grader:
        assert [grader.grade(path).raw_score for _ in range(2)] == [1.0, 1.0]
    use_metric(iris, "return float(os.getpid())")
    with Grader(iris, Process(), LIMITS) as grader:
        assert grader.grade(path).raw_score != float(os.getpid())


def test_the_columns_arrive_as_their_kinds(iris: Task, tmp_path: Path, sandbox: SandboxProvider) -> None:
    """Plain integer ids and whole numbers are integers, other numbers floats, text stays as it was."""
    iris.answer_path.write_text("flower,species,width,note\n1,1,0.5,NA\n20,2,1,007\n")
    iris.sample_path.write_text("flower,species,width,note\n1,0,0,x\n20,0,0,x\n")
    look = "str([(k, v.dtype.kind, v.tolist()) for k, v in {frame}.items()])"
    use_metric(iris, f"raise ValueError({look.format(frame='y_pred')} + {look.format(frame='y_true')})")
    result = grade(iris, answers_as_submission(iris, tmp_path), sandbox)
    for expected in (
        "'flower', 'i', [1, 20]",
        "'species', 'i', [1, 2]",
        "'width', 'f', [0.5, 1.0]",
        "['NA', '007']",
    ):
        assert result.message.count(expected) == 2, result.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "found 0"),
        (HEAD + "    pass\nclass Other(CompetitionMetrics):\n    pass\n", "found 2"),
        (HEAD + "    def __init__(self, target):\n        pass\n", "missing 1 required positional argument"),
        ("import no_such_package\n", "ModuleNotFoundError"),
        ("def broken(:\n", "SyntaxError"),
    ],
)
def test_a_metric_file_that_is_none_is_a_defect(bench: Grader, tmp_path: Path, text: str, said: str) -> None:
    bench.task.metric_path.write_text(text)
    result = bench.grade(answers_as_submission(bench.task, tmp_path))
    assert (result.reason, said in result.message) == (Reason.METRIC_FAILED, True), result.message


def test_only_the_most_derived_class_counts(bench: Grader, tmp_path: Path) -> None:
    bench.task.metric_path.write_text(
        HEAD + "    def evaluate(self, y_true, y_pred):\n        return 0.1\n"
        "class Better(Metric):\n    def evaluate(self, y_true, y_pred):\n        return 0.2\n"
    )
    assert bench.grade(answers_as_submission(bench.task, tmp_path)).raw_score == 0.2


def test_a_task_without_metric_or_answers_is_named(iris: Task, sandbox: SandboxProvider) -> None:
    iris.metric_path.unlink()
    with pytest.raises(TaskError, match=r"metric\.py: not found"):
        Grader(iris, sandbox)
    iris.answer_path.unlink()
    with pytest.raises(TaskError, match="mlesmith task prepare"):
        Grader(iris, sandbox)


def test_a_metric_that_goes_over_a_limit_is_a_defect_of_the_task(bench: Grader, tmp_path: Path) -> None:
    result = result_of(bench, tmp_path, "return len(bytes(16 << 30))")
    assert result.reason is Reason.METRIC_FAILED and result.task_defect
    assert "MemoryError" in result.message
    assert result_of(bench, tmp_path, "return 0.5").raw_score == 0.5


def test_a_sandbox_that_dies_twice_is_lost_and_the_next_grading_starts_a_new_one(
    bench: Grader, tmp_path: Path
) -> None:
    with dying_sandboxes(again=True), pytest.raises(SandboxLost):
        result_of(bench, tmp_path, "time.sleep(600)")
    assert result_of(bench, tmp_path, "return 0.5").raw_score == 0.5


def test_results_are_strict_json(bench: Grader, tmp_path: Path) -> None:
    result = result_of(bench, tmp_path, "return np.float32(0.1)")
    assert result.raw_score is not None and math.isfinite(result.raw_score)
    assert json.loads(json.dumps(result.raw_score, allow_nan=False)) == result.raw_score


def test_nothing_of_a_grader_is_ever_on_disk(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nothing of it can stay there, however the harness ends."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with Grader(iris, sandbox) as grader:
        assert grader.grade(answers_as_submission(iris, tmp_path)).valid
        assert list(temporary.iterdir()) == []
    grader.close()  # twice is harmless


def test_mledojo_itself_is_not_installed() -> None:
    """Else the compatibility name would prove nothing."""
    found = subprocess.run(
        [sys.executable, "-c", "import mledojo"], capture_output=True, check=False, cwd="/"
    )
    assert b"ModuleNotFoundError" in found.stderr


@pytest.mark.parametrize(
    ("sample", "said", "dtypes"),
    [
        ("False", {"True": "True", "False": "False"}, "bool bool"),
        ("False", {"True": "1", "False": "0"}, "bool bool"),
        ("false", {"True": "true", "False": "false"}, "bool bool"),
        ("0", {"True": "1", "False": "0"}, "int64 int64"),
        ("0.5", {"True": "0.75", "False": "0.25"}, "int64 float64"),
    ],
)
def test_answers_of_true_and_false_reach_the_metric(
    sample: str, said: dict[str, str], dtypes: str, iris: Task, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """Booleans where sample and answers both are, as pandas reads them, else 1 and 0."""
    answers = read_strings(iris.answer_path)
    answers["species"] = (answers["species"] == "setosa").map({True: "True", False: "False"})
    answers.to_csv(iris.answer_path, index=False)
    answers.assign(species=sample).to_csv(iris.sample_path, index=False)
    path = tmp_path / "submission.csv"
    answers.assign(species=answers["species"].map(said)).to_csv(path, index=False)
    lines = [
        "a, b = y_true['species'], y_pred['species']",
        f"assert [str(a.dtype), str(b.dtype)] == {dtypes.split()!r}",
        "return ((b > 0.5) == a).mean()",
    ]
    use_metric(iris, "\n        ".join(lines))
    result = grade(iris, path, sandbox)
    assert (result.raw_score, result.message) == (1.0, "valid")
