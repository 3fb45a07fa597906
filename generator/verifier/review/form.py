"""What a review says, and how it is read from a model's reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.agents.lenient import Broken, read_object
from harness.models.base import Finish, Reply, Tool
from harness.tasks.package import describe_validation

#: What stands for a reason in the form that the prompt shows.
PLACEHOLDER = "one to three sentences"
_LONGEST = 100_000


class Grade(StrEnum):
    """How good an aspect of a task is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Quote(BaseModel):
    """Words that a file is said to hold."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str = Field(max_length=500)
    quote: str = Field(max_length=5_000)


class Opinion(BaseModel):
    """The grade of one aspect, with its reason and the evidence."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    reason: str = Field(max_length=5_000)
    quotes: tuple[Quote, ...] = Field(max_length=20)
    grade: Grade

    @field_validator("grade", mode="before")
    @classmethod
    def _in_capitals(cls, value: Any) -> Any:
        return value.strip().upper() if isinstance(value, str) else value


class Review(BaseModel):
    """All aspects; none may be left out, for what nobody judged is not OK."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    clarity: Opinion
    metric: Opinion
    shortcuts: Opinion
    leakage: Opinion
    realism: Opinion
    split: Opinion

    def opinions(self) -> dict[str, Opinion]:
        """The opinions by aspect."""
        return {name: getattr(self, name) for name in type(self).model_fields}


ASPECTS = tuple(Review.model_fields)


class Unreadable(Exception):
    """A reply that holds no review; the message says why, for the model to mend it."""


def review_tool() -> Tool:
    """The tool by which a model reports its review; its parameters are the schema of a :class:`Review`."""
    quote = _object(file={"type": "string"}, quote={"type": "string"})
    opinion = _object(
        reason={"type": "string"},
        quotes={"type": "array", "items": quote},
        grade={"type": "string", "enum": [str(grade) for grade in Grade]},
    )
    return Tool("report_review", "Report the review of the task.", _object(**dict.fromkeys(ASPECTS, opinion)))


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def read_review(reply: Reply) -> Review:
    """The one review that a reply holds.

    Raises:
        Unreadable: it holds none, or more than one.
    """
    if reply.finish is Finish.REFUSAL:
        raise Unreadable(f"the model declined: {' '.join(reply.text.split())[:200]}")
    cut = reply.finish is Finish.LENGTH
    found, problems = {}, []
    for value in _objects(reply, may_end=not cut):
        try:
            review = Review.model_validate(value)
            found[review.model_dump_json()] = review
        except ValidationError as error:
            problems.append(describe_validation(error)[:500])
    if any(_repeats_form(review) for review in found.values()):
        raise Unreadable("it repeats the form; give reasons of your own")
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise Unreadable("it holds more than one review; give one")
    if cut:
        raise Unreadable("it was cut off at the limit of output tokens; be shorter")
    raise Unreadable(problems[-1] if problems else "it holds no JSON object with the six aspects")


def _repeats_form(review: Review) -> bool:
    """Whether it is the example of the prompt, which small models give back with its grades of OK."""
    return any(opinion.reason.strip() == PLACEHOLDER for opinion in review.opinions().values())


def _objects(reply: Reply, *, may_end: bool) -> Iterator[dict[str, Any]]:
    """The objects of a reply that are not part of another: the arguments of tool calls, else in the text."""
    texts = [call.arguments for call in reply.tool_calls if call.name == review_tool().name] or [reply.text]
    for text in texts:
        start = text.find("{")
        while 0 <= start < _LONGEST:
            try:
                value, end = read_object(text, start, may_end=may_end)
            except Broken:
                end = start + 1
            else:
                yield _unwrapped(value)
            start = text.find("{", end)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The review itself, where it stands as the parameters of an action."""
    inner = value.get("params", value)
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except ValueError:
            return value
    return inner if isinstance(inner, dict) else value
