"""Texts that all but repeat across the split: bird strikes (public domain), docstrings (BSD)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
import scipy.signal

from generator.verifier.files import texts
from generator.verifier.files.texts import _partners, _signatures
from tests.generator.verifier.filed import open_files, written

BIRDS = Path("harness/tasksets/reference/bird-strike-effect/raw/birds.csv.gz")

ONE = "the quick brown fox jumps over the lazy dog while the farmer sleeps in the warm barn until noon"
TWO = "a committee of nine members met on Tuesday to discuss the new bridge and found no money for it"


def test_a_text_with_one_word_changed_finds_its_original_and_no_other() -> None:
    """By hand: 16 different words and 18 pairs; with another last word 32 of 36 are shared."""
    changed = ONE.rsplit(" ", 1)[0] + " evening"
    asked, known = [changed.upper() + "!", TWO], [ONE, "three short words"]
    signatures, enough = _signatures([*asked, *known], words=8)
    assert enough.tolist() == [True, True, True, False]
    partner = _partners(signatures, enough, 2, overlap=0.7)
    assert partner.tolist() == [2, -1, -1, -1]
    assert abs(float((signatures[0] == signatures[2]).mean()) - 32 / 36) < 0.15
    # Of 17 and 16 different words the two texts share "the" and "and" at most.
    assert float((signatures[1] == signatures[2]).mean()) < 0.1


def _strikes() -> pd.DataFrame:
    """What pilots said, and in which phase of the flight."""
    table = pd.read_csv(BIRDS, dtype=str).dropna(subset=["remarks", "phase_of_flt"])
    table = table[table["remarks"].str.split().str.len() >= 8].drop_duplicates("remarks")[:1_500]
    return pd.DataFrame({"said": table["remarks"], "phase": table["phase_of_flt"]})


def _docstrings() -> pd.DataFrame:
    """Paragraphs of what NumPy and SciPy say of their functions, without those that all begin alike."""
    rows = []
    for label, module in (("numpy", np), ("signal", scipy.signal)):
        for name in sorted(name for name in dir(module) if not name.startswith("_")):
            paragraphs = (inspect.getdoc(getattr(module, name)) or "").split("\n\n")[:3]
            rows += [(" ".join(words.split()), label) for words in paragraphs if len(words.split()) >= 10]
    table = pd.DataFrame(rows, columns=["paragraph", "library"])
    return table[~table["paragraph"].str[:30].duplicated() & ~table["paragraph"].str[-30:].duplicated()]


def _dropped(text: str, dice: Random) -> str:
    words = text.split()
    words.pop(dice.randrange(len(words)))
    return " ".join(words)


def _misspelt(text: str, dice: Random) -> str:
    words = text.split()
    at = dice.randrange(len(words))
    words[at] += "x"
    return " ".join(words)


EDITS: dict[str, Callable[[str, Random], str]] = {
    "none": lambda text, dice: text,
    "case": lambda text, dice: text.swapcase(),
    "punctuation": lambda text, dice: re.sub(r"[.,;!?-]", " ", text) + " !",
    "more": lambda text, dice: f"Note: {text}",
    "less": _dropped,
    "misspelt": _misspelt,
}
SETS = {"strikes": _strikes, "docstrings": _docstrings}


@pytest.mark.parametrize("name", SETS)
def test_small_edits_of_training_texts_are_found(name: str, tmp_path: Path) -> None:
    """A tenth of the test texts are training texts with one edit and their label; the rest are honest."""
    table = SETS[name]().sample(frac=1, random_state=4).reset_index(drop=True)
    column, target = table.columns
    train, test = table.iloc[len(table) // 4 :], table.iloc[: len(table) // 4]
    root = written(tmp_path / "clean", train, test, target)
    assert not list(texts.check(open_files(root)))
    for edit, edited in EDITS.items():
        dice, changed = Random(5), test.copy()
        for row in range(len(test) // 10):
            source = train.iloc[dice.randrange(len(train))]
            changed.iloc[row] = [edited(source[column], dice), source[target]]
        (seen,) = texts.check(open_files(written(tmp_path / edit, train, changed, target)))
        assert (seen.code, seen.severity) == ("near_duplicates", "error"), edit
        assert f"in {column}" in seen.evidence


def test_labels_that_are_one_column_a_class_in_the_answers(tmp_path: Path) -> None:
    """The training table names the library, the answers have a column for each, as for probabilities."""
    table = _docstrings().sample(frac=1, random_state=4).reset_index(drop=True)
    train, test = table.iloc[300:], table.iloc[:300].copy()
    test.iloc[:30] = train.iloc[:30].to_numpy()
    test["paragraph"] += " Indeed."
    root = written(tmp_path / "task", train, test, "library")
    for path in (root / "private" / "test_answer.csv", root / "public" / "sample_submission.csv"):
        rows = pd.read_csv(path, dtype=str)
        wide = pd.get_dummies(rows["library"], dtype=int).reindex(columns=["numpy", "signal"], fill_value=0)
        pd.concat([rows[["row"]], wide], axis=1).to_csv(path, index=False)
    toml = (root / "task.toml").read_text()
    (root / "task.toml").write_text(toml.replace('["library"]', '["numpy", "signal"]'))
    (seen,) = texts.check(open_files(root))
    assert seen.severity == "error" and "beyond chance: 1.00" in seen.evidence
