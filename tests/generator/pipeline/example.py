"""A generation made up for tests, small enough to count by hand.

Dataset ``a`` gives two tasks, ``b`` one, ``c`` none so far as the machine stopped the work on ``c-2``, and of
``d`` even the brainstorming was stopped. ``a-old`` is of an earlier run. The reviewer of ``a-1`` is unpriced.
"""

from __future__ import annotations

from pathlib import Path

from generator.ledger import Attempt, attempts_csv
from generator.pipeline.funnel import Funnel, Passage, Stage
from harness.models.base import Usage

PASSAGES = (
    Passage("a", "a-1", Stage.VERIFIED, "", "", 195, "tabular", "classification", "auc"),
    Passage("a", "a-2", Stage.VERIFIED, "", "", 270, "tabular", "regression", "rmse"),
    Passage("a", "a-3", Stage.REFACTORED, "trivial", "too easy", 140, "tabular", "classification", "auc"),
    Passage("b", "b-1", Stage.VERIFIED, "", "", 170, "image", "classification", "auc"),
    Passage("b", "b-x", Stage.CONSIDERED, "unlearnable", "features hardly help", 0, "", "regression", ""),
    Passage("c", "c-1", Stage.DESIGNED, "prepare_failed", "KeyError", 170, "text", "classification", "f1"),
    Passage("c", "c-2", Stage.REFACTORED, "machine", "sandbox lost", 100, "text", "regression", "rmse"),
)
FUNNEL = Funnel(PASSAGES)


def attempt(
    task: str,
    agent: str,
    number: int,
    outcome: str,
    seconds: float,
    steps: int = 0,
    cost: float | None = 0.0,
    reason: str = "",
) -> Attempt:
    """One attempt; every step of an agent is a call of 100 tokens in and 10 out."""
    name = "" if agent == "brainstormer" else task
    return Attempt(
        dataset=task[0], task=name, agent=agent, number=number, outcome=outcome, seconds=seconds, steps=steps,
        calls=steps, usage=Usage(input=100 * steps, output=10 * steps), cost_usd=cost, reason=reason,
        model="some/model" if steps else "",
    )  # fmt: skip


ATTEMPTS = (
    attempt("a-old", "designer", 1, "done", 30, 5, 0.05),
    attempt("a", "brainstormer", 1, "done", 10, 4, 0.10),
    attempt("a-1", "designer", 1, "done", 100, 12, 0.20),
    attempt("a-1", "refactor", 1, "done", 50, 15, 0.10),
    attempt("a-1", "reviewer", 1, "done", 5, 0, None),
    attempt("a-1", "verifier", 1, "verified", 40),
    attempt("a-2", "designer", 1, "gave_up", 60, 20, 0.30, "all 20 steps\nare used"),
    attempt("a-2", "designer", 2, "done", 80, 14, 0.20),
    attempt("a-2", "refactor", 1, "done", 50, 16, 0.10),
    attempt("a-2", "verifier", 1, "rejected", 30),
    attempt("a-2", "refactor", 2, "done", 20, 18, 0.05),
    attempt("a-2", "verifier", 2, "verified", 30),
    attempt("a-3", "designer", 1, "done", 70, 10, 0.15),
    attempt("a-3", "refactor", 1, "done", 40, 22, 0.10),
    attempt("a-3", "verifier", 1, "rejected", 30),
    attempt("b", "brainstormer", 1, "done", 20, 6, 0.10),
    attempt("b-1", "designer", 1, "machine", 5, 2, 0.02),
    attempt("b-1", "designer", 1, "done", 90, 16, 0.25),
    attempt("b-1", "refactor", 1, "done", 30, 15, 0.10),
    attempt("b-1", "verifier", 1, "verified", 50),
    attempt("c", "brainstormer", 1, "done", 10, 5, 0.10),
    attempt("c-1", "designer", 1, "done", 50, 8, 0.10),
    attempt("c-1", "refactor", 1, "gave_up", 40, 25, 0.10),
    attempt("c-1", "refactor", 2, "gave_up", 40, 25, 0.10),
    attempt("c-1", "refactor", 3, "gave_up", 40, 25, 0.10),
    attempt("c-2", "designer", 1, "done", 60, 9, 0.10),
    attempt("c-2", "refactor", 1, "done", 30, 15, 0.10),
    attempt("c-2", "verifier", 1, "error", 10),
    attempt("d", "brainstormer", 1, "machine", 1),
)


def write(folder: Path, funnel: Funnel = FUNNEL, attempts: tuple[Attempt, ...] = ATTEMPTS) -> Path:
    """A folder as a generation leaves it, without the packages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "funnel.csv").write_text(funnel.as_csv(), encoding="utf-8")
    (folder / "attempts.csv").write_text(attempts_csv(attempts), encoding="utf-8")
    return folder
