"""The head of a report: what was run, when and under which conditions."""

from __future__ import annotations

from dataclasses import dataclass

from harness.records import Feedback
from leaderboards.rating import Board
from leaderboards.results import Results
from reports.templating import count, duration
from reports.trials.words import budget_words

FEEDBACK = {
    Feedback.TEST: "the score on the test rows after each execution",
    Feedback.SPLIT: "the score on a part of the test rows; the rest decides",
    Feedback.NONE: "no score",
}


@dataclass(frozen=True)
class Headline:
    """Facts of a report.

    Attributes:
        figures: big numbers, as (name, value).
        conditions: (name, text).
        summary: one sentence.
        cautions: what a reader must know before reading on.
    """

    figures: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    summary: str
    cautions: tuple[str, ...]


def headline(results: Results, whole: Board) -> Headline:
    """The facts of all trials; the whole board's counted trials share feedback, budget and agent."""
    trials, record = results.trials, whole.results.counted().records[0]
    per_set = trials.groupby("set")["task"].nunique()
    first, last = trials["date"].min(), trials["date"].max()
    sandboxes = sorted(trials["sandbox"].unique())
    models = sorted(trials["model"].unique())
    left_out = sum(results.left_out().values())
    sets = ", ".join(f"{number} {name}" for name, number in per_set.items())
    cautions = []
    if "process" in sandboxes:
        cautions.append(
            "Some trials ran without isolation (sandbox “process”): their code could have read anything on "
            "the machine, the answers included."
        )
    if any(model.startswith("scripted/") for model in models):
        cautions.append(
            "The models named “scripted/…” are fixed programs, no language models: they show that the "
            "measurement works."
        )
    if left_out:
        cautions.append(
            f"{count(left_out, 'trial')} of {len(trials)} ended by a failure of the infrastructure and "
            f"{'is' if left_out == 1 else 'are'} left out of the boards."
        )
    return Headline(
        figures=(
            ("Models", str(len(models))),
            ("Tasks", str(trials["task"].nunique())),
            ("Trials", f"{len(trials):,}"),
            ("Time of all trials", duration(float(trials["hours"].sum()) * 3600)),
        ),
        conditions=(
            ("Task sets", sets),
            ("Dates (UTC)", first if first == last else f"{first} to {last}"),
            ("Agent", record.agent),
            ("Sandbox", ", ".join(sandboxes)),
            ("Feedback", f"{record.feedback.value}: {FEEDBACK[record.feedback]}"),
            ("Budget per trial", budget_words(record.budget)),
        ),
        summary=(
            f"{count(len(models), 'model')} on {count(int(per_set.sum()), 'task')} of "
            f"{count(len(per_set), 'set')}, rated by their pairwise results on each task."
        ),
        cautions=tuple(cautions),
    )
