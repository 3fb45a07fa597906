"""Choosing a sandbox: the best that runs here, and nothing without isolation for code that is not trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError, SandboxUnavailable
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.choose import choose_sandbox
from harness.sandboxes.settings import SandboxConfig


def settings(kind: str, *, trust: bool) -> SandboxConfig:
    return SandboxConfig.model_validate({"kind": kind, "trust": trust})


def test_auto_is_bubblewrap(sandbox: SandboxProvider) -> None:
    assert choose_sandbox().name == choose_sandbox("bubblewrap").name == sandbox.name == "bubblewrap"


def test_without_bubblewrap_untrusted_code_is_refused_with_the_remedies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SandboxUnavailable, match=r"install the package bubblewrap, .*docker") as caught:
        choose_sandbox("bubblewrap")
    assert "--trust" not in str(caught.value)
    with pytest.raises(SandboxUnavailable, match=r"install the package bubblewrap, .*docker.*--trust"):
        choose_sandbox("auto")


def test_trusted_code_may_run_without_bubblewrap_but_not_instead_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert choose_sandbox("auto", trusted=True).name == "process"
    assert choose_sandbox(settings("auto", trust=True)).name == "process"
    with pytest.raises(SandboxUnavailable):
        choose_sandbox("bubblewrap", trusted=True)


def test_process_takes_trusted_code_only() -> None:
    for asked in ("process", settings("process", trust=False)):
        with pytest.raises(
            InputError, match=r"isolates nothing.*choose bubblewrap or docker, or say --trust"
        ):
            choose_sandbox(asked)
    assert choose_sandbox("process", trusted=True).name == "process"
    assert choose_sandbox(settings("process", trust=True)).name == "process"


def test_where_namespaces_are_forbidden_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\n"
        "[ \"$1\" = --version ] && echo 'bubblewrap 0.11.0' && exit\n"
        "echo 'setting up uid map: Permission denied' >&2\nexit 1\n"
    )
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SandboxUnavailable, match=r"uid map: Permission denied.*unprivileged user namespaces"):
        choose_sandbox("bubblewrap")


def test_without_an_engine_docker_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(SandboxUnavailable, match=r"nowhere/docker.sock"):
        choose_sandbox("docker")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError, match="unknown sandbox 'chroot'; choose one of auto, bubblewrap, docker, process"
    ):
        choose_sandbox("chroot")
