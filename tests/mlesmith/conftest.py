"""Fixtures of a real container engine."""

from __future__ import annotations

from tests.engines import docker_image, docker_sandbox, engine

__all__ = ["docker_image", "docker_sandbox", "engine"]
