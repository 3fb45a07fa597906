"""Prompts: strict templates, told apart by their text."""

from __future__ import annotations

import hashlib
from pathlib import Path

import jinja2
import pytest

from harness.agents import prompting
from harness.agents.format_errors import FormatErrorKind
from harness.agents.prompting import prompt_versions, prompts_hash, render


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="'lines' is undefined"):
        render("summary", best=None)


def test_the_hash_is_that_of_names_and_texts() -> None:
    folder = Path(prompting.__file__).parent / "prompts" / "v1"
    digest = hashlib.sha256()
    for name in ("format_error", "observation", "summary", "system", "task"):
        digest.update(f"{name}.txt.j2".encode() + b"\0" + (folder / f"{name}.txt.j2").read_bytes())
    assert prompts_hash("v1") == digest.hexdigest()


@pytest.mark.parametrize("version", prompt_versions())
def test_every_kind_of_format_error_has_words_in_every_form_of_answer(version: str) -> None:
    for written in ("tools", "json", "schema"):
        said = {
            kind: render(
                "format_error",
                version=version,
                kind=str(kind),
                detail="here",
                tools=(),
                format=written,
                grammar="{...}",
                output_tokens=10,
                budget_left="3 steps",
            )
            for kind in FormatErrorKind
        }
        assert len(set(said.values())) == len(FormatErrorKind)
        assert all(text.startswith("error: ") for text in said.values())
        assert all(text.endswith("\n\n[left: 3 steps]") for text in said.values())
