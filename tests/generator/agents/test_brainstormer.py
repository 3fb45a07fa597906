"""The Brainstormer over real HTTP: what does not hold comes back as defects, and at last is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from generator.backend import Brainstorm, Desk, GaveUp, Tried
from generator.datasets.catalogue import dataset_path, load_card
from generator.ledger import Effort
from generator.profile import profile_dataset
from generator.proposals import Formulation
from harness.sandboxes.base import SandboxProvider
from tests.generator.agents.conftest import Backed
from tests.generator.agents.endpoint import Move, Player, moves, playing
from tests.generator.agents.package import DERIVATION, MAE, idea

INVENTED = DERIVATION.replace(
    'return pd.read_csv(raw / "diabetes.csv")',
    "import numpy as np\n    t = pd.read_csv(raw / 'diabetes.csv')\n"
    "    t['luck'] = np.random.default_rng(0).normal(size=len(t))\n    return t",
)
SUGAR = idea(id="sugar", targets=["s6"])
HOSTILE = """\
import os, socket
import pandas as pd


def table(raw):
    for path in ("/etc/shadow", "/proc/1/environ"):
        try:
            print(open(path).read())
        except OSError:
            pass
    (raw / "diabetes.csv").write_text("gone")
"""


@pytest.fixture
def desk(sandbox: SandboxProvider, tmp_path: Path) -> Desk:
    folder = dataset_path("diabetes")
    return Desk(folder, load_card(folder), profile_dataset(folder), sandbox, tmp_path / "transcripts")


def found(desk: Desk, backed: Backed, *moved: Move, most: int = 2, tried: Any = (), **more: Any) -> Any:
    with playing(Player(brainstormer=moves(*moved))) as player:
        effort = Effort()
        result = backed(player, **more).brainstorm(desk, most, tried, effort)
        return result, player.told("brainstormer"), effort


def hands_in(*ideas: dict[str, Any]) -> Move:
    return Move("finish", {"ideas": [*ideas]})


def ids(result: Brainstorm) -> list[str]:
    return [each.id for each in result.formulations]


def test_what_does_not_hold_is_told_and_mended(desk: Desk, backed: Backed) -> None:
    wrong = idea(id="sugar", targets=["s6"], derivation=INVENTED)
    result, told, effort = found(desk, backed, hands_in(idea(), wrong), hands_in(idea(), SUGAR))
    assert ids(result) == ["diabetes-course", "sugar"] and result.refusals == ()
    assert "1 of 2 ideas hold" in told[1] and "untraceable" in told[1] and "'luck'" in told[1]
    assert effort.steps == 2
    first = result.formulations[0]
    assert first.works[0].agent == "brainstormer" and first.evidence is not None
    assert first.metric == "mae" and "bmi" in first.features


def test_what_is_not_mended_in_three_rounds_is_refused_with_its_code(desk: Desk, backed: Backed) -> None:
    wrong = idea(id="wrong", scoring=MAE | {"higher_is_better": True})
    hostile = idea(id="hostile", targets=["s1"], derivation=HOSTILE)
    before = (desk.folder / "diabetes.csv").read_bytes()
    result, told, _ = found(desk, backed, hands_in(SUGAR, wrong, hostile), most=3)
    assert ids(result) == ["sugar"] and len(told) == 3
    assert [refusal.code for refusal in result.refusals] == ["metric_direction", "not_derivable"]
    assert "root:" not in "".join(told) and (desk.folder / "diabetes.csv").read_bytes() == before


def test_ideas_that_ask_the_same_are_told_apart_or_dropped(
    desk: Desk, backed: Backed, sandbox: SandboxProvider
) -> None:
    again = idea(id="again")
    result, told, _ = found(desk, backed, hands_in(idea(), again), rounds=2)
    assert ids(result) == ["diabetes-course"] and "same_as_other" in told[1]
    assert [refusal.code for refusal in result.refusals] == ["same_as_other"]
    careless = dataclasses.replace(desk, ablated=frozenset({"diversity"}))
    result, _, _ = found(careless, backed, hands_in(idea(), again))
    assert ids(result) == ["diabetes-course", "again"]


def test_no_more_than_asked_for_and_none_that_was_tried(desk: Desk, backed: Backed) -> None:
    earlier = Formulation.model_validate(
        {key: value for key, value in idea(metric="mae").items() if key in Formulation.model_fields}
    )
    result, told, _ = found(
        desk, backed, hands_in(idea(id="new-name"), SUGAR), most=1, tried=[Tried(earlier, ())], rounds=1
    )
    assert ids(result) == [] and [refusal.code for refusal in result.refusals] == ["tried_before"]
    assert "diabetes-course" in told[0] and "at most 1 ideas" in told[0]


def test_what_held_is_kept_when_a_limit_ends_the_attempt(desk: Desk, backed: Backed) -> None:
    wrong = idea(id="wrong", targets=["none"])
    result, _, _ = found(
        desk, backed, hands_in(SUGAR, wrong), Move("list_files", {"path": "raw"}), budget={"steps": 3}
    )
    assert ids(result) == ["sugar"]
    with pytest.raises(GaveUp, match="step_limit"):
        found(desk, backed, Move("list_files", {"path": "raw"}), budget={"steps": 2})


def test_no_idea_is_an_answer_too(desk: Desk, backed: Backed) -> None:
    result, _, _ = found(desk, backed, hands_in())
    assert ids(result) == [] and [refusal.code for refusal in result.refusals] == ["nothing_found"]
