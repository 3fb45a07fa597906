"""The finding about names of things that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.description.present import Present

#: A sentence with these words tells of what participants are not given, or of a form.
EXCUSES = re.compile(
    r"(?i)\b(?:not (?:given|included|provided|available|part)|removed|dropped|left out|were excluded|"
    r"no longer|"
    r"without|hidden|does not (?:contain|include|have)|do not|original\w*|source|form|format|pattern|e\.g\.|"
    r"for example|such as)\b"
)


def report(what: str, missing: Mapping[str, bool], present: Present) -> Iterator[Finding]:
    """One finding for the surely missing, else one for the doubtful."""
    sure = sorted(name for name, certain in missing.items() if certain)
    names = sure or sorted(missing)
    if not names:
        return
    shown = ", ".join(repr(name) for name in names[:5]) + (
        f" and {len(names) - 5} more" if len(names) > 5 else ""
    )
    there = sorted(present.columns if what == "column" else present.names)
    close = get_close_matches(names[0].lower(), [name.lower() for name in there], 1, 0.75)
    where = "is in no table under public/" if what == "column" else "is not under public/"
    yield finding(
        "description_names",
        f"description.txt names the {what}{'s' * (len(names) > 1)} {shown}, which {where}"
        + (f"; there is {close[0]!r}" if close else ""),
        f"write the missing {what}, or leave it out of the description",
        None if sure else Severity.WARNING,
    )
