"""The self-test as a page of Markdown."""

from __future__ import annotations

import datetime
import platform
from importlib.metadata import version

from generator.verifier.selftest.result import SelfTest

_LIBRARIES = ("numpy", "pandas", "scikit-learn", "statsmodels", "pillow")


def page(result: SelfTest) -> str:
    """The page: figures, how to run it, the table, the clean tasks."""
    document = result.to_dict()
    versions = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    lines = [
        "# What does the verifier catch?",
        "",
        "This page is written by `mlesmith verifier selftest --markdown docs/verifier-selftest.md`. The "
        "self-test puts each class of defects into copies of clean tasks, one at a time, and asks the "
        "verifier. A defect counts as caught when a finding names it with one of the codes given for its "
        "class, and this code is not found in the clean task as well. "
        "Codes are explained in [defects.md](defects.md).",
        "",
        f"**Caught: {document['caught']} of {document['injected']} injected defects; recall "
        f"{document['recall']:.3f}, 95 % interval {document['recall_low']:.3f} to "
        f"{document['recall_high']:.3f} (Clopper and Pearson).** "
        f"False alarms of severity error in {document['clean_tasks']} clean tasks: "
        f"**{len(document['false_alarms'])}**; warnings: {len(document['warnings'])}.",
        "",
        "The injections are ours, and the verifier was improved until it caught them; defects of others on "
        "other data may fare worse than this interval says, which knows of chance alone.",
        "",
        f"Run on {datetime.date.today().isoformat()}, Python {platform.python_version()}, {versions}.",
        "",
        "    mlesmith verifier selftest                # two trials for each class",
        "    mlesmith verifier selftest --full         # every variant on every task it applies to",
        "    mlesmith verifier selftest --class 12     # one class, or --class group_leak",
        "",
        "Verdicts are remembered, so that a run that was stopped goes on where it was.",
        "",
        "| # | defect | injected | caught | by gate | codes | tried on |",
        "|---:|---|---:|---:|---|---|---|",
    ]
    for row in document["table"]:
        by = ", ".join(f"{gate} {count}" for gate, count in row["by"].items())
        tried = ", ".join(row["tasks"]) if len(row["tasks"]) <= 3 else f"{len(row['tasks'])} tasks"
        lines.append(
            f"| {row['number']} | {row['name']} | {row['injected']} | {row['caught']} | {by} "
            f"| {' '.join(f'`{code}`' for code in row['codes'])} | {tried} |"
        )
    if missed := [(row, name) for row in document["table"] for name in row["missed"]]:
        lines += [
            "",
            "## Missed",
            "",
            *(f"- {row['number']} ({row['name']}): {name}" for row, name in missed),
        ]
    if document["errors"]:
        lines += ["", "## Not tried", "", *(f"- {problem}" for problem in document["errors"])]
    left = [row for row in document["table"] if row["not_injectable"]]
    if left:
        lines += ["", "## Not injectable", ""]
        lines += [f"- {row['number']} ({row['name']}): {row['not_injectable']}." for row in left]
    lines += ["", "Class 74 is tried with a sandbox that shows `private/`, class 80 with one that is lost: "]
    lines[-1] += "there the verdict must be `error`, with nothing said against the task."
    lines += [
        "",
        "## Clean tasks",
        "",
        "| task | modality | data | verdict | warnings |",
        "|---|---|---|---|---|",
    ]
    for task in document["tasks"]:
        warnings = " ".join(f"`{code}`" for code in [*task["errors"], *task["warnings"]]) or "none"
        lines.append(
            f"| {task['name']} | {task['modality']} | {task['data']} | {task['verdict']} | {warnings} |"
        )
    return "\n".join(lines) + "\n"
