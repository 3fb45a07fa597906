"""Which tasks may be chosen, by what the packages and the verifier say."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from generator.defects.base import Gate
from generator.defects.registry import finding
from generator.selection.build import judge
from generator.selection.facts import read_facts
from generator.selection.parts import joined_hash
from generator.selection.verdicts import GENERATED, STALE, UNKNOWN, judged
from generator.verifier.memory import CACHE_NAME
from generator.verifier.thresholds.config import DEFAULTS
from generator.verifier.verification import Verdict
from generator.verifier.verify import Plan
from harness.errors import InputError
from harness.tasks.package import load_task, task_hash
from tests.generator.selection.real_tasks import VERIFIED, remember_verdict, verifications

CARS = "fuel-economy"


def roots(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/task.toml"))


def barred(folder: Path) -> dict[str, str]:
    return {facts.root.name: facts.barred for facts in judge(roots(folder))}


def test_facts_of_real_packages(verified: Path) -> None:
    told = {facts.root.name: facts for facts in read_facts(roots(verified))}
    cars = told[CARS]
    assert (cars.key, cars.kind) == ("reference/fuel-economy", "tabular regression")
    assert (cars.metric, cars.family, cars.difficulty) == ("mae", "absolute error", "easy")
    assert (
        len({facts.dataset for facts in told.values()}) == len({facts.twin for facts in told.values()}) == 3
    )
    assert told["titanic-survival"].family == told["travel-mode-choice"].family == "order"


def test_remembered_verdicts_count_wherever_they_are_kept(verified: Path, tmp_path: Path) -> None:
    assert barred(verified) == dict.fromkeys(VERIFIED, "")
    root = verified / CARS
    (root / CACHE_NAME).unlink()
    assert barred(verified)[CARS] == UNKNOWN
    known_by = remember_verdict(root, verifications()[CARS], Plan(execution=False))
    assert barred(verified)[CARS] == ""
    for folder, cache in ((verified / GENERATED, None), (tmp_path / "cache", tmp_path / "cache")):
        folder.mkdir(parents=True)
        kept = folder / f"{CARS}-{known_by[:16]}.json"
        shutil.move(root / CACHE_NAME if (root / CACHE_NAME).exists() else tmp_path / "moved", kept)
        told = {facts.root.name: facts for facts in judge([root], cache=cache)}
        assert told[CARS].barred == "" and len(told[CARS].ladder) == 4
        shutil.move(kept, tmp_path / "moved")


@pytest.mark.parametrize("name", ["task.toml", "description.txt", "metric.py", "public/train.csv"])
def test_one_changed_byte_makes_a_verdict_stale(verified: Path, name: str) -> None:
    with (verified / CARS / name).open("a") as stream:
        stream.write("\n")
    assert barred(verified)[CARS] == STALE


def test_quick_verdicts_other_thresholds_and_missing_baselines_do_not_count(verified: Path) -> None:
    root, known = verified / CARS, verifications()[CARS]
    remember_verdict(root, known, Plan(deep=False))
    assert barred(verified)[CARS] == STALE
    limits = replace(DEFAULTS, empirical=replace(DEFAULTS.empirical, separation=4.0))
    remember_verdict(root, known, Plan(limits=limits))
    assert barred(verified)[CARS] == STALE
    assert judge([root], limits=limits)[0].barred == ""
    quick = replace(known, gates={gate: 1.0 for gate in known.gates if gate != Gate.EMPIRICAL})
    assert (
        judged(read_facts([root])[0], quick).barred == "verified without baselines; verify it without --quick"
    )


def test_what_is_not_verified_is_barred_with_the_codes(verified: Path) -> None:
    root, known = verified / CARS, verifications()[CARS]
    errors = (finding("missing_file", "no", "add"), finding("missing_file", "no", "add"))
    remember_verdict(root, replace(known, verdict=Verdict.REJECTED, findings=errors))
    assert barred(verified)[CARS] == "rejected by the verifier: missing_file"
    facts = read_facts([root])[0]
    lost = judged(facts, replace(known, verdict=Verdict.ERROR, error="disk full"))
    assert lost.barred == "verification was interrupted: disk full; verify it again"


def test_only_missing_verdicts_are_asked_for(verified: Path) -> None:
    asked: list[Path] = []

    def verify(missing):  # type: ignore[no-untyped-def]
        asked.extend(missing)
        return [verifications()[root.name] for root in missing]

    (verified / CARS / CACHE_NAME).unlink()
    shutil.rmtree(verified / "titanic-survival" / "private")  # not prepared: nothing to ask for
    told = {facts.root.name: facts for facts in judge(roots(verified), verify=verify)}
    assert asked == [verified / CARS]
    assert told[CARS].barred == "" and told[CARS].ladder
    assert told["titanic-survival"].barred.startswith("not prepared; run `mlesmith task prepare ")


def test_a_copy_under_another_name_repeats_and_two_of_one_name_are_refused(verified: Path) -> None:
    copy = Path(shutil.copytree(verified / CARS, verified / "zz-cars"))
    text = (copy / "task.toml").read_text()
    (copy / "task.toml").write_text(text.replace('id = "fuel-economy"', 'id = "zz-cars"'))
    remember_verdict(copy, verifications()[CARS])
    told = {facts.root.name: facts for facts in judge(roots(verified))}
    assert told[CARS].barred == "" and told["zz-cars"].barred.startswith("repeats another task: zz-cars and")
    assert told["zz-cars"].dataset == told[CARS].dataset and told["zz-cars"].twin == told[CARS].twin
    other = Path(shutil.copytree(verified / CARS, verified / "more" / CARS))
    with pytest.raises(InputError, match="both are reference/fuel-economy; rename one"):
        read_facts([verified / CARS, other])
    assert len(read_facts([verified / CARS, verified / "more" / ".." / CARS])) == 1


def test_sources_joined_by_name_or_by_bytes_are_one_dataset(verified: Path) -> None:
    for name, change in (
        (
            "titanic-survival",
            ('name = "titanic_all (bokeh-sampledata)"', 'name = "Auto-MPG (bokeh-sampledata)"'),
        ),
    ):
        path = verified / name / "task.toml"
        assert change[0] in path.read_text()
        path.write_text(path.read_text().replace(*change))
    told = {facts.root.name: facts.dataset for facts in read_facts(roots(verified))}
    assert told["titanic-survival"] == told[CARS] != told["travel-mode-choice"]


def test_parts_join_to_the_hash_of_jobs_and_records(verified: Path) -> None:
    for root in roots(verified):
        assert joined_hash(read_facts([root])[0].parts) == task_hash(load_task(root))
