"""The line without one of its parts: what that part is good for, and what is written down about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.datasets.catalogue import dataset_path, load_card
from generator.pipeline.comparison import compare
from generator.pipeline.funnel import Stage
from generator.pipeline.generation import Options, generate
from generator.pipeline.record import RECORD, read_record
from generator.pipeline.written import Written, read_generation
from generator.profile import profile_dataset
from generator.rules.propose import propose
from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider


def test_a_target_of_noise_is_proposed_only_without_the_probe(
    tmp_path: Path, sandbox: SandboxProvider
) -> None:
    rng = np.random.default_rng(5)
    noise = pd.DataFrame({name: rng.normal(size=500).round(3) for name in ("height", "width", "weight")})
    folder = tmp_path / "noise"
    folder.mkdir()
    noise.to_csv(folder / "noise.csv", index=False)

    def run(out: str, *without: str) -> Written:
        options = Options(verify=False, without=frozenset(without))
        generate([folder], tmp_path / out, provider=sandbox, options=options)
        return read_generation(tmp_path / out)

    whole, less = run("whole"), run("less", "probe")
    assert {passage.code for passage in whole.funnel.passages} == {"unlearnable"}
    assert Stage.REFACTORED in {passage.reached for passage in less.funnel.passages}
    told = ["rules without any verification", "rules without probe, any verification"]
    assert [each.made for each in compare([whole, less])] == told


def test_without_diversity_more_that_is_alike_is_proposed() -> None:
    card = load_card(dataset_path("diabetes"))
    profile = profile_dataset(dataset_path("diabetes"), card.name)

    def kinds(diverse: bool) -> list[str]:
        found = propose(dataset_path("diabetes"), card, profile, max_tasks=6, diverse=diverse)
        return [proposal.objective for proposal in found.proposals]

    assert len(kinds(diverse=False)) > len(kinds(diverse=True)) > 0


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema_version": 1}', b"\xff"])
def test_a_record_that_is_none_is_named(text: str | bytes, tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    (tmp_path / RECORD).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=r"generation\.json: is not what a generation writes"):
        read_record(tmp_path)
