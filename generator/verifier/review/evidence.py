"""Whether what a reviewer quotes really stands in the files it was shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generator.verifier.review.form import Quote
from generator.verifier.review.material import Document

#: A shorter quote is found in any text.
_SHORTEST = 6
_SIGNS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})


def holds(documents: Sequence[Document], quote: Quote) -> bool:
    """Whether the file named holds the words, but for blanks and the forms of quotation marks and dashes.

    An ellipsis at either end is none of the words; one within would join what does not stand together.
    """
    wanted = _normal(re.sub(r"^\W*(?:\.\.\.|…)|(?:\.\.\.|…)\W*$", "", quote.quote.strip()))
    if len(wanted) < _SHORTEST:
        return False
    name = quote.file.strip().strip("`'\"").removeprefix("./")
    return any(_same(document.name, name) and wanted in _normal(document.text) for document in documents)


def _same(name: str, said: str) -> bool:
    return said in (name, name.removeprefix("public/"))


def _normal(text: str) -> str:
    return " ".join(text.translate(_SIGNS).split())
