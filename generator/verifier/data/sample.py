"""The sample submission: one that the framework takes, with values of the kind of the answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.targets import Kind, missing_words, to_numbers
from harness.tasks.submission import InvalidSubmission, read_answer_key, read_strings, read_submission

_LIST = r"\s*-?\d+(?:\.\d+)?(?:[\s,;|]+-?\d+(?:\.\d+)?)*\s*"


def check(case: Case) -> Iterator[Finding]:
    """Findings about the sample submission, whose columns and ids are known to be right.

    What a submission must look like is derived from answers and sample together, so a sample of words makes a
    numeric column one of words; therefore its cells are compared with the answers first.
    """
    sample = read_strings(case.prepared.sample_path)
    wrong = [found for column in case.targets for found in _check_values(case, sample[column], column)]
    yield from wrong
    if wrong:
        return
    try:
        read_submission(case.prepared.sample_path, read_answer_key(case.prepared))
    except InvalidSubmission as error:
        yield finding("sample_invalid", f"the framework refuses it: {error}", "write a valid submission")


def _check_values(case: Case, said: pd.Series, column: str) -> Iterator[Finding]:
    truth, kind = case.answers[column], case.kinds[column]
    truth = truth[(truth.str.strip() != "") & ~missing_words(truth)]
    empty = said.str.strip() == ""
    numeric = len(truth) > 0 and bool(np.isfinite(to_numbers(truth)).all())
    if empty.any() and (numeric or not (case.answers[column].str.strip() == "").any()):
        yield finding(
            "sample_invalid",
            f"{column} of the sample is empty in {int(empty.sum())} of {len(said)} rows, "
            "and the framework refuses such a submission",
            "fill it with a constant",
            # Where text is asked for, an empty cell is a common way to say "yours goes here".
            Severity.WARNING if kind is Kind.TEXT and not numeric else None,
        )
    elif numeric:
        yield from _check_numbers(said, column)
    elif kind is Kind.CLASS:
        yield from _check_labels(case, said, truth, column)


def _check_numbers(said: pd.Series, column: str) -> Iterator[Finding]:
    numbers = to_numbers(said)
    bad = ~np.isfinite(numbers)
    if not bad.any() or bool(said.str.fullmatch(_LIST).all()):
        return  # a list of guesses for one number, as mean average precision takes
    worded = missing_words(said) | said.str.strip().str.lower().isin(["nan", "na", "none", "null"])
    how = "not finite" if (np.isinf(numbers) | worded)[bad].all() else "no number"
    yield finding(
        "sample_invalid",
        f"{column} of the sample is {how} in {int(bad.sum())} of {len(said)} rows, "
        "while all answers are numbers",
        "fill it with a finite number",
    )


def _check_labels(case: Case, said: pd.Series, truth: pd.Series, column: str) -> Iterator[Finding]:
    """Labels that are no class, though classes are few and known."""
    train = case.train
    known = set(truth.str.strip())
    if train is not None and column in train.columns:
        known |= set(train[column].str.strip())
    foreign = sorted(set(said.str.strip()) - known)
    if not foreign or len(known) > len(truth) // 2:
        return
    plain = {_plain(label) for label in known}
    respelled = [label for label in foreign if _plain(label) in plain]
    how = "spelled otherwise than" if respelled else "none of"
    rows = int(said.str.strip().isin(foreign).sum())
    yield finding(
        "sample_invalid",
        f"{column} of the sample holds {(respelled or foreign)[0][:40]!r}, {how} the classes of the answers "
        f"and training ({rows} of {len(said)} rows)",
        "use the labels exactly as the training table spells them",
        Severity.WARNING,
    )


def _plain(label: str) -> str:
    """A label without case, spaces and marks; 1.0 is 1."""
    number = to_numbers(pd.Series([label])).iloc[0]
    if np.isfinite(number):
        return f"{number:g}"
    return "".join(sign for sign in label.casefold() if sign.isalnum())
