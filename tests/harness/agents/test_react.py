"""The ReAct loop over a real environment: what is sent, what is recorded, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.agents.react import AgentConfig, Step, run_agent
from harness.budget import Budget, BudgetMeter
from harness.environment import Environment
from harness.errors import FormatErrors, Refusal, StepLimit, Submitted
from harness.models.base import Model, Reply, Settings, ToolCall
from harness.models.calling import Caller
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task
from tests.harness.replies import SUBMIT, ListModel, run, say


class Talk:
    """Runs the agent and keeps what it records."""

    def __init__(self, task: Task, provider: SandboxProvider, tmp_path: Path) -> None:
        self.task, self.provider, self.tmp_path = task, provider, tmp_path
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.steps: list[Step] = []

    def __call__(
        self, model: Model, steps: int = 5, feedback: Feedback = Feedback.TEST, **config: Any
    ) -> None:
        meter = BudgetMeter(
            Budget.model_validate({"steps": steps, "seconds": None, "execution_seconds": 20.0})
        )
        paths = TrialPaths(self.tmp_path / "trial")
        with (
            Grader(self.task, self.provider) as grader,
            Environment(self.task, grader, self.provider, paths, meter, feedback) as environment,
        ):
            agent = AgentConfig.model_validate(config)
            run_agent(
                Caller(model, agent.settings),
                environment,
                meter,
                agent,
                lambda kind, fields: self.events.append((kind, fields)),
                self.steps.append,
            )


@pytest.fixture
def talk(iris: Task, sandbox: SandboxProvider, tmp_path: Path) -> Talk:
    return Talk(iris, sandbox, tmp_path)


def test_one_growing_conversation(talk: Talk) -> None:
    model = ListModel(say("request_info", info_type="data_path"), run("print('hi')"))
    with pytest.raises(Submitted):
        talk(model)
    roles = [message.role for message in model.seen[-1]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert [len(seen) for seen in model.seen] == [2, 4, 6]
    assert model.seen[0] == model.seen[-1][:2]
    assert "/mlesmith/public" in model.seen[-1][3].text
    assert "[left: 4 steps]" in model.seen[-1][3].text
    assert model.seen[-1][3].tool_call_id == "call"
    assert "5 steps in all" in model.seen[0][0].text
    kinds = [kind for kind, _ in talk.events]
    assert kinds == ["prompt", *["reply", "action", "observation"] * 2, "reply", "action"]
    assert [step.number for step in talk.steps] == [1, 2, 3]


@pytest.mark.parametrize(
    ("feedback", "said"),
    [(Feedback.TEST, "the score on the test rows"), (Feedback.SPLIT, "a part of the test rows"),
     (Feedback.NONE, "You are not told scores")],
)  # fmt: skip
def test_the_prompt_tells_the_feedback_policy(talk: Talk, feedback: Feedback, said: str) -> None:
    model = ListModel()
    with pytest.raises(Submitted):
        talk(model, feedback=feedback)
    assert said in model.seen[0][0].text


def test_unreadable_replies_in_a_row_end_the_trial_at_the_configured_number(talk: Talk) -> None:
    words = [Reply("hm"), Reply("hm"), say("get_history"), Reply("hm"), Reply("hm"), Reply("hm")]
    with pytest.raises(FormatErrors, match="3 replies in a row"):
        talk(ListModel(*words), steps=10)
    assert [step.action.name if step.action else None for step in talk.steps] == [
        None, None, "get_history", None, None, None,
    ]  # fmt: skip
    talk.steps.clear()
    with pytest.raises(FormatErrors, match="1 replies in a row"):
        talk(ListModel(Reply("hm")), max_format_errors=1)


def test_an_unreadable_reply_costs_a_step_and_is_answered(talk: Talk) -> None:
    model = ListModel(Reply("hm"), Reply("hm"))
    with pytest.raises(StepLimit):
        talk(model, steps=2)
    answer = model.seen[-1][-1]
    assert answer.role == "user"
    assert "No action was found" in answer.text
    assert "[left: 1 steps]" in answer.text


def test_several_tool_calls_are_refused_and_each_is_answered(talk: Talk) -> None:
    calls = (ToolCall("a", "get_history", "{}"), ToolCall("b", "submit", "{}"))
    model = ListModel(Reply("", calls))
    with pytest.raises(Submitted):
        talk(model)
    answers = model.seen[-1][-2:]
    assert [(message.role, message.tool_call_id) for message in answers] == [("tool", "a"), ("tool", "b")]
    assert all("one tool at a time" in message.text for message in answers)


def test_without_native_tools_actions_are_json_in_text(talk: Talk) -> None:
    model = ListModel(Reply('Look.\n{"action": "get_history", "params": {}}'), Reply('{"action": "submit"}'))
    with pytest.raises(Submitted):
        talk(model, settings=Settings(native_tools=False))
    assert list(model.tools[0]) == []
    assert "exactly one JSON object" in model.seen[0][0].text
    assert [message.role for message in model.seen[-1]] == ["system", "user", "assistant", "user"]
    assert talk.steps[0].thought == "Look."


def test_what_the_provider_must_get_back_is_kept(talk: Talk) -> None:
    raw = {"reasoning_content": "secret thoughts"}
    model = ListModel(Reply("", SUBMIT.tool_calls[:0] + say("get_history").tool_calls, raw=raw))
    with pytest.raises(Submitted):
        talk(model)
    assert model.seen[-1][2].raw is raw


def test_an_end_inside_the_model_goes_through(talk: Talk) -> None:
    with pytest.raises(Refusal):
        talk(ListModel(Refusal("no")))
    assert talk.steps == []
