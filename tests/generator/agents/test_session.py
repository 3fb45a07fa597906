"""The loop of an agent over real HTTP: replies that cannot be read, answers without form, limits, costs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from generator.agents.assignment import Assignment
from generator.agents.backend import LanguageModelBackend
from generator.agents.config import AgentsConfig
from generator.agents.prompts import prompt
from generator.agents.session import Session
from generator.agents.tools.base import Kit, Result, text_parameter, tool
from generator.backend import Desk, GaveUp
from generator.datasets.catalogue import dataset_path, load_card
from generator.ledger import Effort
from generator.profile import profile_dataset
from harness.budget import Budget
from harness.errors import EndpointClosed, InputError, ProviderError
from harness.models.base import Settings
from harness.models.pricing import PriceTable, Rates
from harness.models.registry import ModelConfig
from harness.sandboxes.base import SandboxProvider
from tests.generator.agents.conftest import KEY, QUICK, Backed
from tests.generator.agents.endpoint import Move, Player, Script, Turn, moves, playing
from tests.harness.models.chat_server import call, completion, error, usage
from tests.harness.models.loopback import Said

PRICES = PriceTable({"openai/small": Rates(input=2.0, output=10.0)})
DONE = Move("finish", {"colour": "red", "parts": []})


class Part(BaseModel):
    name: str
    size: int


class Colour(BaseModel):
    colour: str
    parts: list[Part]


@pytest.fixture
def desk(sandbox: SandboxProvider, tmp_path: Path) -> Desk:
    folder = dataset_path("diabetes")
    return Desk(folder, load_card(folder), profile_dataset(folder), sandbox, tmp_path / "transcripts")


class Played:
    """What came of a session."""

    def __init__(
        self, desk: Desk, script: Script, budget: dict[str, Any] | None = None, **options: Any
    ) -> None:
        self.effort, self.answer, self.end = Effort(), None, None
        self.asked: list[Colour] = []
        with playing(Player(helper=script)) as self.player:
            model = ModelConfig(name="openai/small", base_url=self.player.url)
            given = Budget(**{"steps": 8, "seconds": None} | (budget or {}))
            config = AgentsConfig.of(model, given, **options)
            session = Session(desk, "designer", "colours", config, self.effort, PRICES, QUICK)
            echo = tool("echo", "Say it.", lambda words: Result(True, words), words=text_parameter("words"))
            assignment = Assignment(
                system=prompt("helper"), task="Name a colour.", form=Colour, does="End.", accept=self._accept
            )
            try:
                self.answer = session.run(assignment, Kit([echo]))
            except GaveUp as end:
                self.end = end
            self.transcript = session.transcript.path

    def _accept(self, answer: Colour) -> str:
        self.asked.append(answer)
        return "that colour is taken; choose another" if answer.colour == "grey" else ""

    @property
    def told(self) -> list[str]:
        return self.player.told("helper")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.transcript.read_text().splitlines()]


def test_tools_are_used_until_an_answer_is_accepted(desk: Desk) -> None:
    grey = Move("finish", {"colour": "grey", "parts": "[]"})
    played = Played(desk, moves(Move("echo", {"words": "hello"}), grey, DONE))
    assert played.answer == Colour(colour="red", parts=[]) and len(played.asked) == 2
    assert played.told[1].startswith("ok: hello") and "[left: 7 steps" in played.told[1]
    assert "taken" in played.told[2]
    assert (played.effort.steps, played.effort.calls, played.effort.usage.output) == (3, 3, 150)
    assert played.effort.cost_usd == pytest.approx((played.effort.usage.input * 2 + 150 * 10) / 1e6)
    assert played.effort.transcript == played.transcript.name and played.effort.model == "openai/small"
    kinds = [event["kind"] for event in played.events]
    assert kinds == ["transcript", "prompt", *["reply", "observation"] * 2, "reply", "accepted"]
    assert KEY not in played.transcript.read_text()


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"parts": []}, "colour: required key is missing"),
        ({"colour": "red"}, "parts: required key is missing"),
        ({"colour": "red", "parts": [{"name": "leg"}]}, "parts.0.size: required key is missing"),
        ({"colour": "red", "parts": "none"}, "parts: "),
        ({"colour": 3, "parts": []}, "colour: write a text in quotes"),
        ('{"colour": "red", "parts": [', "cannot be read"),
        ("not json", "cannot be read"),
    ],
)
def test_an_answer_without_form_is_told_field_by_field(desk: Desk, params: Any, told: str) -> None:
    played = Played(desk, moves(Move("finish", params), DONE))
    assert told in played.told[1] and played.answer is not None


@pytest.mark.parametrize(
    "reply", ["I am done.", "", '{"action": "dance", "params": {}}', "<think>finish</think>"]
)
def test_replies_without_an_action_are_answered_and_end_after_three(desk: Desk, reply: str) -> None:
    played = Played(desk, moves(Move(text=reply), Move(text=reply), DONE))
    assert played.answer is not None and "echo, finish" in played.told[1]
    if "dance" not in reply:
        played = Played(desk, moves(Move(text=reply)))
        assert played.end is not None and (played.end.code, played.end.again) == ("format_errors", True)
        assert played.effort.calls == 3


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        ({"steps": 4}, "step_limit"),
        ({"tokens": 2_000}, "token_limit"),
        ({"cost_usd": 0.004}, "cost_limit"),
        ({"working_seconds": 1.0}, "working_time_limit"),
    ],
)
def test_each_limit_ends_an_attempt_that_may_be_tried_again(
    desk: Desk, budget: dict[str, Any], code: str
) -> None:
    def script(turn: Turn) -> Said:
        body = completion("On.", calls=[call("echo", {"words": "x" * 50})], tokens=usage(600, 20))
        return Said(body, delay=0.3)

    played = Played(desk, script, {"steps": 50} | budget)
    assert played.end is not None and (played.end.code, played.end.again) == (code, True)
    assert played.events[-1]["kind"] == "end" and played.effort.calls >= 1


@pytest.mark.parametrize(
    ("said", "end"),
    [
        (error(401, "Incorrect API key provided.", code="invalid_api_key"), EndpointClosed),
        (Said({"error": {"message": "overloaded"}}, 500), ProviderError),
    ],
)
def test_trouble_of_the_endpoint_passes(desk: Desk, said: Said, end: type[Exception]) -> None:
    with pytest.raises(end):
        Played(desk, lambda turn: said)


def test_a_long_conversation_is_made_shorter_and_says_what_was_done(desk: Desk) -> None:
    settings = Settings(context_window=6_000, max_output_tokens=500)
    talk = moves(Move("echo", {"words": "word " * 300}))
    played = Played(desk, talk, {"steps": 30}, settings=settings, recent_steps=3)
    assert played.end is not None and played.end.code == "step_limit"
    sent = [sum(len(str(m.get("content") or "")) for m in body["messages"]) for body in played.player.bodies]
    assert max(sent) < 6_000 * 4 and any(b < a for a, b in itertools.pairwise(sent))
    first_turns = {body["messages"][1]["content"] for body in played.player.bodies}
    assert any("Your earlier steps" in text and ". echo" in text for text in first_turns)


def test_an_unpriced_model_costs_no_known_sum(desk: Desk, backed: Backed) -> None:
    effort = Effort()
    with playing(Player(helper=moves(DONE))) as player:
        config = AgentsConfig.of(ModelConfig(name="openai/small", base_url=player.url))
        session = Session(desk, "refactor", "", config, effort, PriceTable(), QUICK)
        session.run(Assignment(prompt("helper"), "?", Colour, "End.", lambda answer: ""), Kit([]))
    assert effort.cost_usd is None and effort.calls == 1


def test_what_cannot_work_is_refused_before_anything_runs(
    backed: Backed, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ModelConfig(name="openai/small", base_url="http://localhost:1/v1")
    with pytest.raises(InputError, match="price is unknown"):
        LanguageModelBackend(AgentsConfig.of(model, Budget(cost_usd=1.0)))
    with pytest.raises(InputError, match="name a language model"):
        LanguageModelBackend(AgentsConfig.of(ModelConfig(name="scripted/forest")))
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        LanguageModelBackend(AgentsConfig.of(ModelConfig(name="openai/gpt-5")))
