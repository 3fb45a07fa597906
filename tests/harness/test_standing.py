"""HumanRank: 1 + rows strictly better; (N - position + 1) / N; the mean over boards."""

from __future__ import annotations

import pytest

from harness.errors import TaskError
from harness.tasks.package import Task
from harness.tasks.standing import position_score


def board(task: Task, name: str, *scores: float) -> None:
    text = "rank,score\n" + "".join(f"{rank},{score}\n" for rank, score in enumerate(scores, 1))
    (task.private / f"{name}_leaderboard.csv").write_text(text)


def lower_is_better(task: Task) -> Task:
    metric = task.spec.metric.model_copy(update={"higher_is_better": False})
    return Task(task.root, task.spec.model_copy(update={"metric": metric}))


def test_without_boards_there_is_none(iris: Task) -> None:
    assert position_score(iris, 1.0) is None


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (1.0, 1.0),  # above all: position 1 of 5
        (0.9, 1.0),  # a tie with the first
        (0.7, 0.6),  # a tie with the third: position 3, (5 - 3 + 1) / 5
        (0.75, 0.6),  # between the second and the third
        (0.1, 0.0),  # below all: position 6
    ],
)
def test_positions_by_hand(iris: Task, score: float, expected: float) -> None:
    board(iris, "public", 0.9, 0.8, 0.7, 0.6, 0.5)
    assert position_score(iris, score) == pytest.approx(expected)


def test_lower_is_better_turns_the_order(iris: Task) -> None:
    board(iris, "public", 1.0, 2.0, 3.0, 4.0)
    task = lower_is_better(iris)
    assert position_score(task, 0.5) == 1.0
    assert position_score(task, 3.0) == 0.5  # position 3 of 4: (4 - 3 + 1) / 4
    assert position_score(task, 9.0) == 0.0


def test_the_mean_over_two_boards(iris: Task) -> None:
    board(iris, "public", 0.9, 0.5)
    board(iris, "private", 0.9, 0.8, 0.7, 0.2)
    # Of 0.6: position 2 of 2 gives 1/2, position 4 of 4 gives 1/4; their mean is 3/8.
    assert position_score(iris, 0.6) == pytest.approx(0.375)


def test_a_board_without_rows_says_nothing(iris: Task) -> None:
    board(iris, "public")
    assert position_score(iris, 0.6) is None


@pytest.mark.parametrize("text", ["rank,points\n1,3\n", "rank,score\n1,first\n", ""])
def test_a_board_that_cannot_be_read_names_its_file(iris: Task, text: str) -> None:
    path = iris.private / "public_leaderboard.csv"
    path.write_text(text)
    with pytest.raises(TaskError, match=r"public_leaderboard\.csv: needs a numeric column 'score'"):
        position_score(iris, 0.5)
