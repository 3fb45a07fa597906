"""Where a score stands among the rows of a task's leaderboards (MLE-Dojo's HumanRank)."""

from __future__ import annotations

import pandas as pd

from harness.errors import TaskError
from harness.tasks.package import Task

BOARDS = ("public_leaderboard.csv", "private_leaderboard.csv")


def position_score(task: Task, score: float) -> float | None:
    """Mean over the boards present of ``(N - position + 1) / N``; ``None`` without boards.

    ``position`` is 1 + the number of the board's N rows that are strictly better, so ties take the best
    position and a score below all rows gets 0.

    Raises:
        TaskError: a board has no numeric column ``score``.
    """
    values = []
    for name in BOARDS:
        path = task.private / name
        if not path.is_file():
            continue
        try:
            board = pd.read_csv(path)["score"].astype(float).dropna()
        except (KeyError, ValueError) as error:
            raise TaskError(f"{path}: needs a numeric column 'score' ({error})") from error
        if board.empty:
            continue
        better = (board > score) if task.spec.metric.higher_is_better else (board < score)
        values.append((len(board) - int(better.sum())) / len(board))
    return sum(values) / len(values) if values else None
