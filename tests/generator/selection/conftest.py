"""Real, prepared tasks for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.generator.selection.real_tasks import VERIFIED, prepared, remember_verdict, verifications


@pytest.fixture(scope="session")
def _prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(VERIFIED, tmp_path_factory.mktemp("selection") / "tasks")


@pytest.fixture
def verified(_prepared: Path, tmp_path: Path) -> Path:
    """A folder of three prepared reference tasks whose verdicts are remembered."""
    folder = Path(shutil.copytree(_prepared, tmp_path / "tasks"))
    for name, verification in verifications().items():
        remember_verdict(folder / name, verification)
    return folder
