"""The task.toml of an idea, with where everything in it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from generator.agents.idea import Idea, Work
from generator.agents.prompts import NEWEST, prompts_hash
from generator.backend import Desk
from generator.selection.toml import to_toml
from harness.records import strict_json
from harness.tasks.package import raw_hash

#: Of the agents' code, as recorded in a package; raised with each release that makes other packages.
VERSION = "1"
PROVENANCE = "provenance.json"


def declare(desk: Desk, idea: Idea, root: Path, works: Sequence[Work]) -> None:
    """Write ``task.toml`` and, with all details, ``provenance.json`` into ``root``, where ``raw/`` is."""
    (root / "task.toml").write_text(to_toml(specification(desk, idea, root, works)), encoding="utf-8")
    document = {
        "schema_version": 1,
        "task": idea.id,
        "provenance": origin(desk, idea, works),
        "idea": idea.model_dump(mode="json"),
    }
    (root / PROVENANCE).write_text(strict_json(document) + "\n", encoding="utf-8")


def specification(desk: Desk, idea: Idea, root: Path, works: Sequence[Work]) -> dict[str, Any]:
    """The contents of ``task.toml``, as :class:`harness.tasks.package.TaskSpec` has them."""
    layout, card = idea.layout, desk.card
    assert layout is not None, "a Designer says how the files are laid out"
    source = {"name": card.name, "licence": card.licence, "url": card.url, "sha256": raw_hash(root / "raw")}
    split: dict[str, Any] = {"kind": layout.split_kind, "seed": layout.seed}
    if layout.split_kind in ("group", "time"):
        split[f"{layout.split_kind}_column"] = layout.split_column
    metric = layout.metric.model_dump(exclude={"reason"})
    return {
        "schema_version": 1,
        "id": idea.id,
        "title": idea.title,
        "set": "smith",
        "modality": idea.modality,
        "objective": idea.objective,
        "id_column": layout.id_column,
        "target_columns": list(layout.target_columns),
        "difficulty": idea.difficulty,
        "tags": list(idea.tags),
        "source": _known(source),
        "metric": _known(metric),
        "split": split,
        "provenance": origin(desk, idea, works),
    }


def origin(desk: Desk, idea: Idea, works: Sequence[Work], backend: str = "llm") -> dict[str, Any]:
    """Where a task comes from, as plain data: dataset, agents, models, prompts, transcripts and versions."""
    found: dict[str, Any] = {
        "generator": "mlesmith",
        "backend": backend,
        "version": VERSION,
        "dataset": desk.card.name,
        "dataset_sha256": desk.profile.sha256,
        "rationale": idea.rationale,
        "seed": idea.layout.seed if idea.layout else None,
        "skill": idea.evidence.skill if idea.evidence else None,
        "skill_spread": idea.evidence.spread if idea.evidence else None,
        "skill_measure": idea.evidence.measure if idea.evidence else None,
    }
    return _known(found) | written_by(works)


def written_by(works: Sequence[Work]) -> dict[str, Any]:
    """Models, prompts, transcripts and versions of libraries, as plain data."""
    return {
        "models": sorted({work.model for work in works}),
        "prompts": NEWEST,
        "prompts_sha256": prompts_hash(),
        "libraries": [f"{name} {version(name)}" for name in ("numpy", "pandas", "scikit-learn")],
        "agents": [_known(work.model_dump()) for work in works],
    }


def _known(table: dict[str, Any]) -> dict[str, Any]:
    """Without what there is nothing to say of: TOML has no null."""
    return {key: value for key, value in table.items() if value not in (None, "")}
