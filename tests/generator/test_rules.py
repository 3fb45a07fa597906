"""Proposals, packages and their grading, on real data in a real sandbox."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.datasets.catalogue import dataset_path, load_card
from generator.profile import profile_dataset
from generator.proposals import Proposal
from generator.rules.context import Outcome
from generator.rules.design import design
from generator.rules.metrics import METRICS
from generator.rules.propose import propose
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, load_task

DATASETS = ("concrete", "credit-applications", "power-demand", "glucose-monitor", "digit-images", "films")


def proposals_of(name: str) -> Outcome:
    folder = dataset_path(name)
    return propose(folder, load_card(folder), profile_dataset(folder, name))


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider
) -> dict[str, tuple[Proposal, Task]]:
    """One package of each shape, and of each kind of split but one."""
    out = tmp_path_factory.mktemp("made")
    packages = {}
    for name in DATASETS:
        folder = dataset_path(name)
        profile = profile_dataset(folder, name)
        for proposal in proposals_of(name).proposals:
            root = out / proposal.id
            design(proposal, folder, load_card(folder), profile, root, sandbox)
            packages[proposal.id] = (proposal, load_task(root))
    return packages


def test_proposals_differ_and_say_why(made: dict[str, tuple[Proposal, Task]]) -> None:
    assert {
        "concrete-compressive-strength", "credit-status", "digit-images", "films-genre", "glucose-change",
    } <= set(made)  # fmt: skip
    proposals = [proposal for proposal, _ in made.values()]
    assert len({(p.table, p.targets, p.objective) for p in proposals}) == len(proposals)
    assert {"classification", "regression", "forecasting", "multi-label classification"} <= {
        p.objective for p in proposals
    }
    assert {"tabular", "text", "image", "time series"} <= {p.modality for p in proposals}
    for proposal in proposals:
        assert proposal.evidence.skill >= 0.1
        assert proposal.rationale and proposal.split.reason
        assert not set(proposal.targets) & set(proposal.features) or proposal.window is not None


def test_a_column_that_gives_the_target_away_is_left_out() -> None:
    by_id = {proposal.id: proposal for proposal in proposals_of("desert-rodents").proposals}
    species = by_id["desert-species"]
    ignored = dict(species.ignored)
    # species_id is an abbreviation of genus and species; genus is a coarser name of the same.
    assert "determines" in ignored["species_id"]
    assert "coarser" in ignored["genus"]
    assert not {"species_id", "genus"} & set(species.features)


def test_what_cannot_be_learned_is_refused_with_a_reason() -> None:
    outcome = proposals_of("water-flow")
    assert outcome.proposals == ()
    forecasts = [refusal for refusal in outcome.refusals if refusal.objective == "forecasting"]
    assert forecasts and all("hardly help" in refusal.reason for refusal in forecasts)
    # The same from its time alone, without an order, would be the same forecast again.
    assert {refusal.code for refusal in outcome.refusals} == {"unlearnable", "is_forecast"}


def test_files_agree_with_each_other(made: dict[str, tuple[Proposal, Task]]) -> None:
    for proposal, task in made.values():
        train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
        answers, sample = pd.read_csv(task.answer_path), pd.read_csv(task.sample_path)
        key, targets = task.spec.id_column, list(task.spec.target_columns)
        assert list(answers.columns) == list(sample.columns) == [key, *targets], task.id
        assert list(train.columns) == [*test.columns, *targets], task.id
        assert list(answers[key]) == list(test[key]) == list(sample[key])
        every = pd.concat([train[key], test[key]])
        assert every.is_unique
        assert len(train) <= 6_000 and len(test) >= 100
        assert not answers.isna().any().any() and not train[targets].isna().any().any()
        assert not set(targets) & set(test.columns)
        text = task.description_path.read_text(encoding="utf-8")
        assert text == (task.public / "description.txt").read_text(encoding="utf-8")
        assert f"`train.csv`: {len(train)} rows" in text and f"`test.csv`: {len(test)} rows" in text
        shown = [name for name in train.columns if f"`{name}`" not in text]
        assert all(name.startswith("t0") for name in shown), (task.id, shown)
        assert f"`{proposal.metric}`" in text


def test_answers_score_best_and_the_sample_worse(
    made: dict[str, tuple[Proposal, Task]], sandbox: SandboxProvider
) -> None:
    for _, task in made.values():
        with Grader(task, sandbox) as grader:
            oracle, sample = grader.grade(task.answer_path), grader.grade(task.sample_path)
        assert oracle.valid and oracle.raw_score == pytest.approx(task.spec.metric.best, abs=1e-9), task.id
        assert sample.valid and sample.raw_score is not None
        gap = task.spec.metric.best - sample.raw_score
        assert gap > 0.05 if task.spec.metric.higher_is_better else gap < -0.05, task.id


def test_ids_tell_nothing(made: dict[str, tuple[Proposal, Task]]) -> None:
    for name in ("credit-status", "concrete-compressive-strength"):
        task = made[name][1]
        answers = pd.read_csv(task.answer_path)
        ranks = answers.rank().to_numpy()
        assert abs(np.corrcoef(ranks[:, 0], ranks[:, 1])[0, 1]) < 4 / np.sqrt(len(answers))


def test_no_group_on_both_sides(made: dict[str, tuple[Proposal, Task]]) -> None:
    task = made["concrete-compressive-strength"][1]
    train, test = (pd.read_csv(task.public / name) for name in ("train.csv", "test.csv"))
    mixture = ["cement", "blast_furnace_slag", "fly_ash", "water", "superplasticizer", "coarse_aggregate",
               "fine_aggregate"]  # fmt: skip
    assert not set(map(tuple, train[mixture].to_numpy())) & set(map(tuple, test[mixture].to_numpy()))
    assert not set(train["group_id"]) & set(test["group_id"])


def test_windows_do_not_show_each_others_answers(made: dict[str, tuple[Proposal, Task]]) -> None:
    _, task = made["glucose-change"]
    train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
    answers = pd.read_csv(task.answer_path)
    steps = [name for name in test.columns if name.startswith("t0")]

    # A stretch of 16 values is unique in practice; none of a test row's stretches occurs anywhere else.
    def pieces(frame: pd.DataFrame) -> list[tuple[float, ...]]:
        values = frame[steps].to_numpy()
        return [
            tuple(row[i : i + 16])
            for row in values
            for i in range(len(steps) - 15)
            if len(set(row[i : i + 16])) > 5
        ]

    seen = set(pieces(train))
    own = pieces(test)
    assert len(set(own)) == len(own) and not seen & set(own)
    # The target by its definition, from the raw series.
    raw = pd.read_csv(task.raw / "CGM.csv.gz", low_memory=False)
    series = raw.sort_values("datetime").drop_duplicates("datetime")["glucose"].to_list()
    shown = test.iloc[0][steps].to_list()
    place = next(i for i in range(len(series)) if series[i : i + len(steps)] == shown)
    assert answers["change"].iloc[0] == series[place + len(steps) - 1 + 6] - series[place + len(steps) - 1]


def test_images_are_shown_under_names_that_tell_nothing(made: dict[str, tuple[Proposal, Task]]) -> None:
    _, task = made["digit-images"]
    train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
    digests = {}
    for name in pd.concat([train["image"], test["image"]]):
        path = task.public / name
        assert path.stem.isdigit() and path.parent.name == "images"
        digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(set(digests.values())) == len(digests) == len(list((task.public / "images").iterdir()))
    answers = pd.read_csv(task.answer_path).set_index("image_id")["label"]
    row = test.iloc[0]
    origin = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in task.raw.rglob("*.png")}
    assert origin[digests[row["image"]]].parent.name == str(answers[row["image_id"]])


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, sandbox: SandboxProvider) -> None:
    folder = dataset_path("diabetes")
    trees = []
    for name in ("one", "two"):
        profile = profile_dataset(folder, "diabetes")
        proposal = propose(folder, load_card(folder), profile).proposals[0]
        root = tmp_path / name / proposal.id
        design(proposal, folder, load_card(folder), profile, root, sandbox)
        trees.append({p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()})
    assert trees[0] == trees[1]
    assert {"task.toml", "prepare.py", "metric.py", "description.txt", "public/train.csv"} <= set(trees[0])


def test_every_metric_has_a_formula_in_the_library() -> None:
    folder = Path(__file__).parents[2] / "generator" / "rules" / "templates" / "metrics"
    assert {path.name.removesuffix(".py.j2") for path in folder.iterdir()} == set(METRICS)
