"""Hostile texts: every pattern of the description gate comes to its end on padding of every make.

Patterns run in a process of their own, so that one that does not end is a failure and not a hanging test.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import generator.verifier.description as description
from tests.generator.verifier.described import write

#: Characters of a line: a pattern of cubic cost needs minutes for it, one of quadratic cost an instant.
LENGTH = 2_500
#: Characters of a whole description, line breaks among them.
WHOLE = 60_000
SECONDS = 60.0
#: What is repeated, and what comes before it: what patterns look for, and what they let stand between.
UNITS = (
    " ", "\t", "\u00a0", "-", "`", "*", "|", "|  ", "1", "1,", "1 ", "a", "a ", "a-", "a_", "A.", ".", "the ",
    "the all ", "holds with ", "( ", "(a ", "[", "[a](", "![", "<", "<a ", "</p", "\"'", ": ", ", ", "or ",
    "not ", "to ", "rows ", "12 new ", "test ", "column ", "`a_b` ", "/", "a/", "data/a.", "=", "# ",
    "score ", "\u2013 ", "\u00e9", "\u5217",
)  # fmt: skip
HEADS = ("", "train.csv", "`train.csv` | ", "12 ", "columns: ", "The score is ", "<p", "classes ", "seed ")
SEARCH = """
import sys
from tests.generator.verifier.test_description_hostile import patterns, search
search(*patterns()[sys.argv[1]])
"""
CHECK = """
import sys
from pathlib import Path
from generator.verifier.description import gate
from tests.generator.verifier.described import opened
with opened(Path(sys.argv[1])) as case:
    list(gate.check(case))
"""


def patterns() -> dict[str, list[re.Pattern[str]]]:
    """All compiled patterns of the gate's modules, by module."""
    found: dict[str, list[re.Pattern[str]]] = {}
    for info in pkgutil.iter_modules(description.__path__):
        module = importlib.import_module(f"{description.__name__}.{info.name}")
        found[info.name] = [one for value in vars(module).values() for one in _within(value)]
    return {name: ours for name, ours in found.items() if ours}


def _within(value: object) -> Iterator[re.Pattern[str]]:
    """A pattern, or those in tuples, lists and dictionaries."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _within(one)


def search(*ours: re.Pattern[str]) -> None:
    """Look for each pattern in each padded line, from its beginning and anywhere."""
    for head in HEADS:
        for unit in UNITS:
            line = head + (unit * LENGTH)[:LENGTH] + "\u0000"
            for pattern in ours:
                pattern.match(line)
                pattern.search(line)


def test_the_patterns_are_found() -> None:
    assert {"rows", "text", "columns", "reveals", "metrics"} <= set(patterns())


@pytest.mark.parametrize("module", sorted(patterns()))
def test_patterns_end_on_padded_texts(module: str) -> None:
    subprocess.run([sys.executable, "-c", SEARCH, module], check=True, timeout=SECONDS)


@pytest.mark.parametrize("units", [UNITS[:4], UNITS[4:24], UNITS[24:]], ids=["blanks", "marks", "words"])
def test_the_gate_ends_on_padded_descriptions(units: tuple[str, ...], tmp_path: Path) -> None:
    """Also where patterns are put together from the names of columns and files."""
    each = WHOLE // (len(units) * len(HEADS))
    text = "\n".join(head + (unit * each)[:each] + "." for head in HEADS for unit in units)
    answers = pd.DataFrame({"row": range(30), "the_label": ["yes", "no"] * 15})
    tables = {"train.csv": answers.assign(a_b=1.5), "test.csv": answers[["row"]].assign(a_b=2.5)}
    root = write(tmp_path / "padded", text, answers, tables, metric="accuracy", higher=True)
    subprocess.run([sys.executable, "-c", CHECK, str(root)], check=True, timeout=SECONDS)
