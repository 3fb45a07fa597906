"""Verdicts that are remembered by the hash of all that they depend on."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import generator
from generator.defects.base import Finding, Gate, Severity
from generator.verifier.verification import SCHEMA_VERSION, Verdict, Verification
from harness.records import strict_json, write_atomically
from harness.tasks.package import file_hash, folder_hash

log = logging.getLogger(__name__)

CACHE_NAME = "verified.json"
_FILES = ("task.toml", "description.txt", "prepare.py", "metric.py")
_FOLDERS = ("raw", "public", "private")


def identity(root: Path, how: Mapping[str, Any]) -> str:
    """Hash of the package's bytes, of this verifier's code, and of how it is run."""
    digest = hashlib.sha256(f"{_code_hash()}\0{strict_json(how)}".encode())
    for name in _FILES:
        path = root / name
        digest.update(f"{name}\0{file_hash(path) if path.is_file() else '-'}\n".encode())
    for name in _FOLDERS:
        path = root / name
        digest.update(f"{name}\0{folder_hash(path) if path.is_dir() else '-'}\n".encode())
    return digest.hexdigest()


def remember(path: Path, identity: str, result: Verification) -> None:
    """Keep a verdict; a place that cannot be written to is no trouble."""
    text = strict_json({"schema_version": SCHEMA_VERSION, "identity": identity, **result.to_dict()})
    try:
        write_atomically(path, text + "\n")
    except OSError as error:
        log.info("the verdict is not remembered: %s", error)


def recall(path: Path, identity: str) -> Verification | None:
    """The verdict of that identity, or ``None``."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema_version"] != SCHEMA_VERSION or data["identity"] != identity:
            return None
        findings = tuple(
            Finding(**each | {"severity": Severity(each["severity"]), "stage": Gate(each["stage"])})
            for each in data["findings"]
        )
        return Verification(
            task=data["task"],
            verdict=Verdict(data["verdict"]),
            findings=findings,
            scores=data["scores"],
            seconds=data["seconds"],
            gates=data["gates"],
            exhibits=data["exhibits"],
            cached=True,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


@functools.cache
def _code_hash() -> str:
    """Of the code of the room: a verdict of other code is not remembered."""
    home = Path(generator.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in home.rglob("*") if path.suffix in (".py", ".txt", ".j2")):
        digest.update(f"{path.relative_to(home).as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()
