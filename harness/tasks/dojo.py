"""Tasks of MLE-Dojo: its definitions and prepared data as task packages of ours.

MLE-Dojo keeps a definition, ``mledojo/competitions/<name>/{info,utils}``, apart from the prepared data,
``<data>/<name>/data/{public,private}``. ``metric.py`` is taken unmodified and runs without mledojo installed.
What MLE-Dojo does not declare is measured: the direction by constructing the metric, the best score by
grading the answers. Both happen in the sandbox.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import TaskError
from harness.sandboxes.base import ROOT, Limits, Mount, SandboxProvider, SandboxSpec
from harness.tasks.grading import DRIVER, EXCHANGE, ask_metric
from harness.tasks.imported import Imported, declare, ids_first
from harness.tasks.labels import task_labels
from harness.tasks.package import Task
from harness.tasks.standing import BOARDS
from harness.tasks.submission import InvalidSubmission, read_strings

_COMPETITIONS = Path("mledojo") / "competitions"
_LIMITS = Limits(seconds=60.0)
#: How long a sandbox may outlast its run.
_SPARE_SECONDS = 3_600.0
_MODALITIES = {"Tabular": "tabular", "NLP": "text", "CV": "image"}


@dataclass(frozen=True)
class DojoDefinition:
    """One competition's folder in a checkout of MLE-Dojo.

    Attributes:
        root: ``mledojo/competitions/<name>``.
        modality: as MLE-Dojo groups its evaluation tasks, else ``unknown``.
    """

    root: Path
    modality: str

    @property
    def name(self) -> str:
        """The competition's name on Kaggle."""
        return self.root.name

    @property
    def metric_path(self) -> Path:
        """The metric."""
        return self.root / "utils" / "metric.py"

    @property
    def prepare_path(self) -> Path:
        """The preparation; a stub for many competitions."""
        return self.root / "utils" / "prepare.py"

    @property
    def info(self) -> Path:
        """The folder of the description and the leaderboards."""
        return self.root / "info"


def dojo_definitions(snapshot: Path) -> list[DojoDefinition]:
    """All definitions of a checkout of MLE-Dojo, by name.

    Raises:
        TaskError: the folder is no such checkout.
    """
    folder = snapshot / _COMPETITIONS
    metrics = sorted(folder.glob("*/utils/metric.py"))
    if not metrics:
        raise TaskError(f"{folder}: no */utils/metric.py; pass the root of a checkout of MLE-Dojo")
    modalities: dict[str, str] = {}
    index = folder / "competition.json"
    if index.is_file():
        groups = json.loads(index.read_text(encoding="utf-8")).get("Evaluation", {})
        modalities = {name: _MODALITIES[group] for group in _MODALITIES for name in groups.get(group, [])}
    return [
        DojoDefinition(path.parents[1], modalities.get(path.parents[1].name, "unknown")) for path in metrics
    ]


def definition_of(folder: Path) -> DojoDefinition:
    """The definition of one competition's folder in a checkout.

    Raises:
        TaskError: the folder is none.
    """
    folder = folder.resolve()
    for definition in dojo_definitions(folder.parents[2]):
        if definition.root == folder:
            return definition
    raise TaskError(f"{folder}: no utils/metric.py; give a folder mledojo/competitions/<name> of MLE-Dojo")


def higher_is_better(metric: Path, provider: SandboxProvider) -> bool:
    """The direction of a metric file, read from its instance inside the sandbox.

    Raises:
        TaskError: the file does not load, with the last lines of its error.
    """
    spec = SandboxSpec(
        mounts=(Mount(DRIVER, f"{ROOT}/grader"), Mount(metric, f"{ROOT}/task/metric.py")),
        workdir=EXCHANGE,
        limits=_LIMITS,
        labels=task_labels("direction", str(metric), _LIMITS.seconds + _SPARE_SECONDS),
    )
    with provider.start(spec) as sandbox:
        run, result = ask_metric(sandbox, {}, {})
    if result is None or result.get("outcome") != "described":
        said = run.output if result is None else str(result.get("message", ""))
        raise TaskError(f"{metric}: does not load: {said.strip()[-500:]}")
    return bool(result["higher_is_better"])


def import_task(
    definition: DojoDefinition,
    data: Path,
    out: Path,
    provider: SandboxProvider,
    *,
    modality: str | None = None,
    objective: str = "unknown",
    id_column: str | None = None,
    best: float | None = None,
) -> Task:
    """Make a task package from a definition and its prepared data.

    Args:
        definition: from :func:`dojo_definitions`.
        data: the folder that MLE-Dojo's preparation made, which holds ``public/`` and ``private/``.
        out: the folder in which the package, named after the competition in lower case, is made.
        provider: opens the sandboxes of the metric.
        modality: overrides what MLE-Dojo's groups say.
        objective: MLE-Dojo does not say it.
        id_column: the column of the ids; the sample's first when not given.
        best: the metric's best value; measured by grading the answers when not given.

    Returns:
        The loaded task. Nothing is left in ``out`` when it cannot be made.

    Raises:
        TaskError: a file is missing, the package exists already, the metric does not load, or the answers
            cannot be graded and ``best`` is not given.
    """
    for required in ("public/sample_submission.csv", "private/test_answer.csv"):
        if not (data / required).is_file():
            raise TaskError(f"{data / required}: not found; prepare {definition.name} with MLE-Dojo first")
    try:
        sample = read_strings(data / "public" / "sample_submission.csv")
    except InvalidSubmission as error:
        raise TaskError(f"{data}/public: {error}") from error
    root = out / definition.name.lower()
    if root.exists():
        raise TaskError(f"{root}: exists already; remove it or choose another folder")
    direction = higher_is_better(definition.metric_path, provider)
    root.mkdir(parents=True)
    try:
        _copy_files(definition, data, root)
        columns = ids_first(sample.columns, id_column, data / "public" / "sample_submission.csv")
        declared = Imported(
            set="dojo",
            title=definition.name.replace("-", " "),
            modality=modality or definition.modality,
            objective=objective,
            columns=columns,
            metric=definition.name,
            higher_is_better=direction,
            url=f"https://www.kaggle.com/c/{definition.name}",
            source="MLE-Dojo",
            competition=definition.name,
        )
        return declare(root, declared, best, provider)
    except BaseException:
        shutil.rmtree(root)
        raise


def _copy_files(definition: DojoDefinition, data: Path, root: Path) -> None:
    shutil.copytree(data / "public", root / "public")
    shutil.copytree(data / "private", root / "private")
    (root / "raw").mkdir()
    for source, name in ((definition.metric_path, "metric.py"), (definition.prepare_path, "prepare.py")):
        if source.is_file():
            shutil.copyfile(source, root / name)
    for board in BOARDS:
        if (definition.info / board).is_file() and not (root / "private" / board).exists():
            shutil.copyfile(definition.info / board, root / "private" / board)
    for description in (root / "public" / "description.txt", definition.info / "description.txt"):
        if description.is_file():
            for target in (root / "description.txt", root / "public" / "description.txt"):
                if target != description:
                    shutil.copyfile(description, target)
            return
    raise TaskError(f"{definition.info / 'description.txt'}: not found; a task needs a description")
