"""Choosing a sandbox: by name, or the best that runs here."""

from __future__ import annotations

from harness.errors import InputError, SandboxUnavailable
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.process import Process
from harness.sandboxes.settings import SandboxConfig

NAMES = ("auto", "bubblewrap", "docker", "process")


def choose_sandbox(asked: str | SandboxConfig = "auto", *, trusted: bool = False) -> SandboxProvider:
    """The provider that was asked for, checked.

    ``auto`` takes bubblewrap; where that cannot run, it falls back to ``process`` only for trusted code.
    ``process`` takes nothing but trusted code.

    Args:
        asked: one of :data:`NAMES`, or a job's settings.
        trusted: all code that will run ships with this project, or the user has said that it may run without
            isolation; ``trust`` of the settings says so too.

    Raises:
        SandboxUnavailable: the sandbox cannot run here; the message says how to mend that.
        InputError: unknown name, or untrusted code without isolation.
    """
    config = SandboxConfig.model_validate({"kind": asked}) if isinstance(asked, str) else asked
    trusted = trusted or config.trust
    provider: SandboxProvider
    match config.kind:
        case "auto":
            return _best(trusted)
        case "bubblewrap":
            provider = Bubblewrap()
        case "docker":
            provider = _docker(config)
        case "process":
            if not trusted:
                raise InputError(
                    "--sandbox process isolates nothing, and not all code that would run ships with this "
                    "project; choose bubblewrap or docker, or say --trust if you trust that code with your "
                    "files, keys and network"
                )
            provider = Process()
        case unknown:
            raise InputError(f"unknown sandbox {unknown!r}; choose one of {', '.join(NAMES)}")
    provider.check()
    return provider


def _docker(config: SandboxConfig) -> SandboxProvider:
    """One image for all sandboxes of a job, so that what is recorded is what trials had."""
    from harness.sandboxes.containers import images
    from harness.sandboxes.containers.engine import find_engine
    from harness.sandboxes.docker import Docker

    engine = find_engine()
    return Docker(images.find(engine, config.image, gpus=bool(config.gpus)).name, engine)


def _best(trusted: bool) -> SandboxProvider:
    provider = Bubblewrap()
    try:
        provider.check()
    except SandboxUnavailable as error:
        if trusted:
            return Process()
        raise SandboxUnavailable(
            f"{error}; --trust runs it without isolation, if you trust the code with your files and keys"
        ) from error
    return provider
