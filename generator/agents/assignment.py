"""What an agent is asked, and what its answer has to be."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Generic

from generator.agents.forms import Form


@dataclass(frozen=True)
class Assignment(Generic[Form]):
    """What an agent is asked.

    Attributes:
        system: who it is, and how it works.
        task: what it has to do now.
        form: of its answer.
        does: what handing in an answer means, for the tool that does it.
        accept: looks at an answer and says what has to be mended; nothing ends the attempt.
        without: fields of the form that are not the model's to fill.
        rules: the prompt that says how it works.
    """

    system: str
    task: str
    form: type[Form]
    does: str
    accept: Callable[[Form], str]
    without: Collection[str] = frozenset()
    rules: str = "rules"
