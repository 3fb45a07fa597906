"""A stage in a process of an ordinary user, when the tests run as root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.harness.sandboxes.attacks.catalogue import Attack
from tests.harness.sandboxes.attacks.stage import ATTACKS, Seen

#: No account has this number.
USER = 61_111
_ROOT = Path(__file__).parents[4]
_MODULE = __name__.rpartition(".")[0] + ".stage"


class CannotDrop(Exception):
    """No Python, or no sandbox, that an ordinary user could run here; says which."""


class OrdinaryStage:
    """As :class:`stage.Stage`, by another user, who has a copy of our packages.

    Args:
        config: for :func:`stage.main`.
        groups: further groups of that user, such as that of a container engine's socket.

    Raises:
        CannotDrop: there is nothing to run as that user.
    """

    def __init__(self, config: dict[str, Any], groups: Iterable[int] = ()) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mlesmith-ordinary-"))
        self._process: subprocess.Popen[str] | None = None
        try:
            self._copy()
            environment = {
                "PATH": os.defpath,
                "HOME": "/nonexistent",
                "OPENAI_API_KEY": config["canary"],
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": f"{self._folder}:{sysconfig.get_path('purelib')}",
                **{name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ},
            }
            self._process = subprocess.Popen(
                [_python(environment), "-m", _MODULE, json.dumps(config)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self._folder,
                env=environment,
                user=USER,
                group=USER,
                extra_groups=list(groups),
            )
            started = self._answer()
            if "unavailable" in started:
                raise CannotDrop(started["unavailable"])
        except BaseException:
            self.stop()
            raise

    def ready(self) -> str:
        """See :class:`stage.Stage`."""
        return str(self._ask(-1))

    def perform(self, attack: Attack) -> Seen:
        """See :class:`stage.Stage`."""
        return Seen(**self._ask(ATTACKS.index(attack)))

    def stop(self) -> None:
        """End the other user's process, which ends its sandboxes."""
        if self._process is not None:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.wait(60)
        shutil.rmtree(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _copy(self) -> None:
        ignored = shutil.ignore_patterns("__pycache__", "reference", "conftest.py", "test_*.py")
        shutil.copytree(_ROOT / "harness", self._folder / "harness", ignore=ignored)
        inner = Path(__file__).parent.relative_to(_ROOT)
        shutil.copytree(_ROOT / inner, self._folder / inner, ignore=ignored)
        for package in [path for path in inner.parents if path != Path()]:
            (self._folder / package / "__init__.py").touch()
        for path in (self._folder, *self._folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def _ask(self, number: int) -> Any:
        assert self._process and self._process.stdin
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process and self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the other user's process ended with {self._process.wait()}; see its errors above"
            )
        return json.loads(line)


def _python(environment: dict[str, str]) -> str:
    """A Python of our version, with our libraries, that the user can run; ours may lie in a closed folder."""
    check = f"import sys, pydantic; sys.exit(sys.version_info[:2] != {sys.version_info[:2]!r})"
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            run = subprocess.run(
                [python, "-c", check],
                env=environment,
                cwd="/",
                user=USER,
                group=USER,
                extra_groups=[],
                check=False,
                capture_output=True,
            )
        except OSError:
            continue
        if run.returncode == 0:
            return python
    raise CannotDrop("no Python of this version, with the project's libraries, can be run by another user")
