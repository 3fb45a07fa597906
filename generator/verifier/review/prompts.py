"""The reviewer's prompts, in ``prompts/<version>/``."""

from __future__ import annotations

from pathlib import Path

from generator.prompts import hash_prompts, read_prompt

_FOLDER = Path(__file__).with_name("prompts")
NEWEST = "v1"


def prompt(name: str, version: str = NEWEST) -> str:
    """The text of a prompt; ``str.format`` fills it in, but for ``system``."""
    return read_prompt(_FOLDER / version, name)


def prompts_hash(version: str = NEWEST) -> str:
    """SHA-256 of all prompts of a version, in hex."""
    return hash_prompts(_FOLDER / version)
