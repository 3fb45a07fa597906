"""The self-test is complete, counts honestly, and catches what it should through the real verifier."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from scipy.stats import binom

from generator.defects.base import Finding, Gate, Severity
from generator.defects.listing import listing, listing_page
from generator.defects.registry import DEFECTS, finding
from generator.verifier.selftest.choosing import chosen, possible
from generator.verifier.selftest.classes import CLASSES
from generator.verifier.selftest.clean.catalogue import CLEAN
from generator.verifier.selftest.injections.base import Injection, Machine, Subject
from generator.verifier.selftest.injections.catalogue import INJECTIONS
from generator.verifier.selftest.page import page
from generator.verifier.selftest.result import SelfTest, interval
from generator.verifier.selftest.selftest import numbers_of, self_test
from generator.verifier.selftest.trials import Outcome, Trial, judge
from generator.verifier.verification import Verdict, Verification
from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import folder_hash

DOCS = Path(__file__).parents[3] / "docs"


def said(*findings: Finding, verdict: Verdict = Verdict.REJECTED, task: str = "t") -> Verification:
    """What a verifier says that found these."""
    return Verification(task=task, verdict=verdict, findings=findings, scores={}, seconds=1.0)


def trial(number: int, task: str) -> Trial:
    """The first trial of a class on a task."""
    return next(each for each in possible(INJECTIONS, [CLEAN[task]]) if each.injection.number == number)


def test_the_catalogue_is_complete() -> None:
    """80 classes; each has an injection or says why none can be; a code that catches it is a known one."""
    assert list(CLASSES) == list(range(1, 81))
    injected = {injection.number for injection in INJECTIONS}
    for number, kind in CLASSES.items():
        assert kind.number == number
        assert (number in injected) != bool(kind.not_injectable)
        assert set(kind.codes) <= set(DEFECTS)
    names = [(injection.number, injection.name) for injection in INJECTIONS]
    assert len(set(names)) == len(names)


def test_every_class_can_be_tried_on_two_modalities() -> None:
    """But scores of probabilities are asked for in tables only, and answers as numbers cannot be pictures."""
    trials = possible(INJECTIONS, list(CLEAN.values()))
    narrow = {
        number
        for number in CLASSES
        if CLASSES[number].not_injectable is None
        and len({each.clean.modality for each in trials if each.injection.number == number}) < 2
    }
    assert narrow == {48}


def test_trials_differ_in_modality_and_variant() -> None:
    trials = chosen(possible(INJECTIONS, list(CLEAN.values())))
    for number in CLASSES:
        mine = [each for each in trials if each.injection.number == number]
        assert len(mine) == (0 if number == 75 else 2)
        if mine and number != 48:
            assert mine[0].clean.modality != mine[1].clean.modality
    assert chosen(trials) == chosen(trials)


def test_every_injection_changes_the_package(tmp_path: Path) -> None:
    """On the smallest task that it applies to. Those about the machine leave the package as it is, and those
    that hand on data made earlier need a sandbox and are tried below."""
    sizes = {}
    for name, task in CLEAN.items():
        task.write(tmp_path / "clean" / name / name)
        sizes[name] = sum(1 for _ in (tmp_path / "clean" / name).rglob("*"))
    for injection in INJECTIONS:
        if injection.machine is not Machine.SOUND or injection.number in (63, 71):
            continue
        name = min((n for n, task in CLEAN.items() if injection.applies(task)), key=lambda n: (sizes[n], n))
        place = tmp_path / "copy"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(tmp_path / "clean" / name, place)
        before = folder_hash(place)
        injection.apply(Subject(CLEAN[name], place / name, Bubblewrap()))
        assert folder_hash(place) != before, (injection.number, injection.name, name)
        assert (place / name / "task.toml").is_file()


def test_a_finding_that_the_clean_task_has_too_proves_nothing() -> None:
    there = finding("row_order_leak", "in order", "shuffle")
    asked = trial(7, "photo-regions")
    assert judge(asked, said(there), frozenset()).caught
    assert judge(asked, said(there), frozenset()).by == Gate.DATA
    assert not judge(asked, said(there), frozenset({"row_order_leak"})).caught
    assert not judge(asked, said(finding("id_leak", "ids", "deal")), frozenset()).caught


def test_an_injection_that_breaks_prepare_is_neither_caught_nor_missed() -> None:
    crash = finding("prepare_failed", "KeyError", "mend")
    assert judge(trial(7, "photo-regions"), said(crash), frozenset()).broken == "prepare_failed: KeyError"
    assert judge(trial(56, "photo-regions"), said(crash), frozenset()).caught


def test_trouble_of_the_machine_must_be_the_verdict_error() -> None:
    lost = trial(80, "photo-regions")
    assert judge(lost, said(verdict=Verdict.ERROR), frozenset()).by == "verdict"
    assert not judge(lost, said(finding("prepare_failed", "killed", "-")), frozenset()).caught
    blamed = said(finding("prepare_failed", "killed", "-"), verdict=Verdict.ERROR)
    assert not judge(lost, blamed, frozenset()).caught
    assert judge(trial(7, "photo-regions"), said(verdict=Verdict.ERROR), frozenset()).broken


def hand_made() -> SelfTest:
    """Class 7 caught once and missed once, class 37 broken; one warning and one error about clean tasks."""
    leak = said(finding("row_order_leak", "in order", "shuffle"))
    outcomes = (
        Outcome(trial(7, "photo-regions"), True, "data", leak),
        Outcome(trial(7, "strike-remarks"), False, None, said()),
        Outcome(trial(37, "strike-remarks"), False, None, said(), broken="prepare_failed: KeyError"),
    )
    clean = {
        "photo-regions": said(finding("coarse_metric", "few", "more"), verdict=Verdict.VERIFIED),
        "strike-remarks": said(finding("id_leak", "ids", "deal")),
    }
    return SelfTest(outcomes, clean, {name: CLEAN[name] for name in clean}, (7, 37, 75))


def test_the_document_holds_what_the_command_promises() -> None:
    document = json.loads(json.dumps(hand_made().to_dict(), allow_nan=False))
    assert (document["schema_version"], document["classes"]) == (1, 3)
    assert (document["injected"], document["caught"], document["recall"]) == (2, 1, 0.5)
    assert document["clean_tasks"] == 2
    assert [alarm["code"] for alarm in document["false_alarms"]] == ["id_leak"]
    assert [alarm["code"] for alarm in document["warnings"]] == ["coarse_metric"]
    row = document["table"][0]
    assert row["number"] == 7 and row["codes"] == ["row_order_leak"]
    assert (row["injected"], row["caught"], row["by"]) == (2, 1, {"data": 1})
    assert row["missed"] == ["strike-remarks: sorted by the answers"]
    assert row["not_injectable"] is None and document["table"][2]["not_injectable"]
    assert document["errors"] == ["37 (a constant) on strike-remarks: prepare_failed: KeyError"]
    assert document["passed"] is False
    assert {task["name"] for task in document["tasks"]} == {"photo-regions", "strike-remarks"}


def test_the_page_says_what_the_document_says() -> None:
    text = page(hand_made())
    assert "**Caught: 1 of 2 injected defects; recall 0.500" in text
    assert "- 7 (test rows ordered by label): strike-remarks: sorted by the answers" in text
    assert "- 75 (test scores shown during the search): the feedback policy" in text


@pytest.mark.parametrize(("caught", "injected"), [(158, 160), (80, 80), (1, 2), (0, 5)])
def test_the_interval_is_that_of_clopper_and_pearson(caught: int, injected: int) -> None:
    """By its definition: at each end the binomial tail beyond what was seen holds 2.5 %."""
    low, high = interval(caught, injected)
    if caught:
        assert binom.sf(caught - 1, injected, low) == pytest.approx(0.025)
    else:
        assert low == 0.0
    if caught < injected:
        assert binom.cdf(caught, injected, high) == pytest.approx(0.025)
    else:
        assert high == 1.0


def test_classes_are_named_by_number_or_code() -> None:
    assert numbers_of(["12", "7"]) == [7, 12]
    assert numbers_of(["group_leak"]) == [12]
    with pytest.raises(InputError, match="--class 81: give a number from 1 to 80"):
        numbers_of(["81"])
    with pytest.raises(InputError, match="no class of the catalogue is caught by this code"):
        numbers_of(["unknown_word"])


def test_an_unknown_task_is_wrong_usage(sandbox: SandboxProvider) -> None:
    with pytest.raises(InputError, match="no such clean task; there are credit-papers"):
        self_test(sandbox, tasks=["nothing"])


def test_a_few_classes_through_the_real_verifier(sandbox: SandboxProvider, tmp_path: Path) -> None:
    """A leak, a useless metric, edited data, a package twice, a lost machine; verdicts are remembered."""
    told: list[str] = []
    result = self_test(
        sandbox,
        numbers=[1, 37, 63, 77, 80],
        tasks=["water-main"],
        workers=2,
        cache=tmp_path,
        progress=told.append,
        quick=True,
    )
    assert not result.errors
    assert [each.caught for each in result.outcomes] == [True] * len(result.outcomes)
    assert {(row.kind.number, row.sound[0].by) for row in result.rows()} == {
        (1, "data"),
        (37, "metric"),
        (63, "preparation"),
        (77, "structure"),
        (80, "verdict"),
    }
    assert result.alarms(Severity.ERROR) == [] and result.passed
    assert len(told) == 1 + len(result.outcomes)
    again = self_test(sandbox, numbers=[37], tasks=["water-main"], cache=tmp_path, quick=True)
    assert again.outcomes[0].verification.cached and again.clean["water-main"].cached


def test_missed_packages_are_kept(sandbox: SandboxProvider, tmp_path: Path) -> None:
    """An injection that does nothing is missed, and its package can be looked at."""
    from generator.verifier.selftest.trials import Workshop

    shop = Workshop(tmp_path, sandbox, keep=tmp_path / "kept")
    nothing = Injection(77, "nothing is done", lambda subject: None, last=Gate.STRUCTURE)
    outcome = shop.run(Trial(nothing, CLEAN["water-main"]))
    assert not outcome.caught and outcome.broken is None
    kept = tmp_path / "kept" / "77-water-main-nothing-is-done" / "water-main"
    assert (kept / "prepare.py").read_text() == CLEAN["water-main"].package.prepare  # type: ignore[union-attr]


def test_the_page_of_defects_is_current() -> None:
    """Run `mlesmith verifier codes --markdown docs/defects.md` after a change of the registry."""
    assert {each["code"] for each in listing()["defects"]} == set(DEFECTS)
    assert (DOCS / "defects.md").read_text(encoding="utf-8") == listing_page()
