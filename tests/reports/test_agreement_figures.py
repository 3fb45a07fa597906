"""Figures of the evidence: what is drawn is the data, read back from the artists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from leaderboards.published import published_ratings
from reports.agreement.reliability import Length, lengths
from reports.figures.influence import influence_plot
from reports.figures.reliability import reliability_plot
from stats.agreement.influence import Influence, leave_one_model_out, leave_one_task_out
from stats.comparisons import Comparisons
from tests.reports.test_agreement_evidence import scores_of

TABLE = published_ratings()
DOJO, SMITH = (dict(zip(TABLE["model"], TABLE[s], strict=True)) for s in ("dojo", "smith"))


def marked(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_gid()): line for line in axes.lines if line.get_gid()}


def x_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_xdata(), float).tolist()


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


@pytest.fixture(scope="module")
def sets() -> dict[str, Comparisons]:
    frames = {"a": scores_of("a", 24, 1), "b": scores_of("b", 30, 2)}
    return {name: Comparisons.from_scores(frame) for name, frame in frames.items()}


@pytest.fixture(scope="module")
def tasks(sets: dict[str, Comparisons]) -> Influence:
    return leave_one_task_out(sets["a"], sets["b"], "a", "b")


def test_the_reliability_curve_marks_today_and_the_tasks_needed(sets: dict[str, Comparisons]) -> None:
    found = lengths(sets)
    axes = reliability_plot(found).axes[0]
    lines = marked(axes)
    for name, length in found.items():
        assert list(
            zip(x_of(lines[f"curve:{name}"]), lines[f"curve:{name}"].get_ydata(), strict=True)
        ) == list(length.curve)
        assert x_of(lines[f"today:{name}"]) == [length.tasks]
        assert list(np.asarray(lines[f"today:{name}"].get_ydata())) == [length.reliability]
        assert x_of(lines[f"needed:{name}"]) == [length.needed] * 2
    assert list(np.asarray(lines["target"].get_ydata())) == [0.9, 0.9]
    assert f"{found['a'].needed:.0f}" in texts(axes)
    assert axes.get_xscale() == "linear"


def test_far_more_tasks_than_today_are_on_a_logarithmic_axis(sets: dict[str, Comparisons]) -> None:
    few = replace(lengths(sets)["a"], tasks=2)
    assert reliability_plot({"a": few}).axes[0].get_xscale() == "log"


def test_a_set_without_reliability_is_not_drawn(sets: dict[str, Comparisons]) -> None:
    unknown: Length = replace(lengths(sets)["a"], curve=(), reliability=float("nan"), needed=float("nan"))
    assert any("no set" in text for text in texts(reliability_plot({"a": unknown}).axes[0]))
    never = replace(lengths(sets)["a"], needed=float("inf"))
    assert "needed:a" not in marked(reliability_plot({"a": never}).axes[0])


def test_influence_shows_r_without_every_model_and_task(tasks: Influence) -> None:
    models = leave_one_model_out(DOJO, SMITH, "dojo", "smith")
    above, below = influence_plot(models, tasks).axes
    column = models.statistics.index("pearson_r")
    lines = marked(above)
    assert set(lines) == {*DOJO, "full"}
    for i, model in enumerate(models.left_out):
        assert x_of(lines[model]) == [models.without[i, column]]
    assert x_of(lines["full"]) == [models.full[column]] * 2
    for name in ("a", "b"):
        expected = [v for v, s in zip(tasks.without[:, column], tasks.sets, strict=True) if s == name]
        assert sorted(x_of(marked(below)[f"tasks:{name}"])) == sorted(expected)
    named = [tasks.left_out[i] for i in tasks.ordered("pearson_r")[:3]]
    assert set(named) <= set(texts(below))


def test_tasks_that_carry_a_rating_are_counted(tasks: Influence) -> None:
    without = tasks.without.copy()
    without[2] = np.nan
    models = leave_one_model_out(DOJO, SMITH, "dojo", "smith")
    below = influence_plot(models, replace(tasks, without=without)).axes[1]
    assert any("1 without which a model has no rating" in text for text in texts(below))


def test_influence_without_tasks_or_without_anything() -> None:
    models = leave_one_model_out(DOJO, SMITH, "dojo", "smith")
    assert len(influence_plot(models, None).axes) == 1
    two = leave_one_model_out({"x": 1.0, "y": 2.0}, {"x": 1.0, "y": 3.0})
    assert any("no correlation is left" in text for text in texts(influence_plot(two, None).axes[0]))
