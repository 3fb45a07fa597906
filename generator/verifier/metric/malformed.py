"""Files that no participant may get a score for, through the same door as a participant's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench
from harness.tasks.submission import InvalidSubmission, read_submission


def check(bench: Bench) -> Iterator[Finding]:
    """Each malformed file that gets a score."""
    path = bench.case.scratch / "malformed.csv"
    for what, content in _files(bench).items():
        path.write_bytes(content if isinstance(content, bytes) else _csv(content))
        try:
            frame = read_submission(path, replace(bench.case.key, answers=bench.answers))
        except InvalidSubmission:
            continue
        result = bench.grade(frame)
        if result.valid:
            yield finding(
                "malformed_accepted",
                f"a file {what} scores {result.raw_score:.6g}",
                "refuse it in validate_submission",
            )
    path.unlink(missing_ok=True)


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode("utf-8", errors="surrogatepass")


def _files(bench: Bench) -> dict[str, pd.DataFrame | bytes]:
    key = bench.case.key
    answers = bench.answers[list(key.columns)]
    target = next(column for column in answers.columns if column != key.id_column)
    foreign, doubled = answers.copy(), answers.copy()
    foreign.loc[0, key.id_column] = "no such id"
    if len(answers) > 1:
        doubled.loc[0, key.id_column] = answers[key.id_column].iloc[1]
    files: dict[str, pd.DataFrame | bytes] = {
        "without the column " + target: answers.drop(columns=target),
        "without ids": answers.drop(columns=key.id_column),
        "with a column too many": answers.assign(one_column_too_many="1"),
        "with half of the rows": answers.iloc[: len(answers) // 2],
        "with one row too few": answers.iloc[1:],
        "with an id twice": pd.concat([answers, answers.iloc[:1]]),
        "with one id in place of another": doubled,
        "with all rows twice": pd.concat([answers, answers]),
        "with a foreign id": foreign,
        "with a row too many": pd.concat([answers, foreign.iloc[:1]]),
        "without rows": answers.iloc[:0],
        "without anything": b"",
        "of bytes that are no text": b"\xff\xfe\x00" * 20,
        "separated by semicolons": answers.to_csv(index=False, sep=";").encode("utf-8", "surrogatepass"),
    }
    if target not in key.may_be_empty:
        files["with an empty value"] = answers.assign(**{target: ["", *answers[target][1:]]})
    if target in key.numeric:
        for word, what in (
            ("word", "a word for a number"),
            ("inf", "infinity"),
            ("nan", "NaN"),
            ("-inf", "-inf"),
        ):
            files[f"with {what}"] = answers.assign(**{target: [word, *answers[target][1:]]})
    if len(key.columns) > 2:
        last = key.columns[-1]
        files[f"without the column {last}"] = answers.drop(columns=last)
    return files
