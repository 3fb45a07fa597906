"""Fixtures: a real container engine, and an image of this machine's Python. Skipped where there is none."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path

import pytest

from harness.errors import SandboxUnavailable
from harness.sandboxes.containers import images
from harness.sandboxes.containers.engine import Engine, find_engine
from harness.sandboxes.docker import Docker


@pytest.fixture(scope="session")
def engine() -> Engine:
    try:
        return find_engine()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def docker_image(engine: Engine) -> str:
    """The image's name. Workers that run tests side by side make it once."""
    with Path(tempfile.gettempdir(), "mlesmith-tests-image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return images.import_host(engine).name


@pytest.fixture(scope="session")
def docker_sandbox(engine: Engine, docker_image: str) -> Docker:
    provider = Docker(docker_image, engine)
    provider.check()
    return provider
