"""The stages on which attacks are performed: each sandbox, run by this user and by an ordinary one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SandboxUnavailable
from harness.sandboxes.warm import parent
from tests.harness.sandboxes.attacks.host import Host, engine_socket, planted
from tests.harness.sandboxes.attacks.ordinary import CannotDrop, OrdinaryStage
from tests.harness.sandboxes.attacks.stage import Stage, provider_named

#: How long a parent may take to answer after a run's time limit. Less than is granted for real, to wait less.
GRACE_SECONDS = 4.0


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with planted() as host, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", host.canary)
        yield host


@pytest.fixture(
    scope="session", params=["bubblewrap", "bubblewrap, ordinary user", "docker", "docker, ordinary user"]
)
def stage(request: pytest.FixtureRequest, host: Host) -> Iterator[Stage | OrdinaryStage]:
    name, _, ordinary = request.param.partition(", ")
    image = request.getfixturevalue("docker_image") if name == "docker" else None
    if ordinary and os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user anyway")
    try:
        stage = _other_user(name, host, image) if ordinary else _this_user(name, host, image)
    except (SandboxUnavailable, CannotDrop) as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parent, "GRACE_SECONDS", GRACE_SECONDS)
        yield stage
        stage.stop()


def _this_user(name: str, host: Host, image: str | None) -> Stage:
    return Stage(provider_named(name, image), host.facts, host.public, host.canary)


def _other_user(name: str, host: Host, image: str | None) -> OrdinaryStage:
    groups: list[int] = []
    if name == "docker":
        socket = Path(engine_socket())
        if not socket.stat().st_mode & 0o020:
            raise CannotDrop(f"{socket} is closed to all but its owner")
        groups = [socket.stat().st_gid]
    config: dict[str, Any] = {
        "provider": name,
        "image": image,
        "facts": host.facts,
        "public": str(host.public),
        "canary": host.canary,
        "grace": GRACE_SECONDS,
    }
    return OrdinaryStage(config, groups)
