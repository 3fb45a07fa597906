"""Durable files: strict, versioned, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.budget import Budget
from harness.errors import InputError, Status
from harness.models.base import Usage
from harness.records import (
    Feedback,
    JobPaths,
    StepRecord,
    Timings,
    TrialResult,
    find_results,
    read_job,
    read_record,
    strict_json,
    write_atomically,
    write_record,
)
from harness.resources import Contact, LeasedGpu, Resources

RESULT = TrialResult(
    task_set="reference", task="iris", task_hash="0" * 64, modality="tabular", objective="classification",
    metric="accuracy", higher_is_better=True, metric_best=1.0, model="openai/a", agent="react", attempt=1,
    feedback=Feedback.TEST, budget=Budget.model_validate({}), sandbox="bubblewrap", spec_hash="abc",
    status=Status.SUBMITTED, valid=True, score=0.5, score_step=1, last_score=0.5, best_score=0.5,
    position_score=None,
    steps=(StepRecord(step=1, action="submit", ok=True, seconds=0.1, model_seconds=0.2),),
    usage=Usage(input=1), cost_usd=None, timings=Timings(total=1, model=0.2, execution=0.1, grading=0),
    started="2026-01-01", finished="2026-01-01",
)  # fmt: skip


RESOURCES = Resources(
    image="mlesmith/agent:gpu", image_digest="sha256:1", gpus=(LeasedGpu(id="GPU-a", name="NVIDIA H200"),),
    allow_hosts=("a.example.org",), memory_gb=8.0, disk_gb=4.0, processes=256, cpus=1, warm=True,
    gaps=("cpus: not at all",), egress=(Contact(host="a.example.org", port=443, allowed=True, count=2),),
)  # fmt: skip


@pytest.mark.parametrize("resources", [None, RESOURCES])
def test_a_record_comes_back_as_it_was(tmp_path: Path, resources: Resources | None) -> None:
    record = RESULT.model_copy(update={"resources": resources})
    write_record(tmp_path / "a" / "result.json", record)
    assert read_record(TrialResult, tmp_path / "a" / "result.json") == record
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["result.json"]


def test_a_record_older_than_some_of_its_fields_is_read(tmp_path: Path) -> None:
    old = RESULT.model_dump(mode="json")
    for name in ("resources", "settings", "model_version", "priced_as", "calls", "faults", "profile"):
        del old[name]
    for name in ("working_seconds", "input_tokens", "output_tokens"):
        del old["budget"][name]
    for name in ("waiting", "working"):
        del old["timings"][name]
    del old["steps"][0]["waited_seconds"]
    (tmp_path / "result.json").write_text(json.dumps(old))
    assert read_record(TrialResult, tmp_path / "result.json") == RESULT


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "schema_version 2 is unknown; this version reads 1"),
        ({"schema_version": None}, "schema_version None is unknown"),
        ({"status": "fine"}, "status: "),
        ({"score": "high"}, "score: "),
        ({"colour": "red"}, "colour: unknown key"),
        ({"resources": {"memory_gb": 1}}, "resources.cpus: required key is missing"),
        ({"steps": [{"step": 1}]}, "steps.0.action: required key is missing"),
    ],
)
def test_what_is_wrong_with_a_record_names_file_and_field(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(RESULT.model_dump(mode="json") | change))
    with pytest.raises(InputError) as caught:
        read_record(TrialResult, path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"), [(b"{", "not valid JSON"), (b"\xff", "not valid JSON"), (b"[]", "None is unknown")]
)
def test_what_is_no_record_is_named(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "result.json"
    with pytest.raises(InputError, match="not found"):
        read_record(TrialResult, path)
    path.write_bytes(data)
    with pytest.raises(InputError, match=said):
        read_record(TrialResult, path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_that_json_has_not_is_written(tmp_path: Path, number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        strict_json({"score": number})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_record(tmp_path / "result.json", RESULT.model_copy(update={"score": number}))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_text_and_leaves_no_scraps(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_jobs_are_read_in_a_stable_order_and_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a job folder"):
        read_job(tmp_path)
    paths = JobPaths(tmp_path)
    paths.config.write_text("{}")
    assert read_job(tmp_path) == []
    for model in ("openai/b", "openai/a"):
        trial = paths.trial("reference", "iris", model, 1)
        write_record(trial.result, RESULT.model_copy(update={"model": model}))
        trial.step(1).mkdir(parents=True)
    assert [result.model for result in read_job(tmp_path)] == ["openai/a", "openai/b"]
    assert [path.parts[-3] for path in find_results(tmp_path)] == ["openai--a", "openai--b"]


def test_only_results_about_the_candidate_count() -> None:
    for status in Status:
        infrastructure = status in ("sandbox_lost", "provider_error", "cancelled", "internal_error")
        assert RESULT.model_copy(update={"status": status}).counts is not infrastructure
