"""Best-so-far curves of jobs, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.records import JobPaths, write_atomically, write_record
from leaderboards.normalised import Anchors, anchors_of
from leaderboards.results import Results, load_results
from reports.progress import own_scale_panels, step_scores, task_scale_panels
from tests.reports.jobs import sample_trial


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Model m on two tasks; the first step of each trial only asks for information."""
    paths = JobPaths(tmp_path)
    write_atomically(paths.config, '{"schema_version": 1}\n')
    for record in (
        sample_trial("reference", "t1", "m", [None, 0.2, 0.1, None, 0.6]),
        sample_trial("reference", "t2", "m", [None, None, 0.5], modality="text"),
        sample_trial("reference", "t1", "n", [None, 0.4]),
    ):
        write_record(paths.trial("reference", record.task, record.model, 1).result, record)
    return load_results([tmp_path])


def test_information_steps_are_left_out(results: Results) -> None:
    first = results.records[0]
    assert step_scores(first.steps) == pytest.approx([0.2, 0.1, float("nan"), 0.6], nan_ok=True)


def test_own_scale_is_a3(results: Results) -> None:
    panels = own_scale_panels(results)
    assert list(panels) == ["all tasks", "modality: tabular", "modality: text"]
    # t1: (0.2, 0.1, -, 0.6) scaled to (0.2, 0, -, 1), best so far 0.2, 0.2, 0.2, 1, 1, ...
    assert panels["modality: tabular"]["m"] == pytest.approx([0.2, 0.2, 0.2] + [1.0] * 7)
    # t2: (-, 0.5): constant, so 0 before and 1 from then on.
    assert panels["modality: text"]["m"] == pytest.approx([0.0] + [1.0] * 9)
    assert panels["all tasks"]["m"] == pytest.approx([0.1, 0.6, 0.6] + [1.0] * 7)
    assert panels["all tasks"]["n"] == pytest.approx([1.0] * 10)


def test_task_scale_compares_levels(results: Results) -> None:
    anchors = anchors_of(results.trials)
    # The worst valid result on t1 is n's 0.4; accuracy ends at 1.
    assert anchors["reference/t1"] == Anchors(0.4, 1.0)
    panels = task_scale_panels(results, anchors)
    # m: 0.2 and 0.1 are below the floor (0), 0.6 is (0.6 - 0.4) / 0.6.
    assert panels["modality: tabular"]["m"] == pytest.approx([0.0] * 3 + [1 / 3] * 7)
    assert panels["modality: tabular"]["n"] == pytest.approx([0.0] * 10)
