"""The formulas of the metrics' library against the framework's own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from generator.rules.design import _environment
from harness.tasks.metrics import quadratic_weighted_kappa


def test_levels_far_apart_count_by_their_distance_whatever_the_order_of_the_classes() -> None:
    rng = np.random.default_rng(2)
    levels = np.array([25, 33, 50, 66, 75, 100])
    y = rng.choice(levels, 400)
    p = np.where(rng.random(400) < 0.6, y, rng.choice(levels, 400))
    body = _environment().get_template("metrics/quadratic_weighted_kappa.py.j2").render()
    for classes in (["25", "33", "50", "66", "75", "100"], ["66", "25", "100", "33", "75", "50"]):
        names = {"TARGETS": ["speed"], "CLASSES": classes, "np": np, "pd": pd}
        exec(f"def score(truth, said):\n{body}", names)
        score = names["score"](pd.DataFrame({"speed": y}), pd.DataFrame({"speed": p}))  # type: ignore[operator]
        assert np.isclose(score, quadratic_weighted_kappa(y, p))
        assert names["score"](pd.DataFrame({"speed": y}), pd.DataFrame({"speed": y})) == 1.0  # type: ignore[operator]
