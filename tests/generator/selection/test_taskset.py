"""The frozen set: what is written, what its hash depends on, and what a check finds."""

from __future__ import annotations

import itertools
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.selection.build import build, judge
from generator.selection.check import State, check, unfrozen
from generator.selection.comparison import MEASURES, compare_with_random
from generator.selection.items import compare
from generator.selection.pool import Options, make_pool
from generator.selection.taskset import TaskSet, read_task_set, set_hash, write_task_set
from generator.selection.toml import to_toml
from harness.errors import InputError
from leaderboards.scores import read_scores_csv
from tests.generator.selection.pools import facts, measured
from tests.generator.selection.test_discrimination import EXAMPLE, table
from tests.generator.selection.test_verdicts import roots


def frozen(folder: Path, size: int = 2, out: str = "set.toml", **options: Any) -> TaskSet:
    path = folder.parent / out
    task_set = build(judge(roots(folder)), size, path, name="two", **options)
    write_task_set(task_set, path)
    return task_set


def test_it_is_written_and_read_back_whole(verified: Path) -> None:
    task_set = frozen(verified)
    assert read_task_set(verified.parent / "set.toml") == task_set
    assert [task.task for task in task_set.tasks] == [
        "reference/titanic-survival",
        "reference/travel-mode-choice",
    ]
    assert [task.path for task in task_set.tasks] == ["tasks/titanic-survival", "tasks/travel-mode-choice"]
    assert [left.task for left in task_set.left_out] == ["reference/fuel-economy"]
    # Either would leave one step on each axis as well, so the difference in discrimination decides.
    assert "0.19 from the ladder" in task_set.left_out[0].reason
    assert "in place of reference/titanic-survival (discrimination -0.44" in task_set.left_out[0].reason
    assert "discrimination 0.77 from the ladder of baselines, rank 1 of 3" in task_set.tasks[1].reason


def test_the_hash_depends_on_the_tasks_and_on_nothing_else(verified: Path, tmp_path: Path) -> None:
    task_set = frozen(verified)
    backwards = build(judge(roots(verified)[::-1]), 2, tmp_path / "x.toml", name="other")
    assert backwards.hash == task_set.hash and backwards.tasks == task_set.tasks
    moved = Path(shutil.copytree(verified, tmp_path / "elsewhere" / "deep" / "tasks"))
    again = build(judge(roots(moved)), 2, tmp_path / "y.toml", name="moved")
    assert again.hash == task_set.hash and again.tasks[0].path == "elsewhere/deep/tasks/titanic-survival"
    assert frozen(verified, 3, "all.toml").hash != task_set.hash
    with (verified / "titanic-survival" / "description.txt").open("a") as stream:
        stream.write("More.\n")
    assert set_hash({f.key: str(f.parts) for f in judge(roots(verified))}) != set_hash({})
    changed = check(verified.parent / "set.toml")
    assert [each.state for each in changed.tasks] == [State.CHANGED, State.SAME]


@given(st.dictionaries(st.text(max_size=5), st.text(alphabet="0123456789abcdef", min_size=4), max_size=6))
def test_the_order_of_tasks_does_not_change_the_hash(hashes: dict[str, str]) -> None:
    assert set_hash(dict(reversed(hashes.items()))) == set_hash(hashes)
    for name in hashes:
        assert set_hash({**hashes, name: "other"}) != set_hash(hashes)


def test_a_check_names_what_changed_and_what_is_missing(verified: Path) -> None:
    frozen(verified, 3)
    path = verified.parent / "set.toml"
    assert check(path).ok
    (verified / "fuel-economy" / "verified.json").unlink()
    (verified / "fuel-economy" / "raw" / "note.txt").write_text("not part of what is asked")
    assert check(path).ok
    for name in ("metric.py", "private/test_answer.csv"):
        with (verified / "fuel-economy" / name).open("a") as stream:
            stream.write("\n")
    shutil.rmtree(verified / "titanic-survival")
    shutil.rmtree(verified / "travel-mode-choice" / "public")
    found = {each.task.partition("/")[2]: each for each in check(path).tasks}
    assert (found["fuel-economy"].state, found["fuel-economy"].what) == (State.CHANGED, "metric.py, private")
    assert (
        found["titanic-survival"].state is State.MISSING and "is no folder" in found["titanic-survival"].what
    )
    assert found["travel-mode-choice"].state is State.MISSING
    assert "mlesmith task prepare" in found["travel-mode-choice"].what
    with pytest.raises(
        InputError, match=r"3 of its 3 tasks are not what was frozen: reference/fuel-economy \("
    ):
        unfrozen([path])
    (verified / "fuel-economy" / "task.toml").write_text("no toml")
    assert "not valid TOML" in check(path).tasks[0].what


def test_a_frozen_set_stands_for_its_folders_and_other_files_for_themselves(verified: Path) -> None:
    frozen(verified)
    job = verified.parent / "job.toml"
    job.write_text('tasks = ["tasks"]\nmodels = ["scripted/tree"]\n')
    found = unfrozen([verified, verified.parent / "set.toml", job, Path("openai/gpt-4o")])
    names = [path.name for path in found]
    assert names == ["tasks", "titanic-survival", "travel-mode-choice", "job.toml", "gpt-4o"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("size = 2", "size = 3", "document: size is 3, but 2 tasks are listed"),
        ('hash = "', 'hash = "z', "hash: String should match"),
        ("schema_version = 1", "schema_version = 9", "schema_version is 9; this version reads 1"),
        ('name = "two"', "", "name: required key is missing"),
        ("size = 2", "size = 2\nsort = 1", "sort: unknown key"),
        (
            '"metric.py" = "',
            '"metric.py" = "0',
            "hash of reference/titanic-survival is not that of its files",
        ),
        ('task = "reference/titanic', 'task = "reference/other', "it is not that of the listed tasks"),
        ("size = 2", "size = ", "not valid TOML"),
    ],
)
def test_an_edited_file_is_refused_by_name_and_key(verified: Path, old: str, new: str, told: str) -> None:
    frozen(verified)
    path = verified.parent / "set.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as error:
        check(path)
    assert str(error.value).startswith(f"{path}: ") and told in str(error.value)


def test_a_set_beside_random_ones(verified: Path) -> None:
    """With all pairs of three tasks equally likely, the means over random sets are those over the pairs."""
    task_set = frozen(verified)
    values = {task.task: task.discrimination for task in frozen(verified, 3, "all.toml").tasks}
    pairs = [sum(pair) / 2 for pair in itertools.combinations(values.values(), 2)]
    quality = task_set.quality["discrimination"]
    assert quality.chosen == pytest.approx(max(pairs))
    assert quality.random == pytest.approx(sum(pairs) / 3, abs=0.02)
    assert (quality.random_low, quality.random_high) == pytest.approx((min(pairs), max(pairs)), abs=1e-4)
    assert task_set.quality["kinds"].chosen == 2.0 and "elo_se" not in task_set.quality


def test_scores_give_errors_of_elo_which_fall_with_the_number_of_tasks() -> None:
    scores = read_scores_csv(EXAMPLE)
    told = [facts(key) for key in sorted(set(scores["task"]))]
    found = measured(*[0.5] * len(told), keys=[each.key for each in told])
    errors = []
    for size in (4, 8):
        pool = make_pool(told, found, size, Options())
        measures = compare_with_random(pool, pool.candidates[:size], compare(scores))
        assert set(measures) == set(MEASURES)
        assert measures["elo_se"].low <= measures["elo_se"].mean <= measures["elo_se"].high
        errors.append(measures["elo_se"].mean)
    assert errors[1] < errors[0]


def test_scores_of_other_tasks_are_refused(verified: Path, tmp_path: Path) -> None:
    scores = table({f"other/{i}": [1.0, 2, 3] for i in range(4)})
    with pytest.raises(InputError, match=r"the scores are of other/0, other/1, other/2 and 1 more, and none"):
        build(judge(roots(verified)), 1, tmp_path / "x.toml", name="x", scores=scores)


def test_scores_decide_where_there_are_some(verified: Path, tmp_path: Path) -> None:
    """Models agree on two of the tasks; on the third, which has the best ladder, all of them tie."""
    ranks = [1.0, 2.0, 3.0, 4.0]
    scores = table({"fuel-economy": ranks, "reference/titanic-survival": ranks, "other": ranks})
    scores["score"] = -scores["score"]
    tied = table({"travel-mode-choice": [1.0] * 4})
    task_set = build(
        judge(roots(verified)), 2, tmp_path / "x.toml", name="x", scores=pd.concat([scores, tied])
    )
    assert [task.task for task in task_set.tasks] == ["reference/fuel-economy", "reference/titanic-survival"]
    assert {task.measured for task in task_set.tasks} == {"scores"}
    assert "all 4 models tie" in task_set.left_out[0].reason
    assert task_set.options["scores"] == "4 models on 4 tasks"


_TEXT = st.characters(exclude_categories=["Cs"])
_NUMBERS = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False))
_PLAIN = st.one_of(st.booleans(), _NUMBERS, st.text(alphabet=_TEXT))
_KEYS = st.text(alphabet=_TEXT, max_size=6)
_TABLES = st.dictionaries(
    _KEYS, st.one_of(_PLAIN, st.lists(_PLAIN, max_size=3), st.dictionaries(_KEYS, _PLAIN))
)


@given(st.dictionaries(_KEYS, st.one_of(_PLAIN, _TABLES, st.lists(_TABLES, min_size=1, max_size=3))))
def test_toml_is_read_back_as_it_was(document: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(document)) == document


def test_toml_has_no_word_for_nan_or_none() -> None:
    with pytest.raises(ValueError, match="nan"):
        to_toml({"a": float("nan")})
    with pytest.raises(TypeError, match="NoneType"):
        to_toml({"a": None})
