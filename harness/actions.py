"""What an agent can ask for and what it gets back: actions, tools and observations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.models.base import Tool
from harness.tasks.grading import GradeResult

SUBMISSION = "submission.csv"
INFO_TYPES = ("overview", "data_structure", "sample_submission", "data_path", "output_path")


@dataclass(frozen=True)
class Action:
    """What an agent asks for: one of :data:`TOOLS` by name, with its parameters."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """What grading after an execution gave.

    Attributes:
        grade: the grade whose score the agent may see; with ``none`` only its validity is shown.
        counted: the raw score on the rows that count for the trial's result; ``None`` when invalid.
        shown: the raw score the agent is told; ``None`` when invalid or never told.
        best_shown: the best score told so far in this trial.
    """

    grade: GradeResult
    counted: float | None
    shown: float | None
    best_shown: float | None


@dataclass(frozen=True)
class Observation:
    """The answer to one action.

    Attributes:
        action: the action's name as the agent gave it.
        ok: whether it did what was asked.
        text: the answer, bounded.
        scores: present when an execution was graded.
        budget_left: what is left, in words.
        seconds: wall time the action took.
    """

    action: str
    ok: bool
    text: str
    scores: Scores | None
    budget_left: str
    seconds: float


def _tool(name: str, description: str, **parameters: dict[str, Any]) -> Tool:
    schema = {
        "type": "object",
        "properties": parameters,
        "required": list(parameters),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)


_CODE = {"type": "string", "description": "A complete Python program."}

TOOLS: tuple[Tool, ...] = (
    _tool(
        "request_info",
        "Read something about the task.",
        info_type={"type": "string", "enum": list(INFO_TYPES), "description": "What to read."},
    ),
    _tool("validate_code", "Run a Python program without grading what it writes.", code=_CODE),
    _tool(
        "execute_code",
        f"Run a Python program that writes {SUBMISSION} to the output path, and grade that file.",
        code=_CODE,
    ),
    _tool("get_history", "Read a summary of all your actions so far."),
    _tool("reset", "Empty the output path. Used steps stay used."),
    _tool("submit", "End the trial now, with what you have submitted so far."),
)
