"""Thresholds of one's own, from a TOML file."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from generator.verifier.thresholds.config import DEFAULTS, Thresholds
from harness.errors import InputError
from harness.tasks.package import describe_validation


def read_thresholds(path: Path) -> Thresholds:
    """The defaults with what the file changes: a table for each gate, a key for each threshold.

    Raises:
        InputError: names the file, the key and what is wrong.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    known = {field.name for field in fields(Thresholds)}
    changed: dict[str, Any] = {}
    for gate, values in data.items():
        if gate not in known:
            raise InputError(f"{path}: no table {gate!r}; tables are {', '.join(sorted(known))}")
        limits = getattr(DEFAULTS, gate)
        names = {field.name for field in fields(limits)}
        if not isinstance(values, dict) or not values.keys() <= names:
            unknown = sorted(values.keys() - names) if isinstance(values, dict) else [values]
            raise InputError(
                f"{path}: {gate}: unknown key {unknown[0]!r}; keys are {', '.join(sorted(names))}"
            )
        try:
            checked = TypeAdapter(type(limits)).validate_python(
                {field.name: getattr(limits, field.name) for field in fields(limits)} | values
            )
        except ValidationError as error:
            raise InputError(f"{path}: {gate}.{describe_validation(error)}") from error
        changed[gate] = checked
    return replace(DEFAULTS, **changed)
