"""Sandboxes whose harness is gone: found by their labels, and removed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.containers.engine import ENGINE_ERRORS, Engine
from harness.sandboxes.containers.execution import remove_container
from harness.sandboxes.kernel.owners import Life, Owner

PREFIX = "mlesmith."
OWNER = f"{PREFIX}owner"
DEADLINE = f"{PREFIX}deadline"
#: How long a container may live when its job does not say.
LIFETIME_SECONDS = 7 * 24 * 3600.0


@dataclass(frozen=True)
class Orphan:
    """A container of ours that no harness needs any more.

    Attributes:
        container: its id.
        labels: job, trial and attempt, where they are known.
        why: in a few words.
    """

    container: str
    labels: Mapping[str, str]
    why: str


def deadline_of(spec: SandboxSpec) -> float:
    """When it has no business to live any more, in seconds since 1970: its label ``deadline``, or a week."""
    return float(spec.labels.get("deadline") or time.time() + LIFETIME_SECONDS)


def container_labels(spec: SandboxSpec, deadline: float) -> dict[str, str]:
    """What is written on a container."""
    return {
        **{f"{PREFIX}{name}": value for name, value in spec.labels.items()},
        OWNER: str(Owner.me()),
        DEADLINE: f"{deadline:.0f}",
    }


def find_orphans(engine: Engine, *, all_unknown: bool = False) -> list[Orphan]:
    """Containers of ours whose harness has ended, or whose deadline has passed; never a living harness's.

    Args:
        engine: where to look.
        all_unknown: also those of which nobody can tell from here: of another machine, or of a harness in
            another container.

    Raises:
        SandboxUnavailable: the engine does not answer.
    """
    try:
        found = engine.api.containers(all=True, filters={"label": OWNER})
    except ENGINE_ERRORS as error:
        raise SandboxUnavailable(f"the container engine at {engine.url} does not answer ({error})") from error
    orphans = []
    for container in found:
        labels = container.get("Labels") or {}
        if why := _why(labels, all_unknown):
            shown = {
                name.removeprefix(PREFIX): value
                for name, value in labels.items()
                if name.startswith(PREFIX) and name not in (OWNER, DEADLINE)
            }
            orphans.append(Orphan(container["Id"], shown, why))
    return orphans


def remove_orphans(engine: Engine, orphans: list[Orphan]) -> list[Orphan]:
    """Remove them; gives those that are gone."""
    return [orphan for orphan in orphans if remove_container(engine, orphan.container)]


def _why(labels: Mapping[str, str], all_unknown: bool) -> str | None:
    owner = Owner.parse(labels.get(OWNER, ""))
    life = owner.life if owner else Life.UNKNOWN
    if life is Life.ALIVE:
        return None
    if life is Life.GONE:
        return "its harness has ended"
    try:
        if float(labels.get(DEADLINE, "")) < time.time():
            return "its deadline has passed"
    except ValueError:
        return "its deadline cannot be read"
    return "its harness is unknown here" if all_unknown else None
