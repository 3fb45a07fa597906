"""Performs attacks in a sandbox: here, or in the process of an ordinary user (see :mod:`ordinary`)."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import SandboxLost, SandboxUnavailable
from harness.sandboxes.base import (
    MIB,
    FileRefused,
    Limits,
    Mount,
    RunResult,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from harness.sandboxes.warm import parent
from tests.harness.sandboxes.attacks import (
    exhausting,
    handing,
    hoarding,
    network,
    parenting,
    persisting,
    printing,
    privileges,
    reading,
    surviving,
)
from tests.harness.sandboxes.attacks.catalogue import Attack

ATTACKS: tuple[Attack, ...] = (
    *reading.ATTACKS,
    *network.ATTACKS,
    *exhausting.ATTACKS,
    *hoarding.ATTACKS,
    *parenting.ATTACKS,
    *surviving.ATTACKS,
    *persisting.ATTACKS,
    *privileges.ATTACKS,
    *handing.ATTACKS,
    *printing.ATTACKS,
)
LIMITS = Limits(
    seconds=30.0,
    memory_bytes=384 * MIB,
    disk_bytes=64 * MIB,
    files=5_000,
    tmp_bytes=64 * MIB,
    shm_bytes=64 * MIB,
    processes=40,
    output_bytes=20_000,
)
MAX_BYTES = 16 * MIB
WORK, PUBLIC = "/mlesmith/work", "/mlesmith/public"
_START = "import os, sys\nfrom attempts import *\n"
_NAMESPACE = "import os; print(os.readlink('/proc/self/ns/pid'))"


@dataclass(frozen=True)
class Seen:
    """What an attack came to.

    Attributes:
        end: as :attr:`Attack.ends`.
        output: what it printed.
        seconds: wall time, on this side.
        then: what the honest program printed that ran next; empty when the sandbox was lost.
        fetched: the refusal of the file that was asked for, or ``content`` and its beginning.
        neighbour: what a program printed in another sandbox.
    """

    end: str
    output: str
    seconds: float
    then: str
    fetched: str
    neighbour: str


class Stage:
    """A sandbox under attack, and a neighbour that must not notice.

    The sandbox is kept from one attack to the next, as it is from one execution to the next; a lost one is
    replaced.

    Args:
        provider: starts both.
        facts: what is planted on the host.
        public: the folder that is shown.
        canary: the neighbour's secret.
    """

    def __init__(
        self, provider: SandboxProvider, facts: Mapping[str, Any], public: Path, canary: str
    ) -> None:
        self._provider = provider
        self._facts = json.dumps(facts)
        self._spec = SandboxSpec((Mount(public, PUBLIC),), WORK, LIMITS)
        self._sandbox: Sandbox | None = None
        self._neighbour = provider.start(
            SandboxSpec((), WORK, replace(LIMITS, memory_bytes=128 * MIB), {"API_KEY": canary})
        )
        self._neighbour.put(canary.encode(), f"{WORK}/neighbour")

    def ready(self) -> str:
        """Start the sandbox where none runs, and tell its PID namespace."""
        if self._sandbox is None:
            self._sandbox = self._provider.start(self._spec)
        return self._run(_NAMESPACE).output.strip()

    def perform(self, attack: Attack) -> Seen:
        """Give one attack to the sandbox."""
        self.ready()
        assert self._sandbox is not None
        self._sandbox.put(Path(__file__).with_name("attempts.py"), f"{WORK}/attempts.py")
        try:
            run = self._run(_START + attack.code, attack.seconds)
        except SandboxLost as error:
            self._sandbox.stop()
            self._sandbox = None
            # The next one starts only when it is asked for: it may get the number of this one's namespace.
            return Seen("lost", str(error), 0.0, "", "", self._ask_neighbour())
        fetched = self._fetch(attack.fetch) if attack.fetch else ""
        if run.over:
            # What went over its limit is still there, and would end the next run as well.
            self._sandbox.clear()
        then = self._run(attack.then).output
        self._sandbox.clear()
        return Seen(_end(run), run.output, run.seconds, then, fetched, self._ask_neighbour())

    def stop(self) -> None:
        """End both sandboxes."""
        self._neighbour.stop()
        if self._sandbox is not None:
            self._sandbox.stop()

    def _run(self, code: str, seconds: float = 20.0) -> RunResult:
        assert self._sandbox is not None
        program = f"{WORK}/main.py"
        self._sandbox.put(code.encode(), program)
        return self._sandbox.run_python(program, [self._facts], limits=replace(LIMITS, seconds=seconds))

    def _fetch(self, name: str) -> str:
        assert self._sandbox is not None
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "fetched"
            try:
                self._sandbox.get(f"{WORK}/{name}", target, max_bytes=MAX_BYTES)
            except FileRefused as error:
                return str(error.reason)
            return f"content {target.read_bytes()[:100]!r}"

    def _ask_neighbour(self) -> str:
        self._neighbour.put(b"print(len(open('neighbour').read()))", f"{WORK}/main.py")
        return self._neighbour.run_python(f"{WORK}/main.py").output


def _end(run: RunResult) -> str:
    if run.timed_out:
        return "timeout"
    if run.over is not None:
        return f"over {run.over}"
    assert run.exit_code is not None
    return f"killed {-run.exit_code}" if run.exit_code < 0 else f"exit {run.exit_code}"


def provider_named(name: str, image: str | None = None) -> SandboxProvider:
    """A checked provider. Raises ``SandboxUnavailable`` when it cannot run here."""
    provider: SandboxProvider
    if name == "bubblewrap":
        from harness.sandboxes.bubblewrap import Bubblewrap

        provider = Bubblewrap()
    else:
        from harness.sandboxes.docker import Docker

        provider = Docker(image=image)
    provider.check()
    return provider


def main() -> None:
    """Serve requests, one JSON document a line: an attack's number, or -1 for :meth:`Stage.ready`."""
    config = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.WARNING)
    parent.GRACE_SECONDS = config["grace"]
    try:
        provider = provider_named(config["provider"], config["image"])
    except SandboxUnavailable as error:
        print(json.dumps({"unavailable": str(error)}), flush=True)
        return
    stage = Stage(provider, config["facts"], Path(config["public"]), config["canary"])
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        number = int(line)
        answer = stage.ready() if number < 0 else asdict(stage.perform(ATTACKS[number]))
        print(json.dumps(answer), flush=True)
    stage.stop()


if __name__ == "__main__":
    main()
