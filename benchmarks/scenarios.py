"""Task sets whose true ratings are known: what `benchmarks/coverage.py` draws from.

Score of model i on task t in an attempt: skill_i + noise of model and task + noise of the attempt, both
normal, with a total standard deviation of 1; rounded, if ties are wanted. How hard a task is does not change
who wins, and is left out. The true ratings are those of a Bradley-Terry fit to the exact expected win matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from leaderboards.published import published_ratings
from stats.bradley_terry import fit
from stats.comparisons import Comparisons

Floats = NDArray[np.float64]
Part = Literal["ratings", "agreement"]


@dataclass(frozen=True)
class Noise:
    """What stands between a model's skill and its scores.

    Attributes:
        attempts: of each model on each task.
        attempt_share: part of the variance that is redrawn in every attempt; the rest belongs to the task.
        step: scores are rounded to multiples of it; 0 for scores that never tie.
    """

    attempts: int = 1
    attempt_share: float = 0.0
    step: float = 0.0


@dataclass(frozen=True, eq=False)
class Scenario:
    """Two sets of tasks for the same models.

    Attributes:
        what: for the reader of the tables.
        a, b: (n,) true ratings in both sets, with a mean of 1000.
        noise: of the scores.
        parts: what is measured unless the scenario is asked for by name. Ratings concern set a alone, which
            some scenarios share; agreement with several attempts takes long.
    """

    what: str
    a: Floats
    b: Floats
    noise: Noise = Noise()
    parts: tuple[Part, ...] = ("ratings", "agreement")


def expected_wins(skills: Floats, noise: Noise) -> Floats:
    """(n, n) probability that i beats j on a task, with half that of a tie."""
    if noise.step == 0.0:
        wins = ndtr((skills[:, None] - skills[None, :]) / np.sqrt(2.0))
    else:
        reach = np.abs(skills).max() + 10.0
        upper = np.arange(-np.ceil(reach / noise.step), np.ceil(reach / noise.step) + 1) + 0.5
        below = ndtr(upper * noise.step - skills[:, None])
        at = np.diff(below, axis=1, prepend=0.0)
        # i has the score k while j is lower, or just as high, which is half a win.
        wins = at @ (below - at / 2.0).T
    np.fill_diagonal(wins, 0.0)
    return np.asarray(wins)


def true_ratings(skills: Floats, noise: Noise) -> Floats:
    """(n,) ratings to which more and more tasks lead."""
    return fit(expected_wins(skills, noise)).ratings


def skills_of(ratings: Floats, noise: Noise) -> Floats:
    """(n,) skills whose true ratings are these, which must have a mean of 1000."""
    per_point = np.log(10.0) / 400.0 * np.sqrt(np.pi) / 2.0  # for small differences
    skills = (ratings - 1000.0) * per_point
    for _ in range(500):
        error = ratings - true_ratings(skills, noise)
        if np.abs(error).max() < 1e-7:
            return np.asarray(skills)
        skills = skills + error * per_point * 0.7
    raise ValueError(f"no skills found for ratings {ratings}")


def draw(skills: Floats, noise: Noise, tasks: int, name: str, rng: np.random.Generator) -> Comparisons:
    """Comparisons of one set of tasks."""
    shape = (tasks, len(skills), noise.attempts)
    scores = skills[:, None] + np.sqrt(1.0 - noise.attempt_share) * rng.normal(size=(*shape[:2], 1))
    scores = scores + np.sqrt(noise.attempt_share) * rng.normal(size=shape)
    if noise.step:
        scores = np.round(scores / noise.step)
    task, model, attempt = (place.ravel() for place in np.indices(shape))
    table = pd.DataFrame(
        {
            "task": np.array([f"{name}-{t:03d}" for t in range(tasks)], dtype=object)[task],
            "model": np.array([f"model-{i:02d}" for i in range(len(skills))], dtype=object)[model],
            "attempt": attempt,
            "score": scores.ravel(),
            "valid": True,
            "higher_is_better": True,
        }
    )
    return Comparisons.from_scores(table)


def scenarios() -> dict[str, Scenario]:
    """All of them, by name; most have the spread of the paper's ratings (one row of which is inferred)."""
    published = published_ratings()[["dojo", "smith"]]
    dojo, smith = (published - published.mean() + 1000.0).to_numpy().T
    near_a = np.array([1250.0, 1103.0, 1100.0, 1098.0, 952.0, 950.0, 948.0, 599.0])
    near_b = near_a[[0, 3, 2, 1, 6, 5, 4, 7]]
    return {
        "paper": Scenario("the published ratings of the Dojo and the Smith set", dojo, smith),
        "rounded": Scenario(
            "the same, scores rounded so that many tie", dojo, smith, Noise(step=0.5),
            parts=("ratings",),
        ),
        "attempts": Scenario(
            "the same, three attempts per task, which hold half of the noise", dojo, smith,
            Noise(attempts=3, attempt_share=0.5), parts=("ratings",),
        ),
        "near ties": Scenario(
            "twice three models within 5 points, in opposite order in the other set", near_a, near_b
        ),
        "unlike": Scenario(
            "Dojo's ratings, and Smith's for other models", dojo, smith[[1, 3, 0, 2, 5, 6, 4, 7]],
            parts=("agreement",),
        ),
        "unrelated": Scenario(
            "Dojo's ratings, and Smith's for still other models", dojo, smith[[4, 0, 6, 1, 3, 2, 7, 5]],
            parts=("agreement",),
        ),
    }  # fmt: skip
