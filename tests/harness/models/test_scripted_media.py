"""Scripted candidates on recordings, on class folders, and on rows that several files tell of."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.models.scripted.model import ScriptedModel
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import load_task
from harness.trial import run_trial
from harness.trialspec import TrialSpec

TOML = """\
schema_version = 1
id = "{id}"
title = "Tell them apart"
set = "reference"
modality = "{modality}"
objective = "classification"
id_column = "{id_column}"
target_columns = ["{target}"]
difficulty = "easy"
[source]
name = "made for a test"
licence = "CC0-1.0"
sha256 = "0"
[metric]
name = "accuracy"
higher_is_better = true
best = 1.0
[split]
kind = "given"
"""
METRIC = """\
from mledojo.metrics.base import CompetitionMetrics


class Accuracy(CompetitionMetrics):
    def evaluate(self, y_true, y_pred):
        merged = y_true.merge(y_pred, on=y_true.columns[0])
        return float((merged.iloc[:, 1].astype(str) == merged.iloc[:, 2].astype(str)).mean())

    def validate_submission(self, submission, ground_truth):
        return "fine"
"""


def recordings(public: Path) -> pd.DataFrame:
    """Sixty tones of three pitches as wav files, which the tables name without their folder."""
    rng, hertz = np.random.default_rng(4), {"low": 300, "middle": 700, "high": 1500}
    names = [f"c{number:02d}.wav" for number in range(60)]
    kinds = rng.choice(list(hertz), 60)
    (public / "clips").mkdir()
    for name, kind in zip(names, kinds, strict=True):
        seconds = np.arange(int(8000 * rng.uniform(0.2, 0.4))) / 8000
        heard = np.sin(2 * np.pi * hertz[kind] * seconds) + rng.normal(0, 0.3, len(seconds))
        with wave.open(str(public / "clips" / name), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes((heard.clip(-2, 2) * 16_000).astype("<i2").tobytes())
    table = pd.DataFrame({"clip": names, "pitch": kinds})
    table[:40].to_csv(public / "train.csv", index=False)
    table[40:][["clip"]].to_csv(public / "test.csv", index=False)
    return table[40:]


def documents(public: Path) -> pd.DataFrame:
    """Notes of two kinds, each in a file that the tables name."""
    rng = np.random.default_rng(4)
    said = {"praise": ["fine", "good", "great"], "complaint": ["bad", "broken", "late"]}
    kinds = rng.choice(list(said), 120)
    names = [f"notes/n{number:03d}.txt" for number in range(120)]
    (public / "notes").mkdir()
    for name, kind in zip(names, kinds, strict=True):
        words = [*rng.choice(said[kind], 2), *rng.choice(["the", "box", "came", "today", "again"], 20)]
        (public / name).write_text(" ".join(rng.permutation(words)))
    table = pd.DataFrame({"note": range(120), "text": names, "kind": kinds})
    table[:90].to_csv(public / "train.csv", index=False)
    table[90:][["note", "text"]].to_csv(public / "test.csv", index=False)
    return table[90:][["note", "kind"]]


def document_folders(public: Path) -> pd.DataFrame:
    """The same, sorted into a folder for each kind, without a table."""
    answers = documents(public)
    table = pd.read_csv(public / "train.csv")
    for name, kind in zip(table["text"], table["kind"], strict=True):
        (public / "train" / kind).mkdir(parents=True, exist_ok=True)
        (public / name).rename(public / "train" / kind / Path(name).name)
    (public / "notes").rename(public / "test")
    (public / "train.csv").unlink()
    (public / "test.csv").unlink()
    return answers.assign(note=[f"n{number:03d}.txt" for number in answers["note"]])


def class_folders(public: Path) -> pd.DataFrame:
    """The digits of scikit-learn as images: those to learn from in a folder for each digit, and no table."""
    digits = load_digits()
    names = [f"{number}.png" for number in range(300)]
    for name, digit, pixels in zip(names, digits.target, digits.images, strict=False):
        folder = public / "train" / f"digit {digit}" if int(name[:-4]) < 200 else public / "test"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((pixels * 15).astype("uint8")).save(folder / name)
    return pd.DataFrame({"image": names[200:], "digit": [f"digit {each}" for each in digits.target[200:300]]})


def scattered_tables(public: Path) -> pd.DataFrame:
    """The digits' pixels in a TSV and a JSON lines file, the labels in a third one."""
    digits = load_digits(as_frame=True)
    pixels = digits.data[:400].copy()
    pixels.insert(0, "key", [f"k{number}" for number in range(400)])
    pixels[:300].to_csv(public / "features.tsv", index=False, sep="\t")
    pixels[300:].to_json(public / "evaluation.jsonl", orient="records", lines=True)
    labels = pd.DataFrame({"key": pixels["key"], "digit": digits.target[:400]})
    labels[:300].to_csv(public / "labels.csv", index=False)
    return labels[300:]


@pytest.mark.parametrize(
    ("modality", "build", "least"),
    [
        ("audio", recordings, 0.9),
        ("text", documents, 0.9),
        ("text", document_folders, 0.9),
        ("image", class_folders, 0.7),
        ("tabular", scattered_tables, 0.7),
    ],
)
def test_a_linear_model_learns_from_files_of_any_layout(
    modality: str,
    build: Callable[[Path], pd.DataFrame],
    least: float,
    sandbox: SandboxProvider,
    tmp_path: Path,
) -> None:
    """Half, a third or a tenth of the rows are right by chance."""
    root = tmp_path / f"{modality}-task"
    (root / "public").mkdir(parents=True)
    (root / "private").mkdir()
    answers = build(root / "public").reset_index(drop=True)
    id_column, target = answers.columns
    answers.to_csv(root / "private" / "test_answer.csv", index=False)
    sample = answers.assign(**{target: answers[target].mode()[0]})
    sample.to_csv(root / "public" / "sample_submission.csv", index=False)
    filled = TOML.format(id=root.name, modality=modality, id_column=id_column, target=target)
    (root / "task.toml").write_text(filled)
    (root / "metric.py").write_text(METRIC)
    (root / "description.txt").write_text("Tell them apart.\n")
    task = load_task(root)
    spec = TrialSpec(task, "hash", 1, Budget(steps=6, seconds=120), AgentConfig(), Feedback.TEST)
    with Grader(task, sandbox) as grader:
        result = run_trial(spec, ScriptedModel("linear"), grader, sandbox, TrialPaths(tmp_path / "trial"))
    assert result.score is not None and result.score >= least
