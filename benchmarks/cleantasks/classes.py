"""Recipes for tables whose rows are to be classified."""

from __future__ import annotations

import io

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.cleantasks.recipes import Recipe
from benchmarks.sources import MODELDATA, RDATA, RIVER, Sources, drawn, table_of


def _breast_cancer(sources: Sources) -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    return data.frame.rename(columns={"target": "benign"})


def _wine(sources: Sources) -> pd.DataFrame:
    data = load_wine(as_frame=True)
    return data.frame.rename(columns={"target": "cultivar"}).replace({"cultivar": {0: "A", 1: "B", 2: "C"}})


def _caravan(sources: Sources) -> pd.DataFrame:
    """Equal households with equal answers are one household to us."""
    table = sources.rdata("ISLR", "Caravan", 6000)
    table["Purchase"] = (table["Purchase"] == "Yes").astype(int)
    table = table.drop_duplicates(subset=[name for name in table.columns if name != "Purchase"])
    return drawn(table, 3000)


def _remote(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("modeldata", "stackoverflow", 6000)
    table["Remote"] = table["Remote"].map({"Remote": "remote", "Not remote": "office"})
    return drawn(table.drop_duplicates(subset=[name for name in table.columns if name != "Remote"]), 3000)


def _glass(sources: Sources) -> pd.DataFrame:
    """One row stands twice in the source."""
    return sources.rdata("MASS", "fgl").drop_duplicates()


def _tissue(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("dslabs", "tissue_gene_expression")
    return table.rename(
        columns=lambda name: name.replace("x.", "gene_").replace("y", "tissue") if name == "y" else name
    )


def _email(sources: Sources) -> pd.DataFrame:
    table = sources.rdata("openintro", "email", 4000)
    return drawn(table.sort_values("time"), 3000)


def _shuttle(sources: Sources) -> pd.DataFrame:
    text = sources.wheel("river", "river/datasets/shuttle.csv.gz").decode()
    table = pd.read_csv(io.StringIO(text)).drop_duplicates()
    return drawn(table.rename(columns={"anomaly": "is_anomaly"}), 3000)


CLASSES = [
    Recipe(
        "telecom-churn",
        "Customers of a telephone company; predict who leaves.",
        table_of("modeldata", "wa_churn", positive="churn=Yes"),
        "churn",
        "auc",
        **MODELDATA,
        split="stratified",
        id="customer_id",
        ids="code",
        sample="mean",
        seed=3,
        notes={"churn": "1 if the customer left (to be predicted)"},
    ),
    Recipe(
        "phone-plans",
        "Subscribers of phone plans and what they called; give the probability that each cancels.",
        table_of("modeldata", "mlc_churn", positive="churn=yes"),
        "churn",
        "log_loss",
        **MODELDATA,
        id="subscriber",
        ids="number",
        sample="mean",
        train="subscribers_train.csv",
        test="subscribers_test.csv",
        style="prose",
        seed=5,
    ),
    Recipe(
        "remote-developers",
        "Answers of developers to a survey; tell who works remotely.",
        _remote,
        "Remote",
        "macro_f1",
        **MODELDATA,
        split="stratified",
        id="respondent",
        sample="majority",
        style="listing",
        seed=8,
    ),
    Recipe(
        "loan-default",
        "Loans and their applicants; predict which loans go bad.",
        table_of("modeldata", "lending_club", positive="Class=bad"),
        "Class",
        "auc",
        **MODELDATA,
        split="stratified",
        id="loan",
        ids="hash",
        train="train.tsv",
        test="test.tsv",
        seed=11,
        share=0.3,
    ),
    Recipe(
        "caravan-policies",
        "Households, their district and their policies; predict who buys a caravan policy.",
        _caravan,
        "Purchase",
        "auc",
        **RDATA,
        split="stratified",
        id="household",
        ids="code",
        seed=2,
        share=0.4,
    ),
    Recipe(
        "cell-segmentation",
        "Measurements of cells in images; give the probability that a cell was segmented poorly.",
        table_of("modeldata", "cells", "case", positive="class=PS"),
        "class",
        "log_loss",
        **MODELDATA,
        sample="half",
        id="cell",
        ids="number",
        style="prose",
        seed=4,
    ),
    Recipe(
        "flavia-leaves",
        "Shape, colour and texture of scanned leaves of 32 species; name the species.",
        table_of("modeldata", "leaf_id_flavia"),
        "species",
        "macro_f1",
        **MODELDATA,
        split="stratified",
        id="leaf",
        sample="random",
        style="listing",
        seed=6,
    ),
    Recipe(
        "taxi-tips",
        "Taxi rides in Chicago paid by card; predict which ones were tipped.",
        table_of("modeldata", "taxi", positive="tip=yes"),
        "tip",
        "log_loss",
        **MODELDATA,
        id="ride",
        ids="hash",
        sample="mean",
        train="train.jsonl",
        test="test.jsonl",
        seed=9,
    ),
    Recipe(
        "forensic-glass",
        "Refractive index and oxides of glass splinters; give a probability for each kind of glass.",
        _glass,
        "type",
        "class_log_loss",
        **RDATA,
        split="stratified",
        id="splinter",
        ids="code",
        sample="uniform",
        seed=1,
        share=0.35,
    ),
    Recipe(
        "breast-masses",
        "Cell nuclei of breast masses; predict which masses are benign.",
        _breast_cancer,
        "benign",
        "auc",
        "scikit-learn",
        "BSD-3-Clause",
        id="mass",
        ids="number",
        sample="half",
        style="prose",
        seed=7,
    ),
    Recipe(
        "wine-cultivars",
        "Chemical analyses of wines of one region; tell the cultivar.",
        _wine,
        "cultivar",
        "accuracy",
        "scikit-learn",
        "BSD-3-Clause",
        split="stratified",
        sample="majority",
        style="listing",
        share=0.4,
    ),
    Recipe(
        "spam-later",
        "Properties of e-mails to one address, in the order they came; predict which later ones are spam.",
        _email,
        "spam",
        "auc",
        **RDATA,
        split="time",
        by="time",
        id="mail",
        ids="number",
        seed=21,
    ),
    Recipe(
        "parkinson-voices",
        "750 features of recorded voices; predict who has Parkinson's disease.",
        table_of("modeldata", "pd_speech", positive="class=PD"),
        "class",
        "auc",
        **MODELDATA,
        split="stratified",
        id="speaker",
        sample="half",
        share=0.4,
    ),
    Recipe(
        "tissue-genes",
        "Expression of 500 genes in samples of seven tissues; name the tissue.",
        _tissue,
        "tissue",
        "accuracy",
        **RDATA,
        split="stratified",
        id="sample",
        ids="hash",
        sample="majority",
        share=0.4,
    ),
    Recipe(
        "shuttle-faults",
        "Sensors of a space shuttle; score readings so that the abnormal ones come first.",
        _shuttle,
        "is_anomaly",
        "auc",
        **RIVER,
        objective="anomaly detection",
        split="stratified",
        id="reading",
        seed=31,
    ),
]
