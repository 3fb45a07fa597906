"""The command line as scripts use it: exit codes, JSON documents, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.sandboxes.gpus.discovery import discover
from harness.tasks.package import Task

ROOT = Path(__file__).parents[2]
RUN = [sys.executable, "-m", "mlesmith"]


def mlesmith(
    *arguments: object, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run(
        [*RUN, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document on standard output; strict, so that a NaN fails the test."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    read: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    assert read["schema_version"] == 1
    return read


COMMANDS = (
    "demo",
    "generate",
    "funnel",
    "run",
    "rate",
    "agree",
    "report",
    "paper",
    "models",
    "task",
    "board",
)
VERBS = (
    "task list",
    "task prepare",
    "task grade",
    "task verify",
    "board build",
    "board check",
    "models check",
)


@pytest.mark.parametrize("command", (*COMMANDS, *VERBS))
def test_every_command_explains_itself(command: str) -> None:
    done = mlesmith(*command.split(), "--help")
    assert done.returncode == 0
    assert "Usage: " in done.stdout
    if command not in ("task", "board"):
        assert "Example: mlesmith" in done.stdout
        assert "--json" in done.stdout


def test_grade_reports_the_score_and_an_invalid_submission_exits_1(iris: Task, tmp_path: Path) -> None:
    done = mlesmith("task", "grade", iris.root, iris.answer_path, "--json")
    assert done.returncode == 0, done.stderr
    assert document(done) == {
        "schema_version": 1,
        "task": "iris",
        "valid": True,
        "raw_score": 1.0,
        "reason_code": "ok",
        "message": "valid",
    }
    bad = tmp_path / "bad.csv"
    bad.write_text("flower,colour\n001,blue\n")
    done = mlesmith("task", "grade", iris.root, bad, "--json")
    assert done.returncode == 1
    assert document(done)["reason_code"] == "wrong_columns"
    assert document(done)["raw_score"] is None


def test_prepare_is_repeatable(iris: Task) -> None:
    before = iris.answer_path.read_bytes()
    done = mlesmith("task", "prepare", iris.root, "--json")
    assert done.returncode == 0, done.stderr
    assert [task["task"] for task in document(done)["tasks"]] == ["iris"]
    assert iris.answer_path.read_bytes() == before


def test_run_then_board_then_check_then_agree_then_report(iris: Task, tmp_path: Path) -> None:
    job = tmp_path / "job"
    run = ("run", "--tasks", iris.root, "--model", "scripted/constant", "--model", "scripted/linear",
           "--model", "scripted/forest", "--steps", 8, "--out", job, "--json")  # fmt: skip
    done = mlesmith(*run)
    assert done.returncode == 0, done.stderr
    assert document(done)["trials"] == 3
    assert document(done)["kept"] == 0
    assert document(mlesmith(*run))["kept"] == 3, "a repeated run keeps what is done"

    changed = mlesmith(*("9" if item == 8 else item for item in run))
    assert changed.returncode == 2
    assert "budget.steps was 8, now 9" in changed.stderr

    boards = tmp_path / "boards"
    done = mlesmith("board", "build", job, "--out", boards, "--json")
    assert done.returncode == 0, done.stderr
    csv = Path(document(done)["boards"][0]["csv"])
    assert csv.name == "board-reference.csv"
    rated = document(mlesmith("rate", Path(document(done)["boards"][0]["scores"]), "--json"))
    twin = json.loads(csv.with_suffix(".json").read_text(encoding="utf-8"))
    assert [row["elo"] for row in rated["ratings"]] == [row["elo"] for row in twin["rows"]]
    assert document(mlesmith("board", "check", csv, "--json"))["ok"]

    done = mlesmith("report", job, "--html", tmp_path / "site", "--json")
    assert done.returncode == 0, done.stderr
    assert Path(document(done)["index"]).read_text(encoding="utf-8").startswith("<!")


def test_rate_rates(tmp_path: Path) -> None:
    """Two models, three wins to one: the closed form puts them 400 log10(3) = 190.8485 apart around 1000."""
    scores = tmp_path / "scores.csv"
    lines = ["task,model,attempt,score,valid,higher_is_better"]
    for task, (a, b) in enumerate([(2, 1), (2, 1), (2, 1), (1, 2)]):
        lines += [f"t{task},a,1,{a},true,true", f"t{task},b,1,{b},true,true"]
    scores.write_text("\n".join(lines) + "\n")
    done = mlesmith("rate", scores, "--json")
    assert done.returncode == 0, done.stderr
    elo = {row["model"]: row["elo"] for row in document(done)["ratings"]}
    assert elo["a"] - elo["b"] == pytest.approx(190.8485, abs=1e-4)
    assert elo["a"] + elo["b"] == pytest.approx(2000)


def test_agree_reproduces_the_paper(tmp_path: Path) -> None:
    done = mlesmith("paper", "--out", tmp_path / "paper", "--json")
    assert done.returncode == 0, done.stderr
    document(done)


BAD_TASK_TOML = 'schema_version = 1\nid = "bad"\ntitel = "a misspelt key"\n'


def bad_inputs(tmp: Path, iris: Task) -> dict[str, tuple[tuple[object, ...], tuple[str, ...]]]:
    """Name -> the command and the words that its one line must hold."""
    (tmp / "bad").mkdir()
    (tmp / "bad" / "task.toml").write_text(BAD_TASK_TOML)
    (tmp / "job.toml").write_text("tasks = [")
    (tmp / "keys.toml").write_text(
        'schema_version = 1\ntasks = ["iris"]\nmodels = ["scripted/linear"]\nstep = 3\n'
    )
    job = 'schema_version = 1\ntasks = ["iris"]\nmodels = ["scripted/linear"]\n'
    (tmp / "fine.toml").write_text(job)
    (tmp / "models.toml").write_text('tasks = ["iris"]\nmodels = [3, { name = "vllm/x", label = 5 }]\n')
    (tmp / "none.toml").write_text('tasks = []\nmodels = "vllm/x"\n')
    (tmp / "table.toml").write_text(f'{job}[sandbox]\ncolour = "red"\n')
    (tmp / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    for name in ("columns.csv", "others.csv"):
        (tmp / name).write_text("name,points\na,1\n")
    out = ("--out", tmp / "out")
    run = ("run", "--tasks", iris.root, *out)
    model = ("--model", "scripted/linear")
    return {
        "missing task": (("task", "grade", tmp / "none", iris.answer_path), ("none", "no such")),
        "bad TOML": (("run", tmp / "job.toml", *out), ("job.toml", "TOML")),
        "unknown key": (("run", tmp / "keys.toml", *out), ("keys.toml", "step", "unknown key")),
        "bad task.toml": (("task", "list", tmp / "bad"), ("task.toml", "titel", "metric: required")),
        "unknown provider": ((*run, "--model", "antrhopic/x"), ("antrhopic/x", "openrouter/antrhopic/x")),
        "unknown policy": ((*run, "--model", "scripted/forrest"), ("forest",)),
        "missing key": ((*run, "--model", "openai/gpt-4o-mini"), ("OPENAI_API_KEY",)),
        "no model": (("run", "--tasks", iris.root), ("--model",)),
        "unknown feedback": (
            (*run, *model, "--feedback", "maybe"), ("feedback", "'test', 'split' or 'none'"),
        ),
        "bad shard": ((*run, *model, "--shard", "3/2"), ("--shard 3/2",)),
        "half a shard": ((*run, *model, "--shard", "3"), ("--shard 3: write I/N",)),
        "a task's file for a job's": ((*run, iris.root / "task.toml"), ("task.toml is taken for a job",)),
        "models that are none": (
            ("run", tmp / "models.toml", *out),
            ("models.toml: models.0: write a table; models.1.label: write a text in quotes",),
        ),
        "nothing in a job": (
            ("run", tmp / "none.toml", *out), ("none.toml: tasks: it is empty; models: write a list",),
        ),
        "a file for a folder": (
            (*run, *model, "--out", tmp / "keys.toml"), ("keys.toml: a file is where a folder is to be",),
        ),
        "a file above a folder": (
            (*run, *model, "--out", tmp / "keys.toml" / "x"), ("keys.toml", "a file is where a folder is"),
        ),
        "unknown sandbox": ((*run, *model, "--sandbox", "jail"), ("jail", "bubblewrap")),
        "process": ((*run, *model, "--sandbox", "process"), ("isolates nothing", "--trust")),
        "process for grading": (
            ("task", "grade", iris.root, iris.answer_path, "--sandbox", "process"), ("--trust",),
        ),
        "process for preparing": (("task", "prepare", iris.root, "--sandbox", "process"), ("--trust",)),
        "process for verifying": (("task", "verify", iris.root, "--sandbox", "process"), ("--trust",)),
        "process for generating": (
            ("generate", "diabetes", *out, "--sandbox", "process"), ("--trust",),
        ),
        "image without docker": ((*run, *model, "--image", "x"), ("image is for docker",)),
        "no memory": ((*run, *model, "--memory-gb", "0"), ("sandbox.memory_gb", "greater than 0")),
        "bad host": ((*run, *model, "--allow-host", "http://a.b/"), ("sandbox.allow_hosts", "http://a.b/")),
        "both kinds of network": (
            (*run, *model, "--network", "--allow-host", "a.b"), ("network and sandbox.allow_hosts",),
        ),
        "odd gpu": ((*run, *model, "--gpus", "0,first"), ("--gpus", "'first'")),
        "gpu twice": ((*run, *model, "--gpus", "0,0"), ("--gpus", "named twice")),
        "no gpus per trial": ((*run, *model, "--gpus-per-trial", "2"), ("gpus and gpus_per_trial",)),
        "too many gpus per trial": (
            (*run, *model, "--gpus", "0", "--gpus-per-trial", "3"), ("--gpus-per-trial 3", "there are 1"),
        ),
        "option beside a file": (
            ("run", tmp / "fine.toml", "--memory-gb", "9", *out), ("--memory-gb", "fine.toml"),
        ),
        "key of a table": (("run", tmp / "table.toml", *out), ("table.toml", "sandbox.colour: unknown key")),
        "missing scores": (("rate", tmp / "none.csv"), ("none.csv",)),
        "unreadable scores": (("rate", tmp / "binary.csv"), ("binary.csv",)),
        "wrong columns": (("rate", tmp / "columns.csv"), ("columns.csv", "task")),
        "one board": (("agree", tmp / "columns.csv"), ("two",)),
        "board without elo": (("agree", tmp / "columns.csv", tmp / "others.csv"), ("columns.csv", "model")),
        "a board twice": (("agree", tmp / "columns.csv", tmp / "columns.csv"), ("given twice",)),
        "not a job": (("board", "build", tmp, "--out", tmp / "boards"), ("not a job folder",)),
        "report of no job": (("report", tmp, "--html", tmp / "site"), ("not a job folder",)),
        "unknown dataset": (("generate", "diabetis", "--out", tmp / "tasks"), ("diabetis", "diabetes")),
        "no dataset": (("generate", "--out", tmp / "tasks"), ("--catalogue",)),
    }  # fmt: skip


def test_bad_input_is_one_clear_line_and_exit_code_2(iris: Task, tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": ""}
    for name, (command, words) in bad_inputs(tmp_path, iris).items():
        done = mlesmith(*command, env=environment)
        assert done.returncode == 2, f"{name}: exit {done.returncode}: {done.stderr}"
        lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, f"{name}: {done.stderr}"
        assert "Traceback" not in done.stderr, name
        for word in words:
            assert word in lines[0], f"{name}: {word!r} not in {lines[0]!r}"
        assert not (tmp_path / "out" / "trials").exists(), f"{name}: something was run"


def test_no_bubblewrap_is_said_with_the_remedy(iris: Task, tmp_path: Path) -> None:
    """With a PATH that has no bwrap: refused when it is asked for, and replaced loudly for scripted code."""
    empty = {"PATH": str(tmp_path)}
    done = mlesmith("task", "grade", iris.root, iris.answer_path, "--sandbox", "bubblewrap", env=empty)
    assert done.returncode == 2
    assert "install the package bubblewrap" in done.stderr
    done = mlesmith(
        "task", "grade", iris.root, iris.answer_path, "--sandbox", "process", "--trust", "--json", env=empty
    )
    assert done.returncode == 0
    assert document(done)["raw_score"] == 1.0
    assert "isolates nothing" in done.stderr


@pytest.mark.skipif(bool(discover().gpus), reason="the pretend GPUs are not among those of this machine")
def test_a_dry_run_shows_the_sandbox_and_a_run_may_change_what_it_uses(iris: Task, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        'schema_version = 1\ntasks = ["iris"]\nmodels = ["scripted/linear"]\n'
        '[sandbox]\nkind = "process"\nmemory_gb = 3\ngpus = [0]\n'
    )
    command = ("run", job, "--out", tmp_path / "out", "--dry-run", "--trust", "--gpus", "GPU-a,GPU-b")
    done = mlesmith(*command, "--json")
    assert done.returncode == 0, done.stderr
    sandbox = document(done)["sandbox"]
    assert (sandbox["kind"], sandbox["gpus"], sandbox["workers"]) == ("process", ["GPU-a", "GPU-b"], 2)
    assert (sandbox["limits"]["memory_gb"], sandbox["limits"]["disk_gb"]) == (3.0, 4.0)
    assert sandbox["allow_hosts"] == {"reference/iris": []}
    assert mlesmith(*command).stdout.splitlines() == [
        "1 trial, 0 done; 1 would run",
        "model scripted/linear: scripted, calls no model",
        "sandbox process; trials at a time: 2",
        "limits memory 3 GiB, disk 4 GiB, processes 256, cpus 1",
        "gpus GPU-a, GPU-b; for each trial: 1",
        "network none",
    ]
    assert not (tmp_path / "out").exists()
    done = mlesmith(*command[:-1], "all")
    assert done.returncode == 2
    assert "error: --gpus all: found none: NVIDIA's driver does not answer" in done.stderr


def test_board_check_prints_names_with_markup_as_they_are(tmp_path: Path) -> None:
    from leaderboards.publish import COLUMNS

    tail = "3,3,0.5,1.0,0.5,,0.0,100,0.5,smith,test,steps=15,abc,2026-01-02"
    board = tmp_path / "[red]board.csv"
    board.write_text(f"{','.join(COLUMNS)}\n1,1,2,[/],high,900,1100,{tail}\n", encoding="utf-8")
    done = mlesmith("board", "check", board)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "[red]board.csv: not ok" in done.stdout.replace("\n", "")
