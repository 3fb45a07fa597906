"""Profiles: what ships, and what is said of a file that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.profiles import load_profile, profile_names
from harness.errors import InputError


def test_the_default_profile_changes_nothing() -> None:
    assert load_profile("default") == {}


def test_the_papers_profile_has_the_papers_settings() -> None:
    # MLE-Smith, section 5.1: 15 steps and 12 h. MLE-Dojo: 50,000 input and 8,192 output tokens, temperature
    # 0, better of two runs.
    assert load_profile("paper") == {
        "agent": {
            "settings": {"temperature": 0.0, "max_output_tokens": 8_192, "max_input_tokens": 50_000},
        },
        "budget": {"steps": 15, "seconds": 12 * 3_600.0, "execution_seconds": 12 * 3_600.0},
        "feedback": "test",
        "attempts": 2,
    }


def test_the_profiles_that_ship_are_known_by_name() -> None:
    assert profile_names() == ["default", "paper"]


def test_a_profile_of_ones_own_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('summary = "mine"\nfeedback = "split"\n[agent]\nrecent_steps = 3\n')
    assert load_profile(str(path)) == {"agent": {"recent_steps": 3}, "feedback": "split"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attempts = 2", "summary"),
        ('schema_version = 2\nsummary = "x"', "schema_version"),
        ('summary = "x"\nstep = 3', "step"),
        ('summary = "x"\nattempts = "2"', "attempts"),
        ('summary = "x"\nfeedback = "all"', "feedback"),
        ('summary = "x"\n[agent]\nrecent = 3', "agent.recent"),
        ('summary = "x"\n[agent]\nprompts = "v0"', "agent.prompts"),
        ('summary = "x"\n[agent.settings]\ntemperature = "hot"', "agent.settings.temperature"),
        ('summary = "x"\n[budget]\nsteps = 2.5', "budget.steps"),
        ('summary = "x"\n[budget]\nsteps = 2026-01-01', "budget.steps"),
        ('summary = "x', "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_profile(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match="papre: there is no such profile; known: default, paper, or"):
        load_profile("papre")
