"""The ReAct loop over a real environment: what is sent, what is recorded, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.actions import INFO_TYPES, TOOLS, Action
from harness.agents.history import fingerprint
from harness.agents.parsing import read_actions
from harness.agents.prompting import prompts_hash
from harness.agents.react import AgentConfig, Step, run_agent
from harness.agents.toolcalls import LONGEST
from harness.budget import Budget, BudgetMeter
from harness.environment import Environment
from harness.errors import ContextOverflow, FormatErrors, Refusal, StepLimit, Submitted, TokenLimit
from harness.models.base import ActionFormat, Finish, Message, Model, Reply, Settings, ToolCall, Usage
from harness.models.calling import Caller
from harness.models.faults import Fault, FaultKind
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task
from tests.harness.replies import SAMPLE, SUBMIT, USAGE, ListModel, run, say


class Talk:
    """Runs the agent and keeps what it records."""

    def __init__(self, task: Task, provider: SandboxProvider, tmp_path: Path) -> None:
        self.task, self.provider, self.tmp_path = task, provider, tmp_path
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.steps: list[Step] = []

    def __call__(
        self,
        model: Model,
        steps: int = 5,
        feedback: Feedback = Feedback.TEST,
        allow_hosts: tuple[str, ...] = (),
        tokens: int | None = None,
        **config: Any,
    ) -> None:
        meter = BudgetMeter(Budget(steps=steps, seconds=None, execution_seconds=20.0, tokens=tokens))
        paths = TrialPaths(self.tmp_path / "trial")
        with (
            Grader(self.task, self.provider) as grader,
            Environment(
                self.task, grader, self.provider, paths, meter, feedback, allow_hosts=allow_hosts
            ) as environment,
        ):
            agent = AgentConfig.model_validate(config)
            run_agent(
                Caller(model, agent.settings, meter=meter),
                environment,
                meter,
                agent,
                self._record,
                self.steps.append,
            )

    def _record(self, kind: str, fields: dict[str, Any]) -> None:
        json.dumps(fields, allow_nan=False)  # as the trajectory does
        self.events.append((kind, fields))

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The fields of all events of a kind."""
        return [fields for name, fields in self.events if name == kind]


@pytest.fixture
def talk(iris: Task, sandbox: SandboxProvider, tmp_path: Path) -> Talk:
    return Talk(iris, sandbox, tmp_path)


def words(text: str = "hm", finish: Finish = Finish.STOP) -> Reply:
    return Reply(text, finish=finish, usage=USAGE)


def calls(*asked: tuple[str, str, str], finish: Finish = Finish.TOOL_CALLS, **more: Any) -> Reply:
    return Reply(
        tool_calls=tuple(ToolCall(*call) for call in asked), finish=finish, usage=USAGE, **{"text": ""} | more
    )


# --- the conversation


def test_one_growing_conversation(talk: Talk) -> None:
    model = ListModel(say("request_info", info_type="data_path"), run("print('hi')"))
    with pytest.raises(Submitted):
        talk(model)
    roles = [message.role for message in model.seen[-1]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert [len(seen) for seen in model.seen] == [2, 4, 6]
    assert model.seen[0] == model.seen[-1][:2]
    assert model.seen[-1][3].text == "ok: /mlesmith/public\n\n[left: 4 steps]"
    assert model.seen[-1][3].tool_call_id == "call"
    kinds = [kind for kind, _ in talk.events]
    assert kinds == ["prompt", *["reply", "action", "observation"] * 2, "reply", "action"]
    assert [step.number for step in talk.steps] == [1, 2, 3]


def test_the_first_turn_tells_the_task_so_that_no_step_is_spent_on_it(talk: Talk) -> None:
    model = ListModel()
    with pytest.raises(Submitted):
        talk(model)
    system, task = (message.text for message in model.seen[0])
    assert "You have 5 steps in all" in system
    assert "Name the iris" in task
    assert "metric: accuracy (higher is better, best 1)" in task
    assert "train.csv (100 rows, 6 columns: flower, " in task
    assert "Data path: /mlesmith/public\n" in task
    assert "Output path: /mlesmith/work\n" in task
    assert "flower,species\n" in task
    assert task.endswith("You have 5 steps. Begin.")


@pytest.mark.parametrize(
    ("feedback", "said"),
    [(Feedback.TEST, "the score on the test rows"), (Feedback.SPLIT, "a part of the test rows"),
     (Feedback.NONE, "Your last valid submission counts")],
)  # fmt: skip
def test_the_prompt_tells_the_feedback_policy(talk: Talk, feedback: Feedback, said: str) -> None:
    model = ListModel()
    with pytest.raises(Submitted):
        talk(model, feedback=feedback)
    assert said in model.seen[0][0].text


def test_the_prompt_tells_what_programs_may_use(talk: Talk) -> None:
    model = ListModel(SUBMIT, SUBMIT)
    with pytest.raises(Submitted):
        talk(model)
    with pytest.raises(Submitted):
        talk(model, allow_hosts=("pypi.org",))
    closed, opened = (seen[0].text for seen in model.seen)
    assert "One program may run for 20 s. It has 8 GiB of memory and 1 CPU core, and no GPU." in closed
    assert "There is no network" in closed
    assert "The network is closed, but for HTTP and HTTPS to: pypi.org." in opened
    with pytest.raises(Submitted):
        talk(model, allow_hosts=("*",))
    assert "HTTP and HTTPS to: any public host." in model.seen[-1][0].text


def test_a_reply_is_recorded_with_what_was_sent_for_it(talk: Talk) -> None:
    model = ListModel(
        Reply(
            "Look.", "I wonder.", say("get_history").tool_calls, USAGE, version="m-1", usage_raw={"in": 100}
        )
    )
    with pytest.raises(Submitted):
        talk(model)
    prompt, reply = talk.of("prompt")[0], talk.of("reply")[0]
    assert prompt["sha256"] == prompts_hash("v1")
    assert [prompt["system"], prompt["user"]] == [message.text for message in model.seen[0]]
    assert reply["prompt_sha256"] == fingerprint(model.seen[0])
    assert (reply["step"], reply["thought"], reply["text"], reply["kept"]) == (1, "I wonder.", "Look.", None)
    assert (reply["version"], reply["usage_raw"], reply["messages"]) == ("m-1", {"in": 100}, 2)
    assert reply["usage"]["input"] == 100
    assert talk.of("action")[0] == {
        "step": 1, "thought": "I wonder.\n\nLook.", "action": "get_history", "params": {}, "call_id": "call",
    }  # fmt: skip
    assert talk.of("observation")[0]["text"] == model.seen[1][-1].text


def test_what_the_provider_must_get_back_is_kept(talk: Talk) -> None:
    raw = {"reasoning_content": "secret thoughts"}
    model = ListModel(Reply("", tool_calls=say("get_history").tool_calls, raw=raw))
    with pytest.raises(Submitted):
        talk(model)
    assert model.seen[-1][2].raw is raw


# --- how actions are written


@pytest.mark.parametrize("written", [ActionFormat.JSON, ActionFormat.SCHEMA])
def test_without_native_tools_actions_are_json_in_text(talk: Talk, written: ActionFormat) -> None:
    model = ListModel(Reply('Look.\n{"action": "get_history", "params": {}}'), Reply('{"action": "submit"}'))
    with pytest.raises(Submitted):
        talk(model, settings=Settings(action_format=written))
    system = model.seen[0][0].text
    assert "exactly one JSON object" in system
    for tool in TOOLS:
        assert f"- {tool.name}({', '.join(tool.parameters['properties'])}): {tool.description}" in system
    assert f"info_type is one of {', '.join(INFO_TYPES)}." in system
    example = read_actions(Reply(model.seen[0][0].text.splitlines()[-1])).asks[0].wish
    program = "import os\n\nprint(\"files:\", os.listdir('/mlesmith/public'))"
    assert example == Action("validate_code", {"code": program})
    assert [message.role for message in model.seen[-1]] == ["system", "user", "assistant", "user"]
    assert talk.of("action")[0]["thought"] == "Look."
    assert talk.of("action")[0]["call_id"] is None


def test_with_native_tools_an_action_in_the_text_is_taken_too(talk: Talk) -> None:
    model = ListModel(words('{"action": "get_history", "params": {}}'))
    with pytest.raises(Submitted):
        talk(model)
    assert [message.role for message in model.seen[-1]][2:] == ["assistant", "user"]
    assert "Nothing yet" in model.seen[-1][-1].text


def test_parallel_calls_are_carried_out_in_order_and_each_costs_a_step(talk: Talk) -> None:
    model = ListModel(
        calls(("a", "validate_code", '{"code": "print(1)"}'), ("b", "get_history", "{}"), ("c", "fly", "{}"))
    )
    with pytest.raises(Submitted):
        talk(model)
    answers = model.seen[-1][-3:]
    assert [(message.role, message.tool_call_id) for message in answers] == [("tool", c) for c in "abc"]
    assert "1. validate_code: ok" in answers[1].text
    assert "Unknown action 'fly'" in answers[2].text
    assert [text.rpartition("[left: ")[2] for text in (m.text for m in answers)] == [
        "4 steps]", "3 steps]", "2 steps]",
    ]  # fmt: skip
    assert [step.number for step in talk.steps] == [1, 2, 3, 4]
    assert [step.usage for step in talk.steps] == [USAGE, Usage(), Usage(), USAGE]
    assert [step.model_seconds > 0 for step in talk.steps[1:3]] == [False, False]
    assert [reply["step"] for reply in talk.of("reply")] == [1, 4]


def test_parallel_calls_beyond_the_budget_are_not_carried_out(talk: Talk) -> None:
    model = ListModel(calls(("a", "get_history", "{}"), ("b", "get_history", "{}"), ("c", "submit", "{}")))
    with pytest.raises(StepLimit):
        talk(model, steps=2)
    assert [step.number for step in talk.steps] == [1, 2]


def test_a_reply_that_uses_up_the_tokens_is_carried_out_whole(talk: Talk) -> None:
    model = ListModel(calls(("a", "get_history", "{}"), ("b", "get_history", "{}")))
    with pytest.raises(TokenLimit):
        talk(model, tokens=USAGE.input + USAGE.output)
    assert [step.observation is not None for step in talk.steps] == [True, True]


def test_a_call_that_cannot_be_read_leaves_the_others(talk: Talk) -> None:
    model = ListModel(calls(("a", "get_history", "{}"), ("b", "execute_code", '{"code": "print("1")"}')))
    with pytest.raises(Submitted):
        talk(model)
    turn, first, second = model.seen[-1][-3:]
    assert first.text.startswith("ok: ")
    assert "line 1, column 18" in second.text
    assert [call.arguments for call in turn.tool_calls] == ["{}", "{}"]
    assert talk.of("reply")[0]["kept"]["tool_calls"][1]["arguments"] == "{}"
    assert talk.of("format_error")[0]["call_id"] == "b"


def test_arguments_that_were_salvaged_go_back_as_strict_json(talk: Talk) -> None:
    model = ListModel(calls(("a", "validate_code", "{'code': 'print(1)',}")))
    with pytest.raises(Submitted):
        talk(model)
    assert model.seen[-1][2].tool_calls[0].arguments == '{"code": "print(1)"}'
    assert talk.steps[0].observation is not None and talk.steps[0].observation.ok


# --- replies that cannot be carried out


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (words("hm"), "no_action", "No action was found"),
        (words('{"action": "submit"} {"action": "reset"}'), "several_actions", "(submit, reset)"),
        (words('{"action": "submit", "params": {"a": }}'), "broken_arguments", "line 1, column 38"),
        (calls(("a", "submit", '{"a"')), "broken_arguments", "a ':' is expected at line 1, column 5"),
        (calls(("a", "execute_code", '{"code": "' + "#" * LONGEST + '"}')), "too_long", "(1,000,012 "),
        (words("#" * (LONGEST + 1)), "too_long", "1,000,001 characters"),
        (words(""), "empty", "Your reply was empty"),
        (Reply("", "I think so.", usage=USAGE), "empty", "what is only thought is not carried out"),
        (words('Now {"action": "exec', Finish.LENGTH), "cut_off", "cut off after 10 tokens"),
        (words("", Finish.LENGTH), "cut_off", "cut off after 10 tokens"),
        (calls(("a", "execute_code", '{"code": "x'), finish=Finish.LENGTH), "cut_off", "shorter program"),
        (words("I can't do that.", Finish.REFUSAL), "refusal", "refused (I can't do that.)"),
        (words("", Finish.REFUSAL), "refusal", "was refused, so"),
        (words("", Finish.MALFORMED), "malformed", "could not be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_out_costs_a_step_and_is_answered(
    talk: Talk, reply: Reply, kind: str, said: str
) -> None:
    model = ListModel(reply)
    with pytest.raises(Submitted):
        talk(model)
    turn, answer = model.seen[-1][-2:]
    assert said in answer.text
    assert answer.text.startswith("error: ")
    assert answer.text.endswith("\n\n[left: 4 steps]")
    assert talk.of("format_error") == [
        {"step": 1, "kind": kind, "text": answer.text, "call_id": "a" if reply.tool_calls else None}
    ]
    assert turn.text or turn.tool_calls, "providers refuse a turn of nothing"
    assert all(isinstance(json.loads(call.arguments), dict) for call in turn.tool_calls)
    assert len(turn.text) < 30_000
    assert talk.steps[0].action is None


def test_a_lone_surrogate_is_never_sent_back(talk: Talk) -> None:
    model = ListModel(Reply("\ud800 {", raw={"content": "\ud800 {"}), calls(("a", "f\ud800", "{}")))
    with pytest.raises(Submitted):
        talk(model)
    for message in model.seen[-1]:
        message.text.encode()
        assert all(call.name.encode() for call in message.tool_calls)
    assert model.seen[-1][2].raw is None


def test_unreadable_replies_in_a_row_end_the_trial_at_the_configured_number(talk: Talk) -> None:
    replies = [words(), words(), say("get_history"), words(), words(), words()]
    with pytest.raises(FormatErrors, match="3 replies in a row"):
        talk(ListModel(*replies), steps=10)
    assert [step.action.name if step.action else None for step in talk.steps] == [
        None, None, "get_history", None, None, None,
    ]  # fmt: skip
    talk.steps.clear()
    with pytest.raises(FormatErrors, match="1 replies in a row"):
        talk(ListModel(words()), max_format_errors=1)


def test_a_reply_of_several_broken_calls_counts_once(talk: Talk) -> None:
    broken = calls(("a", "submit", "{"), ("b", "submit", "{"), ("c", "submit", "{"))
    with pytest.raises(Submitted):
        talk(ListModel(broken))
    assert [fields["step"] for fields in talk.of("format_error")] == [1, 2, 3]


def test_refusals_in_a_row_end_as_a_refusal_and_mixed_errors_do_not(talk: Talk) -> None:
    no = words("No.", Finish.REFUSAL)
    with pytest.raises(Refusal, match="refused 3 times in a row"):
        talk(ListModel(no, no, no))
    with pytest.raises(FormatErrors):
        talk(ListModel(no, words(), no))


def test_unreadable_replies_use_up_the_steps(talk: Talk) -> None:
    with pytest.raises(StepLimit):
        talk(ListModel(words(), words()), steps=2)


# --- a conversation that becomes too long


def lengthening(count: int) -> list[Reply]:
    """Steps that each print 4,000 characters; a token is four characters, as the usage says."""
    program = "print('x' * 4000)"
    return [
        Reply("", tool_calls=run(program).tool_calls, usage=Usage(input=2_000 + 1_000 * i, output=20))
        for i in range(count)
    ]


def test_old_steps_leave_before_the_window_is_full(talk: Talk) -> None:
    best = run(SAMPLE + "  # the sample").tool_calls
    model = ListModel(Reply("", tool_calls=best, usage=Usage(input=1_500, output=20)), *lengthening(5))
    with pytest.raises(Submitted):
        talk(model, steps=10, settings=Settings(max_input_tokens=5_000))
    compactions = talk.of("compaction")
    assert compactions
    after = model.seen[compactions[0]["step"] - 1]
    assert [message.role for message in after[:3]] == ["system", "user", "assistant"]
    assert after[0] == model.seen[0][0]
    assert after[1].text == compactions[0]["text"]
    assert after[1].text.startswith(model.seen[0][1].text)
    assert "1. execute_code: ok; Score: 0.28 (higher is better)." in after[1].text
    assert "of step 1, with a score of 0.28:" in after[1].text
    assert SAMPLE + "  # the sample" in after[1].text
    assert 1 in compactions[0]["dropped"]
    assert len(after) < len(model.seen[compactions[0]["step"] - 2])


def test_a_conversation_that_is_refused_as_too_long_is_halved_and_sent_again(talk: Talk) -> None:
    overflow = Fault(FaultKind.CONTEXT, "too many tokens")
    model = ListModel(*lengthening(4), overflow, overflow)
    with pytest.raises(Submitted):
        talk(model, steps=10)
    sizes = [sum(len(message.text) for message in seen) for seen in model.seen[-3:]]
    assert sizes[0] > sizes[1] > sizes[2]
    assert [fields["step"] for fields in talk.of("compaction")] == [5, 5]
    assert [fields["attempts"] for fields in talk.of("reply")] == [1, 1, 1, 1, 3]


def test_what_can_not_be_shortened_ends_as_context_overflow(talk: Talk) -> None:
    with pytest.raises(ContextOverflow, match="too many tokens"):
        talk(ListModel(Fault(FaultKind.CONTEXT, "too many tokens")))
    assert talk.steps == []


def test_the_caller_is_told_how_much_input_to_expect(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    expected: list[int] = []
    complete = Caller.complete

    def listening(self: Caller, messages: Any, tools: Any, **more: Any) -> Any:
        expected.append(more["expected_input"])
        return complete(self, messages, tools, **more)

    monkeypatch.setattr(Caller, "complete", listening)
    with pytest.raises(Submitted):
        talk(ListModel(say("get_history")))
    assert expected[0] == 0
    # 100 tokens of input and 10 of output are known; the observation is short beside the prompt.
    assert 110 <= expected[1] < 120


# --- ends


def test_an_end_inside_the_model_goes_through(talk: Talk) -> None:
    with pytest.raises(Refusal):
        talk(ListModel(Refusal("no")))
    assert talk.steps == []


def test_messages_are_what_the_record_says(talk: Talk) -> None:
    """The whole conversation follows from the events, as readers of trajectories rebuild it."""
    model = ListModel(words(), say("get_history"), words(""), calls(("a", "reset", "{'a'")))
    with pytest.raises(Submitted):
        talk(model, steps=9)
    rebuilt = [
        Message("system", talk.of("prompt")[0]["system"]),
        Message("user", talk.of("prompt")[0]["user"]),
    ]
    for kind, fields in talk.events[1:-2]:
        if kind == "reply":
            kept = fields["kept"] or fields
            turn = tuple(ToolCall(**call) for call in kept["tool_calls"])
            rebuilt.append(Message("assistant", kept["text"], turn))
        elif kind in ("observation", "format_error"):
            role: Any = "tool" if fields["call_id"] else "user"
            rebuilt.append(Message(role, fields["text"], tool_call_id=fields["call_id"]))
    assert fingerprint(rebuilt) == talk.of("reply")[-1]["prompt_sha256"]


def test_an_unknown_version_of_the_prompts_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown version 'v0'; there is v1"):
        AgentConfig(prompts="v0")
