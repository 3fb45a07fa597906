"""What the agent tells the model beside observations: how it begins, and what was wrong with a reply."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.actions import TOOLS
from harness.agents.format_errors import FormatError
from harness.agents.prompting import render
from harness.agents.turns import clean
from harness.budget import BudgetMeter
from harness.environment import Environment
from harness.models.base import ActionFormat, Reply, Settings, Tool
from harness.records import Feedback
from harness.sandboxes.base import GIB

_FEEDBACK = {
    Feedback.TEST: "After each execute_code you are told the score on the test rows.",
    Feedback.SPLIT: "After each execute_code you are told the score on a part of the test rows; "
    "the rest decides your result.",
    Feedback.NONE: "You are not told scores: validate on the training data.",
}
_COUNTS = {
    Feedback.TEST: "Your best submission counts, by the score you are told.",
    Feedback.SPLIT: "Your best submission counts, by the score you are told.",
    Feedback.NONE: "Your last valid submission counts, so end with your best.",
}
_GRAMMAR = {"action": "<name>", "params": {"<parameter>": "<value>"}}


def first_turns(
    environment: Environment, meter: BudgetMeter, action_format: ActionFormat, version: str
) -> tuple[str, str]:
    """The system turn and the task's turn.

    Raises:
        SandboxLost: there is no sandbox to tell the paths of.
    """
    spec = environment.sandbox_spec
    program = f'import os\n\nprint("files:", os.listdir({environment.data_path!r}))'
    example: dict[str, object] = {"action": "validate_code", "params": {"code": program}}
    if action_format is ActionFormat.SCHEMA:
        example = {"thought": "I look at the files.", **example}
    system = render(
        "system",
        version=version,
        steps=meter.budget.steps,
        tools=TOOLS,
        execution_seconds=f"{meter.budget.execution_seconds:.0f}",
        memory=f"{spec.limits.memory_bytes / GIB:.3g}",
        cpus=spec.limits.cpus,
        gpus=len(spec.gpus),
        hosts=spec.allow_hosts,
        feedback=_FEEDBACK[environment.feedback],
        counts=_COUNTS[environment.feedback],
        format=str(action_format),
        example=json.dumps(example),
    )
    task = render(
        "task",
        version=version,
        overview=environment.information("overview"),
        files=environment.information("data_structure"),
        sample=environment.information("sample_submission"),
        data_path=environment.data_path,
        output_path=environment.output_path,
        budget_left=meter.describe(),
    )
    return system, task


def format_error_text(
    error: FormatError,
    meter: BudgetMeter,
    settings: Settings,
    reply: Reply,
    version: str,
    tools: Sequence[Tool] = TOOLS,
) -> str:
    """What was wrong with a reply, and how to do better with the tools that there are."""
    text = render(
        "format_error",
        version=version,
        kind=str(error.kind),
        detail=error.detail,
        tools=tools,
        format=str(settings.action_format),
        grammar=json.dumps(_GRAMMAR),
        output_tokens=reply.usage.output,
        budget_left=meter.describe(),
    )
    return clean(text)
