"""Clean tasks of words: remarks on bird strikes, genres of films (several labels), a log of jobs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from generator.datasets.catalogue import dataset_path
from generator.verifier.selftest.clean.metrics import metric
from generator.verifier.selftest.clean.task import Answers, CleanTask, Package, toml
from harness.tasksets.catalogue import reference_task

_SEED = 5
_PHASES = ("Approach", "Climb", "Landing Roll", "Take-off run")


def _remarks() -> pd.DataFrame:
    table = pd.read_csv(reference_task("bird-strike-phase") / "raw" / "remarks.csv.gz").dropna()
    words = table["remarks"].map(lambda text: len(text.split()))
    table = table[table["phase_of_flt"].isin(_PHASES) & (words >= 12)]
    wording = table["remarks"].str.upper().str.replace(r"[^A-Z]+", " ", regex=True).str[:40]
    return table[~wording.duplicated()].sample(1200, random_state=_SEED).reset_index(drop=True)


def _write_remarks(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "reports.csv", index=False)


_REMARKS_PREPARE = '''"""Shuffle the reports and keep 350 of them for the test."""

from pathlib import Path

import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    reports = pd.read_csv(raw / "reports.csv").rename(columns={"phase_of_flt": "phase"})
    reports = reports.sample(frac=1, random_state=77).reset_index(drop=True)
    reports.insert(0, "report", reports.index + 50000)
    test, train = reports[:350], reports[350:]
    train[["report", "remarks", "phase"]].to_csv(public / "train.csv", index=False)
    test[["report", "remarks"]].to_csv(public / "test.csv", index=False)
    test[["report", "phase"]].to_csv(private / "test_answer.csv", index=False)
    usual = train["phase"].mode()[0]
    test[["report"]].assign(phase=usual).to_csv(public / "sample_submission.csv", index=False)
'''

_REMARKS_TEXT = """In which phase of the flight?

Pilots and mechanics report birds that hit aircraft. Read the remarks of a report and say in which phase
of the flight
it happened: Approach, Climb, Landing Roll or Take-off run.

Files: train.csv (850 reports: report, remarks, phase), test.csv (350 reports: report, remarks), and
sample_submission.csv.

The submission is a CSV file with two columns, report (the id) and phase, with one row for each report of
test.csv.

It is scored by accuracy: the share of reports whose phase is right. Higher is better, and 1 is perfect.
"""

REMARKS = CleanTask(
    name="strike-remarks",
    modality="text",
    data="real: FAA wildlife strike reports",
    answers=Answers.LABEL,
    metric="accuracy",
    higher=True,
    text="remarks",
    features=False,
    raw_target="phase_of_flt",
    shipped=True,
    package=Package(
        toml=toml(
            "strike-remarks",
            "In which phase of the flight?",
            "text",
            "classification",
            ("report", "phase"),
            ("FAA wildlife strike reports", "public domain"),
            'name = "accuracy"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 77',
        ),
        prepare=_REMARKS_PREPARE,
        metric=metric("accuracy", "PhaseMetrics", ("report", "phase"), labels=_PHASES),
        description=_REMARKS_TEXT,
        table=_remarks,
        write=_write_remarks,
    ),
)

_GENRES = ("Action", "Adventure", "Comedy", "Crime", "Drama", "Horror", "Romance", "Thriller")


def _films() -> pd.DataFrame:
    table = pd.read_json(dataset_path("films") / "films.jsonl.gz", lines=True)
    genres = table["Genre"].fillna("").map(lambda cell: [g for g in cell.split(", ") if g in _GENRES])
    table = table.assign(Genre=genres.str.join(" "))[
        ["Title", "Year", "Runtime", "Director", "Language", "Country", "Meter", "Genre"]
    ]
    table = table[(table["Genre"] != "") & table["Runtime"].notna() & table["Country"].notna()]
    table = table.drop_duplicates("Title").drop_duplicates(["Year", "Runtime", "Director", "Country"])
    return table.sample(1400, random_state=_SEED).reset_index(drop=True)


def _write_films(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "films.csv", index=False)


_FILMS_PREPARE = '''"""Split at random; the genres of a film stay one cell, separated by spaces."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 60


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(SEED)
    films = pd.read_csv(raw / "films.csv")
    films.columns = [name.lower() for name in films.columns]
    films = films.rename(columns={"genre": "genres"})
    films.insert(0, "film", [f"tt{number}" for number in rng.permutation(len(films)) + 70000])
    films = films.sort_values("film")
    drawn = rng.random(len(films)) < 0.3
    films[~drawn].to_csv(public / "films_train.csv", index=False)
    films[drawn].drop(columns="genres").to_csv(public / "films_test.csv", index=False)
    films.loc[drawn, ["film", "genres"]].to_csv(private / "test_answer.csv", index=False)
    sample = films.loc[drawn, ["film"]].assign(genres="Drama")
    sample.to_csv(public / "sample_submission.csv", index=False)
'''

_FILMS_TEXT = """Which genres has the film?

For each film in films_test.csv, list its genres. There are eight: Action, Adventure, Comedy, Crime,
Drama, Horror,
Romance, Thriller; a film has one or several.

films_train.csv has the columns film (the id), title, year, runtime, director, language, country, meter
(share of good
reviews) and genres. films_test.csv has the same without genres.

Submission format: CSV, header film,genres; the genres of a film are separated by spaces, for example
tt70001,Crime Drama

Evaluation metric: micro-averaged F1 over all pairs of film and genre. Higher is better; a perfect
submission gets 1.
"""

FILMS = CleanTask(
    name="film-genres",
    modality="mixed",
    data="real: films (Wikidata, bokeh-sampledata)",
    answers=Answers.LABELS,
    metric="micro_f1",
    higher=True,
    train="films_train.csv",
    test="films_test.csv",
    text="title",
    raw_target="Genre",
    package=Package(
        toml=toml(
            "film-genres",
            "Which genres has the film?",
            "mixed",
            "multi-label classification",
            ("film", "genres"),
            ("films (bokeh-sampledata)", "CC0-1.0"),
            'name = "micro_f1"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 60',
        ),
        prepare=_FILMS_PREPARE,
        metric=metric("micro_f1", "GenreMetrics", ("film", "genres"), labels=_GENRES),
        description=_FILMS_TEXT,
        table=_films,
        write=_write_films,
    ),
)

_SPEEDS = {"VF": "very_fast", "F": "fast", "M": "moderate", "L": "long"}


def _jobs() -> pd.DataFrame:
    table = pd.read_csv(dataset_path("hpc-jobs") / "hpc_data.csv.gz")
    features = [name for name in table.columns if name != "class"]
    table = table.drop_duplicates(features).sample(3600, random_state=_SEED).reset_index(drop=True)
    return table.assign(**{"class": table["class"].map(_SPEEDS)})


def _write_jobs(table: pd.DataFrame, raw: Path) -> None:
    """The records as lines of a log, and the class after each."""
    lines = []
    for row in table.to_dict("records"):
        hour, minute = int(row["hour"]), round(row["hour"] % 1 * 60) % 60
        lines.append(
            f"{row['day']} {hour:02d}:{minute:02d} sched: submit protocol={row['protocol']} "
            f"compounds={row['compounds']} fields={row['input_fields']} iterations={row['iterations']} "
            f"pending={row['num_pending']}\t{row['class']}\n"
        )
    (raw / "scheduler.log").write_text("".join(lines), encoding="utf-8")


_JOBS_PREPARE = '''"""Cut each line of the log into the entry and what became of the job."""

from pathlib import Path

import numpy as np
import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(404)
    lines = (raw / "scheduler.log").read_text(encoding="utf-8").splitlines()
    log = pd.DataFrame([line.split("\\t") for line in lines], columns=["entry", "duration"])
    log = log.iloc[rng.permutation(len(log))].reset_index(drop=True)
    log.insert(0, "line", rng.permutation(len(log)))
    test, train = log[:900], log[900:]
    train.to_csv(public / "train.csv", index=False)
    test[["line", "entry"]].to_csv(public / "test.csv", index=False)
    test[["line", "duration"]].to_csv(private / "test_answer.csv", index=False)
    usual = train["duration"].value_counts().index[0]
    test[["line"]].assign(duration=usual).to_csv(public / "sample_submission.csv", index=False)
'''

_JOBS_TEXT = """How long will the job run?

The scheduler of a cluster writes an entry when a job is submitted: day and time, protocol, numbers of
compounds and
of input fields, iterations, and how many jobs are pending. Predict from the entry how long the job will run.

- train.csv: 2700 lines with `line` (id), `entry` (the text) and `duration`
- test.csv: 900 lines with `line` and `entry`
- sample_submission.csv: every job the most frequent duration

`duration` is one of very_fast, fast, moderate, long. Submit a CSV with the columns `line` and
`duration`, a row for
each line of test.csv. Submissions are compared by macro-averaged F1 over the four durations,
as half of
the jobs are very fast. Higher is better, and 1 is perfect.
"""

JOBS = CleanTask(
    name="scheduler-log",
    modality="logs",
    data="real records (HPC jobs, modeldata), written as lines of a log for this task",
    answers=Answers.LABEL,
    metric="macro_f1",
    higher=True,
    text="entry",
    features=False,
    raw_target="class",
    package=Package(
        toml=toml(
            "scheduler-log",
            "How long will the job run?",
            "logs",
            "classification",
            ("line", "duration"),
            ("hpc_data (modeldata)", "MIT"),
            'name = "macro_f1"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 404',
        ),
        prepare=_JOBS_PREPARE,
        metric=metric(
            "macro_f1", "DurationMetrics", ("line", "duration"), labels=tuple(sorted(_SPEEDS.values()))
        ),
        description=_JOBS_TEXT,
        table=_jobs,
        write=_write_jobs,
    ),
)
