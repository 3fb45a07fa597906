"""How long one execution of agent code takes, beside starting Python anew as MLE-Dojo does.

    python benchmarks/executions.py

Every way runs the same small program, which imports pandas and scikit-learn and fits a model. Prints the
median of several runs, taken in turn so that a drift of the machine's speed meets all of them, and the ratio
to the plain subprocess.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.sandboxes.base import ROOT, Mount, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.process import Process

ROUNDS = 7
PROGRAM = """
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

table = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 5)))
print(Ridge().fit(table[[0, 1]], table[2]).coef_)
"""
PRELOAD = ("numpy", "pandas", "sklearn.ensemble", "sklearn.linear_model")
WORK = f"{ROOT}/work"


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        spec = SandboxSpec((Mount(folder, WORK, writable=True),), WORK, preload=PRELOAD)

        def plain() -> None:
            subprocess.run([sys.executable, folder / "program.py"], check=True, capture_output=True)

        seconds: dict[str, list[float]] = {"plain subprocess": []}
        with Bubblewrap().open(spec) as bubblewrap, Process().open(spec) as process:
            sandboxes = {"bubblewrap": bubblewrap, "process": process}
            script = {key: sandbox.inside(f"{WORK}/program.py") for key, sandbox in sandboxes.items()}
            for key, sandbox in sandboxes.items():
                seconds[f"{key}, first run"] = [timed(partial(sandbox.run_python, script[key]))]
                seconds[f"{key}, warm run"] = []
            for _ in range(ROUNDS):
                seconds["plain subprocess"].append(timed(plain))
                for key, sandbox in sandboxes.items():
                    run = partial(sandbox.run_python, script[key])
                    seconds[f"{key}, warm run"].append(timed(run))
    base = statistics.median(seconds["plain subprocess"])
    print(f"{'way':24} {'median ms':>10} {'of plain':>9}")
    for way, values in seconds.items():
        median = statistics.median(values)
        print(f"{way:24} {median * 1000:10.1f} {median / base:9.3f}")


if __name__ == "__main__":
    main()
