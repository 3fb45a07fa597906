"""The report of a verification: every finding and plot is there, and text from a task stays text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image

from generator.defects.registry import finding
from generator.verifier.verification import Verdict, Verification
from reports.verification.pages import write_verification

EXHIBITS = {
    "split": {
        "kind": "group",
        "reason": "<b>by owner</b>",
        "train_rows": 1200,
        "test_rows": 300,
        "sampled": False,
    },
    "targets": [
        {"column": "breed", "kind": "class", "labels": ["a", "b"], "train": [0.6, 0.4], "test": [0.5, 0.5]},
        {"column": "age", "kind": "number", "edges": [0, 1, 2], "train": [0.2, 0.8], "test": [0.3, 0.7]},
    ],
    "probes": [{"column": "weight", "target": "breed", "what": "value", "gain": 0.99, "z": 40.0}],
    "metric": [{"share": 0.0, "scores": [1.0]}, {"share": 1.0, "scores": [0.5, 0.6]}],
    "floors": [{"name": "constant", "score": 0.5}],
    "ladder": [{"name": "tree", "score": 0.7, "gain": 0.4, "low": 0.3, "high": 0.5}],
}


@pytest.fixture
def results() -> list[Verification]:
    findings = (
        finding("proxy_column", "column <script>alert(1)</script> decides breed", "drop it"),
        finding("few_test_rows", "12 test rows", "hold out more rows"),
    )
    rejected = Verification(
        "dogs", Verdict.REJECTED, findings, {"oracle": 1.0}, 3.25, None, {"data": 1.0}, EXHIBITS
    )
    clean = Verification("dogs", Verdict.VERIFIED, (), {}, 1.0)
    lost = Verification("cats", Verdict.ERROR, (), {}, 1.0, "SandboxLost: gone")
    return [rejected, clean, lost]


def test_report_shows_findings_and_plots(results: list[Verification], tmp_path: Path) -> None:
    index = write_verification(results, tmp_path / "report")
    text = index.read_text()
    assert "1 verified" in text and "1 rejected" in text and "SandboxLost: gone" in text
    # Two packages of one name keep a page each.
    links = re.findall(r'href="(task-[^"]+\.html)"', text)
    assert links == ["task-dogs.html", "task-dogs-2.html", "task-cats.html"]
    page = (tmp_path / "report" / "task-dogs.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;by owner&lt;/b&gt;" in page and "1,200" in page
    for code, fix in (("proxy_column", "drop it"), ("few_test_rows", "hold out more rows")):
        assert code in page and fix in page
    pictures = re.findall(r'src="(figures/[^"]+)"', page)
    assert len(pictures) == 4
    for name in pictures:
        with Image.open((index.parent / name).with_suffix(".png")) as image:
            assert len(set(image.convert("L").resize((64, 64)).tobytes())) > 2, name
    document = json.loads((tmp_path / "report" / "verification.json").read_text())
    assert [task["verdict"] for task in document["tasks"]] == ["rejected", "verified", "error"]
    assert document["tasks"][0]["exhibits"] == EXHIBITS


def test_a_target_without_training_values_is_drawn(tmp_path: Path) -> None:
    """Pairs that nobody has judged yet, or labels in files that were not read."""
    targets = [{"column": "match", "kind": "class", "labels": ["0", "1"], "train": [], "test": [0.9, 0.1]}]
    result = Verification("pairs", Verdict.VERIFIED, (), {}, 1.0, exhibits={"targets": targets})
    index = write_verification([result], tmp_path)
    assert (index.parent / "figures" / "task-pairs-targets.svg").is_file()


def test_a_report_is_replaced_and_the_same_twice(results: list[Verification], tmp_path: Path) -> None:
    first = write_verification(results, tmp_path / "report")
    before = {path: path.read_bytes() for path in first.parent.rglob("*") if path.is_file()}
    write_verification(results, tmp_path / "report")
    assert {path: path.read_bytes() for path in first.parent.rglob("*") if path.is_file()} == before
