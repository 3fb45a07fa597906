"""A task of images by a model: a derivation of paths, copied raw folders, media under public."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.defects.base import has_errors
from generator.pipeline.generation import Options, generate
from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task
from tests.generator.agents.conftest import Backed
from tests.generator.agents.endpoint import Player, playing
from tests.generator.agents.package import METRIC, brainstorm, design, idea, refactor

pytestmark = pytest.mark.slow

DERIVATION = """\
import pandas as pd


def table(raw):
    paths = sorted(raw.glob("*/*.png"))
    return pd.DataFrame({"image": [path.relative_to(raw).as_posix() for path in paths],
                         "digit": [path.parent.name for path in paths]})
"""
PREPARE = '''\
"""Deals the images out at random, under names that tell nothing; equal images are kept once."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd

ID, TARGET = "drawing", "digit"


def prepare(raw: Path, public: Path, private: Path) -> None:
    seen, rows = set(), []
    for path in sorted(raw.glob("*/*.png")):
        data = path.read_bytes()
        if data not in seen:
            seen.add(data)
            rows.append((path, path.parent.name))
    rng = np.random.default_rng(5)
    numbers = rng.permutation(len(rows))
    table = pd.DataFrame({
        ID: [f"d{number:05d}" for number in numbers],
        "image": [f"images/d{number:05d}.png" for number in numbers],
        TARGET: [label for _, label in rows],
    })
    (public / "images").mkdir()
    for (path, _), name in zip(rows, table["image"]):
        shutil.copyfile(path, public / name)
    test = table.groupby(TARGET).sample(frac=0.25, random_state=5).sample(frac=1, random_state=5)
    train = table.drop(index=test.index).sample(frac=1, random_state=5)
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(public / "test.csv", index=False)
    test[[ID]].assign(**{TARGET: "0"}).to_csv(public / "sample_submission.csv", index=False)
    test[[ID, TARGET]].to_csv(private / "test_answer.csv", index=False)
'''
SCORE = (
    METRIC.replace('"patient", "progression"', '"drawing", "digit"')
    .replace("Mean absolute error.", "Accuracy.").replace("higher_is_better=False", "higher_is_better=True")
    .replace("[TARGET].astype(float)", "[TARGET].astype(str)")
    .replace("np.abs(said.loc[truth.index].to_numpy() - truth.to_numpy())", "said.loc[truth.index].eq(truth)")
    .replace("if not np.isfinite(values).all():", "if not np.isin(values, np.arange(10)).all():")
    .replace("must hold finite numbers", "must hold digits")
)  # fmt: skip
DESCRIPTION = """\
Which digit is it?

Name the `digit`, 0 to 9, that each image of `test.csv` shows. `train.csv` has the column `drawing`, which
identifies the row, the column `image` with the path of the file, and `digit`. The files lie in `images/`.
Images were separated at random within each digit.

The score is the accuracy, the share of right digits; higher is better, and 1 is perfect.

Submit `submission.csv` with the columns `drawing` and `digit`, a row for each of `test.csv`, as in
`sample_submission.csv`.
"""
ACCURACY = {
    "name": "accuracy",
    "higher_is_better": True,
    "best": 1.0,
    "worst": 0.0,
    "reason": "Even classes.",
}


def test_a_model_makes_a_task_of_images(tmp_path: Path, sandbox: SandboxProvider, backed: Backed) -> None:
    digits = idea(
        id="which-digit", title="Which digit is it?", modality="image", objective="classification",
        targets=["digit"], scoring=ACCURACY, derivation=DERIVATION, media_column="image", data_files=["."],
        split={"kind": "stratified", "columns": [], "reason": "each image is one drawing"},
    )  # fmt: skip
    files = {"prepare.py": PREPARE, "metric.py": SCORE, "description.txt": DESCRIPTION}
    laid = {
        "id_column": "drawing", "target_columns": ["digit"], "metric": ACCURACY,
        "split_kind": "stratified", "seed": 5,
    }  # fmt: skip
    scripts = {"designer": design(files, **laid), "refactor": refactor()}
    with playing(Player(brainstormer=brainstorm(digits), **scripts)) as player:
        options = Options(verify=False, max_tasks=1)
        generation = generate(
            ["digit-images"], tmp_path, provider=sandbox, backend=backed(player), options=options
        )
    assert generation.results[0].verified, generation.results[0].rejected
    task = load_task(tmp_path / "which-digit")
    assert len(list(task.raw.rglob("*.png"))) > 1_000 and not (task.raw / "dataset.toml").exists()
    found = verify_task(task.root, sandbox, Plan(deep=False))
    assert not [each for each in found.findings if has_errors([each])], found.findings
