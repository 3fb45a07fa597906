"""Recipes for texts and lines of logs."""

from __future__ import annotations

import pandas as pd

from benchmarks.cleantasks.recipes import Recipe
from benchmarks.sources import MODELDATA, RDATA, Sources, drawn, log_lines


def _foods(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("modeldata", "training_data", 4000).drop_duplicates("review")
    return drawn(table.rename(columns={"score": "verdict"}), 2500)


def _birds(sources: Sources) -> pd.DataFrame:
    """Remarks on strikes by day or night, among those that say something."""
    table = sources.rdata("openintro", "birds", 20_000)[["operator", "state", "remarks", "time_of_day"]]
    table = table[table["remarks"].str.len().gt(25) & table["time_of_day"].isin(["Day", "Night", "Dusk"])]
    return drawn(table.drop_duplicates("remarks"), 2500)


def _movies(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("ggplot2movies", "movies", 60_000)
    genres = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance"]
    table = table[table[genres].sum(axis=1).gt(0) & table["votes"].gt(100)]
    table = table[["title", "year", "length", "budget", "rating", "votes", "mpaa", *genres]]
    return drawn(table.drop_duplicates(["title", "year"]), 3000)


TEXTS = [
    Recipe(
        "food-reviews",
        "Reviews of groceries; tell the very good (great) ones from the others.",
        _foods,
        "verdict",
        "accuracy",
        **MODELDATA,
        modality="text",
        split="group",
        by="product",
        id="review_id",
        ids="hash",
        sample="majority",
        seed=27,
    ),
    Recipe(
        "strikes-at-night",
        "Remarks on bird strikes; tell whether it was day, night or dusk.",
        _birds,
        "time_of_day",
        "macro_f1",
        "FAA Wildlife Strike Database",
        "public domain",
        modality="text",
        split="stratified",
        id="report",
        ids="number",
        sample="majority",
        style="prose",
        train="reports.jsonl",
        test="unlabelled.jsonl",
        seed=28,
    ),
    Recipe(
        "film-genres",
        "Films with title, year, length and votes; give all genres of each.",
        _movies,
        ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance"],
        "micro_f1",
        **RDATA,
        modality="mixed",
        objective="multi-label classification",
        id="film",
        ids="code",
        seed=29,
    ),
    Recipe(
        "log-attacks",
        "Lines of server logs; tell attacks from harmless lines. How a line of the test set ends is new.",
        lambda sources: log_lines(sources.deb("fail2ban")),
        "kind",
        "macro_f1",
        "fail2ban",
        "GPL-2.0-or-later",
        modality="logs",
        split="group",
        by="pattern",
        id="line_id",
        ids="code",
        sample="majority",
        seed=33,
    ),
]
