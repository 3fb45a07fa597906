"""Choosing a sandbox by name."""

from __future__ import annotations

from harness.errors import InputError, SandboxUnavailable
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.process import Process

NAMES = ("auto", "bubblewrap", "process")


def choose_sandbox(name: str = "auto", *, trusted: bool = False) -> SandboxProvider:
    """The provider of that name, checked.

    ``auto`` takes bubblewrap; where that cannot run, it falls back to ``process`` only for trusted code.

    Args:
        name: one of :data:`NAMES`.
        trusted: all code that will run was written by the user or ships with this project.

    Raises:
        SandboxUnavailable: the sandbox cannot run here; the message says how to mend that.
        InputError: unknown name.
    """
    if name == "process":
        return Process()
    if name not in NAMES:
        raise InputError(f"unknown sandbox {name!r}; choose one of {', '.join(NAMES)}")
    provider = Bubblewrap()
    try:
        provider.check()
    except SandboxUnavailable:
        if name == "auto" and trusted:
            return Process()
        raise
    return provider
