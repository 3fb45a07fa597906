"""``mlesmith verifier`` as users and scripts meet it: the list of codes, and bad input of the self-test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from generator.defects.registry import DEFECTS


def verifier(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mlesmith", "verifier", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_codes_as_json_and_as_a_page(tmp_path: Path) -> None:
    done = verifier("codes", "--json", "--markdown", tmp_path / "codes.md")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    assert [each["code"] for each in document["defects"]] == list(DEFECTS)
    assert set(document["defects"][0]) == {"code", "gate", "severity", "meaning", "example"}
    assert "| `group_leak` | error |" in (tmp_path / "codes.md").read_text()


def test_a_class_or_task_that_does_not_exist_is_wrong_usage() -> None:
    unknown = verifier("selftest", "--class", 99)
    assert unknown.returncode == 2
    assert unknown.stderr == "error: --class 99: give a number from 1 to 80, or a code of a defect\n"
    missing = verifier("selftest", "--class", 37, "--task", "nowhere")
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: --task nowhere: no such clean task; there are credit-papers,")
