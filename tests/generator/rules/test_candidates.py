"""Which formulations a table calls for, and which columns no task asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.columns import profile_column
from generator.datasets.catalogue import load_card
from generator.profile import profile_dataset, profile_table
from generator.rules.candidates import Candidate, candidates
from generator.rules.context import Context, Outcome
from generator.rules.families import flag_families, measured_together, written_in_columns
from generator.rules.personal import personal
from generator.rules.propose import propose

ROWS = 1_200


def context(table: pd.DataFrame, title: str = "") -> Context:
    return Context("things", title, None, profile_table(table, "things.csv"), table)


def found(table: pd.DataFrame) -> list[Candidate]:
    return candidates(context(table))[0]


def proposed(folder: Path, table: pd.DataFrame) -> Outcome:
    table.to_csv(folder / "things.csv", index=False)
    return propose(folder, load_card(folder), profile_dataset(folder, "things"))


@pytest.fixture
def numbers() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.normal(size=(ROWS, 4)).round(4), columns=["heat", "load", "speed", "noise"])


@pytest.mark.parametrize(
    ("name", "values", "trait"),
    [
        ("race", ["a", "b"], "origin"),
        ("whitemom", ["yes", "no"], "origin"),
        ("isHispanic", ["0", "1"], "origin"),
        ("colour", ["white", "black"], "origin"),
        ("Gender", ["m", "f"], "sex"),
        ("who", ["male", "female"], "sex"),
        ("maritl", ["1. Never Married", "2. Married", "4. Divorced"], "family life"),
        ("religion", ["a", "b"], "belief"),
        ("trace", ["a", "b"], None),
        ("message", ["a", "b"], None),
        ("age_of_domain", ["0", "1"], None),
        ("colour", ["white", "red"], None),
        ("screen_orientation", ["wide", "tall"], None),
    ],
)  # fmt: skip
def test_traits_of_people_are_known_by_name_or_values(
    name: str, values: list[str], trait: str | None
) -> None:
    assert personal(profile_column(pd.Series(values * 50, name=name))) == trait


def test_traits_of_people_are_not_asked_for_and_the_refusal_says_so(numbers: pd.DataFrame) -> None:
    table = numbers.assign(ethnicity=np.where(numbers["heat"] > 0, "cauc", "afam"))
    asked, refused = candidates(context(table))
    assert "ethnicity" not in {candidate.name for candidate in asked}
    assert [(each.target, each.code) for each in refused] == [("ethnicity", "personal")]


def test_flags_named_alike_are_one_family_and_a_class_in_columns_is_none(numbers: pd.DataFrame) -> None:
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 4, ROWS)
    make = pd.DataFrame(
        {name: (kind == at).astype(int) for at, name in enumerate(["ford", "saab", "fiat", "seat"])}
    )
    extras = pd.DataFrame({f"has_{name}": rng.integers(0, 2, ROWS) for name in ("radio", "roof", "alarm")})
    table = pd.concat([numbers, make, extras], axis=1)
    columns = profile_table(table, "things.csv").columns
    assert written_in_columns(table, columns) == {"ford", "saab", "fiat", "seat"}
    (family,) = flag_families(table, columns)
    assert [column.name for column in family] == ["has_radio", "has_roof", "has_alarm"]
    asked = {candidate.name for candidate in found(table)}
    assert "saab" not in asked and "has_radio and has_roof and has_alarm" in asked


def test_a_rare_flag_of_trouble_is_an_anomaly_and_any_rare_flag_is_not(numbers: pd.DataFrame) -> None:
    rare = (np.arange(ROWS) % 11 == 0).astype(int)
    asked = {(each.name, each.objective) for each in found(numbers.assign(fault=rare, gasheat=rare))}
    assert ("fault", "anomaly detection") in asked
    assert ("gasheat", "anomaly detection") not in asked and ("gasheat", "classification") in asked
    too_many = (np.arange(ROWS) % 4 == 0).astype(int)
    asked = {(each.name, each.objective) for each in found(numbers.assign(fault=too_many))}
    assert ("fault", "anomaly detection") not in asked


def test_measurements_go_together_without_being_copies(numbers: pd.DataFrame) -> None:
    shared = numbers["heat"] + 0.7 * numbers["load"]
    table = numbers.assign(
        arm_length=shared + numbers["speed"] * 0.5,
        arm_width=shared + numbers["noise"] * 0.5,
        copy_length=lambda t: 2 * t["arm_length"] + 1e-6 * t["noise"],
    )
    columns = profile_table(table, "things.csv").columns
    chosen = [c for c in columns if c.name.endswith(("length", "width"))]
    assert [c.name for c in measured_together(table, chosen)] == ["arm_length", "arm_width"]
    assert measured_together(table, [c for c in columns if c.name in ("speed", "noise")]) == ()


def test_times_of_day_and_codes_are_no_outcomes(numbers: pd.DataFrame) -> None:
    rng = np.random.default_rng(7)
    clock = rng.integers(0, 24, ROWS) * 100 + rng.integers(0, 60, ROWS)
    asked = {
        each.name for each in found(numbers.assign(started=clock, V7=numbers["heat"] ** 2, x=numbers["load"]))
    }
    assert not asked & {"started", "V7", "x"} and "heat" in asked


def test_a_small_table_is_asked_only_for_what_is_surely_learned(
    tmp_path: Path, numbers: pd.DataFrame
) -> None:
    small = numbers.head(180)
    noise = np.random.default_rng(8).normal(size=180)
    sure, weak = tmp_path / "sure", tmp_path / "weak"
    for folder in (sure, weak):
        folder.mkdir()
    outcome = proposed(sure, small.assign(wear=small["heat"] + small["load"] + 0.3 * noise))
    assert ("wear",) in {each.targets for each in outcome.proposals}
    outcome = proposed(weak, small.assign(wear=0.4 * small["heat"] + noise))
    (refused,) = [each for each in outcome.refusals if each.target == "wear"]
    assert refused.code == "unlearnable"
    outcome = proposed(weak, small.head(120).assign(wear=small["heat"]))
    assert [each.code for each in outcome.refusals] == ["few_rows"]


def test_no_two_tasks_ask_for_the_same_labels(tmp_path: Path, numbers: pd.DataFrame) -> None:
    rng = np.random.default_rng(9)
    flags = {
        f"has_{name}": (numbers[of] + rng.normal(scale=0.8, size=ROWS) > 0).astype(int)
        for name, of in [("radio", "heat"), ("roof", "load"), ("alarm", "speed")]
    }
    proposals = proposed(tmp_path, numbers.assign(**flags)).proposals
    assert proposals[0].objective == "multi-label classification" and len(proposals[0].targets) == 3
    assert not {name for each in proposals[1:] for name in each.targets} & set(flags)


@pytest.mark.parametrize(
    ("bill", "formula"),
    [
        (lambda t: t["usage"] * t["price"], "price * usage"),
        (lambda t: t["usage"] / t["price"], "usage / price"),
    ],
)
def test_what_two_columns_give_away_together_is_not_asked_for(
    bill: Callable[[pd.DataFrame], pd.Series], formula: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"usage": rng.uniform(1, 90, ROWS), "price": rng.uniform(2, 40, ROWS)}).round(2)
    table["region"] = rng.choice(["north", "south"], ROWS)
    table["bill"] = (bill(table) * rng.normal(1, 0.02, ROWS)).round(3)
    outcome = proposed(tmp_path, table)
    assert ("bill",) not in [proposal.targets for proposal in outcome.proposals]
    refused = {refusal.target: refusal for refusal in outcome.refusals}
    assert refused["bill"].code == "given_away" and f"{formula} nearly is bill" in refused["bill"].reason
