"""Licences, packages without raw data, and packages that repeat others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from generator.defects.base import Severity
from generator.verifier.structure.gate import check
from generator.verifier.structure.repeats import repeated
from harness.tasks.package import Task


def codes(root: Path) -> dict[str, Severity]:
    return {finding.code: finding.severity for finding in check(root)}


@pytest.mark.parametrize(
    "licence", ["CC0-1.0", "CC BY-SA 4.0", "ODbL-1.0", "MIT", "Apache 2.0", "GPL-3.0-only", "Public domain"]
)
def test_known_licences_are_passed(licence: str, iris: Task) -> None:
    state_licence(iris, licence)
    assert codes(iris.root) == {}


@pytest.mark.parametrize(
    ("licence", "words"),
    [
        ("", "names none"),
        ("unknown", "names none"),
        ("The Flower Book", "none of the licences we know"),
        ("CC BY-NC 4.0", "forbids commercial use"),
        ("CC-BY-ND-4.0", "forbids changed versions"),
        ("rules of the competition", "rules of a competition"),
    ],
)
def test_unclear_licences_are_warnings(licence: str, words: str, iris: Task) -> None:
    state_licence(iris, licence)
    [finding] = check(iris.root)
    assert (finding.code, finding.severity) == ("licence_unclear", Severity.WARNING)
    assert words in finding.evidence


def state_licence(task: Task, licence: str) -> None:
    path = task.root / "task.toml"
    path.write_text(path.read_text().replace('licence = "BSD-3-Clause"', f'licence = "{licence}"'))


def test_a_package_without_raw_data_is_worth_a_warning(iris: Task) -> None:
    """A stub of prepare.py, as many imported packages have, is no error then."""
    shutil.rmtree(iris.raw)
    iris.prepare_path.write_text("# to be written\n")
    assert codes(iris.root) == {"raw_missing": Severity.WARNING, "prepare_signature": Severity.WARNING}
    shutil.rmtree(iris.private)
    assert codes(iris.root)["missing_file"] is Severity.ERROR


def copied(task: Task, name: str) -> Path:
    """The same package under another id and title."""
    root = Path(shutil.copytree(task.root, task.root.parent / name))
    text = (root / "task.toml").read_text().replace('id = "iris"', f'id = "{name}"')
    (root / "task.toml").write_text(text.replace("Name the iris", "Flowers"))
    return root


def test_a_copy_under_other_names_is_found(iris: Task) -> None:
    """Other id, title, ids, order of rows and target name; once without raw data."""
    copy = copied(iris, "flowers")
    for path in (copy / "public" / "test.csv", copy / "private" / "test_answer.csv"):
        table = pd.read_csv(path, dtype=str)
        table = table.rename(columns={"species": "kind"}).assign(flower="f" + table["flower"])
        table.sample(frac=1, random_state=5).to_csv(path, index=False)
    text = (copy / "task.toml").read_text()
    (copy / "task.toml").write_text(text.replace('["species"]', '["kind"]'))
    findings = repeated([iris.root, copy])
    assert list(findings) == [copy]
    assert findings[copy].code == "duplicate_task"
    assert findings[copy].evidence == "flowers and iris have the same raw data, answers and metric"
    shutil.rmtree(copy / "raw")
    assert "same test rows" in repeated([iris.root, copy])[copy].evidence


def test_another_target_or_metric_is_another_task(iris: Task, tmp_path: Path) -> None:
    copy = copied(iris, "flowers")
    text = (copy / "task.toml").read_text()
    (copy / "task.toml").write_text(text.replace('name = "accuracy"', 'name = "log_loss"'))
    assert repeated([iris.root, copy, tmp_path / "nowhere"]) == {}
