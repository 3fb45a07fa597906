"""The coverage simulation: its truth, the methods written in it, and complete tables from a few data sets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import TABLES, Cell, cover, measure, row_covariance
from benchmarks.scenarios import Noise, draw, expected_wins, scenarios, skills_of, true_ratings
from stats.agreement.correlation import STATISTICS
from stats.bradley_terry import fit

ROOT = Path(__file__).parent.parent.parent
QUANTITIES = ("ratings", "contrasts"), ("rank of a model", "all ranks")


@pytest.mark.parametrize("name", scenarios())
def test_skills_lead_to_the_ratings_asked_for(name):
    scenario = scenarios()[name]
    for ratings in (scenario.a, scenario.b):
        assert true_ratings(skills_of(ratings, scenario.noise), scenario.noise) == pytest.approx(ratings)


@pytest.mark.parametrize("noise", [Noise(), Noise(step=0.5), Noise(attempts=3, attempt_share=0.5)])
def test_drawn_tasks_have_the_expected_wins(noise):
    """Of 4,000 tasks: a proportion has a standard error of at most 0.008."""
    skills = np.array([0.9, 0.1, -1.0])
    data = draw(skills, noise, 4000, "task", np.random.default_rng(0))
    expected = expected_wins(skills, noise)
    assert data.total / 4000 == pytest.approx(expected, abs=0.032)
    assert expected + expected.T == pytest.approx(1.0 - np.eye(3))
    assert bool(data.ties is not None and data.ties.any()) == (noise.step > 0)
    assert (data.attempts is not None) == (noise.attempts > 1)


def test_a_fine_grid_is_no_grid():
    skills = np.array([0.9, 0.1, -1.0])
    assert expected_wins(skills, Noise(step=1e-3)) == pytest.approx(expected_wins(skills, Noise()), abs=1e-6)


def test_row_sandwich_equals_statsmodels_robust_covariance():
    from statsmodels.api import GLM, families

    data = draw(np.array([0.9, 0.2, 0.0, -1.1]), Noise(step=0.5), 30, "task", np.random.default_rng(1))
    fitted = fit(data)
    first, second = np.triu_indices(4, 1)
    outcome = data.wins[:, first, second].ravel()
    design = np.tile(np.eye(4)[first] - np.eye(4)[second], (30, 1))
    model = GLM(outcome, design[:, 1:], family=families.Binomial()).fit(cov_type="HC0")
    covariance = np.zeros((4, 4))
    covariance[1:, 1:] = model.cov_params() * fitted.unit**2
    centre = np.eye(4) - 0.25  # from ratings relative to the first model to ratings about their mean
    assert row_covariance(data, fitted) == pytest.approx(centre @ covariance @ centre.T, rel=1e-6)


def test_cover_counts_what_does_not_exist_as_a_miss():
    low, high = np.array([0.0, 1.0, np.nan, 2.0]), np.array([1.0, 2.0, np.nan, 6.0])
    assert cover((low, high), np.full(4, 1.0)) == (0.5, 0.25, 2.0)


@pytest.mark.parametrize("scenario", ["paper", "attempts"])
def test_ratings_are_measured_by_every_method(scenario):
    _, results, redrawn = measure(Cell("ratings", scenario, 20), range(2), 50, seed=0)
    by_ratings, by_ranks, _ = TABLES.values()
    single = scenario == "paper"
    expected = {
        (quantity, method)
        for quantities, methods in zip(QUANTITIES, (by_ratings, by_ranks), strict=True)
        for quantity in quantities
        for method in methods
        if not (single and method == "tasks, then attempts")
    }
    assert len(results) == 2 and redrawn == 0
    for covers in results:
        assert set(covers) == expected
        assert all(0 <= c.covered <= 1 and c.missing == 0 and c.width > 0 for c in covers.values())


def test_a_data_set_does_not_depend_on_its_neighbours():
    cell = Cell("ratings", "rounded", 20)
    together, alone = measure(cell, range(2), 30, seed=4)[1], measure(cell, range(1, 2), 30, seed=4)[1]
    assert together[1] == alone[0]
    assert together[0] != alone[0]


def test_sets_without_ratings_are_drawn_anew_and_counted():
    """On three tasks, a model that wins or loses all is common."""
    _, results, redrawn = measure(Cell("ratings", "paper", 3), range(3), 30, seed=0)
    assert len(results) == 3 and redrawn > 0


def test_command_prints_complete_tables(tmp_path):
    path = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.coverage", "--scenario", "paper", "--tasks", "20", "--sets", "2",
         "--replicates", "50", "--workers", "1", "--json", path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = json.loads(path.read_text())
    assert all(np.isfinite([line["coverage"], line["error"], line["width"]]).all() for line in lines)
    assert {line["quantity"] for line in lines} >= set(STATISTICS) | {"ratings", "contrasts", "all ranks"}
    for title, methods in TABLES.items():
        assert title in done.stdout
        assert {line["method"] for line in lines} >= {*methods} - {"tasks, then attempts"}
    assert done.stdout.count("| paper | 20 |") == 2 + 2 + len(STATISTICS)


def test_unknown_scenario_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.coverage", "--scenario", "papre"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "papre" in done.stderr
