"""Prepared tasks written by hand, for tests of the data gate's parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_diabetes, load_digits, load_iris

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import Metric, Source, Split, Task, TaskSpec

Frames = dict[str, pd.DataFrame]


class Package:
    """Tables of a prepared task, to be changed before they are written.

    Attributes:
        spec: what task.toml would say.
        tables: public tables by file name; ``sample`` and ``answers`` stand apart.
        sample, answers: the sample submission and the answers.
        media: images by path under public/.
        description: the text of description.txt.
    """

    def __init__(self, spec: TaskSpec, tables: Frames, answers: pd.DataFrame, sample: pd.DataFrame) -> None:
        self.spec, self.tables, self.answers, self.sample = spec, tables, answers, sample
        self.media: dict[str, np.ndarray] = {}
        self.texts: dict[str, str] = {}
        self.description = "Predict the target of each row.\n"

    def declare(self, **changes: object) -> None:
        """Change what task.toml says."""
        self.spec = self.spec.model_copy(update=changes)

    def split(self, kind: str, **columns: str) -> None:
        """Change the declared split."""
        self.declare(split=Split.model_validate({"kind": kind, **columns}))

    def case(self, root: Path) -> Case:
        """Write everything below a folder and open it; no sandbox is started."""
        task = Task(root / self.spec.id, self.spec)
        for folder in (task.public, task.private):
            folder.mkdir(parents=True)
        for name, table in self.tables.items():
            write_table(task.public / name, table)
        for name, pixels in self.media.items():
            (task.public / name).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).save(task.public / name)
        for name, text in self.texts.items():
            (task.public / name).write_text(text, encoding="utf-8")
        self.sample.to_csv(task.sample_path, index=False)
        self.answers.to_csv(task.answer_path, index=False)
        task.description_path.write_text(self.description, encoding="utf-8")
        return Case(task, Bubblewrap(), root / "scratch", DEFAULTS, prepared=task)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table in the form that its name tells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def spec(name: str, ids: str, targets: list[str], modality: str, objective: str, kind: str) -> TaskSpec:
    """What task.toml of a hand-made task says."""
    return TaskSpec(
        schema_version=1,
        id=name,
        title=name,
        set="tests",
        modality=modality,
        objective=objective,
        id_column=ids,
        target_columns=tuple(targets),
        difficulty="easy",
        source=Source(name=name, licence="BSD-3-Clause", sha256="0" * 64),
        metric=Metric(name="accuracy", higher_is_better=True, best=1.0),
        split=Split(kind=kind, seed=1),
    )


def shuffled(table: pd.DataFrame, ids: str, seed: int) -> pd.DataFrame:
    """Rows in another order, each with an id of its own."""
    table = table.sample(frac=1, random_state=seed).reset_index(drop=True)
    table.insert(0, ids, [f"r{number:05d}" for number in range(len(table))])
    return table


def flowers() -> Package:
    """A table of numbers with three classes: the iris measurements of scikit-learn."""
    data = load_iris(as_frame=True)
    table = data.data.round(1).set_axis(["sepal_l", "sepal_w", "petal_l", "petal_w"], axis=1)
    table["species"] = [data.target_names[code] for code in data.target]
    table = shuffled(table, "flower", seed=3)
    test = table.iloc[:60]
    return Package(
        spec("flowers", "flower", ["species"], "tabular", "classification", "random"),
        {"train.csv": table.iloc[60:], "test.csv": test.drop(columns="species")},
        test[["flower", "species"]],
        test[["flower"]].assign(species="setosa"),
    )


def patients() -> Package:
    """Numbers to predict, in other files and another format: the diabetes patients of scikit-learn."""
    data = load_diabetes(as_frame=True, scaled=False)
    table = data.data.assign(sex=data.data.sex.map({1: "f", 2: "m"}), progress=data.target)
    table["region"] = [f"region {code}" for code in np.random.default_rng(5).integers(0, 6, len(table))]
    table["seen"] = pd.date_range("2021-01-03", periods=len(table), freq="D").strftime("%Y-%m-%d")
    table = shuffled(table, "Patient", seed=4)
    test = table.iloc[:140]
    return Package(
        spec("patients", "Patient", ["progress"], "tabular", "regression", "random"),
        {"known.jsonl": table.iloc[140:], "asked.tsv": test.drop(columns="progress")},
        test[["Patient", "progress"]],
        test[["Patient"]].assign(progress=150.0),
    )


def digits(count: int = 160) -> Package:
    """Images in folders by their class, no training table: the handwritten digits of scikit-learn."""
    data = load_digits()
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    # In the order of the file the number of an image tells its digit.
    order = np.random.default_rng(5).permutation(len(data.target))[:count]
    names = [words[code] for code in data.target[order]]
    half = count // 2
    ids = [f"img{number:04d}" for number in range(half)]
    package = Package(
        spec("digits", "image", ["digit"], "image", "classification", "given"),
        {},
        pd.DataFrame({"image": ids, "digit": names[:half]}),
        pd.DataFrame({"image": ids, "digit": "zero"}),
    )
    for position, pixels in enumerate(data.images[order] * 15):
        place = f"test/{ids[position]}.png" if position < half else f"train/{names[position]}/{position}.png"
        package.media[place] = pixels
    return package


def found(check: Callable[[Case], Iterator[Finding]], package: Package, root: Path) -> dict[str, Severity]:
    """The codes that a part reports, each with the severity of its first finding."""
    codes: dict[str, Severity] = {}
    for finding in check(package.case(root)):
        assert finding.evidence and finding.fix
        codes.setdefault(finding.code, finding.severity)
    return codes
