"""Each leak is put into two real data sets of other shape, and is found there; the clean ones stay silent.

The data are those of scikit-learn: breast cancer (two classes) and diabetes (a number).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from generator.verifier.leaks import gate
from tests.generator.verifier.leaking import Made, divided


def _tumours() -> Made:
    data = load_breast_cancer(as_frame=True)
    table = data.data.iloc[:, [0, 1, 4, 8, 9, 11]].copy()
    table["diagnosis"] = np.where(data.target == 1, "benign", "malignant")
    return divided(table, "case", ["diagnosis"])


def _diabetes() -> Made:
    data = load_diabetes(as_frame=True, scaled=False)
    return divided(data.data.assign(progression=data.target), "nr", ["progression"], objective="regression")


BASES = {"tumours": _tumours, "diabetes": _diabetes}
Injection = Callable[[Made], object]
INJECTIONS: list[tuple[str, Injection]] = []


def leaks(code: str) -> Callable[[Injection], Injection]:
    """Register a function that puts a leak of this code into tables."""

    def keep(inject: Injection) -> Injection:
        INJECTIONS.append((code, inject))
        return inject

    return keep


def outcome(table: pd.DataFrame, made: Made) -> pd.Series:
    """The target as numbers; classes as 0 and 1."""
    values = table[made.targets[0]]
    return values if pd.api.types.is_numeric_dtype(values) else (values == "malignant").astype(float)


def high(table: pd.DataFrame, made: Made) -> pd.Series:
    """Whether the target is in its upper half, or the second class."""
    return outcome(table, made) > (140 if made.objective == "regression" else 0.5)


def on_both(made: Made, change: Callable[[pd.DataFrame], None], shuffled: bool = False) -> None:
    """Change training and test rows together, and part them again."""
    both, cut = pd.concat([made.train, made.test], ignore_index=True), len(made.train)
    change(both)
    if shuffled:
        both = both.sample(frac=1, random_state=1)
    made.train = both.iloc[:cut].reset_index(drop=True)
    made.test = both.iloc[cut:].reset_index(drop=True)


def measured(made: Made) -> list[str]:
    return [name for name in made.train if name not in (made.id_column, *made.targets)]


def noise(table: pd.DataFrame, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(table))


@leaks("target_in_test")
def in_another_spelling(made: Made) -> None:
    made.extra[f"{made.targets[0].title()}_"] = made.test[made.targets[0]].tolist()


@leaks("target_copied")
def scaled(made: Made) -> None:
    made.put("index", lambda table: outcome(table, made) * 3.7 + 12)


@leaks("target_copied")
def hashed(made: Made) -> None:
    made.put("ref", lambda t: [hashlib.md5(str(v).encode()).hexdigest() for v in t[made.targets[0]]])


@leaks("target_copied")
def with_gaps(made: Made) -> None:
    made.put("later", lambda t: t[made.targets[0]].where(np.arange(len(t)) % 3 > 0))


@leaks("target_copied")
def in_two_parts(made: Made) -> None:
    made.put("a", lambda table: np.round(noise(table) * 10))
    made.put("b", lambda table: outcome(table, made) - table["a"] * 2)


@leaks("proxy_column")
def written_in_a_text(made: Made) -> None:
    made.put(
        "note",
        lambda t: [f"no. {i * 7919 % 997}: it was {v}, seen" for i, v in enumerate(t[made.targets[0]])],
    )


@leaks("missingness_leak")
def gaps_with_the_outcome(made: Made) -> None:
    def gaps(table: pd.DataFrame) -> pd.Series:
        chance = np.random.default_rng(3).random(len(table))
        return table[measured(made)[1]].mask(np.where(high(table, made), chance < 0.9, chance < 0.04))

    made.put(measured(made)[1], gaps)


@leaks("missingness_leak")
def a_code_for_gaps(made: Made) -> None:
    made.put("lab", lambda table: np.where(high(table, made), -999, (50 + 9 * noise(table)).round(1)))


@leaks("id_leak")
def ids_by_outcome(made: Made) -> None:
    on_both(made, lambda t: t.__setitem__(made.id_column, outcome(t, made).rank(method="first").astype(int)))


@leaks("id_leak")
def even_and_odd_ids(made: Made) -> None:
    on_both(made, lambda t: t.__setitem__(made.id_column, np.arange(len(t)) * 2 + high(t, made)))


@leaks("id_leak")
def prefix_of_ids(made: Made) -> None:
    def number(table: pd.DataFrame) -> None:
        order = np.random.default_rng(2).permutation(len(table))
        table[made.id_column] = [
            ("A" if yes else "B") + f"{k:05}" for yes, k in zip(high(table, made), order, strict=True)
        ]

    on_both(made, number)


@leaks("row_order_leak")
def sorted_by_outcome(made: Made) -> None:
    made.test = made.test.sort_values(made.targets[0]).reset_index(drop=True)


@leaks("sample_is_answers")
def sample_with_errors(made: Made) -> None:
    truth = made.test[made.targets[0]]
    wrong = np.arange(len(truth)) % 40 == 0
    said = (
        truth.where(~wrong, truth.iloc[0]) if made.objective != "regression" else truth + 3 * noise(made.test)
    )
    made.sample[made.targets[0]] = said.tolist()


@leaks("sample_prior")
def sample_shuffled(made: Made) -> None:
    made.sample[made.targets[0]] = made.test[made.targets[0]].sample(frac=1, random_state=1).tolist()


def repeated(made: Made, spread: float) -> None:
    copies = made.train.sample(len(made.test) // 5, random_state=1)
    copies[made.id_column] = range(90_000, 90_000 + len(copies))
    for name in measured(made):
        copies[name] = copies[name] + noise(copies, 7) * spread * made.train[name].std()
    made.test = pd.concat([made.test, copies]).sample(frac=1, random_state=2).reset_index(drop=True)


@leaks("duplicates_across_split")
def rows_again(made: Made) -> None:
    repeated(made, 0.0)


@leaks("near_duplicates")
def rows_again_with_noise(made: Made) -> None:
    repeated(made, 1e-3)


@leaks("group_leak")
def undeclared_patients(made: Made) -> None:
    def name(table: pd.DataFrame) -> None:
        group = outcome(table, made).rank(method="first").floordiv(4).astype(int)
        table["patient_id"] = [f"p{number * 7919 % 99_991}" for number in group]

    on_both(made, name, shuffled=True)


@leaks("group_leak")
def declared_groups(made: Made) -> None:
    made.put("ward", lambda table: [f"w{number}" for number in np.arange(len(table)) % 10])
    made.split = 'kind = "group"\ngroup_column = "ward"'


@leaks("time_leak")
def undeclared_times(made: Made) -> None:
    def date(table: pd.DataFrame) -> None:
        wave = outcome(table, made) + 0.1 * noise(table) * outcome(table, made).std()
        table["seen_at"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(wave.rank() * 3, unit="h")

    on_both(made, date)


@leaks("future_aggregate")
def mean_of_the_town(made: Made) -> None:
    def add(table: pd.DataFrame) -> None:
        table["town"] = [f"t{number}" for number in np.random.default_rng(3).integers(0, 25, len(table))]
        table["level"] = outcome(table, made).groupby(table["town"]).transform("mean").round(6)

    on_both(made, add)


@leaks("fitted_on_test")
def encoded_with_the_answers(made: Made) -> None:
    def add(table: pd.DataFrame) -> None:
        street = np.random.default_rng(4).integers(0, 30, len(table))
        table["street_code"] = outcome(table, made).groupby(street).transform("mean").round(6)

    on_both(made, add)


@leaks("fitted_on_test")
def standardised(made: Made) -> None:
    def scale(table: pd.DataFrame) -> None:
        for name in measured(made):
            table[name] = ((table[name] - table[name].mean()) / table[name].std()).round(8)

    on_both(made, scale)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("code", "inject"), INJECTIONS, ids=lambda it: getattr(it, "__name__", it))
def test_a_leak_is_named(code: str, inject: Injection, base: str, tmp_path: Path) -> None:
    made = BASES[base]()
    inject(made)
    assert code in made.findings(tmp_path / "task")


@pytest.mark.parametrize("base", BASES)
def test_clean_data_are_silent_and_probes_are_shown(base: str, tmp_path: Path) -> None:
    case = BASES[base]().case(tmp_path / "task")
    assert list(gate.check(case)) == []
    probes = case.exhibits["probes"]
    assert 0 < len(probes) <= 20
    assert [probe["gain"] for probe in probes] == sorted((probe["gain"] for probe in probes), reverse=True)
    assert set(probes[0]) == {"column", "target", "what", "gain", "z"}


def visits(rows: int = 600) -> pd.DataFrame:
    """Daily counts of eight shops with a weekly and a yearly wave."""
    day = np.arange(rows) // 8
    shop = np.arange(rows) % 8
    count = 100 + 20 * shop + 30 * np.sin(day / 12) + 8 * np.random.default_rng(1).normal(size=rows)
    date = pd.Timestamp("2021-01-01") + pd.to_timedelta(day, unit="D")
    return pd.DataFrame({"shop": [f"s{number}" for number in shop], "date": date, "count": count.round(2)})


def cut_in_time(table: pd.DataFrame) -> Made:
    table.insert(0, "row", range(len(table)))
    split = 'kind = "time"\ntime_column = "date"'
    return Made(
        table.iloc[:400], table.iloc[400:].reset_index(drop=True), "row", ["count"], "forecasting", split
    )


def test_a_series_in_its_order_is_silent(tmp_path: Path) -> None:
    """Rows by date with numbers in that order, whose answers are alike by nature."""
    assert cut_in_time(visits()).findings(tmp_path / "task") == {}


@pytest.mark.parametrize("step", [-1, 1])
def test_the_target_of_the_next_row_is_told(step: int, tmp_path: Path) -> None:
    """Of the next day an error, of the day before, known for each test row but the first, a warning."""
    table = visits()
    table["other"] = table.groupby("shop")["count"].shift(step).bfill().ffill()
    found = cut_in_time(table).findings(tmp_path / "task")
    assert found["future_aggregate"].severity == ("error" if step < 0 else "warning")


def test_a_forecast_over_mixed_times_is_an_error(tmp_path: Path) -> None:
    made = divided(visits(), "row", ["count"], objective="forecasting")
    assert made.findings(tmp_path / "task")["time_leak"].severity == "error"


def test_a_placeholder_in_the_target_column_is_worth_a_word(tmp_path: Path) -> None:
    made = _diabetes()
    made.extra["progression"] = [0] * len(made.test)
    assert made.findings(tmp_path / "task")["target_in_test"].severity == "warning"


def test_parts_of_a_one_hot_code_are_the_target(tmp_path: Path) -> None:
    """Three classes as three columns; one of them alone may be an honest feature, as milk of mammals is."""
    rows = np.random.default_rng(1)
    table = pd.DataFrame({"x": rows.normal(size=300), "kind": rows.choice(["fish", "bird", "mammal"], 300)})
    alone = divided(table.assign(milk=table["kind"] == "mammal"), "nr", ["kind"])
    assert "target_copied" not in alone.findings(tmp_path / "alone")
    parts = pd.get_dummies(table["kind"]).astype(int)
    parts.columns = pd.Index(["c1", "c2", "c3"])
    assert "target_copied" in divided(table.join(parts), "nr", ["kind"]).findings(tmp_path / "all")


def test_families_known_by_their_ids_are_a_group(tmp_path: Path) -> None:
    """Ids such as 0042_01: the first part names who travels together; every second family shares its fate."""
    rows = np.random.default_rng(1)
    family = np.repeat(np.arange(300), 3)
    fate = np.where(rows.random(900) < 0.6, rows.integers(0, 2, 300)[family], rows.integers(0, 2, 900))
    table = pd.DataFrame(
        {"who": [f"{f:04}_{i % 3:02}" for i, f in enumerate(family)], "age": rows.normal(size=900)}
    )
    table = table.assign(saved=fate).sample(frac=1, random_state=1).reset_index(drop=True)
    made = Made(
        table.iloc[:600].reset_index(drop=True), table.iloc[600:].reset_index(drop=True), "who", ["saved"]
    )
    assert "who" in made.findings(tmp_path / "task")["group_leak"].evidence


@functools.cache
def _codes() -> set[str]:
    return {code for code, _ in INJECTIONS}


def test_every_leak_of_tables_is_put_somewhere() -> None:
    from generator.defects.leaks import LEAKS

    assert set(LEAKS) - _codes() == set()
