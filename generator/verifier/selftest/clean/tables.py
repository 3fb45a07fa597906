"""Clean tasks of tables: credit (two classes), image regions (seven), concrete (a number), biopsies."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from generator.datasets.catalogue import dataset_path
from generator.verifier.selftest.clean.metrics import metric
from generator.verifier.selftest.clean.task import Answers, CleanTask, Package, toml

_SEED = 5


def _credit() -> pd.DataFrame:
    table = pd.read_csv(dataset_path("credit-applications") / "credit_data.csv.gz").drop_duplicates()
    return table.sample(1500, random_state=_SEED).reset_index(drop=True)


def _write_credit(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "applications.csv", index=False)


_CREDIT_PREPARE = '''"""Split the applications, the two outcomes in proportion."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw: Path, public: Path, private: Path) -> None:
    table = pd.read_csv(raw / "applications.csv")
    table.columns = [name.lower() for name in table.columns]
    table["status"] = (table["status"] == "bad").astype(int)
    table = table.rename(columns={"status": "defaulted"})
    table = table.sample(frac=1, random_state=11).reset_index(drop=True)
    table.insert(0, "application", np.random.default_rng(11).permutation(len(table)) + 1000)
    train, test = train_test_split(table, test_size=0.3, random_state=11, stratify=table["defaulted"])
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="defaulted").to_csv(public / "test.csv", index=False)
    sample = test[["application"]].assign(defaulted=0.5)
    sample.to_csv(public / "sample_submission.csv", index=False)
    test[["application", "defaulted"]].to_csv(private / "test_answer.csv", index=False)
'''

_CREDIT_TEXT = """Who pays back?

A bank kept the papers of people who asked for a loan, and whether they paid it back. Give, for each
application
of the test set, the probability that the loan defaults.

Files
- train.csv: 1050 applications with the column `defaulted` (1 when the loan was not paid back, else 0)
- test.csv: 450 applications without it
- sample_submission.csv: the form of a submission

Columns: `application` is the id; `seniority`, `home`, `time`, `age`, `marital`, `records`, `job`, `expenses`,
`income`, `assets`, `debt`, `amount` and `price` describe the applicant and the loan. Some cells are empty.

Submission: a CSV file with the columns `application` and `defaulted`, one row for each application of
test.csv,
with a probability between 0 and 1.

Metric: area under the ROC curve (ROC AUC); higher is better, 1.0 is perfect and 0.5 is chance.
"""

CREDIT = CleanTask(
    name="credit-papers",
    modality="tabular",
    data="real: credit applications (modeldata)",
    answers=Answers.FLAG,
    metric="roc_auc",
    higher=True,
    raw_target="Status",
    shipped=True,
    package=Package(
        toml=toml(
            "credit-papers",
            "Who pays back?",
            "tabular",
            "classification",
            ("application", "defaulted"),
            ("credit_data (modeldata)", "MIT"),
            'name = "roc_auc"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "stratified"\nseed = 11',
        ),
        prepare=_CREDIT_PREPARE,
        metric=metric("roc_auc", "DefaultMetrics", ("application", "defaulted"), title="ROC AUC of defaults"),
        description=_CREDIT_TEXT,
        table=_credit,
        write=_write_credit,
    ),
)


def _regions() -> pd.DataFrame:
    table = pd.read_csv(dataset_path("image-segments") / "segment.csv.gz")
    features = [name for name in table.columns if name != "category"]
    return table.drop_duplicates(features).sample(1400, random_state=_SEED).reset_index(drop=True)


def _write_regions(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "regions.tsv", sep="\t", index=False)


_REGIONS_PREPARE = '''"""Number the regions anew, deal them out, and write tab-separated tables."""

from pathlib import Path

import numpy as np
import pandas as pd

TEST_ROWS = 400


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(2024)
    regions = pd.read_csv(raw / "regions.tsv", sep="\\t", float_precision="round_trip")
    regions = regions.iloc[rng.permutation(len(regions))]
    regions.insert(0, "region", [f"{number:04d}" for number in rng.permutation(len(regions))])
    known, asked = regions.iloc[TEST_ROWS:], regions.iloc[:TEST_ROWS]
    known.to_csv(public / "training_data.tsv", sep="\\t", index=False)
    asked.drop(columns="category").to_csv(public / "holdout.tsv", sep="\\t", index=False)
    asked[["region", "category"]].to_csv(private / "test_answer.csv", index=False)
    asked[["region"]].assign(category="sky").to_csv(public / "sample_submission.csv", index=False)
'''

_REGIONS_TEXT = """# What does the region show?

Small regions of outdoor photographs were measured: colours, edges, position. Say what each region shows:
brickface, cement, foliage, grass, path, sky or window.

## Data

| file | content |
|---|---|
| training_data.tsv | 1,000 regions, tab-separated, with `category` |
| holdout.tsv | 400 regions without `category` |
| sample_submission.csv | an example of a submission |

`region` is a four-digit number that identifies a region (text: keep the zeros in front).

## Submission

A CSV file with the header `region,category`, and one row for each region of holdout.tsv.

## Evaluation

Submissions are scored by macro F1: the mean over the classes of their F1 score. Higher is better, the
best is 1.
"""
_CATEGORIES = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")

REGIONS = CleanTask(
    name="photo-regions",
    modality="tabular",
    data="real: image segments (river)",
    answers=Answers.LABEL,
    metric="macro_f1",
    higher=True,
    train="training_data.tsv",
    test="holdout.tsv",
    raw_target="category",
    package=Package(
        toml=toml(
            "photo-regions",
            "What does the region show?",
            "tabular",
            "classification",
            ("region", "category"),
            ("segment (river)", "BSD-3-Clause"),
            'name = "macro_f1"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 2024',
        ),
        prepare=_REGIONS_PREPARE,
        metric=metric("macro_f1", "RegionMetrics", ("region", "category"), labels=_CATEGORIES),
        description=_REGIONS_TEXT,
        table=_regions,
        write=_write_regions,
    ),
)


def _mixtures() -> pd.DataFrame:
    table = pd.read_csv(dataset_path("concrete") / "concrete.csv")
    features = [name for name in table.columns if name != "compressive_strength"]
    return table.drop_duplicates(features).reset_index(drop=True)


def _write_mixtures(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "tests.csv", sep=";", index=False)


_CONCRETE_PREPARE = '''"""Samples of a mixture differ in age only, and are never parted."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

INGREDIENTS = ["cement", "blast_furnace_slag", "fly_ash", "water", "superplasticizer", "coarse_aggregate",
               "fine_aggregate"]


def write_lines(rows, path):
    path.write_text("".join(json.dumps(row) + "\\n" for row in rows.to_dict("records")))


def prepare(raw: Path, public: Path, private: Path) -> None:
    samples = pd.read_csv(raw / "tests.csv", sep=";", float_precision="round_trip")
    samples.insert(0, "mixture", samples.groupby(INGREDIENTS, sort=True).ngroup())
    mixture = samples["mixture"]
    drawn = np.random.default_rng(31).permutation(mixture.max() + 1)[: int(0.3 * (mixture.max() + 1))]
    keys = [hashlib.sha1(f"concrete {number}".encode()).hexdigest()[:10] for number in range(len(samples))]
    samples.insert(0, "sample_id", keys)
    samples = samples.sort_values("sample_id")
    in_test = mixture.isin(drawn).loc[samples.index]
    train, test = samples[~in_test], samples[in_test]
    write_lines(train, public / "train.jsonl")
    write_lines(test.drop(columns="compressive_strength"), public / "test.jsonl")
    test[["sample_id", "compressive_strength"]].to_csv(private / "test_answer.csv", index=False)
    middle = round(float(train["compressive_strength"].mean()), 2)
    sample = test[["sample_id"]].assign(compressive_strength=middle)
    sample.to_csv(public / "sample_submission.csv", index=False)
'''

_CONCRETE_TEXT = """How strong is the concrete?

Predict the compressive strength (MPa) of concrete samples from what they were mixed of and how old they are.

Data (JSON lines: one object in each line)
  train.jsonl             samples with compressive_strength
  test.jsonl              samples of other mixtures, without it
  sample_submission.csv   the form of a submission

Fields: sample_id (a hash, the id), mixture (a number for each mixture), cement, blast_furnace_slag,
fly_ash, water, superplasticizer,
coarse_aggregate, fine_aggregate (kilograms in a cubic metre), age (days). All samples of one mixture are
on the same
side of the split.

Submission: CSV with the header sample_id,compressive_strength and one line for each sample of test.jsonl.

Scoring: root mean squared error (RMSE) in MPa. Lower is better; 0 is perfect.
"""

CONCRETE = CleanTask(
    name="concrete-samples",
    modality="tabular",
    data="real: concrete (modeldata)",
    answers=Answers.NUMBER,
    metric="rmse",
    higher=False,
    train="train.jsonl",
    test="test.jsonl",
    raw_target="compressive_strength",
    shipped=True,
    package=Package(
        toml=toml(
            "concrete-samples",
            "How strong is the concrete?",
            "tabular",
            "regression",
            ("sample_id", "compressive_strength"),
            ("concrete (modeldata)", "MIT"),
            'name = "rmse"\nhigher_is_better = false\nbest = 0.0',
            'kind = "group"\ngroup_column = "mixture"\nseed = 31',
        ),
        prepare=_CONCRETE_PREPARE,
        metric=metric("rmse", "StrengthMetrics", ("sample_id", "compressive_strength")),
        description=_CONCRETE_TEXT,
        table=_mixtures,
        write=_write_mixtures,
    ),
)


def _biopsies() -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    table: pd.DataFrame = data.data.copy()
    table["diagnosis"] = ["benign" if code else "malignant" for code in data.target]
    return table


def _write_biopsies(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "wdbc.csv", index=False)


_BIOPSIES_PREPARE = '''"""Draw the test biopsies at random; names of columns get no spaces."""

from pathlib import Path

import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    cells = pd.read_csv(raw / "wdbc.csv").sample(frac=1.0, random_state=1995).reset_index(drop=True)
    cells.columns = [name.replace(" ", "_") for name in cells.columns]
    cells.insert(0, "biopsy", [f"B{number:03d}" for number in range(len(cells))])
    cells["malignant"] = (cells.pop("diagnosis") == "malignant").astype(int)
    test, train = cells.iloc[:200], cells.iloc[200:]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=["malignant"]).to_csv(public / "test.csv", index=False)
    test[["biopsy", "malignant"]].to_csv(private / "test_answer.csv", index=False)
    test[["biopsy"]].assign(malignant=0.37).to_csv(public / "sample_submission.csv", index=False)
'''

_BIOPSIES_TEXT = """Benign or malignant?

Thirty measurements of cell nuclei were taken from pictures of fine needle biopsies: mean, error and
worst of radius,
texture, perimeter, area, smoothness and so on. Predict the probability that a biopsy is malignant.

train.csv holds 369 biopsies with the column malignant (0 or 1), test.csv 200 others without it. The id
is biopsy.

Submit a CSV file like sample_submission.csv: the columns biopsy and malignant, a probability from 0 to 1
for each
biopsy in test.csv.

The metric is log loss (natural logarithm, probabilities clipped to 1e-15): lower is better and 0 is the best.
"""

BIOPSIES = CleanTask(
    name="biopsy-cells",
    modality="tabular",
    data="real: breast cancer Wisconsin (scikit-learn)",
    answers=Answers.FLAG,
    metric="log_loss",
    higher=False,
    raw_target="diagnosis",
    package=Package(
        toml=toml(
            "biopsy-cells",
            "Benign or malignant?",
            "tabular",
            "classification",
            ("biopsy", "malignant"),
            ("breast cancer Wisconsin (scikit-learn)", "BSD-3-Clause"),
            'name = "log_loss"\nhigher_is_better = false\nbest = 0.0',
            'kind = "random"\nseed = 1995',
        ),
        prepare=_BIOPSIES_PREPARE,
        metric=metric("log_loss", "BiopsyMetrics", ("biopsy", "malignant")),
        description=_BIOPSIES_TEXT,
        table=_biopsies,
        write=_write_biopsies,
    ),
)
