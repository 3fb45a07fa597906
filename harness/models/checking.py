"""Whether a configured endpoint can serve a trial, proved by one tiny call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from harness.errors import InputError, TrialEnd
from harness.models.base import ActionFormat, Message, Reply, Settings, Tool
from harness.models.calling import Answer, Caller, Retries
from harness.models.faults import Fault, FaultKind
from harness.models.presets import Api
from harness.models.pricing import FREE_PROVIDERS, PriceTable
from harness.models.registry import ModelConfig, make_model
from harness.models.scripted.model import policy_summaries
from harness.models.windows import Window, context_window

FEW = Retries(attempts=3, longest_seconds=10.0)
"""How patient a check is: people wait for it."""

_ROOM = 4096
"""Output tokens for one sum: a model that reasons may think first, any other stops soon."""

_REPORT = Tool(
    "report",
    "Report the result.",
    {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "The sum."}},
        "required": ["number"],
        "additionalProperties": False,
    },
)
_BY_TOOL = "Add 17 and 25. Report the sum by calling the tool `report`."
_BY_TEXT = (
    "Add 17 and 25. Answer with one JSON object and nothing else, in this form, with the sum as the number: "
    '{"action": "report", "params": {"number": 0}}'
)


class State(StrEnum):
    """How one part of a check came out. ``NOTE`` holds no trial up, but should be known."""

    OK = "ok"
    NOTE = "note"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One part of a check.

    Attributes:
        what: ``key``, ``endpoint``, ``actions``, ``settings``, ``usage``, ``price`` or ``window``.
        state: how it came out.
        text: what was seen.
        fix: what to do about it; empty when nothing is.
    """

    what: str
    state: State
    text: str
    fix: str = ""


@dataclass(frozen=True)
class EndpointCheck:
    """What a check found.

    Attributes:
        model: the candidate's name on boards.
        endpoint: where it was asked; ``None`` is the provider's own.
        findings: in the order in which they were looked at.
        version: the model's exact version, as the endpoint names it.
        seconds: wall time of the call that was answered.
        window: tokens the model holds.
        usd_per_million: price of a million input and of a million output tokens.
        cost_usd: price of the call.
    """

    model: str
    endpoint: str | None
    findings: tuple[Finding, ...]
    version: str | None = None
    seconds: float | None = None
    window: Window | None = None
    usd_per_million: tuple[float, float] | None = None
    cost_usd: float | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing fell short."""
        return all(finding.state is not State.FAIL for finding in self.findings)

    def to_document(self) -> dict[str, Any]:
        """As plain JSON data."""
        rates = self.usd_per_million
        named = None if rates is None else {"input": rates[0], "output": rates[1]}
        return {"ok": self.ok, **asdict(self), "usd_per_million": named}


def check_endpoint(
    config: ModelConfig, settings: Settings, prices: PriceTable, retries: Retries = FEW
) -> EndpointCheck:
    """Ask a model for one sum and look at everything a trial needs.

    Args:
        config: which model.
        settings: the resolved settings of its calls.
        prices: what its calls cost.
        retries: how patiently the call is repeated when it fails.

    Raises:
        InputError: there is no such model or provider.
    """
    if config.preset.api is Api.SCRIPTED:
        if config.model not in policy_summaries():
            make_model(config)
        plain = Finding("endpoint", State.OK, "a scripted candidate: it calls no endpoint and costs nothing")
        return EndpointCheck(config.board_name, None, (plain,), usd_per_million=(0.0, 0.0))
    key = _key(config)
    window = context_window(config, settings, ask_any=True)
    rates = prices.per_million(config.priced_as)
    found, answer = [key], None
    if key.state is not State.FAIL:
        asked = settings if settings.max_output_tokens else _with_room(settings, window)
        answer, ends = _ask(config, asked, retries)
        found += ends
        if answer is not None:
            found += [_actions(config, settings, answer.reply), _settings(settings), _usage(answer.reply)]
    cost = None if answer is None else prices.price(config.priced_as, answer.reply.usage)
    found += [_price(config, rates, prices), _window(window)]
    return EndpointCheck(
        config.board_name,
        config.endpoint_url,
        tuple(found),
        version=answer.reply.version if answer else None,
        seconds=round(answer.seconds, 3) if answer else None,
        window=window,
        usd_per_million=rates,
        cost_usd=cost,
    )


def _key(config: ModelConfig) -> Finding:
    variable = config.key_name
    try:
        key = config.key()
    except InputError as error:
        return Finding("key", State.FAIL, str(error).partition(";")[0], f"export {variable}=<your key>")
    if key:
        return Finding("key", State.OK, f"found in {variable}")
    why = "the server is on this machine" if config.is_local else f"{config.provider} wants none"
    return Finding("key", State.OK, f"none needed: {why}")


def _with_room(settings: Settings, window: Window | None) -> Settings:
    room = _ROOM if window is None else max(1, min(_ROOM, window.tokens // 2))
    return settings.model_copy(update={"max_output_tokens": room})


def _ask(config: ModelConfig, settings: Settings, retries: Retries) -> tuple[Answer | None, list[Finding]]:
    """The answer, and what asking tells of the endpoint."""
    question = _BY_TOOL if settings.action_format is ActionFormat.TOOLS else _BY_TEXT
    messages = [Message("system", "This is a test of a connection. Be brief."), Message("user", question)]
    caller = Caller(make_model(config), settings, retries=retries)
    where = config.endpoint_url or f"{config.provider}'s API"
    try:
        answer = caller.complete(messages, [_REPORT])
    except TrialEnd as end:
        fault = end.__cause__
        if not isinstance(fault, Fault):
            raise
        status = f" (HTTP {fault.status})" if fault.status else ""
        text = f"{where}: {str(fault.kind).replace('_', ' ')}{status}: {' '.join(str(fault).split())}"
        return None, [Finding("endpoint", State.FAIL, text, _fix(config, settings, fault.kind))]
    version = answer.reply.version or "a version that it does not name"
    again = f", at attempt {answer.attempts}" if answer.attempts > 1 else ""
    text = f"{where} answered in {answer.seconds:.1f} s by {config.spoken_api}{again}: {version}"
    return answer, [Finding("endpoint", State.OK, text)]


def _fix(config: ModelConfig, settings: Settings, kind: FaultKind) -> str:
    """What a user can do about an endpoint that gave no answer."""
    if (
        kind is FaultKind.REQUEST
        and config.provider == "vllm"
        and settings.action_format is ActionFormat.TOOLS
    ):
        return "start vLLM with --enable-auto-tool-choice and --tool-call-parser, or use --action-format json"
    server = "start the server" if config.is_local else "see whether the host can be reached from here"
    return {
        FaultKind.RATE_LIMIT: "too many calls at once: wait a minute and check again",
        FaultKind.OVERLOADED: "the endpoint's own trouble: check again later",
        FaultKind.CONNECTION: f"{server}, or give another --base-url",
        FaultKind.TIMEOUT: "see whether the model is still loading, or raise settings.timeout_seconds",
        FaultKind.GARBLED: "see that the base URL is the API's; of OpenAI's kind it mostly ends in /v1",
        FaultKind.CONTEXT: "give the model a larger context window, or lower settings.max_output_tokens",
        FaultKind.REQUEST: "leave out the setting that the message names",
        FaultKind.KEY: f"see that the key in {config.key_name or 'key_variable'} may use this model",
        FaultKind.QUOTA: "top up the account, or raise its limit",
        FaultKind.MODEL: "see that the model's name and the base URL are right",
    }[kind]


def _actions(config: ModelConfig, settings: Settings, reply: Reply) -> Finding:
    """Whether the reply held the action, in the format that was asked for."""
    if settings.action_format is ActionFormat.TOOLS:
        numbers, kind = list(_called(reply)), "tool call"
        fix = "use --action-format json (or schema), which needs no tool calls"
    else:
        numbers, kind = list(_written(reply.text)), "JSON object"
        fix = "choose a model that follows instructions"
        if (
            ActionFormat.SCHEMA in config.preset.action_formats
            and settings.action_format is ActionFormat.JSON
        ):
            fix = "use --action-format schema, if the endpoint can hold a model to a JSON schema"
    if numbers:
        return Finding("actions", State.OK, f"answered by a {kind}: report({numbers[0]})")
    if str(reply.finish) not in ("stop", "tool_calls"):
        fix = "raise settings.max_output_tokens" if reply.finish == "length" else fix
        return Finding("actions", State.FAIL, f"no {kind}; the reply ended by {reply.finish}", fix)
    written = ", but JSON in its text" if any(_written(reply.text)) else ""
    shown = " ".join(reply.text.split())[:60]
    return Finding("actions", State.FAIL, f"no {kind} came back{written}: {shown!r}", fix)


def _called(reply: Reply) -> Iterator[str]:
    for call in reply.tool_calls:
        if call.name == _REPORT.name:
            yield call.arguments


def _written(text: str) -> Iterator[str]:
    """The JSON objects of a text that name the tool or its parameter."""
    decoder = json.JSONDecoder()
    for start, sign in enumerate(text):
        if sign == "{":
            try:
                value, _ = decoder.raw_decode(text, start)
            except ValueError:
                continue
            said = json.dumps(value)
            if f'"{_REPORT.name}"' in said or '"number"' in said:
                yield said


def _settings(settings: Settings) -> Finding:
    sent = described(settings)
    return Finding("settings", State.OK, f"accepted: {sent}" if sent else "none asked; the provider's own")


def described(settings: Settings) -> str:
    """The settings that reach the endpoint, in a line for people; empty when it is left to its own."""
    values = {
        "temperature": settings.sent_temperature,
        "effort": settings.effort,
        "max_output_tokens": settings.max_output_tokens,
        "action_format": None if settings.action_format is ActionFormat.TOOLS else settings.action_format,
    }
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)


def _usage(reply: Reply) -> Finding:
    if not (reply.usage.input or reply.usage.output):
        return Finding(
            "usage",
            State.NOTE,
            "not reported",
            "limits on tokens and costs cannot hold; limit steps and hours",
        )
    return Finding("usage", State.OK, f"{reply.usage.input} tokens in, {reply.usage.output} out")


def _price(config: ModelConfig, rates: tuple[float, float] | None, prices: PriceTable) -> Finding:
    if rates is None:
        return Finding("price", State.NOTE, "unpriced", f'give it in a price file, as models."{config.name}"')
    if config.provider in FREE_PROVIDERS:
        return Finding("price", State.OK, "free")
    text = f"{rates[0]:g} USD in, {rates[1]:g} USD out per million tokens ({prices.version})"
    return Finding("price", State.OK, text)


def _window(window: Window | None) -> Finding:
    if window is None:
        return Finding("window", State.NOTE, "nobody says", "give it as settings.context_window")
    return Finding("window", State.OK, f"{window.tokens} tokens, says {window.source}")
