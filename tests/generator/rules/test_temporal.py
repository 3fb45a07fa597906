"""Forecasts that are sound whatever the level of a series does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.datasets.catalogue import load_card
from generator.defects.base import Gate, has_errors
from generator.profile import profile_dataset
from generator.rules.design import design
from generator.rules.propose import propose
from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task


@pytest.fixture(scope="module")
def rising(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stations over twenty years of months, some missing; the level rises far above its season."""
    folder = tmp_path_factory.mktemp("rising")
    rng = np.random.default_rng(4)
    months = pd.date_range("2001-01-01", periods=240, freq="MS")
    parts = []
    for station, slope in [("north", 0.9), ("south", 1.4)]:
        season = 2 * np.sin(2 * np.pi * months.month / 12)
        level = 300 + slope * np.arange(240) + season + rng.normal(scale=0.1, size=240)
        parts.append(pd.DataFrame({"month": months, "station": station, "level": level.round(3)}))
    table = pd.concat(parts).drop(index=[17, 90])
    table.to_csv(folder / "levels.csv", index=False)
    return folder


def test_a_rising_series_is_asked_for_its_changes(
    rising: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    card, profile = load_card(rising), profile_dataset(rising)
    outcome = propose(rising, card, profile)
    assert ("level", "unlearnable") in {(each.target, each.code) for each in outcome.refusals}
    proposal = next(each for each in outcome.proposals if each.change_of == "level")
    root = tmp_path / proposal.id
    design(proposal, rising, card, profile, root, sandbox)
    task = load_task(root)
    train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
    answers = pd.read_csv(task.answer_path)
    assert "level" not in train.columns
    every = pd.concat([train, test.merge(answers, on="row_id")])
    raw = pd.read_csv(rising / "levels.csv").sort_values("month")
    raw["before"] = raw.groupby("station")["level"].shift()
    raw["day"] = pd.to_datetime(raw["month"]).map(pd.Timestamp.toordinal)
    raw["gap"] = raw.groupby("station")["day"].diff()
    true = raw[raw["gap"].between(28, 31)].set_index(["month", "station"])
    assert len(every) == len(true)
    expected = (true["level"] - true["before"]).loc[list(zip(every["month"], every["station"], strict=True))]
    assert np.allclose(every["level_change"], expected, atol=1e-6)
    assert train["month"].max() < test["month"].min()
    result = verify_task(root, sandbox, Plan(last=Gate.METRIC))
    assert not has_errors(result.findings), result.findings
    text = task.description_path.read_text()
    assert "minus the value" in text and "in advance" in " ".join(text.split())
