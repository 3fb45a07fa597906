"""Whether the licence of the raw data is stated, and what it forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from harness.tasks.package import Task

_UNKNOWN = re.compile(
    r"(unknown|unspecified|not (specified|stated|given|known)|none|no licen[cs]e|n/?a|other( .*)?|tb[ad]|todo"
    r"|\?+|-+|see .*|various|mixed|licen[cs]e|free|open|custom|creative commons|cc)?"
)
#: SPDX identifiers by family, the licences of open data, and what governments write (spdx.org/licenses,
#: opendefinition.org/licenses).
_KNOWN = re.compile(
    r"\bcc0\b|\bcc[- ]?(by|zero|pddc)\b|creative commons (zero|attribution|public domain|cc)"
    r"|public[ -]domain|\bpd\b|\bo?dc[- ]by\b|\bodbl\b|\bpddl\b|\bdbcl\b|open data ?(base|commons)"
    r"|database contents|\bcdla\b|community data|\bmit\b|\bbsd\b|\b[0-4][- ]clause|\bapache\b|\b[al]?gpl"
    r"|general public licen[cs]e|\bmpl\b|mozilla public|\bisc\b|unlicen[cs]e|\bwtfpl\b|\bzlib\b|\bpsf\b"
    r"|python software foundation|\bartistic\b|\bepl\b|\beupl\b|cecill|\bbsl\b|\bboost\b|\bgfdl\b"
    r"|free documentation|\bogl\b|open government|\betalab\b|licence ouverte|\bdl[- ]de\b"
    r"|datenlizenz|\bnlod\b|u\.?s\.? government|works? of the (us|u\.s\.)|\bus[- ]gov|crown copyright"
    r"|\bms-pl\b|\bofl\b|\bafl\b"
    r"|free (to|for) (use|any|all|re)|may be (freely )?(used|redistributed|copied)|redistribut(e|ion)"
    r"|no (known )?(copyright|restrictions)|without restriction|open licen[cs]e|\bo-?uda\b"
)
_FORBIDS = (
    (
        re.compile(
            r"non[- ]?commercial|\bnc\b|research (use|purposes)( only)?|academic"
            r"|education(al)? (use|purposes)|personal use"
        ),
        "forbids commercial use",
    ),
    (re.compile(r"no[- ]?deriv|\bnd\b"), "forbids changed versions, and a split with new ids is one"),
    (
        re.compile(r"competition|kaggle|challenge rules|rules of|subject to (the )?rules"),
        "binds the data to the rules of a competition, which as a rule forbid passing them on",
    ),
    (
        re.compile(
            r"all rights reserved|proprietary|confidential|internal|no redistribution"
            r"|not (be )?redistribut|non[- ]?disclosure|\bnda\b"
        ),
        "does not allow passing the data on",
    ),
)


def check_licence(task: Task) -> Iterator[Finding]:
    """A licence that is empty, unknown, not recognised, or that forbids what a task does with the data."""
    licence = task.spec.source.licence.strip()
    words = " ".join(licence.lower().replace("_", " ").split())
    if _UNKNOWN.fullmatch(words):
        yield finding(
            "licence_unclear",
            f"source.licence is {licence!r}, which names none",
            "name the licence of the raw data, by its SPDX identifier where it has one",
        )
        return
    forbidden = [meaning for pattern, meaning in _FORBIDS if pattern.search(words)]
    if forbidden:
        yield finding(
            "licence_unclear",
            f"source.licence is {licence!r}: it {'; it '.join(forbidden)}",
            "make sure that your use is allowed, or take other data",
        )
    elif not _KNOWN.search(words):
        yield finding(
            "licence_unclear",
            f"source.licence is {licence!r}, which is none of the licences we know",
            "name the licence by its SPDX identifier, or say in its words that the data may be used",
        )
