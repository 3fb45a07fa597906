"""What the harness itself costs per step of an agent, beside the react agent of Inspect AI.

    python benchmarks/agent.py [--peers PYTHON] [--steps 10,30] [--rounds N] [--json OUT]

Both run one trial of as many steps: a scripted model asks for the same tool with a program of 2 kB, a tool
that does nothing answers with 4 kB, the conversation grows, everything is logged to disk, and a last call
submits. Ours is a whole trial (loop, retrying calls, budget, environment, step folders, trajectory, record)
in a sandbox that runs nothing; Inspect's is an ``eval`` of one sample with ``react``, ``mockllm`` and its
log, without a display. Nothing is graded. Time inside the model and inside the sandbox or tool is taken off.

Time per step is the slope between a short and a long trial, so that what a trial costs once is not in it. The
two take turns, each in a process of its own that has warmed up. `benchmarks/peers.txt` says how to get
Inspect AI; without it only ours is timed.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CODE_BYTES, OUTPUT_BYTES = 2_000, 4_000
OURS, INSPECT = "MLE-Smith", "Inspect AI"


@dataclass
class Aside:
    """Adds up the time that is not the harness's."""

    seconds: float = 0.0
    since: float = field(default=0.0, init=False)

    def __enter__(self) -> None:
        self.since = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self.since


def texts(steps: int) -> list[tuple[str, str]]:
    """A program and what it prints for every step, none like another."""
    rng = random.Random(steps)
    return [(_lines(rng, CODE_BYTES), _lines(rng, OUTPUT_BYTES)) for _ in range(steps)]


def _lines(rng: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += f"column_{rng.randrange(10_000)} = {rng.random()}\n"
    return text[:size]


def ours(folder: Path) -> Callable[[int, Path], float]:
    """Trials of ours: a function that runs one of so many steps, and returns the harness's own seconds."""
    from harness.agents.react import AgentConfig
    from harness.budget import Budget
    from harness.models.base import Finish, Message, Reply, Settings, Tool, ToolCall, Usage
    from harness.records import Feedback, TrialPaths
    from harness.sandboxes.base import Limits, RunResult, SandboxSpec
    from harness.sandboxes.process import Process
    from harness.tasks.grading import Grader
    from harness.tasks.package import load_task
    from harness.tasks.preparing import prepare_task
    from harness.tasksets.catalogue import reference_task
    from harness.trial import run_trial
    from harness.trialspec import TrialSpec

    class Listed:
        """A model that gives its replies in order."""

        name = "scripted/listed"

        def __init__(self, replies: list[Reply], aside: Aside) -> None:
            self.replies, self.aside = iter(replies), aside

        def complete(self, messages: list[Message], tools: list[Tool], settings: Settings) -> Reply:
            with self.aside:
                return next(self.replies)

    class Nowhere(Process):
        """A sandbox and its provider: keeps nothing, runs nothing, and prints what it is told to."""

        connections = ()

        def __init__(self, outputs: list[str], aside: Aside) -> None:
            super().__init__()
            self.outputs, self.aside = iter(outputs), aside

        def start(self, spec: SandboxSpec) -> Any:
            return self

        def inside(self, target: str) -> str:
            return target

        def run_python(self, script: str, arguments: Any = (), *, limits: Limits | None = None) -> RunResult:
            with self.aside:
                return RunResult(0, next(self.outputs), OUTPUT_BYTES, 0.0)

        def put(self, source: bytes | Path, path: str) -> None: ...

        def remove(self, path: str) -> None: ...

        def stop(self) -> None: ...

    root = Path(shutil.copytree(reference_task("fuel-economy"), folder / "fuel-economy"))
    prepare_task(load_task(root), Process())
    task = load_task(root)
    grader = Grader(task, Process())

    def run(steps: int, out: Path) -> float:
        aside, pairs = Aside(), texts(steps)
        replies = [
            Reply(
                "I try this.",
                tool_calls=(ToolCall(f"call_{i}", "validate_code", json.dumps({"code": code})),),
                usage=Usage(input=100 * i, output=100),
                finish=Finish.TOOL_CALLS,
            )
            for i, (code, _) in enumerate(pairs, start=1)
        ]
        replies.append(Reply("", tool_calls=(ToolCall("call_0", "submit", "{}"),), usage=Usage(input=1)))
        spec = TrialSpec(
            task, "hash", 1, Budget(steps=steps + 1), AgentConfig.model_validate({}), Feedback.TEST
        )
        sandbox = Nowhere([output for _, output in pairs], aside)
        started = time.perf_counter()
        result = run_trial(spec, Listed(replies, aside), grader, sandbox, TrialPaths(out / "trial"))
        wall = time.perf_counter() - started
        assert (result.status, len(result.steps)) == ("submitted", steps + 1), result
        return wall - aside.seconds

    return run


def inspect_ai(folder: Path) -> Callable[[int, Path], float]:
    """An evaluation by Inspect AI; as :func:`ours`."""
    from inspect_ai import Task, eval
    from inspect_ai.agent import react
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.tool import Tool, tool

    def run(steps: int, out: Path) -> float:
        aside, pairs = Aside(), texts(steps)
        printed = iter([output for _, output in pairs])

        @tool
        def validate_code() -> Tool:
            async def execute(code: str) -> str:
                """Run a Python program without grading what it writes.

                Args:
                    code: A complete Python program.
                """
                with aside:
                    return next(printed)

            return execute

        outputs = [
            ModelOutput.for_tool_call(
                "mockllm", "validate_code", {"code": code}, tool_call_id=f"call_{i}", content="I try this."
            )
            for i, (code, _) in enumerate(pairs, start=1)
        ]
        outputs.append(ModelOutput.for_tool_call("mockllm", "submit", {"answer": "done"}))
        for i, output in enumerate(outputs):
            # Told, as an endpoint tells it; else the mock model would count tokens.
            output.usage = ModelUsage(input_tokens=100 * i, output_tokens=100, total_tokens=100 * i + 100)
        model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
        generate = model.api.generate

        async def timed(*args: Any, **kwargs: Any) -> Any:
            with aside:
                return await generate(*args, **kwargs)

        model.api.generate = timed
        task = Task(dataset=[Sample(input="Begin.")], solver=react(tools=[validate_code()]))
        started = time.perf_counter()
        (log,) = eval(task, model=model, log_dir=str(out), display="none")
        wall = time.perf_counter() - started
        assert log.status == "success" and log.samples, log.error
        assert sum(message.role == "assistant" for message in log.samples[0].messages) == steps + 1
        assert next(printed, None) is None
        return wall - aside.seconds

    return run


WAYS = {OURS: ours, INSPECT: inspect_ai}


def serve(way: str) -> None:
    """Answer every number of steps on standard input with the seconds of a trial."""
    logging.getLogger("harness").setLevel(logging.ERROR)  # that preparing a task of ours is not isolated
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = WAYS[way](folder)
        for number, line in enumerate(sys.stdin):
            out = folder / str(number)
            out.mkdir()
            print(run(int(line), out), flush=True)


class Worker:
    """A process that runs one way."""

    def __init__(self, way: str, python: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--serve", way],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip

    def run(self, steps: int) -> float:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"a worker ended with exit code {self._process.wait()}")
        return float(answer)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Times agents' loops; see the text at the top of the file.")
    parser.add_argument("--peers", help="a Python that has Inspect AI")
    parser.add_argument("--steps", default="10,30", help="steps of the short and of the long trial")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write all times, in seconds, to this file")
    parser.add_argument("--serve", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    short, long = (int(number) for number in options.steps.split(","))
    pythons = {OURS: sys.executable, INSPECT: options.peers}
    workers = {way: Worker(way, python) for way, python in pythons.items() if python}
    seconds: dict[str, dict[int, list[float]]] = {way: {short: [], long: []} for way in workers}
    for turn in range(options.rounds + 1):
        for way, worker in workers.items():
            for steps in (short, long):
                spent = worker.run(steps)
                if turn:  # the first one warms up
                    seconds[way][steps].append(spent)
    for worker in workers.values():
        worker.close()
    report(seconds, short, long)
    if options.json is not None:
        options.json.write_text(json.dumps(seconds, indent=2) + "\n")


def report(seconds: dict[str, dict[int, list[float]]], short: int, long: int) -> None:
    """Print what a step costs, from the medians of the turns and from their least, and whole trials."""

    def per_step(way: str, of: Callable[[list[float]], float]) -> float:
        return (of(seconds[way][long]) - of(seconds[way][short])) / (long - short)

    titles = ("milliseconds", "per step", "least", f"{short} steps", f"{long} steps", "of ours")
    print("{:12} {:>9} {:>8} {:>9} {:>9} {:>8}".format(*titles))
    base = per_step(OURS, statistics.median)
    for way, spent in seconds.items():
        slope = per_step(way, statistics.median)
        cells = [slope, per_step(way, min), *(statistics.median(spent[n]) for n in (short, long))]
        numbers = "{:9.2f} {:8.2f} {:9.1f} {:9.1f}".format(*(cell * 1000 for cell in cells))
        print(f"{way:12} {numbers} {slope / base:8.1f}")


if __name__ == "__main__":
    main()
