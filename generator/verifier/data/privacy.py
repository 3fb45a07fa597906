"""Personal data in public files. What is found is counted and never shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data import texts
from generator.verifier.sampling import sampled, told
from generator.verifier.targets import to_numbers

_SYNTHETIC = re.compile(r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net|edu)|[\w-]+\.(?:example|invalid|test))$")
_NAMED = {
    "names of people": r"(?:first|last|full|maiden|given|family|middle|patient|customer|client|employee)"
    r" ?name|sur ?name|fore ?name",
    "dates of birth": r"date of birth|birth ?date|birth ?day|dob",
    "telephone numbers": r"(?:tele|mobile |cell )?phone(?: ?(?:number|no))?|mobile(?: number)?",
    "identity numbers": r"ssn|social security(?: number)?|passport(?: ?(?:number|no))?|national id|tax id",
    "home addresses": r"(?:home|street|postal|mailing) address",
}
_DISTINCT = 10
_CARDS = "numbers of payment cards"


def _luhn(text: str) -> bool:
    """Whether the check digit of a card number is right (ISO/IEC 7812-1) and its issuer known."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [value * 2 - 9 * (value > 4) for value in digits[-2::-2]]
    known = re.match(r"4|5[1-5]|2[2-7]|3[47]|6(?:011|5)", "".join(map(str, digits)))
    return known is not None and len(set(digits)) > 1 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _iban(text: str) -> bool:
    """Whether the check digits of an account number are right (ISO 13616: it is 1 modulo 97)."""
    plain = re.sub(r"\s", "", text)
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _real_address(text: str) -> bool:
    return _SYNTHETIC.search(text.lower()) is None


def _issued(text: str) -> bool:
    """Whether the United States issue such a social security number: no group is zero, none begins with 9."""
    area, group, serial = text.split("-")
    return area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"


def _any(text: str) -> bool:
    return len(text) > 0


@dataclass(frozen=True)
class _Pattern:
    """Personal data of one sort.

    Attributes:
        what: in words.
        form: how they are written.
        holds: whether one is what it looks like.
        hint: one of these signs is in every match, so that most cells need no closer look.
    """

    what: str
    form: re.Pattern[str]
    holds: Callable[[str], bool] = _any
    hint: str = ""


_PATTERNS = (
    _Pattern(
        "e-mail addresses",
        re.compile(r"\b[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,}\b"),
        _real_address,
        "@",
    ),
    _Pattern(
        "telephone numbers",
        re.compile(
            r"(?<![\w.-])(?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"
            r"|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-.]\d{3}[-.]\d{4})(?![\w-]|\.\d)"
        ),
        lambda text: 9 <= sum(sign.isdigit() for sign in text) <= 15,
    ),
    _Pattern(
        "account numbers (IBAN)",
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7} ?[A-Z0-9]{1,4}\b"),
        _iban,
    ),
    _Pattern(
        _CARDS,
        re.compile(r"(?<![\d.-])\d{4}([ -]?)\d{4}\1\d{4}\1\d{3,4}(?![\d.-])"),
        _luhn,
    ),
    _Pattern("social security numbers", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), _issued),
)
_CARD = r"\d{15,16}"


def check(case: Case) -> Iterator[Finding]:
    """Columns and files in which cells look like personal data, or whose name says so."""
    said = [*_in_tables(case), *_in_files(case)]
    if said:
        yield finding(
            "personal_data",
            "; ".join(said[:10]) + (f"; and {len(said) - 10} more places" if len(said) > 10 else ""),
            "drop it, or put codes in its place; keep it only where its owners agreed",
        )


def _in_tables(case: Case) -> Iterator[str]:
    for path, table in case.tables.items():
        if path == case.prepared.sample_path:
            continue
        rows = sampled(table, case.limits.sampling.rows)
        name = path.relative_to(case.prepared.public).as_posix()
        for column in rows.columns:
            cells = rows[column][rows[column].str.strip() != ""]
            found = _in_cells(cells, case.limits.data.personal_cells) or _by_name(column, cells)
            if found:
                yield f"column {column} of {name}: {found}{told(len(rows), len(table))}"


def _in_cells(cells: pd.Series, least: int) -> str:
    """What a column holds, with counts."""
    if bool(to_numbers(cells).notna().all()):
        cells = cells[cells.str.fullmatch(_CARD)]
        # One in ten of any long numbers has the right check digit.
        return _said(len(cells), _CARDS) if len(cells) >= least and cells.map(_luhn).mean() > 0.9 else ""
    counts = {pattern.what: _count(cells, pattern) for pattern in _PATTERNS}
    return ", ".join(_said(count, what) for what, count in counts.items() if count >= least)


def _said(count: int, what: str) -> str:
    return f"{count:,} cells like {what}"


def _count(cells: pd.Series, pattern: _Pattern) -> int:
    if pattern.hint:
        cells = cells[cells.str.contains(pattern.hint, regex=False)]
    else:
        cells = cells[cells.str.contains(r"\d{2}", regex=True)]
    return sum(
        any(pattern.holds(match.group()) for match in pattern.form.finditer(cell[:20_000])) for cell in cells
    )


def _by_name(column: str, cells: pd.Series) -> str:
    """What the name of a column says, when its cells are many and no plain measurements or codes."""
    if cells.nunique() < _DISTINCT:
        return ""
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", column)
    words = re.sub(r"[^a-z]+", " ", words.lower()).strip()
    for what, form in _NAMED.items():
        if re.fullmatch(form, words):
            worded = bool(cells.str.contains("[^\\W\\d_]{2}", regex=True).mean() > 0.9)
            digits = bool((cells.str.count(r"\d") >= 6).mean() > 0.9)
            if worded if what in ("names of people", "home addresses") else digits:
                return f"{what} by its name"
    return ""


def _in_files(case: Case) -> Iterator[str]:
    counts: dict[str, int] = {}
    for text in texts.files(case):
        for pattern in _PATTERNS:
            counts[pattern.what] = counts.get(pattern.what, 0) + min(1, _count(text.cells, pattern))
    for what, count in counts.items():
        if count >= case.limits.data.personal_cells:
            yield f"{count:,} text files with {what}"
