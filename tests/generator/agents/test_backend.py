"""The three agents over real HTTP: a competent model, a sloppy one, and what comes of each."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from generator.defects.registry import DEFECTS
from generator.pipeline.generation import Generation, Options, generate
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import file_hash, load_task
from tests.generator.agents.conftest import KEY, Backed
from tests.generator.agents.endpoint import Move, Player, TextPlayer, in_turn, playing
from tests.generator.agents.package import (
    DESCRIPTION,
    METRIC,
    PREPARE,
    brainstorm,
    design,
    idea,
    refactor,
)

SHALLOW = Options(deep=False, max_tasks=1)
#: Where the verifier has nothing to say: drafts are checked before it.
UNVERIFIED = Options(verify=False, max_tasks=1)
DRAFTS = Options(verify=False, max_tasks=1, without=frozenset({"refactor"}))
#: Each makes whole tasks, in a dozen sandboxes and more.
pytestmark = pytest.mark.slow


def make(
    player: Player,
    backed: Backed,
    out: Path,
    sandbox: SandboxProvider,
    options: Options = SHALLOW,
    **more: Any,
) -> Generation:
    return generate(["diabetes"], out, provider=sandbox, backend=backed(player, **more), options=options)


def competent(**scripts: Any) -> dict[str, Any]:
    return {"brainstormer": brainstorm(idea()), "designer": design(), "refactor": refactor()} | scripts


def test_a_competent_model_makes_a_verified_task(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed
) -> None:
    with playing(Player(**competent())) as player:
        generation = make(player, backed, tmp_path, sandbox)
        (result,) = generation.results
        assert result.verified == (tmp_path / "diabetes-course",), result.rejected
        before = len(player.turns)
        again = make(player, backed, tmp_path, sandbox)
        assert again.results[0].verified == result.verified and len(player.turns) == before
    task = load_task(result.verified[0])
    assert task.spec.id_column == "patient" and task.spec.metric.name == "mae"
    provenance = task.spec.provenance or {}
    assert provenance["models"] == ["openai/small"] and provenance["skill"] > 0.2
    transcripts = tmp_path / ".generate" / "diabetes" / "transcripts"
    assert [each["agent"] for each in provenance["agents"]] == ["brainstormer", "designer", "refactor"]
    for each in provenance["agents"]:
        assert file_hash(transcripts / each["transcript"]) == each["sha256"]
        assert each["version"] == "small-2026-11-01"
    # Every attempt is in the ledger with what it took, at 2 USD and 10 USD for a million tokens.
    for attempt in generation.attempts:
        if attempt.agent == "verifier":
            continue
        assert attempt.outcome == "done" and attempt.model == "openai/small"
        assert attempt.steps == attempt.calls > 1 and attempt.usage.output == 50 * attempt.calls
        cost = (attempt.usage.input * 2.0 + attempt.usage.output * 10.0) / 1e6
        assert attempt.cost_usd == pytest.approx(cost)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_task_passes_the_baselines_too(tmp_path: Path, sandbox: SandboxProvider, backed: Backed) -> None:
    with playing(Player(**competent())) as player:
        options = Options(deep=True, execution=False, max_tasks=1)
        generation = make(player, backed, tmp_path, sandbox, options)
    assert generation.complete, generation.results[0].rejected


@pytest.mark.parametrize("form", ["json", "schema"])
def test_without_tool_calls(tmp_path: Path, sandbox: SandboxProvider, backed: Backed, form: str) -> None:
    with playing(TextPlayer(**competent())) as player:
        settings = {"action_format": form, "max_output_tokens": 4096}
        generation = make(player, backed, tmp_path, sandbox, UNVERIFIED, settings=settings)
    assert generation.complete, generation.results[0].rejected


SLOPPY: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "wrong id column": ({}, {"id_column": "row"}, "columns_differ"),
    "sample lacks rows": (
        {"prepare.py": PREPARE.replace("sample = test[[ID]]", "sample = test.iloc[:50][[ID]]")},
        {}, "ids_differ",
    ),
    "target left in test": (
        {"prepare.py": PREPARE.replace("test.drop(columns=TARGET)", "test")}, {}, "target_in_test",
    ),
    "metric direction wrong": (
        {}, {"metric": {"name": "mae", "higher_is_better": True, "best": 0.0, "worst": None, "reason": "."}},
        "direction_mismatch",
    ),
    "best score wrong": (
        {"metric.py": METRIC.replace(".mean())", ".mean()) + 1")}, {}, "oracle_not_best",
    ),
    "prepare fails": (
        {"prepare.py": PREPARE.replace('"diabetes.csv"', '"patients.csv"')}, {}, "prepare_failed",
    ),
    "no answers": (
        {"prepare.py": PREPARE.replace('private / "test_answer.csv"', 'private / "answers.csv"')},
        {}, "missing_output",
    ),
    "answers copied to public": (
        {"prepare.py": PREPARE + '    test[[ID, TARGET]].to_csv(public / "notes.csv", index=False)\n'},
        {}, "answers_public",
    ),
    "metric is no number": (
        {"metric.py": METRIC.replace("return float(np.abs", "return float('nan') * float(np.abs")},
        {}, "metric_not_finite",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPPY)
def test_a_sloppy_design_goes_back_with_what_is_wrong_and_is_mended(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed, name: str
) -> None:
    files, laid, code = SLOPPY[name]
    script = competent(designer=in_turn(design(files, **laid), design()))
    with playing(Player(**script)) as player:
        generation = make(player, backed, tmp_path, sandbox, DRAFTS)
        mended = next(turn for turn in player.turns if (turn.agent, turn.session) == ("designer", 1))
    assert generation.complete, generation.results[0].rejected
    assert code in DEFECTS and code in mended.told and "to do:" in mended.told
    attempts = [each for each in generation.attempts if each.agent == "designer"]
    assert [each.mending for each in attempts] == [(), (code,)]


def test_a_model_that_never_mends_gives_up_with_the_reason(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed
) -> None:
    with playing(Player(**competent(designer=design({}, id_column="row")))) as player:
        generation = make(player, backed, tmp_path, sandbox, DRAFTS)
    (result,) = generation.results
    assert not result.verified and "lacks row" in result.rejected[0].reason
    assert [each.number for each in generation.attempts if each.agent == "designer"] == [1, 2, 3]
    assert generation.funnel.counts()["refactored"] == 0


def test_what_the_verifier_finds_in_the_description_goes_to_the_refactor(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed
) -> None:
    wrong = DESCRIPTION.replace("Lower is better", "Higher is better").replace("322", "5,100")
    script = competent(
        designer=design({"description.txt": wrong}),
        refactor=in_turn(refactor(), refactor({"description.txt": DESCRIPTION})),
    )
    with playing(Player(**script)) as player:
        generation = make(player, backed, tmp_path, sandbox)
        told = next(turn.told for turn in player.turns if (turn.agent, turn.session) == ("refactor", 1))
    assert generation.complete, generation.results[0].rejected
    assert "description_direction" in told and "description_counts" in told


def test_a_refactor_is_told_at_once_when_it_breaks_the_package(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed
) -> None:
    broken = {"metric.py": METRIC.replace("class ProgressionMetrics(CompetitionMetrics)", "class Progress")}

    def mends(turn: Any) -> Any:
        steps = [*(broken.items()), ("metric.py", METRIC)]
        if turn.number in (0, 2):
            name, text = steps[turn.number // 2]
            return Move("write_file", {"path": name, "content": text})
        return Move("finish", {"changed": "The metric."})

    with playing(Player(**competent(refactor=mends))) as player:
        generation = make(player, backed, tmp_path, sandbox, UNVERIFIED)
        told = player.told("refactor")
    assert generation.complete, generation.results[0].rejected
    assert any("metric_class" in each for each in told)
    assert len([each for each in generation.attempts if each.agent == "refactor"]) == 1


def test_the_refactor_can_be_left_out(tmp_path: Path, sandbox: SandboxProvider, backed: Backed) -> None:
    with playing(Player(**competent())) as player:
        generation = make(player, backed, tmp_path, sandbox, DRAFTS)
        assert not player.told("refactor")
    assert generation.complete, generation.results[0].rejected


def test_identity_is_that_of_models_budgets_and_prompts(backed: Backed) -> None:
    with playing(Player()) as player:
        one, same = backed(player), backed(player)
        assert json.dumps(one.identity) == json.dumps(same.identity)
        assert one.identity != backed(player, budget={"steps": 7}).identity
        assert one.identity != backed(player, rounds=1).identity
        assert KEY not in json.dumps(one.identity)


def test_the_package_tells_where_it_comes_from(
    tmp_path: Path, sandbox: SandboxProvider, backed: Backed
) -> None:
    with playing(Player(**competent())) as player:
        make(player, backed, tmp_path, sandbox, UNVERIFIED)
    root = tmp_path / "diabetes-course"
    declared = tomllib.loads((root / "task.toml").read_text())["provenance"]
    told = json.loads((root / "provenance.json").read_text())
    assert told["provenance"] == declared and told["idea"]["derivation"].startswith("import pandas")
