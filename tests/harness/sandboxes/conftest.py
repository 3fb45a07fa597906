"""Each kind of sandbox; tests that need what is not here are skipped, with the reason."""

from __future__ import annotations

import pytest

from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.process import Process
from tests.engines import docker_image, docker_sandbox, engine

__all__ = ["docker_image", "docker_sandbox", "engine"]


@pytest.fixture(scope="session", params=["bubblewrap", "docker", "process"])
def any_provider(request: pytest.FixtureRequest) -> SandboxProvider:
    """Each kind of sandbox that runs here."""
    if request.param == "process":
        return Process()
    name = "docker_sandbox" if request.param == "docker" else "sandbox"
    provider: SandboxProvider = request.getfixturevalue(name)
    return provider
