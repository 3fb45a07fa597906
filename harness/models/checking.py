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
from harness.models.outlook import Outlook, look_ahead, sent
from harness.models.presets import Api
from harness.models.pricing import PriceTable
from harness.models.registry import ModelConfig, make_model
from harness.models.scripted.model import policy_summaries
from harness.models.windows import Window, crowded

FEW = Retries(attempts=3, longest_seconds=10.0)
_LONGEST_SECONDS = 90.0
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
        outlook: the candidate, and what is known of it without a call.
        findings: in the order in which they were looked at.
        version: the model's exact version, as the endpoint names it.
        seconds: wall time of the call that was answered.
        cost_usd: price of the call.
    """

    outlook: Outlook
    findings: tuple[Finding, ...]
    version: str | None = None
    seconds: float | None = None
    cost_usd: float | None = None

    @property
    def model(self) -> str:
        """The candidate's name on boards."""
        return self.outlook.config.board_name

    @property
    def ok(self) -> bool:
        """Whether nothing fell short."""
        return all(finding.state is not State.FAIL for finding in self.findings)

    def to_document(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "ok": self.ok,
            **self.outlook.to_document(),
            "version": self.version,
            "seconds": self.seconds,
            "cost_usd": self.cost_usd,
            "findings": [asdict(finding) for finding in self.findings],
        }


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
    outlook = look_ahead(config, settings, prices, ask_any=True)
    if config.preset.api is Api.SCRIPTED:
        if config.model not in policy_summaries():
            make_model(config)
        plain = Finding("endpoint", State.OK, "a scripted candidate: it calls no endpoint and costs nothing")
        return EndpointCheck(outlook, (plain,))
    findings, answer = [_key(config)], None
    if findings[0].state is not State.FAIL:
        asked = settings if settings.max_output_tokens else _with_room(settings, outlook.window)
        seconds = min(settings.timeout_seconds, _LONGEST_SECONDS)
        asked = asked.model_copy(update={"timeout_seconds": seconds})
        answer, endpoint = _ask(config, asked, retries)
        findings.append(endpoint)
    if answer is not None:
        findings += [_actions(config, settings, answer.reply), _settings(settings), _usage(answer.reply)]
    return EndpointCheck(
        outlook,
        (*findings, *_known(outlook)),
        version=answer.reply.version if answer else None,
        seconds=round(answer.seconds, 3) if answer else None,
        cost_usd=prices.price(config.priced_as, answer.reply.usage) if answer else None,
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


def _ask(config: ModelConfig, settings: Settings, retries: Retries) -> tuple[Answer | None, Finding]:
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
        text = f"{where}: {str(fault.kind).replace('_', ' ')}: {' '.join(str(fault).split())}"
        return None, Finding("endpoint", State.FAIL, text, _fix(config, fault))
    version = answer.reply.version or "a version that it does not name"
    again = f", at attempt {answer.attempts}" if answer.attempts > 1 else ""
    text = f"{where} answered in {answer.seconds:.1f} s by {config.spoken_api}{again}: {version}"
    return answer, Finding("endpoint", State.OK, text)


def _fix(config: ModelConfig, fault: Fault) -> str:
    """What a user can do about an endpoint that gave no answer."""
    if fault.kind is FaultKind.REQUEST and config.provider == "vllm" and "tool" in str(fault):
        return "start vLLM with --enable-auto-tool-choice and --tool-call-parser, or use --action-format json"
    if fault.kind is FaultKind.KEY and config.key() is None:
        variable = config.key_name
        named = f"{variable}=<its key>" if variable else "its key in a variable, named by --key-variable"
        return f"this server wants a key: export {named}"
    if fault.policy.fix:
        return fault.policy.fix.format(key_variable=config.key_name or "its key")
    server = "start the server" if config.is_local else "see whether the host can be reached from here"
    return {
        FaultKind.RATE_LIMIT: "too many calls at once: wait a minute and check again",
        FaultKind.OVERLOADED: "the endpoint's own trouble: check again later",
        FaultKind.CONNECTION: f"{server}, or give another --base-url",
        FaultKind.TIMEOUT: "see whether the model is still loading, or raise settings.timeout_seconds "
        f"(a check waits {_LONGEST_SECONDS:g} s at most)",
        FaultKind.GARBLED: "see that the base URL is the API's; of OpenAI's kind it mostly ends in /v1",
        FaultKind.CONTEXT: "give the model a larger context window, or lower settings.max_output_tokens",
        FaultKind.REQUEST: "leave out the setting that the message names",
    }[fault.kind]


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
    """The parameters in the JSON objects of a text that name the tool or its parameter."""
    decoder = json.JSONDecoder()
    for start, sign in enumerate(text):
        if sign == "{":
            try:
                value, _ = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
            if "number" in value or value.get("action") == _REPORT.name:
                yield json.dumps(value.get("params", value))


def _settings(settings: Settings) -> Finding:
    asked = sent(settings)
    return Finding("settings", State.OK, f"accepted: {asked}" if asked else "none asked, its defaults hold")


def _usage(reply: Reply) -> Finding:
    if not (reply.usage.input or reply.usage.output):
        return Finding(
            "usage",
            State.NOTE,
            "not reported",
            "limits on tokens and costs cannot hold; limit steps and hours",
        )
    return Finding("usage", State.OK, f"{reply.usage.input} tokens in, {reply.usage.output} out")


def _known(outlook: Outlook) -> Iterator[Finding]:
    """Price and context window."""
    if outlook.usd_per_million is None:
        fix = f'give it in a price file, as models."{outlook.config.name}"'
        yield Finding("price", State.NOTE, outlook.price, fix)
    else:
        yield Finding("price", State.OK, outlook.price)
    window = outlook.window
    if window is None:
        yield Finding(
            "window", State.NOTE, "nobody says", "give it as settings.context_window, or --context-window"
        )
    elif wrong := crowded(outlook.settings, window):
        text, _, fix = wrong.partition("; ")
        yield Finding("window", State.FAIL, text, fix)
    else:
        yield Finding("window", State.OK, f"{window.tokens} tokens, says {window.source}")
