"""`mlesmith trial replay` as people use it."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from harness.errors import InputError
from harness.tasks.package import Task
from mlesmith.main import app
from tests.harness.models.chat_server import call, completion
from tests.harness.recorded import SUBMIT, record


def replay(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["trial", "replay", *map(str, arguments)])


def test_the_same_is_said_with_exit_code_0_and_another_with_1(iris: Task, tmp_path: Path) -> None:
    asked = completion("", calls=[call("request_info", {"info_type": "weather"})])
    trial = record(iris, tmp_path / "job", asked, SUBMIT)
    done = replay(trial.root, "--out", tmp_path / "same")
    assert done.exit_code == 0, done.output
    assert "the same: 2 of 2 recorded exchanges played; the new trial is in" in done.stdout
    head, first, second = trial.exchanges.read_text().splitlines()
    trial.exchanges.write_text("\n".join([head, first.replace("weather", "seasons"), second, ""]))
    done = replay(trial.root, "--out", tmp_path / "other", "--strict", "--json")
    assert done.exit_code == 1, done.output
    document = json.loads(done.stdout)
    assert (document["same"], document["exchanges"]) == (False, {"recorded": 2, "played": 1})
    assert document["requests"][0]["exchange"] == 2
    assert document["differences"]


def test_what_is_no_trial_is_an_input_error(tmp_path: Path) -> None:
    done = replay(tmp_path, "--out", tmp_path / "out")
    assert isinstance(done.exception, InputError)
    assert "not a trial folder" in str(done.exception)
