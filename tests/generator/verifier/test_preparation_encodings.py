"""Letters of many scripts read in the wrong encoding, and the same letters read well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generator.verifier.test_preparation_content import REMARKS, WINES, found

WORDS = ["CAFÉ", "Müller", "Žluťoučký", "Привет", "Ελλάδα", "日本語"]


@pytest.mark.parametrize("word", WORDS)
def test_utf8_read_as_latin1_is_named_in_every_script(word: str, tmp_path: Path) -> None:
    wrong = word.encode().decode("latin-1")
    texts = found(tmp_path / "texts", REMARKS, lambda t: t.assign(remark=t["remark"] + " " + wrong))
    names = found(tmp_path / "names", WINES, lambda t: t.assign(maker=t["maker"] + " " + wrong))
    assert str(texts["misparsed_table"].severity) == str(names["misparsed_table"].severity) == "error"


@pytest.mark.parametrize("word", [*WORDS, "„Spaß“", "«Å»", "“CAFÉ”", "25 °C ±2", "élève’s", "naïve…"])
def test_the_same_words_read_well_are_passed(word: str, tmp_path: Path) -> None:
    for kind, name in ((REMARKS, "remark"), (WINES, "maker")):
        findings = found(tmp_path / name, kind, lambda t, name=name: t.assign(**{name: t[name] + " " + word}))
        assert "misparsed_table" not in findings
