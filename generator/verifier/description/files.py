"""Files and folders that the description names, against those under public/."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.description.missing import EXCUSES, report
from generator.verifier.description.present import ENDINGS, MEDIA, Present, stem
from generator.verifier.description.text import Line, Text

_FILE = re.compile(
    r"(?<![\w*<{\[./\\%$-])(?:[\w\-]+/)*[^\W_][\w.\-]*\.(?P<ending>[A-Za-z0-9]{2,7}(?:\.(?:zip|gz|7z))?)"
    r"(?![\w*>}\]/]|\.\w)"
)
_FOLDER = re.compile(
    r"[`\"'*](?P<name>[A-Za-z][\w\-]*(?:/[\w\-]+)*)/[`\"'*]|^(?P<bare>[A-Za-z][\w\-]{2,})/\s"
)
_OWN = re.compile(
    r"(?i)^(?:my_?)?(?:submissions?|predictions?|output|result|solution|answers?|sub)(?:[_\-]?\w*)$"
)
#: Files that a package has beside its data.
_PACKAGE = frozenset(
    (
        "description.txt",
        "task.toml",
        "metric.py",
        "prepare.py",
        "readme.md",
        "license.txt",
        "requirements.txt",
    )
)


def check(case: Case, text: Text) -> Iterator[Finding]:
    """A finding about files that are not there."""
    present = Present(case)
    yield from report("file", _missing(text, present), present)


def _missing(text: Text, present: Present) -> dict[str, bool]:
    """The files named that are not there, and whether this is sure."""
    found: dict[str, bool] = {}
    for line in text.lines:
        if line.is_code:
            continue
        for match in _FILE.finditer(line.text):
            name, ending = match[0].rstrip("."), match["ending"].split(".")[0].lower()
            base = name.rsplit("/", 1)[-1]
            # Where answers are kept is a matter of another part.
            if name.lower().startswith("private/") or ending not in ENDINGS or base.lower() in _PACKAGE:
                continue
            if present.has_file(name) or _OWN.match(base.rsplit(".", 1)[0]) or _is_one_of_many(base, present):
                continue
            found[name] = found.get(name, True) and _surely(base, ending, line, present)
        for match in _FOLDER.finditer(line.text):
            name = match["name"] or match["bare"]
            if name.lower() != "private" and not present.has_file(name) and not _is_choice(name, present):
                found[f"{name}/"] = _surely(name, "", line, present)
    return found


def _is_one_of_many(base: str, present: Present) -> bool:
    """A name with digits stands for all that differ in the digits only: ``img_0001.png``."""
    shape = re.sub(r"\d+", "*", base.lower())
    return "*" in shape and any(fnmatch.fnmatch(name, shape) for name in present.names)


def _is_choice(name: str, present: Present) -> bool:
    """``deck/num/side`` is a form of a value, and ``and/or`` no folder."""
    return "/" in name and not any(part.lower() in present.folders for part in name.split("/"))


def _surely(name: str, ending: str, line: Line, present: Present) -> bool:
    """Whether a missing file is promised, and not one of the original data, an example or an illustration."""
    original = name.lower() in present.sources or stem(name) in present.source_stems
    shown = ending in MEDIA and not line.text.lstrip("`*\"'").lower().startswith(name.lower())
    example = ending in MEDIA and bool(present.endings & MEDIA)
    return present.has_raw and not (original or shown or example) and not EXCUSES.search(line.text)
