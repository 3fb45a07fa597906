"""Keys between tables: found where they are, not where numbers merely look alike; joins that code repeats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.profile import Profile, profile_dataset
from tests.generator.tables.kitchen import run

RNG = np.random.default_rng(8)
SHOPS, ORDERS = 30, 600
CUSTOMERS = pd.DataFrame(
    {
        "customer_id": RNG.permutation(np.arange(5_000, 5_200)),
        "age": RNG.integers(18, 90, 200),
        "town": RNG.choice(["Bonn", "Köln"], 200),
    }
)
ORDER_ROWS = pd.DataFrame(
    {
        "order_id": np.arange(ORDERS),
        "customer_id": RNG.choice(CUSTOMERS["customer_id"], ORDERS),
        "price": RNG.normal(50, 9, ORDERS).round(2),
        "note": [f"note {number % 90}" for number in range(ORDERS)],
        "weight": RNG.normal(size=ORDERS).round(2),
    }
)


def profiled(folder: Path, **tables: pd.DataFrame) -> Profile:
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return profile_dataset(folder)


def check_code(profile: Profile, folder: Path) -> pd.DataFrame:
    """The frame of the main table, which its code makes, too."""
    recipe = profile.tables[0].recipe
    assert recipe is not None
    table = recipe.read(folder)
    pd.testing.assert_frame_equal(run(recipe, folder), table)
    return table


def test_attributes_of_the_one_a_row_belongs_to(tmp_path: Path) -> None:
    profile = profiled(tmp_path, orders=ORDER_ROWS, customers=CUSTOMERS)
    table = check_code(profile, tmp_path)
    assert list(table.columns) == [*ORDER_ROWS.columns, "customers_age", "customers_town"]
    expected = ORDER_ROWS.merge(CUSTOMERS, on="customer_id", how="left")
    assert table["customers_age"].tolist() == expected["age"].tolist()
    assert profile.tables[0].recipe is not None
    assert "joined from customers.csv: 2 columns by customer_id" in profile.tables[0].recipe.notes[-1]
    assert profile.tables[0].recipe.files == ("orders.csv", "customers.csv")


def test_rows_that_belong_to_one_are_counted(tmp_path: Path) -> None:
    houses = pd.DataFrame({"id": [f"H{number:04d}" for number in range(300)]})
    for number in range(8):
        houses[f"fact{number}"] = RNG.normal(size=300)
    visits = pd.DataFrame({"house": RNG.choice(houses["id"][:250], 400), "minutes": RNG.integers(1, 90, 400)})
    table = check_code(profiled(tmp_path, houses=houses, visits=visits), tmp_path)
    by_hand = visits.groupby("house")["minutes"]
    assert table["visits_count"].tolist() == [int((visits["house"] == each).sum()) for each in houses["id"]]
    means = table.set_index("id")["visits_mean_minutes"].dropna()
    assert means.to_dict() == pytest.approx(by_hand.mean().to_dict())
    assert (table["visits_count"] == 0).sum() >= 50


@pytest.mark.parametrize(
    ("key", "column", "joined"),
    [
        ("id", "shop_id", True),
        ("id", "shopId", True),
        ("shop_id", "shop_id", True),
        ("id", "rooms", False),
        ("id", "id", False),
        ("number", "count", False),
    ],
)
def test_small_numbers_are_keys_by_their_name_only(
    tmp_path: Path, key: str, column: str, joined: bool
) -> None:
    shops = pd.DataFrame({key: range(1, SHOPS + 1), "area": RNG.normal(size=SHOPS)})
    sales = pd.DataFrame({column: RNG.integers(1, SHOPS + 1, ORDERS), "sum": RNG.normal(size=ORDERS)})
    recipe = profiled(tmp_path, shops=shops, sales=sales).tables[0].recipe
    assert recipe is not None and ("shops.csv" in recipe.files) is joined


def test_a_key_that_often_points_nowhere_is_none(tmp_path: Path) -> None:
    orders = ORDER_ROWS.copy()
    orders.loc[orders.index[::9], "customer_id"] = 99
    recipe = profiled(tmp_path, orders=orders, customers=CUSTOMERS).tables[0].recipe
    assert recipe is not None and recipe.files == ("orders.csv",)


def test_keys_that_repeat_are_no_keys(tmp_path: Path) -> None:
    twice = pd.concat([CUSTOMERS, CUSTOMERS.iloc[:1]])
    recipe = profiled(tmp_path, orders=ORDER_ROWS, customers=twice).tables[0].recipe
    assert recipe is not None and "customers_age" not in recipe.read(tmp_path)


def test_missing_keys_and_three_tables(tmp_path: Path) -> None:
    orders = ORDER_ROWS.assign(shop=RNG.choice(["north", "south mall", "old town"], ORDERS)).astype(object)
    orders.loc[::50, "customer_id"] = None
    shops = pd.DataFrame({"shop_code": ["north", "south mall", "old town", "east", "west"], "area": range(5)})
    shops = shops.rename(columns={"shop_code": "code"})
    table = check_code(profiled(tmp_path, orders=orders, customers=CUSTOMERS, shop=shops), tmp_path)
    assert {"customers_town", "shop_area"} <= set(table.columns) and len(table) == ORDERS
    assert table["customers_town"].isna().sum() == 12


def test_files_of_one_layout_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "by month").mkdir()
    parts = {}
    for month in range(1, 5):
        parts[f"2020-{month:02d}.csv"] = part = ORDER_ROWS.iloc[month * 100 : month * 100 + 100]
        part.to_csv(tmp_path / "by month" / f"2020-{month:02d}.csv", index=False)
    profile = profile_dataset(tmp_path)
    table = check_code(profile, tmp_path)
    assert [each.path for each in profile.tables] == ["by month/*.csv"] and profile.tables[0].rows == 400
    expected = pd.concat([part.assign(file=name) for name, part in parts.items()], ignore_index=True)
    assert table.astype(object).equals(expected.astype(object))
    # Another file beside them: they are named one by one.
    CUSTOMERS.to_csv(tmp_path / "by month" / "customers.csv", index=False)
    table = check_code(profile_dataset(tmp_path), tmp_path)
    assert len(table) == 400 and "customers_age" in table
