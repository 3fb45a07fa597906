"""What the folder of a competition in a checkout of mle-bench says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from harness.errors import TaskError


@dataclass(frozen=True)
class Competition:
    """One competition: ``mlebench/competitions/<id>`` of a checkout.

    Attributes:
        root: that folder.
        name: its title.
        metric: the free-text name of the grader.
        answers: where the answers lie, relative to the prepared folder (``private/test.csv``).
        sample: where the sample submission lies, likewise.
    """

    root: Path
    name: str
    metric: str
    answers: str
    sample: str

    @property
    def id(self) -> str:
        """The competition's id."""
        return self.root.name

    @property
    def description_path(self) -> Path:
        """What the participant reads."""
        return self.root / "description.md"

    def higher_is_better(self) -> bool | None:
        """The direction by the leaderboard's order, as mle-bench has it; ``None`` without a leaderboard.

        Without Git LFS a checkout holds a pointer instead of the leaderboard.
        """
        path = self.root / "leaderboard.csv"
        try:
            scores = pd.read_csv(path)["score"]
        except (OSError, KeyError, ValueError):
            return None
        return None if len(scores) < 2 else bool(scores.iloc[0] > scores.iloc[-1])


def read_competition(folder: Path) -> Competition:
    """Read ``config.yaml`` of a competition.

    Raises:
        TaskError: the folder is no competition of mle-bench; names the file and the key.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        raise TaskError(
            f"{path}: not found; give a folder mlebench/competitions/<id> of a checkout of mle-bench"
        )
    for needed in ("prepare.py", "grade.py", "description.md"):
        if not (folder / needed).is_file():
            raise TaskError(f"{folder / needed}: not found; a competition of mle-bench has one")
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Competition(
            root=folder,
            name=str(config["name"]),
            metric=str(config["grader"]["name"]),
            answers=_below_prepared(config["dataset"], "answers", path),
            sample=_below_prepared(config["dataset"], "sample_submission", path),
        )
    except (yaml.YAMLError, TypeError) as error:
        raise TaskError(f"{path}: cannot be read: {error}") from error
    except KeyError as error:
        raise TaskError(f"{path}: key {error} is missing") from error


def _below_prepared(dataset: Mapping[str, Any], key: str, path: Path) -> str:
    """``<id>/prepared/private/test.csv`` without its first two parts; nothing may point elsewhere."""
    parts = Path(str(dataset[key])).parts
    if len(parts) < 4 or parts[1] != "prepared" or parts[2] not in ("public", "private") or ".." in parts:
        raise TaskError(f"{path}: dataset.{key} is {dataset[key]!r}, not <id>/prepared/public|private/<file>")
    return Path(*parts[2:]).as_posix()
