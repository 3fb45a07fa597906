"""What the verifier finds in packages of the rules, mended by the rules and verified again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.backend import GaveUp
from generator.datasets.catalogue import DatasetCard, load_card
from generator.defects.base import Finding, Gate, Severity, has_errors
from generator.defects.registry import finding
from generator.profile import Profile, profile_dataset
from generator.proposals import Proposal, SplitChoice
from generator.rules.design import design
from generator.rules.propose import propose
from generator.rules.repair import named_columns, revise
from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.base import SandboxProvider

RANDOM = SplitChoice(kind="random", reason="independent rows")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Readings of 60 machines, ten of each; wear depends on the machine and on two of the readings."""
    folder = tmp_path_factory.mktemp("machines")
    rng = np.random.default_rng(3)
    own = np.repeat(rng.normal(size=60), 10)
    load, heat = rng.normal(size=(2, 600))
    wear = own + load + 0.5 * heat + rng.normal(scale=0.3, size=600)
    table = pd.DataFrame({
        "machine": [f"M{number:02d}" for number in np.repeat(np.arange(60), 10)],
        "load": load, "heat": heat, "noise": rng.normal(size=600),
        "scrapped": 3 * wear + 1 + rng.normal(scale=0.05, size=600),
        "wear": wear,
    }).round(4)  # fmt: skip
    table.sample(frac=1, random_state=1).to_csv(folder / "readings.csv", index=False)
    return folder


def proposed(folder: Path) -> tuple[DatasetCard, Profile, Proposal]:
    card, profile = load_card(folder), profile_dataset(folder)
    proposals = propose(folder, card, profile).proposals
    return card, profile, next(each for each in proposals if each.targets == ("wear",))


def mended(
    broken: Proposal, folder: Path, home: Path, sandbox: SandboxProvider, expected: set[str]
) -> tuple[Proposal, list[str]]:
    """The proposal after one round of verification and repair, and the errors that are left in it."""
    card, profile, _ = proposed(folder)
    findings: tuple[Finding, ...] = ()
    proposal = broken
    for number in range(2):
        if findings:
            proposal = revise(proposal, findings, profile.tables[0])
        root = home / str(number) / proposal.id
        design(proposal, folder, card, profile, root, sandbox)
        findings = verify_task(root, sandbox, Plan(last=Gate.DATA)).findings
        errors = [found.code for found in findings if found.severity is Severity.ERROR]
        if number == 0:
            assert expected & set(errors)
    return proposal, errors


def test_a_column_that_gives_the_target_away_is_taken_out(
    machines: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    _, _, sound = proposed(machines)
    assert "scrapped" not in sound.features, "the rules see it themselves"
    broken = sound.model_copy(update={"features": (*sound.features, "scrapped")})
    proposal, errors = mended(broken, machines, tmp_path, sandbox, {"proxy_column", "target_copied"})
    assert not errors
    assert proposal.features == sound.features and "scrapped" in dict(proposal.ignored)


def test_rows_of_one_group_are_put_on_one_side(
    machines: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    _, _, sound = proposed(machines)
    assert sound.split.columns == ("machine",), "the rules see it themselves"
    proposal, errors = mended(
        sound.model_copy(update={"split": RANDOM}), machines, tmp_path, sandbox, {"group_leak"}
    )
    assert not errors
    assert proposal.split.kind == "group" and proposal.split.columns == ("machine",)


def test_what_no_rule_mends_is_given_up_with_its_reason(machines: Path) -> None:
    _, profile, sound = proposed(machines)
    fault = finding("metric_random", "one submission scores 0.82 and 0.81", "draw nothing at random")
    with pytest.raises(GaveUp, match="metric_random"):
        revise(sound, [fault], profile.tables[0])
    # A column that nobody has is not guessed at, though its name is near that of one.
    fault = finding("proxy_column", "loads alone gives wear: a tree on it", "drop loads if it is late")
    with pytest.raises(GaveUp, match="proxy_column"):
        revise(sound, [fault], profile.tables[0])
    assert has_errors([fault])


def test_an_error_beside_one_that_is_mended_is_not_passed_over(machines: Path) -> None:
    _, profile, sound = proposed(machines)
    faults = [
        finding("proxy_column", "heat alone gives wear: a tree on it reaches 0.99", "drop heat"),
        finding("metric_mutates", "evaluate changes the answers in place", "work on a copy"),
    ]
    with pytest.raises(GaveUp, match="metric_mutates"):
        revise(sound, faults, profile.tables[0])


@pytest.mark.parametrize(
    ("code", "evidence", "fix", "expected"),
    [
        ("proxy_column", "sale price alone gives sold: a tree on it reaches 0.99", "", ["sale price"]),
        ("proxy_column", "price alone gives sold: a tree on it reaches 0.99", "", ["price"]),
        ("target_copied", "column index of test.csv is sold itself: equal values", "", ["index"]),
        ("missingness_leak", "which cells are empty tells sold: 0.8; price alone 0.84", "", ["price"]),
        ("group_leak", "98% of the test rows share index with training rows, and such rows", "", ["index"]),
        ("group_leak", "98% of the test rows share the folder of index with training rows", "", []),
        ("time_leak", "100% of the rows are not later than the last training row by index", "", ["index"]),
        ("time_leak", "100% of the test rows are not later than the last training row by index2", "", []),
        ("proxy_column", "a tree alone gives sold", "drop a if it is known only after sold", ["a"]),
    ],
)  # fmt: skip
def test_columns_are_read_where_the_gates_name_them(
    code: str, evidence: str, fix: str, expected: list[str]
) -> None:
    assert named_columns(finding(code, evidence, fix), ["price", "sale price", "index", "a"]) == expected


def test_rare_classes_uneven_metrics_and_small_test_sets_are_mended_beside_errors(machines: Path) -> None:
    _, profile, sound = proposed(machines)
    leak = finding("proxy_column", "heat alone gives wear: a tree on it reaches 0.99", "drop heat")
    coarse = finding("coarse_metric", "25 submissions get 2 different scores", "hold out more rows")
    uneven = finding("imbalanced_accuracy", "predicting it everywhere scores 0.965", "use macro F1")
    better = revise(
        sound.model_copy(update={"metric": "accuracy"}), [leak, coarse, uneven], profile.tables[0]
    )
    assert better.test_share == 0.5 and better.metric == "macro_f1" and "heat" not in better.features
    rare = finding(
        "unseen_class",
        "1 of 60 classes of machine in the answers never occur in train.csv",
        "split stratified",
    )
    counts = {"M00": 10, "M01": 9, "M02": 4}
    table = profile.tables[0]
    classes = tuple((name, count) for name, count in counts.items())
    changed = replace(table, columns=(replace(table.column("machine"), classes=classes),))
    kinds = sound.model_copy(
        update={"objective": "classification", "targets": ("machine",), "classes": tuple(counts)}
    )
    assert revise(kinds, [rare], changed).classes == ("M00", "M01")
