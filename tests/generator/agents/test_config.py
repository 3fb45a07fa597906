"""Agents as a file gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.agents.config import AGENTS, read_agents
from harness.errors import InputError

FILE = """
[all.model]
name = "vllm/small"
base_url = "http://127.0.0.1:9/v1"
[all.budget]
steps = 12
[designer.model]
name = "vllm/large"
base_url = "http://127.0.0.1:9/v1"
[refactor.budget]
steps = 40
"""


def test_what_an_agent_leaves_out_is_taken_from_all(tmp_path: Path) -> None:
    (tmp_path / "agents.toml").write_text(FILE)
    config = read_agents(tmp_path / "agents.toml")
    told = {agent: (config.staff(agent).model.model, config.staff(agent).budget.steps) for agent in AGENTS}
    assert told == {"brainstormer": ("small", 12), "designer": ("large", 12), "refactor": ("small", 40)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[all", "cannot be read"),
        ("[designer.model]\nname = 'vllm/x'", "brainstormer.model: required key is missing"),
        ("[all.model]\nname = 'vllm/x'\n[all.budget]\nstepz = 3", "stepz: unknown key"),
        ("all = 3", "brainstormer.model: required key is missing"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_key(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "agents.toml").write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_agents(tmp_path / "agents.toml")
    assert "agents.toml" in str(refused.value)
