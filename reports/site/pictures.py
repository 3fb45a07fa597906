"""The figures of a site, drawn and saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from leaderboards.board import COMBINED
from leaderboards.normalised import normalised_scores
from leaderboards.rating import Board
from reports.agreement.evidence import Evidence
from reports.agreement.reliability import Length
from reports.figures.agreement import agreement_scatter, bland_altman_plot
from reports.figures.curves import step_curves
from reports.figures.distributions import task_distributions
from reports.figures.forest import forest_plot
from reports.figures.heatmap import task_heatmap
from reports.figures.influence import influence_plot
from reports.figures.reliability import reliability_plot
from reports.figures.resources import resources_plot
from reports.progress import own_scale_panels, task_scale_panels
from reports.style import Look, looks, save_figure
from stats.agreement.pair import Agreement

FIELDS = {"modality": "Modality", "objective": "Objective", "metric": "Metric"}


@dataclass(frozen=True)
class Picture:
    """A figure's files, relative to the index page, and its description for those who do not see it."""

    png: str
    svg: str
    alt: str


class Gallery:
    """Draws the figures of a report into ``<out>/figures``, each model with one look in all of them."""

    def __init__(self, out: Path, models: Sequence[str]) -> None:
        self._folder = out / "figures"
        self._looks: Mapping[str, Look] = looks(models)

    def ratings(self, boards: Sequence[Board]) -> Picture:
        """Forest plot of the boards."""
        figure = forest_plot({b.name: board_frame(b) for b in boards}, self._looks)
        best = ", ".join(f"{b.rows[0].model} leads on {b.name}" for b in boards)
        return self._keep("ratings", figure, f"Elo ratings with 95% intervals by model and set; {best}.")

    def scatter(self, pair: Agreement, boards: Mapping[str, Board]) -> Picture:
        """Ratings of one set against another."""
        figure = agreement_scatter(pair, _pair_frame(pair, boards), self._looks)
        alt = f"Scatter of the Elo ratings on {pair.b} against those on {pair.a}, n = {pair.n}."
        return self._keep(f"scatter-{pair.a}-{pair.b}", figure, alt)

    def bland_altman(self, pair: Agreement, boards: Mapping[str, Board]) -> Picture:
        """Differences of ratings against their means."""
        figure = bland_altman_plot(pair, _pair_frame(pair, boards), self._looks)
        alt = f"Bland-Altman plot: rating on {pair.a} minus rating on {pair.b} against their mean."
        return self._keep(f"bland-altman-{pair.a}-{pair.b}", figure, alt)

    def influence(self, evidence: Evidence) -> Picture:
        """The correlation of two sets without each model and each task."""
        a, b = evidence.agreement.a, evidence.agreement.b
        figure = influence_plot(evidence.models, evidence.tasks, self._looks)
        alt = f"Pearson's r of {a} and {b} without each model, and without each task."
        return self._keep(f"influence-{a}-{b}", figure, alt)

    def reliability(self, lengths: Mapping[str, Length]) -> Picture:
        """Reliability of each set with any number of tasks."""
        alt = "Reliability by number of tasks for each set, with today's number marked."
        return self._keep("reliability", reliability_plot(lengths), alt)

    def own_scale(self, board: Board) -> Picture:
        """Best-so-far curves, each run on its own scale."""
        figure = step_curves(own_scale_panels(board.results), self._looks)
        alt = "Mean best score so far by scored step, each run scaled to its own range, by set and modality."
        return self._keep("progress-own-scale", figure, alt)

    def task_scale(self, board: Board) -> Picture:
        """Best-so-far curves on the scale of each task."""
        panels = task_scale_panels(board.results, board.anchors)
        figure = step_curves(panels, self._looks, ylabel="Best so far, on the task's scale")
        alt = "Mean best score so far by scored step on each task's scale, by set and modality."
        return self._keep("progress-task-scale", figure, alt)

    def distributions(self, tasks: pd.DataFrame) -> Picture:
        """What the tasks are."""
        alt = "Number of tasks by modality, objective and metric, for each set."
        return self._keep("distributions", task_distributions(tasks, FIELDS), alt)

    def resources(self, board: Board) -> Picture:
        """Time, tokens and money of each model."""
        used = pd.DataFrame(
            {
                "model": [row.model for row in board.rows],
                "minutes": [row.hours * 60 / row.n_trials for row in board.rows],
                "tokens": [row.tokens / row.n_trials for row in board.rows],
                "cost_usd": [
                    np.nan if row.cost_usd is None else row.cost_usd / row.n_trials for row in board.rows
                ],
            }
        )
        alt = "Mean minutes, tokens and cost per trial of each model."
        return self._keep("resources", resources_plot(used, self._looks), alt)

    def heatmap(self, board: Board) -> Picture:
        """Normalised score of every model on every task."""
        trials = board.results.counted().trials
        trials["normalised"] = normalised_scores(trials, board.anchors)
        models = [row.model for row in board.rows]
        scores, valid = (
            trials.pivot_table(index="task", columns="model", values=name, aggfunc="mean")[models]
            for name in ("normalised", "valid")
        )
        figure = task_heatmap(scores, valid)
        return self._keep("tasks", figure, "Heat map of the normalised score of every model on every task.")

    def _keep(self, name: str, figure: Figure, alt: str) -> Picture:
        saved = save_figure(figure, self._folder, name)
        folder = self._folder.name
        return Picture(f"{folder}/{saved.png.name}", f"{folder}/{saved.svg.name}", alt)


def board_frame(board: Board) -> pd.DataFrame:
    """Model, Elo and interval of each row."""
    columns = ("model", "elo", "elo_low", "elo_high")
    frame = pd.DataFrame([{name: getattr(row, name) for name in columns} for row in board.rows])
    return frame.astype(dict.fromkeys(columns[1:], float))


def main_board(boards: Sequence[Board]) -> Board:
    """The board of everything: the combined one, or the only one."""
    return next((board for board in boards if board.name == COMBINED), boards[0])


def _pair_frame(pair: Agreement, boards: Mapping[str, Board]) -> pd.DataFrame:
    frames = []
    for name in (pair.a, pair.b):
        frame = board_frame(boards[name]).set_index("model")
        frame.columns = [name, f"{name} low", f"{name} high"]
        frames.append(frame)
    return pd.concat(frames, axis=1)
