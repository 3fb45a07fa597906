"""Texts that all but repeat across the split; the films' summaries are Wikidata's (CC0)."""

from __future__ import annotations

import numpy as np

from generator.verifier.files.texts import _partners, _signatures

ONE = "the quick brown fox jumps over the lazy dog while the farmer sleeps in the warm barn until noon"
TWO = "a committee of nine members met on Tuesday to discuss the new bridge and found no money for it"


def test_a_text_with_one_word_changed_finds_its_original_and_no_other() -> None:
    """By hand: 19 words make 17 triples; a changed last word keeps 16, which is 16 of 18."""
    changed = ONE.rsplit(" ", 1)[0] + " evening"
    asked, known = [changed.upper() + "!", TWO], [ONE, "three short words"]
    signatures, enough = _signatures([*asked, *known], words=8)
    assert enough.tolist() == [True, True, True, False]
    partner = _partners(signatures, enough, 2, overlap=0.7)
    assert partner.tolist() == [2, -1, -1, -1]
    assert abs(float((signatures[0] == signatures[2]).mean()) - 16 / 18) < 0.15
    assert float((signatures[1] == signatures[2]).mean()) == np.float64(0.0)
