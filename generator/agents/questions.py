"""Small questions to a model, with one answer each: even a small one with a short window can answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from generator.agents.assignment import Assignment
from generator.agents.fencing import clipped, fenced
from generator.agents.prompts import prompt
from generator.agents.session import Session
from generator.agents.tools.base import Kit
from generator.backend import GaveUp
from generator.proposals import Proposal

Answer = TypeVar("Answer", bound=BaseModel)

#: Answers to one question; more do not help a model that did not understand the second time.
_TRIES = 2
_CANDIDATE, _DESCRIPTION = 220, 2_500


class Title(BaseModel):
    """A task's title."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(max_length=2_000, description="one line")


class Introduction(BaseModel):
    """What a description begins with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(max_length=8_000, description="two or three plain sentences")


def choose(session: Session, candidates: Sequence[Proposal]) -> int | None:
    """The position of the task that the model finds best; ``None`` when its answers were of no use."""
    numbers = tuple(str(number) for number in range(1, len(candidates) + 1))
    fields: dict[str, Any] = {"number": (Literal[numbers], ...)}
    form = create_model("Choice", __config__=ConfigDict(extra="forbid"), **fields)
    lines = [
        f"{number}. {clipped(_line(each), _CANDIDATE)}"
        for number, each in zip(numbers, candidates, strict=True)
    ]
    text = prompt("choose").format(candidates=fenced("tasks", "\n".join(lines)), most=len(candidates))
    answer = ask(session, text, form, lambda given: ())
    return None if answer is None else int(answer.model_dump()["number"]) - 1


def find_title(session: Session, proposal: Proposal, check: Callable[[str], Iterable[str]]) -> str | None:
    """A title that holds; ``None`` when there was none."""
    text = prompt("title").format(task=fenced("task", _line(proposal)))
    answer = ask(session, text, Title, lambda given: check(given.title))
    return None if answer is None else " ".join(answer.title.split())


def find_introduction(
    session: Session, description: str, about: str, check: Callable[[str], Iterable[str]]
) -> str | None:
    """An introduction that holds; ``None`` when there was none."""
    shown = fenced("description", clipped(description, _DESCRIPTION))
    text = prompt("introduction").format(description=shown, about=about)
    answer = ask(session, text, Introduction, lambda given: check(given.text))
    return None if answer is None else answer.text.strip()


def ask(
    session: Session, text: str, form: type[Answer], check: Callable[[Answer], Iterable[str]]
) -> Answer | None:
    """One answer to one question, checked; ``None`` when none of a few was of use."""
    tries = 0

    def accept(answer: Answer) -> str:
        nonlocal tries
        tries += 1
        wrong = list(check(answer))
        if not wrong:
            return ""
        if tries >= _TRIES:
            session.transcript.record("refused", {"answer": answer.model_dump(), "problems": wrong})
            raise GaveUp("unusable_answer", "; ".join(wrong))
        return "this cannot be used:\n" + "\n".join(f"- {each}" for each in wrong[:5])

    assignment = Assignment(
        system=prompt("helper"), task=text, form=form, does="Give the answer.", accept=accept, rules="brief"
    )
    try:
        return session.run(assignment, Kit(()))
    except GaveUp:
        return None


def _line(proposal: Proposal) -> str:
    shown = ", ".join(proposal.features[:6])
    return f"{proposal.objective} of {', '.join(proposal.targets[:3])} from {shown}; {proposal.difficulty}"
