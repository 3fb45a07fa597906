"""Changing what prepare.py makes: the author's own function runs, and then some more lines."""

from __future__ import annotations

import textwrap

from generator.verifier.selftest.injections.base import Apply, Subject

_TOOLS = """

import json as _json

import numpy as np
import pandas as pd


def load_table(path):
    if path.suffix == ".jsonl":
        return pd.DataFrame([_json.loads(line) for line in path.read_text().splitlines()], dtype=object)
    return pd.read_csv(path, sep="\\t" if path.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)


def save_table(table, path):
    if path.suffix == ".jsonl":
        rows = table.to_dict("records")
        path.write_text("".join(_json.dumps(row, default=lambda v: v.item()) + "\\n" for row in rows))
    else:
        table.to_csv(path, sep="\\t" if path.suffix == ".tsv" else ",", index=False)


def as_numbers(values):
    numbers = pd.to_numeric(pd.Series(list(values)).astype(str), errors="coerce")
    if numbers.notna().all():
        return numbers.to_numpy(dtype=float)
    names = {name: place for place, name in enumerate(sorted({str(value) for value in values}))}
    return np.array([names[str(value)] for value in values], dtype=float)


def coded(train, test):
    both = as_numbers(list(train) + list(test))
    return both[: len(train)], both[len(train) :]


def put(table, name, values, place=1):
    table.insert(min(place, len(table.columns)), name, values)


def with_answers(test, answers):
    parts = answers.set_index(answers[ID].astype(str))[TARGETS].loc[test[ID].astype(str)]
    return test.assign(**{name: parts[name].to_numpy() for name in TARGETS})


def floats(values):
    return pd.to_numeric(values.astype(str).replace("", "nan"), errors="coerce")


def is_numeric(values):
    return bool(pd.to_numeric(values.astype(str).replace("", "0"), errors="coerce").notna().all())

"""

_TABLES = """
    train_path, test_path = public / {train!r}, public / {test!r}
    train, test = load_table(train_path), load_table(test_path)
    by_id = answers.set_index(answers[ID].astype(str))[TARGET]
    truth = by_id.loc[test[ID].astype(str)].reset_index(drop=True)
    own = [ID, *TARGETS]
    features = [name for name in test.columns if name in train.columns and name not in own]
    numeric = [n for n in features if is_numeric(train[n]) and train[n].astype(str).nunique() > 10]
"""
_SAVED = """
    save_table(train, train_path)
    save_table(test, test_path)
"""


def wrap(subject: Subject, body: str, *, tables: bool = True, save: bool = True) -> None:
    """Let prepare.py do more at its end.

    The lines may use ``raw``, ``public``, ``private``, ``rng``, ``ID``, ``TARGETS``, ``TARGET`` (the first),
    ``answers`` and ``sample``; with ``tables`` also ``train``, ``test``, ``truth`` (of the test rows, in
    their order), ``features`` and ``numeric`` (those of them with many numbers). Answers, sample and tables
    are written again as the lines leave them.
    """
    clean, spec = subject.clean, _columns(subject)
    head = f"""
ID, TARGETS = {spec[0]!r}, {spec[1]!r}
TARGET = TARGETS[0]


def prepare(raw, public, private):
    prepare_tables(raw, public, private)
    rng = np.random.default_rng({subject.seed + 4_711})
    answers_path, sample_path = private / "test_answer.csv", public / "sample_submission.csv"
    answers, sample = load_table(answers_path), load_table(sample_path)
"""
    text = head
    if tables:
        text += _TABLES.format(train=clean.train, test=clean.test)
    text += "\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    if save:
        text += _SAVED if tables else ""
        text += "    save_table(answers, answers_path)\n    save_table(sample, sample_path)\n"
    subject.replace("prepare.py", r"^def prepare\(", "def prepare_tables(")
    subject.rewrite("prepare.py", subject.read("prepare.py").rstrip() + _TOOLS + text)


def tables(body: str) -> Apply:
    """An injection of lines that work on the tables."""
    return lambda subject: wrap(subject, body)


def files(body: str) -> Apply:
    """An injection of lines that work on the files and leave the tables as they are."""
    return lambda subject: wrap(subject, body, tables=False, save=False)


def answers(body: str) -> Apply:
    """An injection of lines that work on answers and sample alone."""
    return lambda subject: wrap(subject, body, tables=False)


def _columns(subject: Subject) -> tuple[str, list[str]]:
    from harness.tasks.package import load_task

    spec = load_task(subject.root).spec
    return spec.id_column, list(spec.target_columns)
