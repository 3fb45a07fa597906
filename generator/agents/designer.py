"""The Designer: turns an idea into the draft of a task package, run by itself before it is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generator.agents.assignment import Assignment
from generator.agents.crew import Crew, about, listed
from generator.agents.declaration import declare
from generator.agents.fencing import clipped, fenced
from generator.agents.idea import Idea, Layout
from generator.agents.package import lay_out, take
from generator.agents.prompts import prompt
from generator.agents.workbench import copy_raw
from generator.backend import Desk, GaveUp
from generator.defects.base import Finding
from generator.ledger import Effort

_FINDINGS = 8_000


def design(
    crew: Crew, desk: Desk, idea: Idea, root: Path, findings: Sequence[Finding], effort: Effort
) -> Idea:
    """Write the draft to ``root``, and give the idea with its layout.

    Raises:
        GaveUp: the model did not hand in a draft.
        TrialEnd: trouble of the machine or of the model's endpoint.
    """
    missing = copy_raw(desk.folder, idea.data_files, root / "raw")
    if missing:
        raise GaveUp("no_such_file", f"there are no raw files {', '.join(missing[:5])}")
    with crew.at_work(desk, "designer", idea.id, root / "raw", effort) as (session, bench, kit):
        lay_out(bench, root)
        bench.put({"derivation.py": idea.derivation})

        def accept(layout: Layout) -> str:
            return "\n".join(take(bench, root))

        assignment = Assignment(
            system=prompt("designer"),
            task=prompt("design").format(
                about=about(desk), raw=bench.raw, work=bench.work,
                idea=fenced("the idea", idea.model_dump_json(exclude={"works", "layout"}, indent=1)),
                mending=mending(findings, idea.layout),
            ),
            form=Layout, does="Hand in the draft: its files are taken from the work folder as they are.",
            accept=accept,
        )  # fmt: skip
        layout = session.run(assignment, kit)
        works = (*idea.works, session.work())
    made = idea.model_copy(
        update={
            "layout": layout,
            "targets": layout.target_columns,
            "scoring": layout.metric,
            "metric": layout.metric.name,
            "works": works,
        }
    )
    declare(desk, made, root, works)
    return made


def mending(findings: Sequence[Finding], layout: Layout | None) -> str:
    """What an agent is told when it works on something a second time."""
    if not findings:
        return "Nothing has been written yet."
    said = layout.model_dump_json() if layout else "nothing"
    return prompt("mend").format(
        layout=fenced("what was handed in before", said),
        findings=fenced("what was found", clipped(listed(findings), _FINDINGS)),
    )
