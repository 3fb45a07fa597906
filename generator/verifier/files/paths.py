"""Names and folders of test files that tell the label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.probing import column_strength
from generator.verifier.public.kinds import FileKind
from generator.verifier.public.pairs import Pairs, pairs_of
from generator.verifier.sampling import told
from generator.verifier.targets import Kind, to_numbers

_ANY = frozenset(FileKind)
_MOST_WORDS = 8
_SHORTEST = 2


def check(case: Case) -> Iterator[Finding]:
    """Class names in the paths of test files, and parts of the paths that predict the label."""
    pairs = pairs_of(case, "test", _ANY)
    if pairs is None:
        return
    pairs = pairs.sampled(case.limits.sampling.rows)
    names = pd.Series([file.name for file in pairs.files], dtype=str)
    for target in case.targets:
        kind = case.kinds[target]
        truth = pairs.truth[target]
        labelled = truth.str.strip().ne("").to_numpy()
        if labelled.sum() < case.limits.files.told_rows or kind not in (Kind.CLASS, Kind.NUMBER):
            continue
        parts = names[labelled].reset_index(drop=True), truth[labelled].reset_index(drop=True)
        found = _named(case, pairs, target, *parts) or _predicted(case, pairs, target, kind, *parts)
        if found is not None:
            yield found
            return


def _named(case: Case, pairs: Pairs, target: str, names: pd.Series, truth: pd.Series) -> Finding | None:
    """The label itself stands in the path, more often than those of other rows do."""
    if truth.nunique() < 2:
        return None
    words = [set(_words(name)) for name in names]
    wanted = [spelt(label) for label in truth]
    # A label of one character or a number is in many a name by chance, and has to be told from position.
    if any(len(label) < _SHORTEST or label.isdigit() for label in set(wanted)):
        return None
    paths = [f"_{spelt(name)}_" for name in names]
    hits = np.array(
        [
            label in found or f"_{label}_" in path
            for label, found, path in zip(wanted, words, paths, strict=True)
        ]
    )
    order = np.random.default_rng(0).permutation(len(wanted))
    chance = np.array([f"_{wanted[other]}_" in paths[row] for row, other in enumerate(order)])
    share, by_chance = float(hits.mean()), float(chance.mean())
    if hits.sum() < case.limits.leaks.rare_rows or share - by_chance < case.limits.files.path_gain:
        return None
    if (share - by_chance) / np.sqrt(
        max(share * (1 - share), 1 / len(hits)) / len(hits)
    ) < case.limits.files.telling_z:
        return None
    one = names[int(np.flatnonzero(hits)[0])]
    return finding(
        "label_in_path",
        f"the paths of {share:.0%} of the test files name their {target} (by chance {by_chance:.0%}), as "
        f"public/{one}{told(len(names), pairs.of, 'files')}",
        "give test files neutral names in one folder",
    )


def _predicted(
    case: Case, pairs: Pairs, target: str, kind: Kind, names: pd.Series, truth: pd.Series
) -> Finding | None:
    limits = case.limits.files
    best: tuple[float, float, str] | None = None
    for part, cells in _parts(names).items():
        if cells.nunique() < 2:
            continue
        known = column_strength(cells, truth, kind)
        if (
            known.z >= limits.telling_z
            and known.gain >= limits.path_hint
            and (best is None or known.gain > best[0])
        ):
            best = known.gain, known.z, part
    if best is None:
        return None
    gain, _, part = best
    serious = gain >= limits.path_gain
    # Numbers in time are honest names of what is measured in time.
    if kind is Kind.NUMBER or case.task.spec.split.kind == "time":
        serious = gain >= limits.metadata_gain
        if gain < limits.metadata_gain / 2:
            return None
    return finding(
        "label_in_path",
        f"{part} of the test files alone goes {gain:.0%} of the way from chance to {target}, "
        f"public/{names.iloc[0]} for one{told(len(names), pairs.of, 'files')}",
        "give test files neutral names in one folder, numbered at random",
        None if serious else Severity.WARNING,
    )


def _parts(names: pd.Series) -> dict[str, pd.Series]:
    """What a path is made of, by the words that name the part: columns of strings."""
    paths = [PurePosixPath(name) for name in names]
    stems = [path.name.partition(".")[0] for path in paths]
    series = {
        "the folder": [path.parent.as_posix() for path in paths],
        "the suffix": [path.suffix for path in paths],
        "the letters at the start of the name": [_matched(r"^[A-Za-z]+", stem) for stem in stems],
        "the number in the name": [_matched(r"\d{1,15}(?!.*\d)", stem) for stem in stems],
        "the last character of the name": [stem[-1:] for stem in stems],
        "the first character of the name": [stem[:1] for stem in stems],
        "the length of the name": [str(len(path.name)) for path in paths],
        "the place in the sorted list of names": pd.Series(names)
        .rank(method="first")
        .astype(int)
        .astype(str),
    }
    cut = [[word for word in re.split(r"[_\-. /]+", name) if word] for name in names]
    for number in range(min(_MOST_WORDS, max(len(words) for words in cut))):
        words = pd.Series([found[number] if number < len(found) else "" for found in cut], dtype=str)
        # Words that hardly come twice are numbers of the files.
        if words.nunique() <= len(words) // 2:
            series[f"word {number + 1} of the path"] = words
    numbers = to_numbers(pd.Series(series["the number in the name"]))
    for modulus in (2, 3, 5, 10):
        series[f"the number in the name modulo {modulus}"] = [
            str(int(value % modulus)) if np.isfinite(value) else "" for value in numbers
        ]
    return {part: pd.Series(cells, dtype=str).reset_index(drop=True) for part, cells in series.items()}


def _matched(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group() if found else ""


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^A-Za-z0-9]+", name.lower()) if word]


def spelt(label: str) -> str:
    """A label or path in lower case with one mark between its words."""
    return "_".join(_words(label))
