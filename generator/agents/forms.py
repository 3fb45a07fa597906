"""The form of an agent's answer: its JSON schema for the model, and reading it with errors worth telling."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.models.base import Tool
from harness.tasks.package import describe_validation

Form = TypeVar("Form", bound=BaseModel)

FINISH = "finish"
#: What strict structured output takes of a schema; bounds are checked by us, and told when they do not hold.
_KEPT = ("type", "enum", "description")


class Unfit(Exception):
    """An answer that has not the form; the message names each field and what to write there."""


def finish_tool(form: type[BaseModel], does: str, without: Collection[str] = ()) -> Tool:
    """The tool by which an agent hands in its answer and ends.

    Args:
        form: of the answer.
        does: what the tool is for.
        without: fields that are not the model's to fill, at any depth.
    """
    return Tool(FINISH, does, strict_schema(form, without))


def strict_schema(form: type[BaseModel], without: Collection[str] = ()) -> dict[str, Any]:
    """A schema that endpoints can hold a model to: all properties required and no others, no references."""
    schema = form.model_json_schema(mode="validation")
    return _strict(schema, schema.get("$defs", {}), without)


def _strict(part: dict[str, Any], known: dict[str, Any], without: Collection[str]) -> dict[str, Any]:
    if "$ref" in part:
        return _strict(known[part["$ref"].rpartition("/")[2]] | _beside(part), known, without)
    if len(part.get("allOf", ())) == 1:
        return _strict(part["allOf"][0] | _beside(part), known, without)
    strict = {key: part[key] for key in _KEPT if key in part}
    if "const" in part:
        strict = {"type": "string", "enum": [part["const"]]}
    if "anyOf" in part:
        strict["anyOf"] = [_strict(each, known, without) for each in part["anyOf"]]
    if part.get("type") == "array":
        strict["items"] = _strict(part.get("items", {"type": "string"}), known, without)
    if part.get("type") == "object":
        properties = {
            name: _strict(each, known, without)
            for name, each in part.get("properties", {}).items()
            if name not in without
        }
        strict.pop("description", None)  # a docstring is for programmers
        strict |= {"properties": properties, "required": [*properties], "additionalProperties": False}
    return strict


def _beside(part: dict[str, Any]) -> dict[str, Any]:
    return {key: part[key] for key in ("description",) if key in part}


def read_answer(form: type[Form], params: dict[str, Any], without: Collection[str] = ()) -> Form:
    """The answer that parameters are.

    Raises:
        Unfit: they have not the form.
    """
    params = {name: _decoded(form, name, value) for name, value in params.items()}
    try:
        return form.model_validate(_without(params, without))
    except ValidationError as error:
        lines = describe_validation(error)[:2_000].split("; ")
        fields = {str(part) for item in error.errors() for part in item["loc"]}
        told = dict(_descriptions(strict_schema(form, without)))
        lines += [f"{name} is {told[name]}" for name in sorted(fields & set(told))]
        raise Unfit("\n".join(f"- {line}" for line in lines)) from error


def _decoded(form: type[BaseModel], name: str, value: Any) -> Any:
    """What some models write as JSON text where an object or a list is asked for."""
    field = form.model_fields.get(name)
    if isinstance(value, str) and field is not None and field.annotation is not str and value[:1] in "[{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _without(value: Any, without: Collection[str]) -> Any:
    """Plain data without fields that are ours to fill: a model may repeat what it was shown."""
    if isinstance(value, dict):
        return {key: _without(each, without) for key, each in value.items() if key not in without}
    return [_without(each, without) for each in value] if isinstance(value, list) else value


def _descriptions(schema: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, part in schema.get("properties", {}).items():
        if "description" in part:
            found.append((name, part["description"]))
        found += _descriptions(part)
        found += _descriptions(part.get("items", {}))
    return found
