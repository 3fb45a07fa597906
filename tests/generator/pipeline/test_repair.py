"""Defects go back to the agent that can mend them; what cannot be mended is kept with its reasons.

The agents are the rules with scripted faults; sandbox, package and verifier are the real ones.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Protocol

import pytest

from generator.pipeline.generation import Generation, Options, generate
from harness.sandboxes.base import SandboxProvider
from tests.generator.pipeline.backends import Scripted, rows

#: One task of 442 rows, of a metric of which lower is better.
DATASET, TASK = "diabetes", "diabetes-progression"
QUICK = Options(deep=False, max_tasks=1)


class Run(Protocol):
    def __call__(self, backend: Scripted, options: Options = QUICK) -> Generation: ...


@pytest.fixture
def run(tmp_path: Path, sandbox: SandboxProvider) -> Run:
    def made(backend: Scripted, options: Options = QUICK) -> Generation:
        return generate([DATASET], tmp_path, provider=sandbox, backend=backend, options=options)

    return made


def attempts(out: Path) -> list[tuple[str, int, str, str]]:
    return [
        (row["agent"], row["number"], row["outcome"], row["mending"]) for row in rows(out / "attempts.csv")
    ]


def test_a_leak_goes_back_to_the_designer(tmp_path: Path, run: Run) -> None:
    backend = Scripted(designs=["leaks", "good"], forms=["good", "good"])
    generation = run(backend)
    assert [path.name for path in generation.results[0].verified] == [TASK]
    design, refactor, again, _ = backend.mended
    assert design == refactor == [] and "target_copied" in again
    told = attempts(tmp_path)
    assert [each[:3] for each in told] == [
        ("brainstormer", 1, "done"),
        ("designer", 1, "done"), ("refactor", 1, "done"), ("verifier", 1, "rejected"),
        ("designer", 2, "done"), ("refactor", 2, "done"), ("verifier", 2, "verified"),
    ]  # fmt: skip
    assert "target_copied" in told[4][3]


def test_a_wrong_form_goes_back_to_the_refactor_alone(run: Run) -> None:
    backend = Scripted(designs=["good"], forms=["spoils", "good"])
    assert run(backend).results[0].verified
    assert [bool(codes) for codes in backend.mended] == [False, False, True]
    assert "description_names" in backend.mended[-1]


def test_a_draft_is_checked_before_it_is_refactored(tmp_path: Path, run: Run) -> None:
    backend = Scripted(designs=["unfinished", "good"])
    assert run(backend).results[0].verified
    assert backend.mended == [[], ["missing_file"], []]
    assert [each[0] for each in attempts(tmp_path)] == [
        "brainstormer", "designer", "designer", "refactor", "verifier",
    ]  # fmt: skip


def test_after_three_attempts_the_last_package_is_kept_with_its_findings(tmp_path: Path, run: Run) -> None:
    backend = Scripted(designs=["leaks"] * 3, forms=["good"] * 3)
    result = run(backend).results[0]
    assert not result.verified and backend.designs == []
    (rejected,) = [each for each in result.rejected if each.task == TASK]
    assert rejected.path == tmp_path / ".rejected" / TASK and rejected.stage == "reviewed"
    found = json.loads((rejected.path / "findings.json").read_text())["findings"]
    assert "target_copied" in {each["code"] for each in found}
    assert (rejected.path / "public" / "test.csv").is_file()


def test_a_designer_that_runs_out_of_steps_tries_again_and_then_gives_up(tmp_path: Path, run: Run) -> None:
    backend = Scripted(designs=["gives up"] * 3)
    result = run(backend).results[0]
    (rejected,) = [each for each in result.rejected if each.task == TASK]
    assert rejected.stage == "designed" and "5 steps" in rejected.reason and rejected.path is None
    table = rows(tmp_path / "attempts.csv")
    assert [row["steps"] for row in table if row["agent"] == "designer"] == [5, 5, 5]


def test_without_repair_the_first_finding_ends_it(run: Run) -> None:
    backend = Scripted(designs=["leaks", "good"], forms=["good", "good"])
    options = Options(deep=False, max_tasks=1, without=frozenset({"repair"}))
    assert not run(backend, options).results[0].verified
    assert backend.designs == ["good"]


def test_an_endpoint_that_fails_is_never_held_against_the_task(tmp_path: Path, run: Run) -> None:
    result = run(Scripted(designs=["offline"])).results[0]
    assert not result.verified and "503" in (result.error or "")
    assert [row["code"] for row in rows(tmp_path / "funnel.csv") if row["task"] == TASK] == ["machine"]
    backend = Scripted(designs=["good"])
    again = run(backend)
    assert again.results[0].verified and again.results[0].error is None
    assert ("designer", 1, "machine", "") in attempts(tmp_path)


def test_a_task_that_was_made_unverified_is_verified_later(run: Run) -> None:
    first = run(Scripted(), Options(verify=False, max_tasks=1))
    assert first.funnel.counts()["refactored"] == 1 and first.funnel.counts()["verified"] == 0
    backend = Scripted(designs=[], forms=[])  # nothing is made again
    assert run(backend).funnel.counts()["verified"] == 1


def test_a_package_that_was_removed_is_made_again(tmp_path: Path, run: Run) -> None:
    (made,) = run(Scripted()).results[0].verified
    shutil.rmtree(made)
    assert run(Scripted()).results[0].verified == (made,) and made.is_dir()
