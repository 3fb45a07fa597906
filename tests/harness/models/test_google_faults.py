"""Every way in which Google does not answer, and where the key goes: the real SDK over real HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from harness.errors import InputError
from harness.models.base import Message, Reply, Settings
from harness.models.faults import Fault, FaultKind
from harness.models.google.model import GoogleModel
from harness.models.registry import ModelConfig, make_model
from tests.harness.models.gemini_server import (
    KEY,
    MODEL,
    GeminiServer,
    answer,
    gemini,
    refused,
    text,
)
from tests.harness.models.loopback import Said
from tests.harness.models.talk import HELLO


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with gemini() as opened:
        yield opened


def ask(server: GeminiServer, said: Any, **settings: Any) -> Reply:
    server.queue(said)
    return server.model().complete(HELLO, (), Settings(**settings))


def fault_of(server: GeminiServer, said: Any, **settings: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        ask(server, said, **settings)
    return caught.value


PER_MINUTE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "10"}
PER_DAY = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}
NOTHING = {"quotaId": "GenerateContentInputTokensPerModelPerMinute-FreeTier", "quotaValue": "0"}
PLAN = "You exceeded your current quota, please check your plan and billing details."
RETRY = {"@type": "RetryInfo", "retryDelay": "38.5s"}


def exhausted(message: str, *details: dict[str, Any], **headers: str) -> Said:
    return refused(429, "RESOURCE_EXHAUSTED", message, *details, **headers)


def quota(*violations: dict[str, str]) -> dict[str, Any]:
    return {"@type": "QuotaFailure", "violations": [*violations]}


@pytest.mark.parametrize(
    ("said", "kind", "wait"),
    [
        (exhausted(PLAN, quota(PER_MINUTE), RETRY), FaultKind.RATE_LIMIT, 38.5),
        (exhausted("Resource has been exhausted (e.g. check quota)."), FaultKind.RATE_LIMIT, None),
        (exhausted("slow down", retry_after="7"), FaultKind.RATE_LIMIT, 7.0),
        (exhausted("slow down", retry_after="soon"), FaultKind.RATE_LIMIT, None),
        (exhausted(PLAN, quota(PER_DAY, PER_MINUTE), RETRY), FaultKind.QUOTA, 38.5),
        (exhausted(PLAN, quota(NOTHING)), FaultKind.QUOTA, None),
        (exhausted("Quota exceeded for metric: requests, limit: 0, model: x"), FaultKind.QUOTA, None),
        (exhausted("Quota exceeded for metric: requests, limit: 0.5"), FaultKind.RATE_LIMIT, None),
        (exhausted("Your prepayment credits are depleted."), FaultKind.QUOTA, None),
        (exhausted("Your project has exceeded its spending cap."), FaultKind.QUOTA, None),
    ],
)
def test_a_429_is_a_rate_limit_or_a_quota_that_no_minute_refills(
    server: GeminiServer, said: Said, kind: FaultKind, wait: float | None
) -> None:
    fault = fault_of(server, said)
    assert (fault.kind, fault.status, fault.retry_after) == (kind, 429, wait)
    assert len(server.bodies) == 1


def test_a_date_to_wait_for_is_turned_into_seconds(server: GeminiServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wait = fault_of(server, exhausted("slow down", retry_after=later)).retry_after
    assert wait is not None
    assert 3000 < wait <= 3600


OVERFLOW = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
HTML = Said(b"<html>\n<h1>Bad\ngateway</h1>", 502, {"content-type": "text/html"})


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (refused(400, "INVALID_ARGUMENT", OVERFLOW), FaultKind.CONTEXT),
        (
            refused(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
            FaultKind.CONTEXT,
        ),
        (Said(b"too large", 413), FaultKind.CONTEXT),
        (refused(400, "INVALID_ARGUMENT", "Invalid value at 'temperature'"), FaultKind.REQUEST),
        (
            refused(400, "INVALID_ARGUMENT", "x", {"@type": "ErrorInfo", "reason": "API_KEY_INVALID"}),
            FaultKind.KEY,
        ),
        (refused(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."), FaultKind.KEY),
        (
            refused(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
            FaultKind.KEY,
        ),
        (refused(401, "UNAUTHENTICATED", f"{KEY} is not known"), FaultKind.KEY),
        (refused(403, "PERMISSION_DENIED", "Your API key was reported as leaked."), FaultKind.KEY),
        (Said({"error": {"message": "pay first"}}, 402), FaultKind.QUOTA),
        (refused(404, "NOT_FOUND", "models/gemini-9 is not found"), FaultKind.MODEL),
        (refused(408, "DEADLINE_EXCEEDED", "late"), FaultKind.OVERLOADED),
        (refused(499, "CANCELLED", "The operation was cancelled."), FaultKind.OVERLOADED),
        (refused(422, "INVALID_ARGUMENT", "no"), FaultKind.REQUEST),
        (refused(500, "INTERNAL", "An internal error has occurred."), FaultKind.OVERLOADED),
        (refused(503, "UNAVAILABLE", "The model is overloaded."), FaultKind.OVERLOADED),
        (refused(504, "DEADLINE_EXCEEDED", "Deadline expired."), FaultKind.OVERLOADED),
        (HTML, FaultKind.OVERLOADED),
        (Said(b'["odd"]', 500), FaultKind.OVERLOADED),
        (Said(b'{"error": null}', 500), FaultKind.OVERLOADED),
        (Said({"error": "no"}, 400), FaultKind.REQUEST),
        (Said(b"", 302, {"location": "https://example.org"}), FaultKind.REQUEST),
        (Said(b"", 204), FaultKind.GARBLED),
    ],
)
def test_every_refusal_has_its_fault_and_is_not_tried_again(
    server: GeminiServer, said: Said, kind: FaultKind
) -> None:
    fault = fault_of(server, said)
    assert (fault.kind, fault.status) == (kind, said.status)
    assert len(server.bodies) == 1
    assert "\n" not in str(fault)


@pytest.mark.parametrize(
    "said",
    [
        b"", b"{not json", b"<html>proxy</html>", b"[" * 100_000, b"[]", b"null", b'"hi"', b'{"a": \xff}', {},
        {"candidates": []}, {"candidates": None}, {"candidates": "hello"}, {"candidates": [None]},
        {"candidates": [{"content": "hello"}]}, {"candidates": [{"content": {"parts": [{"text": 5}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": "submit"}]}}]},
        answer(text("Hi."), usage={"promptTokenCount": "many"}), {"error": {"message": "odd"}},
        Said(b"\xff\xfe\x00", 500), Said(b"[" * 100_000, 500),
    ],
)  # fmt: skip
def test_an_answer_of_another_form_is_garbled(server: GeminiServer, said: Any) -> None:
    assert fault_of(server, Said(said) if isinstance(said, bytes) else said).kind is FaultKind.GARBLED


def test_what_google_may_add_to_an_answer_is_kept_and_sent_back(server: GeminiServer) -> None:
    said = answer(text("Hi."), novel=1) | {"novel": {"a": 1}}
    said["candidates"][0]["content"]["parts"][0]["novel"] = [1]
    reply = ask(server, said)
    assert reply.text == "Hi."
    assert reply.raw == said["candidates"][0]["content"]
    server.loopback.judge = None  # Google would know its own field
    back = Message("assistant", reply.text, raw=reply.raw)
    server.model().complete([*HELLO, back, Message("user", "More.")], (), Settings())
    assert server.bodies[-1]["contents"][1] == reply.raw


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (Said(answer(text("Hi.")), cut=30), FaultKind.CONNECTION),
        (Said(hang_up=True), FaultKind.CONNECTION),
        (Said(answer(text("Hi.")), delay=3.0), FaultKind.TIMEOUT),
        (Said(answer(text("Hi.")), drip=0.05), FaultKind.TIMEOUT),
    ],
)
def test_a_broken_or_slow_connection_has_its_fault(server: GeminiServer, said: Said, kind: FaultKind) -> None:
    patience = 0.5 if kind is FaultKind.TIMEOUT else 60.0
    assert fault_of(server, said, timeout_seconds=patience).kind is kind
    assert len(server.bodies) == 1


def test_an_endpoint_that_is_not_there_is_a_connection_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    absent = GoogleModel(ModelConfig(name=f"google/{MODEL}", base_url="http://127.0.0.1:9"))
    with pytest.raises(Fault, match="ConnectError") as caught:
        absent.complete(HELLO, (), Settings())
    assert caught.value.kind is FaultKind.CONNECTION


# Keys and the environment


def test_no_error_or_log_shows_the_key_not_even_in_what_an_error_came_from(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "AIza-other-canary"
    monkeypatch.setenv("GEMINI_API_KEY", wrong)
    fault = fault_of(server, answer(text("Hi.")))  # the server repeats the key that it refuses
    assert (fault.kind, fault.status) == (FaultKind.KEY, 400)
    assert "API key not valid: [key]" in str(fault)
    seen: BaseException | None = fault
    while seen is not None:
        assert wrong not in repr(seen) + repr(vars(seen))
        seen = seen.__cause__ or seen.__context__
    assert wrong not in server.loopback.asked[0].path + json.dumps(server.bodies) + caplog.text


def test_nothing_in_the_environment_sends_the_key_or_the_request_elsewhere(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in {
        "GOOGLE_API_KEY": "AIza-someone-elses",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_CLOUD_PROJECT": "project",
        "GOOGLE_CLOUD_LOCATION": "us-central1",
        "GOOGLE_GENAI_API_VERSION": "v1alpha",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    assert ask(server, answer(text("Hi."))).text == "Hi."
    assert server.loopback.asked[0].headers["x-goog-api-key"] == KEY
    assert "authorization" not in server.loopback.asked[0].headers
    assert caplog.text == ""
    own = GoogleModel(ModelConfig(name=f"google/{MODEL}"))
    assert own._client._api_client._http_options.base_url == "https://generativelanguage.googleapis.com"


def test_either_of_googles_two_variables_may_hold_the_key(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-unused")
    assert ModelConfig(name="google/m").key() == KEY
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert ask(server, answer(text("Hi."))).text == "Hi."
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(InputError, match="GEMINI_API_KEY is not set; export the key of google's API in it"):
        make_model(ModelConfig(name="google/gemini-3-flash"))
    with pytest.raises(InputError, match="MY_KEY is not set"):
        make_model(ModelConfig(name="google/gemini-3-flash", key_variable="MY_KEY"))


@pytest.mark.parametrize("name", ["../tunedModels/x", "a?key=b", "a b", "a&b", "x/../y", "gemini-3:count"])
def test_a_name_that_would_change_the_address_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is no name of a model; write google/<model>"):
        make_model(ModelConfig(name=f"google/{name}"))
