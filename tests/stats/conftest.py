"""Shared data of the statistics tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def known() -> dict[str, Any]:
    """Published and closed-form answers by case id; each case names its source."""
    cases = json.loads((DATA / "known_answers.json").read_text())["cases"]
    return {case["id"]: case for case in cases}


@pytest.fixture(scope="session")
def published() -> pd.DataFrame:
    """The paper's Overall Elo (repaired o4-mini row), indexed by model."""
    return pd.read_csv(DATA / "overall_elo_repaired.csv", index_col="model")


@pytest.fixture(scope="session")
def make_scores() -> Callable[..., pd.DataFrame]:
    """Synthetic scores: skill + noise, rounded so that ties occur, half of the tasks lower-is-better."""

    def make(tasks: int = 20, models: int = 6, attempts: int = 1, seed: int = 0) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        task, model, attempt = (
            axis.ravel() for axis in np.meshgrid(range(tasks), range(models), range(attempts), indexing="ij")
        )
        up = task % 2 == 0
        value = np.round(model * 0.4 + rng.normal(size=task.size), 1)
        return pd.DataFrame(
            {
                "task": [f"t{t:03d}" for t in task],
                "model": [f"m{m}" for m in model],
                "attempt": attempt,
                "score": np.where(up, value, -value),
                "valid": rng.random(task.size) > 0.1,
                "higher_is_better": up,
            }
        )

    return make
