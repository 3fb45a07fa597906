"""Reading trials of several jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.errors import InputError, Status
from leaderboards.results import load_results
from tests.leaderboards.trials import trial, write_job

A, B = "scripted/a", "openai/b"


def test_one_row_per_trial_with_clean_types(tmp_path: Path) -> None:
    job = write_job(
        tmp_path / "job",
        trial("t", A, 1.5),
        trial("t", A, None, attempt=2),
        trial("t", B, 2.5, modality="text"),
        trial("u", B, None, status=Status.SANDBOX_LOST),
    )
    results = load_results([job])
    frame = results.trials
    assert frame[["task", "model", "attempt"]].to_numpy().tolist() == [
        ["reference/t", B, 1], ["reference/t", A, 1], ["reference/t", A, 2], ["reference/u", B, 1],
    ]  # fmt: skip
    np.testing.assert_array_equal(frame["score"], [2.5, 1.5, np.nan, np.nan])
    typed = {"score": "float64", "position_score": "float64", "attempt": "int64", "valid": "bool"}
    assert {column: str(frame[column].dtype) for column in typed} == typed
    assert frame["tokens"].tolist() == [1100] * 4 and frame["hours"].tolist() == [0.5] * 4
    assert results.left_out() == {"sandbox_lost": 1}
    scores = results.scores_frame()
    assert list(scores.columns) == ["task", "model", "attempt", "score", "valid", "higher_is_better"]
    assert len(scores) == 3 and scores.index.tolist() == [0, 1, 2]
    assert len(results.select(modality="text").sources) == 1
    assert len(results.select(task_set="smith").sources) == 0
    assert results.select(task_set="smith").scores_frame().empty


def test_identical_trials_of_two_jobs_count_once(tmp_path: Path) -> None:
    jobs = [write_job(tmp_path / name, trial("t", A, 1.0)) for name in ("one", "two")]
    assert len(load_results(jobs).sources) == 1


def test_different_trials_with_one_identity_are_refused_by_name(tmp_path: Path) -> None:
    one = write_job(tmp_path / "one", trial("t", A, 1.0))
    two = write_job(tmp_path / "two", trial("t", A, 2.0))
    with pytest.raises(InputError) as caught:
        load_results([one, two])
    message = str(caught.value)
    assert "another result of attempt 1 of scripted/a on reference/t" in message
    for job in ("one", "two"):
        assert f"{job}/trials/reference/t/scripted--a/1/result.json" in message


def test_the_same_task_in_two_sets_is_no_duplicate(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", trial("t", A, 1.0), trial("t", A, 2.0, task_set="smith"))
    assert load_results([job]).task_sets == ("reference", "smith")


def test_no_job_no_trials_and_bad_records(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a job folder"):
        load_results([tmp_path])
    with pytest.raises(InputError, match="no finished trial"):
        load_results([write_job(tmp_path / "empty")])
    with pytest.raises(InputError, match="no job: no finished trial"):
        load_results([])
    job = write_job(tmp_path / "dates", trial("t", A, 1.0, finished="yesterday"))
    with pytest.raises(InputError, match=r"result\.json: finished: 'yesterday' is not an ISO 8601 time"):
        load_results([job])
    job = write_job(tmp_path / "starts", trial("t", A, 1.0, started=""))
    with pytest.raises(InputError, match=r"result\.json: started: '' is not an ISO 8601 time"):
        load_results([job])
