"""The options of ``mlesmith run`` beside those about models. ``None`` is what was not said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_TRIAL, _BUDGET, _SANDBOX = "Trials", "Budget of a trial", "Sandbox"
_USES = "What this run uses"

Tasks = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR...",
        help="Task folders, folders of task folders, or a frozen task set.",
        rich_help_panel=_TRIAL,
    ),
]
ModelNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME...",
        help="<provider>/<model> or scripted/<policy>; see `mlesmith models`.",
        rich_help_panel=_TRIAL,
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(min=1, help="Trials of every model on every task; 1.", rich_help_panel=_TRIAL),
]
AgentProfile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE",
        help="A profile of the agent, such as paper; options given here come before what it says.",
        rich_help_panel=_TRIAL,
    ),
]
FeedbackName = Annotated[
    str | None,
    typer.Option(
        metavar="test|split|none", help="Which score agents are told; test.", rich_help_panel=_TRIAL
    ),
]
Steps = Annotated[int | None, typer.Option(min=1, help="Actions per trial; 15.", rich_help_panel=_BUDGET)]
Hours = Annotated[
    float | None,
    typer.Option(min=0.0, help="Wall time per trial; 12, and 0 for no limit.", rich_help_panel=_BUDGET),
]
WorkingHours = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="The same without waiting for the model's endpoint; none, and 0 for none.",
        rich_help_panel=_BUDGET,
    ),
]
ExecutionSeconds = Annotated[
    float | None, typer.Option(min=1.0, help="Wall time of one program; 3600.", rich_help_panel=_BUDGET)
]
Tokens = Annotated[
    int | None, typer.Option(min=1, help="Input and output tokens per trial.", rich_help_panel=_BUDGET)
]
InputTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Input tokens per trial, cached ones included.", rich_help_panel=_BUDGET),
]
OutputTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Output tokens per trial, reasoning included.", rich_help_panel=_BUDGET),
]
CostUsd = Annotated[
    float | None, typer.Option(min=0.0, help="Price of a trial's model calls.", rich_help_panel=_BUDGET)
]
Image = Annotated[
    str | None,
    typer.Option(
        help="Image of docker's containers; the project's own when left out.", rich_help_panel=_SANDBOX
    ),
]
MemoryGb = Annotated[
    float | None,
    typer.Option(help="Memory of a trial in GiB, files in its folder included; 8.", rich_help_panel=_SANDBOX),
]
DiskGb = Annotated[
    float | None,
    typer.Option(help="Files in a trial's working folder, in GiB; 4.", rich_help_panel=_SANDBOX),
]
Cpus = Annotated[int | None, typer.Option(min=1, help="Processors of a trial; 1.", rich_help_panel=_SANDBOX)]
Processes = Annotated[
    int | None,
    typer.Option(min=1, help="Processes and threads of a trial; 256.", rich_help_panel=_SANDBOX),
]
Gpus = Annotated[
    str | None,
    typer.Option(
        metavar="all|ID,...",
        help="GPUs to lease to trials, by index, UUID or MIG name; none when left out.",
        rich_help_panel=_SANDBOX,
    ),
]
GpusPerTrial = Annotated[
    int | None, typer.Option(min=1, help="GPUs of each trial; 1 with --gpus.", rich_help_panel=_SANDBOX)
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST",
        help="A host that agent code may reach, such as example.org; may be repeated.",
        rich_help_panel=_SANDBOX,
    ),
]
Network = Annotated[
    bool | None,
    typer.Option("--network", help="Short for --allow-host '*': any public host.", rich_help_panel=_SANDBOX),
]
Warm = Annotated[
    bool | None,
    typer.Option(
        "--warm/--cold",
        help="Fork each program from a warm process with the usual modules, or start Python anew.",
        rich_help_panel=_SANDBOX,
    ),
]
Retries = Annotated[
    int | None,
    typer.Option(min=0, help="How often a failed model call is repeated; 7.", rich_help_panel=_USES),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Trials at a time; by default one per lease of GPUs, else one per processor.",
        rich_help_panel=_USES,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(metavar="I/N", help="Run only the I-th of N parts.", rich_help_panel=_USES),
]
