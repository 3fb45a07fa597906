"""Figures: what is drawn is the data, read back from the artists; files are the same each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from leaderboards.published import published_ratings
from reports.figures.agreement import agreement_scatter, bland_altman_plot
from reports.figures.curves import step_curves
from reports.figures.distributions import task_distributions
from reports.figures.forest import forest_plot
from reports.figures.heatmap import task_heatmap
from reports.figures.resources import resources_plot
from reports.style import PALETTE, looks, save_figure, short_names
from stats.agreement.pair import agree

PUBLISHED = published_ratings()
RATINGS = PUBLISHED.set_index("model")
DOJO, SMITH = (dict(zip(PUBLISHED["model"], PUBLISHED[s], strict=True)) for s in ("dojo", "smith"))
DOJO_SMITH = agree(DOJO, SMITH, "dojo", "smith")


def marked(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_gid()): line for line in axes.lines if line.get_gid()}


def xy(line: Line2D) -> np.ndarray:
    """The (n, 2) points of a line."""
    return np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])


def spans_of(axes: Axes) -> set[tuple[float, ...]]:
    """The ends, along x, of all lines of two points."""
    return {tuple(xy(line)[:, 0].tolist()) for line in axes.lines if len(xy(line)) == 2}


def texts(figure: Figure) -> set[str]:
    return {text.get_text().strip() for axes in figure.axes for text in axes.texts}


def test_scatter_shows_every_model_at_its_ratings() -> None:
    figure = agreement_scatter(DOJO_SMITH, RATINGS)
    points = marked(figure.axes[0])
    assert set(points) == set(RATINGS.index)
    for model, point in points.items():
        assert xy(point).tolist() == [[RATINGS.loc[model, "dojo"], RATINGS.loc[model, "smith"]]]
    labels = texts(figure)
    assert set(RATINGS.index) <= labels
    assert any("r = 0.982" in label and "τ-b = 0.857" in label for label in labels)
    identity = next(line for line in figure.axes[0].lines if line.get_label() == "identity")
    assert np.array_equal(identity.get_xdata(), identity.get_ydata())


def test_scatter_draws_intervals_where_there_are_some() -> None:
    table = RATINGS.assign(**{"dojo low": RATINGS["dojo"] - 30, "dojo high": RATINGS["dojo"] + 50})
    table.loc["GPT-4o", "dojo low"] = np.nan
    spans = spans_of(agreement_scatter(DOJO_SMITH, table).axes[0])
    expected = {(r - 30, r + 50) for m, r in RATINGS["dojo"].items() if m != "GPT-4o"}
    assert expected <= spans and len(spans) == len(expected) + 1  # and the two long lines share their ends


def test_bland_altman_lines_and_points() -> None:
    axes = bland_altman_plot(DOJO_SMITH, RATINGS).axes[0]
    drawn = marked(axes)
    # SD of the eight differences 48.985: limits -0.0125 -+ 1.96 * 48.985, computed by hand.
    assert xy(drawn["upper limit"])[0, 1] == pytest.approx(95.999, abs=1e-3)
    assert xy(drawn["lower limit"])[0, 1] == pytest.approx(-96.024, abs=1e-3)
    assert xy(drawn["GPT-4o"])[0] == pytest.approx([(776.5 + 808.8) / 2, 776.5 - 808.8])
    assert len(axes.patches) == 3  # bands of the bias and of both limits


def test_two_sets_without_common_models_say_so() -> None:
    nothing = agree({"x": 1.0}, {"y": 2.0}, "a", "b")
    table = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]}, index=["x", "y"])
    for draw in (agreement_scatter, bland_altman_plot):
        assert any("fewer than two models" in text for text in texts(draw(nothing, table)))


def test_forest_shows_ratings_intervals_and_the_unrated() -> None:
    board = pd.DataFrame(
        {"model": ["a", "b", "c"], "elo": [1100.0, 900.0, np.nan], "elo_low": [1050.0, 840.0, np.nan],
         "elo_high": [1200.0, 970.0, np.nan]}
    )  # fmt: skip
    figure = forest_plot({"set": board})
    axes = figure.axes[0]
    assert xy(marked(axes)["set:a"])[0, 0] == 1100.0
    assert "set:c" not in marked(axes) and "no finite rating" in texts(figure)
    assert {(1050.0, 1200.0), (840.0, 970.0)} <= spans_of(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]


def test_curves_distributions_resources_and_heat_map_hold_their_data() -> None:
    curve = np.array([0.0, 0.5, 1.0])
    drawn = marked(step_curves({"all": {"m": curve}}).axes[0])["m"]
    assert xy(drawn).tolist() == [[1, 0], [2, 0.5], [3, 1]]

    tasks = pd.DataFrame({"set": ["r", "r", "s"], "modality": ["text", "text", "image"]})
    bars = task_distributions(tasks, {"modality": "Modality"}).axes[0].containers
    assert [[bar.get_width() for bar in group] for group in bars] == [[2, 0], [0, 1]]

    used = pd.DataFrame(
        {"model": ["m", "n"], "minutes": [2.0, 3.0], "tokens": [10, 20_000], "cost_usd": [0.0, np.nan]}
    )
    figure = resources_plot(used)
    assert [bar.get_width() for bar in figure.axes[1].containers[0]] == [10, 20_000]
    assert "unpriced" in texts(figure) and "0" in texts(figure)

    scores = pd.DataFrame({"m": [0.25, 0.0], "n": [np.nan, 0.75]}, index=["r/a", "r/b"])
    figure = task_heatmap(scores, pd.DataFrame({"m": [1, 0], "n": [np.nan, 1]}, index=scores.index))
    shown = figure.axes[0].images[0].get_array()
    assert shown is not None and np.ma.filled(shown, -1).tolist() == [[0.25, -1], [0.0, 0.75]]
    assert texts(figure) == {".25", "×", "–", ".75"}


def test_the_same_figure_gives_the_same_files(tmp_path: Path) -> None:
    first, second = (
        save_figure(agreement_scatter(DOJO_SMITH, RATINGS), tmp_path / name, "scatter") for name in "ab"
    )
    assert first.svg.read_bytes() == second.svg.read_bytes()
    assert first.png.read_bytes() == second.png.read_bytes()
    assert b"<dc:date>" not in first.svg.read_bytes()
    with Image.open(first.png) as image:
        assert image.width > 800


def test_noise_of_the_layout_does_not_reach_the_file(tmp_path: Path) -> None:
    tasks = pd.DataFrame({"set": ["mine"], "modality": ["tabular"], "metric": ["accuracy"]})
    fields = {"modality": "Modality", "metric": "Metric"}
    drawn = {
        save_figure(task_distributions(tasks, fields), tmp_path, "tasks").svg.read_bytes() for _ in range(8)
    }
    assert len(drawn) == 1


def test_names_are_drawn_as_text_whatever_signs_they_hold(tmp_path: Path) -> None:
    board = pd.DataFrame({"model": ["$x_{", "<b>&amp;"], "elo": [1000.0, 900.0]})
    saved = save_figure(forest_plot({"s": board}), tmp_path, "odd")
    assert b"<b>&amp;<" not in saved.svg.read_bytes()


def test_a_model_keeps_its_look() -> None:
    everyone = looks(["c", "a", "b"])
    assert everyone == looks(["b", "c", "a", "a"])
    assert everyone["a"].colour == PALETTE[0]
    many = looks(f"m{i:03d}" for i in range(48))
    assert len(set(many.values())) == 48
    figure = forest_plot({"s": pd.DataFrame({"model": ["c"], "elo": [1.0]})}, everyone)
    assert marked(figure.axes[0])["s:c"].get_color() == everyone["c"].colour


def test_short_names_stay_distinct() -> None:
    assert short_names(["openai/x", "local/x", "openai/y"]) == {
        "openai/x": "openai/x", "local/x": "local/x", "openai/y": "y",
    }  # fmt: skip
