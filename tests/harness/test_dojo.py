"""MLE-Dojo's own metrics, unmodified and without mledojo installed, grade answers that this test builds.

Needs a checkout of MLE-Dojo, named by the environment variable MLE_DOJO_SNAPSHOT. `pytest -s` prints the
figures that docs/mle-dojo.md reports.
"""

from __future__ import annotations

import ast
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.errors import TaskError
from harness.sandboxes.base import ROOT, Limits, Mount, SandboxProvider, SandboxSpec
from harness.tasks import dojo
from harness.tasks.dojo import DojoDefinition, dojo_definitions, higher_is_better, import_task
from harness.tasks.grading import Grader
from harness.tasks.package import load_task
from tests.conftest import METRIC

ROWS = 40
BATCH = """\
import json, runpy, sys
grade, folder = sys.argv[1:]
for number in range(0, 2 * int(json.load(open(f"{folder}/batch.json"))), 2):
    for part in (number, number + 1):
        sys.argv = [grade, f"{folder}/{part}.request.json", f"{folder}/{part}.json"]
        runpy.run_path(grade)
        if json.load(open(f"{folder}/{part}.json"))["outcome"] != "score":
            break
"""


@pytest.fixture(scope="session")
def snapshot() -> Path:
    place = os.environ.get("MLE_DOJO_SNAPSHOT")
    if not place:
        pytest.skip("MLE_DOJO_SNAPSHOT does not name a checkout of MLE-Dojo")
    return Path(place)


# Shapes of answers: columns and kinds of cells, guessed from what a metric's source names.


def named_columns(metric: Path) -> Iterator[tuple[str, ...]]:
    """Sets of columns that a metric may want, the likeliest first: id column, then targets."""
    tree = ast.parse(metric.read_text(encoding="utf-8"))
    value = "target"
    together: list[tuple[str, ...]] = []
    alone: list[object] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            defaults = dict(
                zip([a.arg for a in node.args.args][::-1], node.args.defaults[::-1], strict=False)
            )
            if isinstance(given := defaults.get("value"), ast.Constant) and isinstance(given.value, str):
                value = given.value
        elif isinstance(node, ast.Set | ast.List | ast.Tuple):
            words = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            if len(words) == len(node.elts) >= 2:
                together.append(tuple(words))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            alone.append(node.slice.value)
    named = [word for word in alone if isinstance(word, str)]
    known = [word for words in together for word in words] + named
    ids = [word for word in known if word.lower().endswith("id") and word != value] or ["id"]
    seen: set[tuple[str, ...]] = set()
    for columns in (
        (ids[0], value),
        *together,
        *((ids[0], *words) for words in together),
        (ids[0], *(word for word in dict.fromkeys(named) if word != ids[0])),
        (ids[0], value, "second", "third"),
    ):
        tidy = tuple(dict.fromkeys(columns))
        ordered = tuple(sorted(tidy, key=lambda column: column != ids[0]))
        if len(ordered) > 1 and ordered not in seen:
            seen.add(ordered)
            yield ordered


def cells(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, str]:
    """One column of answers, the same column with half of the rows wrong, and the type the grader is told."""
    turned = np.arange(ROWS) % 2 == 0
    if kind == "zero or one":
        truth = np.resize([0, 1, 1, 0, 1], ROWS)
        return truth, np.where(turned, 1 - truth, truth), "number"
    if kind == "numbers":
        truth = rng.uniform(1.0, 9.0, ROWS).round(3)
        return truth, np.where(turned, truth * 1.7, truth).round(3), "number"
    if kind == "shares":
        truth = rng.uniform(0.1, 0.5, ROWS).round(3)
        return truth, np.where(turned, 1 - truth, truth).round(3), "number"
    if kind == "levels":
        truth = np.resize([0, 1, 2, 3], ROWS)
        return truth, np.where(turned, (truth + 1) % 4, truth), "number"
    words = {
        "words": ["cat", "dog", "emu", "fox"],
        "lists": ["1 2", "3 4", "5 6", "7 8"],
        "flags": ["True", "False", "False", "True"],
        "lists of triples": ["1 1 2", "2 3 3", "4 4 5", "5 6 6"],
        "boxes": ["0 0.9 10 10 50 50", "1 0.9 20 20 60 60", "2 0.9 5 5 30 30", "3 0.9 0 0 40 40"],
    }[kind]
    truth = np.resize(np.array(words, dtype=object), ROWS)
    return truth, np.where(turned, np.roll(truth, 1), truth), "text"


KINDS = ("zero or one", "numbers", "words", "levels", "shares", "lists", "flags", "lists of triples", "boxes")


@dataclass
class Trial:
    """What is tried on one metric, and how it went."""

    definition: DojoDefinition
    shapes: list[tuple[tuple[str, ...], str]]
    failures: list[str] = field(default_factory=list)
    graded: bool = False
    loads: bool | None = None


def write_shape(folder: Path, number: int, trial: Trial, mounted: str) -> None:
    """Two requests: the answers as a submission, and a worse submission."""
    columns, kind = trial.shapes.pop(0)
    rng = np.random.default_rng(7)
    answers, worse = (pd.DataFrame({columns[0]: np.arange(1, ROWS + 1)}) for _ in range(2))
    types = {columns[0]: "integer"}
    for column in columns[1:]:
        answers[column], worse[column], types[column] = cells(kind, rng)
    answers.to_csv(folder / f"{number}.answers.csv", index=False)
    worse.to_csv(folder / f"{number}.worse.csv", index=False)
    for offset, name in enumerate(("answers", "worse")):
        request = {
            "metric": f"{mounted}/{trial.definition.name}/utils/metric.py",
            "base": f"{ROOT}/grader/competition_metrics.py",
            "answers": f"{ROOT}/exchange/{number}.answers.csv",
            "submission": f"{ROOT}/exchange/{number}.{name}.csv",
            "types": types,
        }
        (folder / f"{number + offset}.request.json").write_text(json.dumps(request))


def judge(trial: Trial, folder: Path, number: int) -> None:
    """Graded: both are valid, and the answers are strictly better in the metric's own direction."""
    results = []
    for part in (number, number + 1):
        result = json.loads((folder / f"{part}.json").read_text())
        results.append(result)
        text = str(result.get("message", "not finite")).strip()
        trial.loads = trial.loads or "ModuleNotFoundError" not in text
        if result["outcome"] != "score" or not np.isfinite(float(result["score"])):
            trial.failures.append(text.splitlines()[-1][:120] if text else result["outcome"])
            return
    oracle, worse = results
    gain = float(oracle["score"]) - float(worse["score"])
    if (gain if oracle["higher_is_better"] else -gain) > 0:
        trial.graded = True
    else:
        trial.failures.append("the answers are not better than a worse submission")


def grade_all(definitions: list[DojoDefinition], provider: SandboxProvider, folder: Path) -> list[Trial]:
    """Try shape after shape on every metric, a sandboxed process for each round."""
    trials = [
        Trial(d, [(columns, kind) for columns in named_columns(d.metric_path) for kind in KINDS][:20])
        for d in definitions
    ]
    mounted = f"{ROOT}/competitions"
    grader = Path(dojo.__file__).with_name("inside")
    spec = SandboxSpec(
        (
            Mount(grader, f"{ROOT}/grader"),
            Mount(definitions[0].root.parent, mounted),
            Mount(folder, f"{ROOT}/exchange", writable=True),
        ),
        workdir=f"{ROOT}/exchange",
        limits=Limits(seconds=60.0),
        preload=("numpy", "pandas", "sklearn.metrics", "scipy.stats"),
    )
    (folder / "batch.py").write_text(BATCH)
    with provider.open(spec) as sandbox:
        while round_ := [
            trial for trial in trials if trial.shapes and not trial.graded and trial.loads is not False
        ]:
            for number, trial in enumerate(round_):
                write_shape(folder, 2 * number, trial, mounted)
            (folder / "batch.json").write_text(json.dumps(len(round_)))
            run = sandbox.run_python(
                f"{ROOT}/exchange/batch.py", [f"{ROOT}/grader/grade.py", f"{ROOT}/exchange"]
            )
            assert run.ok, run.output[-2000:]
            for number, trial in enumerate(round_):
                judge(trial, folder, 2 * number)
    return trials


@pytest.mark.slow
def test_mle_dojo_s_metrics_grade_answers_of_ours(
    snapshot: Path, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    definitions = dojo_definitions(snapshot)
    trials = grade_all(definitions, sandbox, tmp_path)
    loaded = [trial for trial in trials if trial.loads]
    graded = [trial for trial in trials if trial.graded]
    print(f"\n{len(trials)} metrics, {len(loaded)} load, {len(graded)} grade")
    print(f"  tries until graded: {sorted(Counter(len(t.failures) for t in graded).items())}")
    for trial in trials:
        if not trial.graded:
            print(f"  {trial.definition.name}: {Counter(trial.failures).most_common(3)}")
    assert len(trials) == 202
    assert len(loaded) >= 100
    assert len(graded) >= 100


# Importing whole tasks, on a definition tree in MLE-Dojo's layout that this test writes itself.


@pytest.fixture
def checkout(tmp_path: Path) -> DojoDefinition:
    root = tmp_path / "checkout" / "mledojo" / "competitions" / "Iris-Names"
    (root / "utils").mkdir(parents=True)
    (root / "info").mkdir()
    (root / "utils" / "metric.py").write_text(METRIC)
    (root / "utils" / "prepare.py").write_text("# prepared elsewhere\n")
    (root / "info" / "description.txt").write_text('Name {the} "iris".\n')
    (root / "info" / "public_leaderboard.csv").write_text("rank,score\n1,0.9\n2,0.5\n")
    index = {"Evaluation": {"MLE-Lite": [], "NLP": [], "CV": [], "Tabular": ["Iris-Names"]}}
    (root.parent / "competition.json").write_text(json.dumps(index))
    return dojo_definitions(tmp_path / "checkout")[0]


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    data = tmp_path / "data" / "Iris-Names" / "data"
    (data / "public").mkdir(parents=True)
    (data / "private").mkdir()
    rows = pd.DataFrame({"flower": ["1", "2", "3"], "species": ["setosa", "virginica", "setosa"]})
    rows.to_csv(data / "private" / "test_answer.csv", index=False)
    rows.assign(species="setosa").to_csv(data / "public" / "sample_submission.csv", index=False)
    (data / "public" / "train.csv").write_text("flower,species\n9,setosa\n")
    return data


def test_a_task_is_imported_whole_and_graded(
    checkout: DojoDefinition, prepared: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    task = import_task(checkout, prepared, tmp_path / "tasks", sandbox, objective="classification")
    assert (task.id, task.spec.set, task.spec.modality) == ("iris-names", "dojo", "tabular")
    assert (task.spec.id_column, task.spec.target_columns) == ("flower", ("species",))
    assert (task.spec.metric.higher_is_better, task.spec.metric.best) == (True, 1.0)
    assert task.metric_path.read_bytes() == checkout.metric_path.read_bytes()
    assert (
        (task.public / "description.txt").read_text()
        == 'Name {the} "iris".\n'
        == task.description_path.read_text()
    )
    assert (task.private / "public_leaderboard.csv").is_file()
    assert (task.public / "train.csv").is_file()
    assert load_task(task.root) == task
    with Grader(task, sandbox) as grader:
        assert grader.grade(task.sample_path).raw_score == pytest.approx(2 / 3)
    with pytest.raises(TaskError, match="exists already"):
        import_task(checkout, prepared, tmp_path / "tasks", sandbox)


def test_answers_that_cannot_be_graded_need_a_declared_best(
    checkout: DojoDefinition, prepared: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    answers = prepared / "private" / "test_answer.csv"
    answers.write_text(answers.read_text().replace("species", "name"))
    with pytest.raises(TaskError, match=r"no column 'species'\); pass best"):
        import_task(checkout, prepared, tmp_path / "tasks", sandbox)
    assert not (tmp_path / "tasks" / "iris-names").exists()
    assert import_task(checkout, prepared, tmp_path / "tasks", sandbox, best=1.0).spec.metric.best == 1.0


def test_what_cannot_be_imported_is_named(
    checkout: DojoDefinition, prepared: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    with pytest.raises(TaskError, match="pass the root of a checkout of MLE-Dojo"):
        dojo_definitions(tmp_path)
    (prepared / "private" / "test_answer.csv").unlink()
    with pytest.raises(
        TaskError, match=r"test_answer\.csv: not found; prepare Iris-Names with MLE-Dojo first"
    ):
        import_task(checkout, prepared, tmp_path / "tasks", sandbox)
    checkout.metric_path.write_text("import no_such_package\n")
    with pytest.raises(TaskError, match=r"does not load: (.|\n)*no_such_package"):
        higher_is_better(checkout.metric_path, sandbox)


@pytest.mark.parametrize("direction", [True, False])
def test_the_direction_is_the_instance_s(
    checkout: DojoDefinition, sandbox: SandboxProvider, direction: bool
) -> None:
    checkout.metric_path.write_text(METRIC.replace("higher_is_better=True", f"higher_is_better={direction}"))
    assert higher_is_better(checkout.metric_path, sandbox) is direction
