"""What a sandbox costs: its start, and one execution of agent code, beside what others do.

    python benchmarks/sandbox.py [--rounds N] [--json OUT]

Every execution is of one small program, which imports pandas and scikit-learn and fits a model. The ways:

- *plain subprocess*: ``python3 program.py``, as MLE-Dojo runs agent code.
- *docker run*: a new container for it, without any of our limits.
- each sandbox of ours, *cold* (a new interpreter) and *warm* (a fork of a process that has imported the
  modules).

*Start* is from nothing to the end of a command that does nothing: without preloaded modules, and with them.
The ways take turns, so that a drift of the machine's speed meets all of them. Prints medians and their ratio
to the plain subprocess. Docker's rows need an engine and the image of ``mlesmith sandbox build --host``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import ROOT, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.docker import Docker
from harness.sandboxes.process import Process

PROGRAM = b"""
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

table = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 5)))
print(Ridge().fit(table[[0, 1]], table[2]).coef_)
"""
WORK = f"{ROOT}/work"
WARM = SandboxSpec((), WORK, preload=("numpy", "pandas", "sklearn.ensemble", "sklearn.linear_model"))
COLD = replace(WARM, warm=False)
PLAIN = "plain subprocess"


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def providers() -> list[SandboxProvider]:
    """Every kind that can run here; says why one cannot."""
    found: list[SandboxProvider] = []
    for make in (Bubblewrap, Docker, Process):
        try:
            provider: SandboxProvider = make()
            provider.check()
            provider.start(COLD).stop()
        except SandboxUnavailable as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        found.append(provider)
    return found


def start(provider: SandboxProvider, spec: SandboxSpec) -> None:
    with provider.start(spec) as sandbox:
        assert sandbox.run(["true"]).ok


def plain(program: Path) -> None:
    subprocess.run([sys.executable, program], check=True, capture_output=True)


def docker_run(image: str, folder: Path) -> None:
    command = ["docker", "run", "--rm", "--network", "none", "-v", f"{folder}:/program:ro", image]
    subprocess.run([*command, "python3", "/program/program.py"], check=True, capture_output=True)


def measure(rounds: int, folder: Path) -> dict[str, list[float]]:
    """Seconds of every way, one for each round."""
    program = folder / "program.py"
    program.write_bytes(PROGRAM)
    ways: dict[str, Callable[[], object]] = {PLAIN: partial(plain, program)}
    with ExitStack() as stack:
        for provider in providers():
            name = provider.name
            if isinstance(provider, Docker):
                image = str(provider.describe()["image"])
                os.environ.setdefault("DOCKER_HOST", provider.engine.url)
                ways["docker run"] = partial(docker_run, image, folder)
            ways[f"{name}: start"] = partial(start, provider, COLD)
            ways[f"{name}: start, modules preloaded"] = partial(start, provider, WARM)
            for kind, spec in (("cold", COLD), ("warm", WARM)):
                sandbox = stack.enter_context(provider.start(spec))
                script = sandbox.inside(f"{WORK}/program.py")
                sandbox.put(PROGRAM, script)
                run = partial(sandbox.run_python, script)
                assert run().ok
                ways[f"{name}: {kind} execution"] = run
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, work in ways.items():
                seconds[way].append(timed(work))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Times sandboxes; see the text at the top of the file.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write all times, in seconds, to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        seconds = measure(options.rounds, folder)
    base = statistics.median(seconds[PLAIN])
    print(f"{'way':38} {'median ms':>10} {'least ms':>10} {'of plain':>9}")
    for way, values in seconds.items():
        median = statistics.median(values)
        print(f"{way:38} {median * 1000:10.1f} {min(values) * 1000:10.1f} {median / base:9.3f}")
    if options.json is not None:
        options.json.write_text(json.dumps(seconds, indent=2) + "\n")


if __name__ == "__main__":
    main()
