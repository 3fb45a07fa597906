"""Defects put into the iris package, one at a time: what is changed, and the code that must name it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.registry import DEFECTS
from generator.verifier.thresholds.config import Thresholds
from generator.verifier.thresholds.metric import MetricLimits
from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task, raw_hash

QUICK = Thresholds(metric=MetricLimits(perturbed_shares=(0.3, 1.0), perturbations=1))

CLASSES = '["setosa", "versicolor", "virginica"]'


@dataclass(frozen=True)
class Injection:
    """One defect: ``apply`` makes it in the package at a root; the verifier must report ``code``."""

    name: str
    code: str
    apply: Callable[[Path], None]
    deep: bool = False
    severity: str = "error"


def replace(file: str, old: str, new: str, keep_data: bool = False) -> Callable[[Path], None]:
    """Change text of a file of the package; the data are to be made anew from it, unless they are kept."""

    def apply(root: Path) -> None:
        text = (root / file).read_text()
        assert old in text
        (root / file).write_text(text.replace(old, new))
        if not keep_data:
            unprepare(root)

    return apply


def append_to_prepare(code: str) -> Callable[[Path], None]:
    """Let prepare do something more at its end."""

    def apply(root: Path) -> None:
        text = (root / "prepare.py").read_text().rstrip()
        (root / "prepare.py").write_text(text + "\n" + "".join(f"    {line}\n" for line in code.splitlines()))
        unprepare(root)

    return apply


def evaluate(body: str) -> Callable[[Path], None]:
    """Let the metric's ``evaluate`` begin with other lines."""
    return replace("metric.py", "        merged =", f"        {body}\n        merged =")


def unprepare(root: Path) -> None:
    """Remove the shipped data, so that only the defect itself is wrong."""
    for name in ("public", "private"):
        shutil.rmtree(root / name)


def write_raw(change: str) -> Callable[[Path], None]:
    """Change the raw table with pandas, as ``t``, and declare its new hash."""

    def apply(root: Path) -> None:
        table = pd.read_csv(root / "raw" / "iris.csv")
        names = {"t": table, "np": np, "pd": pd}
        exec(change, names)
        old = raw_hash(root / "raw")
        names["t"].to_csv(root / "raw" / "iris.csv", index=False)
        text = (root / "task.toml").read_text()
        (root / "task.toml").write_text(text.replace(old, raw_hash(root / "raw")))
        unprepare(root)

    return apply


def remove(file: str) -> Callable[[Path], None]:
    """Delete a file of the package."""
    return lambda root: (root / file).unlink()


def remove_all_data(root: Path) -> None:
    """Delete the raw data, and what was made of them."""
    (root / "raw" / "iris.csv").unlink()
    unprepare(root)


def write(file: str, text: str) -> Callable[[Path], None]:
    """Overwrite a file of the package."""

    def apply(root: Path) -> None:
        (root / file).write_text(text)

    return apply


def add(file: str, text: str) -> Callable[[Path], None]:
    """Append text to a file of the package."""

    def apply(root: Path) -> None:
        (root / file).write_text((root / file).read_text() + text)

    return apply


SECOND_CLASS = """

class OtherMetrics(CompetitionMetrics):
    def evaluate(self, y_true, y_pred):
        return 1.0
"""

INJECTIONS = [
    Injection("metric.py is missing", "missing_file", remove("metric.py")),
    Injection("raw is empty and nothing is prepared", "missing_file", remove_all_data),
    Injection("task.toml has an unknown key", "bad_task_toml", replace("task.toml", "title", "tittle")),
    Injection("prepare.py does not parse", "syntax_error", replace("prepare.py", "def prepare", "def def")),
    Injection(
        "prepare function has another name",
        "prepare_signature",
        replace("prepare.py", "def prepare", "def make"),
    ),
    Injection(
        "prepare takes two arguments", "prepare_signature", replace("prepare.py", ", private: Path", "")
    ),
    Injection("two metric classes", "metric_class", add("metric.py", SECOND_CLASS)),
    Injection(
        "no class derives from the base",
        "metric_class",
        replace("metric.py", "(CompetitionMetrics)", "(object)"),
    ),
    Injection("sha256 of another file", "raw_hash", replace("task.toml", 'sha256 = "', 'sha256 = "0')),
    Injection(
        "participants get a network",
        "asks_for_network",
        add("task.toml", '[sandbox]\nallow_hosts = ["example.org"]\n'),
        severity="warning",
    ),
    Injection("description is blank", "description_empty", write("description.txt", " \n")),
    Injection(
        "description names no column", "description_columns", write("description.txt", "Do your best.\n")
    ),
    Injection("prepare raises", "prepare_failed", append_to_prepare("raise KeyError('petal')")),
    Injection(
        "prepare needs the network",
        "prepare_needs_network",
        append_to_prepare("import urllib.request\nurllib.request.urlopen('http://example.org', timeout=5)"),
    ),
    Injection(
        "prepare deletes raw", "prepare_alters_raw", append_to_prepare("import shutil\nshutil.rmtree(raw)")
    ),
    Injection(
        "prepare forgets the answers",
        "missing_output",
        replace("prepare.py", 'private / "test_answer.csv"', 'private / "answers.csv"'),
    ),
    Injection(
        "a public file is a link to raw",
        "linked_output",
        append_to_prepare("(public / 'all.csv').symlink_to(raw / 'iris.csv')"),
    ),
    Injection(
        "prepare shuffles unseeded", "not_deterministic", replace("prepare.py", ", random_state=7", "")
    ),
    Injection(
        "prepare follows hash order",
        "not_deterministic",
        append_to_prepare(f"(public / 'classes.txt').write_text(' '.join(set({CLASSES})))"),
    ),
    Injection(
        "shipped data come from an older prepare",
        "stale_data",
        replace("prepare.py", "random_state=7", "random_state=8", keep_data=True),
    ),
    Injection(
        "sample names the target otherwise",
        "columns_differ",
        replace("prepare.py", 'assign(species="setosa")', 'assign(kind="setosa")'),
    ),
    Injection(
        "sample lacks a test row",
        "ids_differ",
        replace("prepare.py", 'test[["flower"]]', 'test[["flower"]].iloc[1:]'),
    ),
    Injection("ids repeat", "duplicate_ids", replace("prepare.py", "{i:03d}", "{i % 40:03d}")),
    Injection(
        "target stays in test.csv",
        "target_in_test",
        replace("prepare.py", 'test.drop(columns="species")', "test"),
    ),
    Injection(
        "target stays in test.csv as codes",
        "target_copied",
        write_raw("t.insert(0, 'kind', t.species.astype('category').cat.codes * 7)"),
    ),
    Injection(
        "answers under another name",
        "answers_public",
        append_to_prepare(
            "notes = test[['flower', 'species']].rename(columns={'flower': 'nr', 'species': 'b'})\n"
            "notes.to_csv(public / 'notes.csv', index=False)"
        ),
    ),
    Injection(
        "answers as JSON",
        "answers_public",
        append_to_prepare(
            "import json\n"
            "pairs = dict(zip(test['flower'], test['species']))\n"
            "(public / 'cache.json').write_text(json.dumps(pairs))"
        ),
    ),
    Injection(
        "answers in order, without ids",
        "answers_public",
        append_to_prepare("test[['species']].to_csv(public / 'order.tsv', sep='\\t', index=False)"),
    ),
    Injection(
        "sample holds the answers",
        "sample_is_answers",
        replace("prepare.py", '.assign(species="setosa")', ".assign(species=test['species'])"),
    ),
    Injection(
        "test.csv holds other rows",
        "test_ids_differ",
        replace("prepare.py", 'test.drop(columns="species")', 'test.drop(columns="species").iloc[3:]'),
    ),
    Injection(
        "training labels are dropped",
        "nothing_to_learn",
        replace("prepare.py", "flowers.iloc[50:]", "flowers.iloc[50:].drop(columns='species')"),
    ),
    Injection(
        "a class is not in training",
        "unseen_class",
        replace("prepare.py", "flowers.iloc[50:]", "flowers.iloc[50:].query('species != \"virginica\"')"),
    ),
    Injection(
        "answers are empty",
        "missing_answers",
        replace(
            "prepare.py",
            'test[["flower", "species"]]',
            'test[["flower", "species"]].replace({"species": {"setosa": ""}})',
        ),
    ),
    Injection(
        "all answers are one class",
        "constant_target",
        replace(
            "prepare.py",
            "test = flowers.iloc[:50]",
            'flowers = flowers.sort_values("species")\n    test = flowers.iloc[:50]',
        ),
    ),
    Injection(
        "test rows stand in train too",
        "duplicates_across_split",
        replace("prepare.py", "flowers.iloc[50:]", "flowers.iloc[20:].assign(flower=range(900, 1030))"),
    ),
    Injection("metric is constant", "metric_insensitive", evaluate("return 0.5")),
    Injection(
        "metric is an error, declared as a gain",
        "metric_direction",
        replace("metric.py", ".mean()", ".mean() * -1"),
    ),
    Injection(
        "task.toml has the direction flipped",
        "direction_mismatch",
        replace("task.toml", "higher_is_better = true", "higher_is_better = false"),
    ),
    Injection(
        "declared best is out of reach", "oracle_not_best", replace("task.toml", "best = 1.0", "best = 2.0")
    ),
    Injection(
        "metric compares by position",
        "metric_positional",
        evaluate('return (y_true["species"].to_numpy() == y_pred["species"].to_numpy()).mean()'),
    ),
    Injection("metric gives NaN", "metric_not_finite", evaluate('return float("nan")')),
    Injection(
        "metric draws rows at random",
        "metric_random",
        replace("metric.py", "        return (", "        merged = merged.sample(20)\n        return ("),
    ),
    Injection("metric crashes", "metric_failed", evaluate("return 1 / 0")),
    Injection("metric refuses the sample", "valid_rejected", replace("metric.py", '{"setosa", ', "{")),
    Injection(
        "metric is not the accuracy it is named",
        "metric_formula",
        replace("metric.py", ".mean()", ".mean() ** 2"),
    ),
    Injection(
        "labels are shuffled",
        "unlearnable",
        write_raw("t['species'] = np.random.default_rng(1).permutation(t['species'])"),
        deep=True,
    ),
    Injection(
        "a rule on one column decides",
        "proxy_column",
        write_raw(
            "r = np.random.default_rng(2)\n"
            "t['species'] = r.permutation(t['species'])\n"
            "middle = t.species.map({'setosa': 0, 'versicolor': 5, 'virginica': 9})\n"
            "t.insert(0, 'x', middle + r.uniform(0, 1, len(t)))"
        ),
    ),
]


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda i: i.name)
def test_injected_defect_is_named(injection: Injection, iris: Task, sandbox: SandboxProvider) -> None:
    injection.apply(iris.root)
    result = verify_task(iris.root, sandbox, Plan(deep=injection.deep, limits=QUICK))
    found = {finding.code: finding for finding in result.findings}
    assert injection.code in found, [str(f) for f in result.findings]
    finding = found[injection.code]
    assert finding.severity == injection.severity
    assert finding.stage is DEFECTS[injection.code].gate
    assert finding.evidence and finding.fix
    assert result.verdict == ("rejected" if injection.severity == "error" else "verified")
