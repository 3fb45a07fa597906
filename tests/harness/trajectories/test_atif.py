"""Exports to ATIF keep the format's published rules and lose nothing of the trial."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_core import from_json

from harness.errors import InputError
from harness.models.base import Reply, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.pricing import PriceTable, Rates
from harness.trajectories.atif import to_atif
from harness.trajectories.trials import RecordedTrial
from tests.harness.replies import SAMPLE, SUBMIT, say
from tests.harness.trajectories.atif_rules import violations
from tests.harness.trajectories.conftest import Troubled

#: USD per million tokens, so that costs can be worked out by hand.
PRICES = PriceTable({"openai/gpt-4o": Rates(input=2.0, output=10.0, cache_read=1.0)})


@pytest.fixture(scope="session")
def document(troubled: Troubled) -> dict[str, Any]:
    return to_atif(troubled.trial, PRICES)


@pytest.mark.parametrize("which", ["troubled", "written", "odd"])
def test_the_published_rules_hold(which: str, request: pytest.FixtureRequest) -> None:
    trial: Troubled = request.getfixturevalue(which)
    exported = to_atif(trial.trial)
    assert violations(exported) == []
    # As other tools read it: strictly, and in UTF-8.
    text = json.dumps(exported, allow_nan=False, ensure_ascii=False)
    assert from_json(text.encode()) == exported


def _result(document: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = document["steps"][2]["observation"]["results"][0]
    return result


BREACHES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("step_id: not sequential", lambda d: d["steps"].pop(1)),
    ("is no call of this step", lambda d: _result(d).update(source_call_id="x")),
    ("of agent steps only", lambda d: d["steps"][0].update(reasoning_content="hm")),
    ("no field of the format", lambda d: d["steps"][2].update(score=1.0)),
    ("arguments: str", lambda d: d["steps"][2]["tool_calls"][0].update(arguments="{}")),
    ("not unique", lambda d: d["steps"][4]["tool_calls"][0].update(tool_call_id="call-1")),
    ("agent.version: missing", lambda d: d["agent"].pop("version")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "breach"), BREACHES, ids=[message for message, _ in BREACHES])
def test_the_checker_finds_breaches(
    document: dict[str, Any], message: str, breach: Callable[[dict[str, Any]], object]
) -> None:
    changed = copy.deepcopy(document)
    breach(changed)
    assert any(message in found for found in violations(changed))


def test_steps_tell_the_trial_in_order(document: dict[str, Any]) -> None:
    assert [(s["source"], s.get("extra", {}).get("kind", "")) for s in document["steps"]] == [
        ("system", ""),
        ("user", ""),
        ("agent", ""),
        ("agent", ""),
        ("agent", ""),
        ("agent", ""),
        ("system", "compaction"),
        ("agent", ""),
        ("agent", ""),
    ]
    first = document["steps"][2]
    assert (first["message"], first["reasoning_content"], first["model_name"]) == (
        "Two things.",
        "Look.",
        "listed-model-2026-01-02",
    )
    assert [(c["tool_call_id"], c["function_name"], c["arguments"]) for c in first["tool_calls"]] == [
        ("call-1", "request_info", {"info_type": "overview"}),
        ("call-2", "get_history", {}),
    ]
    assert [r["source_call_id"] for r in first["observation"]["results"]] == ["call-1", "call-2"]
    assert first["reasoning_effort"] == "low" and first["llm_call_count"] == 1
    assert [fault["kind"] for fault in first["extra"]["faults"]] == ["rate_limit"]


def test_scores_and_format_errors_lie_under_extra(troubled: Troubled, document: dict[str, Any]) -> None:
    record = troubled.trial.record
    assert record and record.score is not None
    (graded,) = document["steps"][4]["observation"]["results"]
    assert graded["extra"]["score"] == graded["extra"]["feedback_score"] == record.score
    unread, _ = document["steps"][5]["observation"]["results"]
    assert unread["extra"]["format_error"] == "broken_arguments" and unread["source_call_id"] == "call-5"
    assert document["steps"][5]["tool_calls"][0] == {
        "tool_call_id": "call-5",
        "function_name": "execute_code",
        "arguments": {},
        "extra": {"arguments_as_written": '{"code": '},
    }
    (prose,) = document["steps"][3]["observation"]["results"]
    assert "source_call_id" not in prose and prose["extra"]["format_error"] == "no_action"
    assert document["extra"]["result"]["score"] == record.score
    assert document["agent"]["extra"]["spec_hash"] == record.spec_hash


def test_tokens_and_costs_are_those_of_the_calls(document: dict[str, Any]) -> None:
    # 400 plain input tokens at 2, 600 cached at 1 and 50 output at 10 USD per million: 0.0019.
    assert document["steps"][2]["metrics"] == {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "cached_tokens": 600,
        "cost_usd": pytest.approx(0.0019),
        "extra": {"reasoning_tokens": 20, "cache_write_tokens": 0},
    }
    # Five such calls, and the last one with 100 input and 10 output tokens: 0.0003.
    total = document["final_metrics"]
    assert (total["total_prompt_tokens"], total["total_completion_tokens"]) == (5100, 260)
    assert total["total_cached_tokens"] == 3000
    assert total["total_cost_usd"] == pytest.approx(5 * 0.0019 + 0.0003)


def test_an_unknown_price_is_left_out_and_never_0(written: Troubled) -> None:
    exported = to_atif(written.trial)
    assert "total_cost_usd" not in exported["final_metrics"]
    assert all("cost_usd" not in step.get("metrics", {}) for step in exported["steps"])


def test_actions_written_as_text_get_calls_of_our_making(written: Troubled) -> None:
    agent = [step for step in to_atif(written.trial)["steps"] if step["source"] == "agent"]
    assert [[call["tool_call_id"] for call in step.get("tool_calls", [])] for step in agent] == [
        ["step-1"],
        [],
        ["step-3"],
        ["step-4"],
    ]
    assert agent[0]["message"].startswith("I look first.\n{")  # the reply whole, as the model wrote it
    assert agent[2]["tool_calls"][0]["arguments"] == {"code": SAMPLE}


def test_ids_that_a_model_repeats_are_made_unique(run_listed: Callable[..., Troubled]) -> None:
    exported = to_atif(
        run_listed([say("get_history"), say("reset"), SUBMIT]).trial
    )  # the id "call" each time
    assert violations(exported) == []
    calls = [call["tool_call_id"] for step in exported["steps"] for call in step.get("tool_calls", [])]
    assert calls == ["call", "call-2", "call-3"]


def test_calls_of_one_reply_with_the_same_id_keep_their_own_answers(odd: Troubled) -> None:
    step = to_atif(odd.trial)["steps"][4]
    calls = {call["tool_call_id"]: call["function_name"] for call in step["tool_calls"]}
    answers = {r["source_call_id"]: r["content"] for r in step["observation"]["results"]}
    assert list(calls.values()) == ["get_history", "reset", "nonsense"] and calls.keys() == answers.keys()
    assert step["extra"]["steps"] == [3, 4, 5]


def test_a_trial_whose_endpoint_never_answered_is_exported_with_its_faults(
    run_listed: Callable[..., Troubled],
) -> None:
    exported = to_atif(run_listed([Fault(FaultKind.REQUEST, "no such setting", status=400)]).trial)
    assert violations(exported) == []
    last = exported["steps"][-1]
    assert last["source"] == "system" and "no such setting" in last["message"]
    assert exported["extra"]["result"]["status"] == "provider_error"


def test_a_scripted_candidate_calls_no_model(run_listed: Callable[..., Troubled]) -> None:
    scripted = run_listed([Reply("", usage=Usage()), SUBMIT], name="scripted/listed")
    exported = to_atif(scripted.trial)
    assert violations(exported) == []
    assert all("llm_call_count" not in step for step in exported["steps"])
    assert exported["final_metrics"]["total_cost_usd"] == 0.0


def test_an_unfinished_trial_is_refused(troubled: Troubled) -> None:
    unfinished = RecordedTrial(troubled.trial.paths, None, troubled.trial.log)
    with pytest.raises(InputError, match="not finished"):
        to_atif(unfinished)
