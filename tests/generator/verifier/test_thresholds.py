"""Thresholds of one's own: what the file changes, and what is said about a file that cannot be used."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from generator.verifier.thresholds.config import DEFAULTS
from generator.verifier.thresholds.reading import read_thresholds
from harness.errors import InputError


def test_a_file_changes_only_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "strict.toml"
    path.write_text("[data]\nfew_rows = 200\n[metric]\nperturbed_shares = [0.5, 1.0]\n")
    limits = read_thresholds(path)
    assert (limits.data.few_rows, limits.metric.perturbed_shares) == (200, (0.5, 1.0))
    assert limits.leaks == DEFAULTS.leaks
    assert limits.data.shared_ids == DEFAULTS.data.shared_ids


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[data\n", "not valid TOML"),
        ("[dates]\nfew_rows = 3\n", "no table 'dates'; tables are data, "),
        ("[data]\nfewrows = 3\n", "data: unknown key 'fewrows'; keys are "),
        ("data = 3\n", "data: unknown key 3"),
        ("[data]\nfew_rows = 'many'\n", "data.few_rows: write a whole number"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_thresholds(path)
    assert str(error.value).startswith(f"{path}: ") and said in str(error.value)


def test_every_threshold_has_its_reason() -> None:
    """Each field stands in its class's docstring, followed by words."""
    for gate in fields(DEFAULTS):
        limits = getattr(DEFAULTS, gate.name)
        told = re.findall(r"^ {8}(\w+(?:, \w+)*): +\S+ \S+ \S+", type(limits).__doc__ or "", re.MULTILINE)
        explained = {name for names in told for name in names.split(", ")}
        assert {field.name for field in fields(limits)} == explained, gate.name
