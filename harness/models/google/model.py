"""Gemini models behind generateContent.

The key comes from the environment only, and is never written anywhere.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import httpx2
from google import genai
from google.genai import types
from google.genai.errors import APIError

from harness.errors import InputError
from harness.models.actionschema import action_schema
from harness.models.base import ActionFormat, Message, Reply, Settings, Tool
from harness.models.faults import Fault, FaultKind
from harness.models.google.contents import system_text, to_contents
from harness.models.google.errors import to_fault
from harness.models.google.replies import read_reply
from harness.models.google.thinking import thinking_config
from harness.models.registry import ModelConfig
from harness.models.wire.client import open_client
from harness.models.wire.tapes import Tape

_BASE_URL = "https://generativelanguage.googleapis.com"
#: Preview models and the ``-latest`` names exist in this version only.
_API_VERSION = "v1beta"


class GoogleModel:
    """A Gemini model.

    Args:
        config: which model, and where; a base URL is one without the version of the API.
        tape: records the exchanges, or answers in the network's place.

    Raises:
        InputError: the name is no model's, the model does not take the effort asked of it, or the key's
            variable is not set and the endpoint is not on this machine.
    """

    def __init__(self, config: ModelConfig, tape: Tape | None = None) -> None:
        self.name = config.board_name
        self._model = config.model
        if not re.fullmatch(r"[\w/-]+(\.[\w/-]+)*", self._model, re.ASCII):
            raise InputError(f"{config.name}: {self._model!r} is no name of a model; write google/<model>")
        thinking_config(self._model, config.settings.effort)
        key = config.key(tape)
        # Its warning that it takes the one of two keys in the environment is not true here.
        logging.getLogger("google_genai").setLevel(logging.ERROR)
        url = config.endpoint_url or _BASE_URL
        # Everything that the SDK would else read from the environment is said.
        self._client = genai.Client(
            vertexai=False,
            api_key=key or "none",  # it insists on one, also where none is wanted
            http_options=types.HttpOptions(
                base_url=url,
                api_version=_API_VERSION,
                httpx_client=open_client(url, key, tape),
                # Never used; its own would read proxies and certificates, and fail where they are odd.
                httpx_async_client=httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport()),
            ),
        )

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation. See :class:`harness.models.base.Model` for the errors."""
        try:
            config = self._config(messages, tools, settings)
        except InputError as error:
            raise Fault(FaultKind.REQUEST, str(error)) from None
        try:
            response = self._client.models.generate_content(
                model=self._model,
                contents="extra_body has them",  # see harness.models.google.contents
                config=config,
            )
        except (APIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            fault = to_fault(error)
        else:
            answered = response.sdk_http_response
            return read_reply((answered.body if answered else None) or "", turn=len(messages))
        raise fault  # out here, so that it has no context: an exception of the SDK holds the request

    def _config(
        self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings
    ) -> types.GenerateContentConfig:
        config = types.GenerateContentConfig(
            system_instruction=system_text(messages),
            temperature=settings.sent_temperature,
            max_output_tokens=settings.max_output_tokens,
            thinking_config=thinking_config(self._model, settings.effort),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
            # The SDK's own reading drops the message of a finish reason, among others.
            should_return_http_response=True,
            http_options=types.HttpOptions(
                timeout=max(1, round(settings.timeout_seconds * 1000)),
                extra_body={"contents": to_contents(messages)},
            ),
        )
        if tools and settings.action_format is ActionFormat.TOOLS:
            config.tools = [types.Tool(function_declarations=[_declaration(tool) for tool in tools])]
            config.tool_config = types.ToolConfig(
                function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.AUTO)
            )
        if tools and settings.action_format is ActionFormat.SCHEMA:
            config.response_mime_type = "application/json"
            config.response_json_schema = action_schema(tools)
        return config


def _declaration(tool: Tool) -> types.FunctionDeclaration:
    return types.FunctionDeclaration(
        name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
    )
