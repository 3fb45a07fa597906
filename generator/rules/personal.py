"""Columns that tell what a person is, which no task asks anyone to guess."""

from __future__ import annotations

from generator.columns import Column
from generator.rules.naming import words

_BY_TRAIT = {
    "origin": "race ethnicity ethnic ethnie hispanic latino latina caucasian cauc afam nationality caste "
    "tribe immigrant foreigner native",
    "belief": "religion religious church faith denomination",
    "sex": "sex gender female male transgender",
    "family life": "marital maritl married marriage divorced spouse partner dependents",
    "age": "fage mage birthday birthdate mature",
    "political opinion": "ideology partisanship",
}
_TRAITS = {word: trait for trait, listed in _BY_TRAIT.items() for word in listed.split()}
#: Parts of words, as people glue them to others: ``whitemom``, ``isfemale``, ``fathereduc_hispanic``.
_GLUED = {
    "hispan": "origin", "ethnic": "origin", "relig": "belief", "gender": "sex", "female": "sex",
    "whitemom": "origin", "blackmom": "origin", "whitedad": "origin", "blackdad": "origin",
}  # fmt: skip
#: Values that tell the trait whatever the column is called; two of them settle it.
_VALUES = {
    "origin": {"white", "black", "asian", "hispanic", "latino", "cauc", "afam", "caucasian", "not white",
               "non-white", "african american", "black or african american", "native american"},
    "sex": {"male", "female", "man", "woman", "boy", "girl"},
    "family life": {"married", "not married", "never married", "divorced", "widowed", "single"},
}  # fmt: skip


def personal(column: Column) -> str | None:
    """The trait of a person that a column tells, or ``None``.

    Such a column may be a feature, as the source has it; a task that asks for it would teach to guess what
    people are.
    """
    own = words(column.name)
    for word in own:
        trait = _TRAITS.get(word) or next((kind for part, kind in _GLUED.items() if part in word), None)
        if trait is not None:
            return trait
    values = {name.lower().lstrip("0123456789. ") for name, _ in column.classes}
    return next((trait for trait, known in _VALUES.items() if len(values & known) >= 2), None)
