"""Logs: lines that a regular expression, or keys with values, cut into columns.

No expression repeats what repeats itself, so that none takes longer than its line is long.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pandas as pd

from generator.tables.encoding import Encoding, find_encoding, opened
from generator.tables.formats import UnreadableTable
from generator.tables.literals import call, literal, raw_file, regex
from generator.tables.recipe import Recipe, Step
from generator.tables.sources import Options
from generator.tables.steps import Dates, Numbers

_ISO = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_LEVEL = r"(?i:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|SEVERE|ALERT|EMERG)"

#: Kinds of logs that are known, the most specific first.
PATTERNS = {
    "web server": r"^(?P<host>\S+) (?P<identity>\S+) (?P<user>\S+) \[(?P<time>[^\]]+)\] "
    r'"(?P<method>[A-Z]+) (?P<path>[^" ]*) ?(?P<protocol>[^"]*)" (?P<status>\d{3}) (?P<size>\d+|-)'
    r'(?: "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)")?',
    "web server error": r"^\[(?P<time>[A-Z][^\]]+)\] \[(?P<level>[^\]]+)\] "
    r"(?:\[(?P<client>[^\]]+)\] )?(?P<message>.*)$",
    "syslog": r"^(?:<(?P<priority>\d{1,3})>)?(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) (?P<host>\S+) "
    r"(?P<process>[^\s\[:]+)(?:\[(?P<pid>\d+)\])?: ?(?P<message>.*)$",
    "named fields": rf"^\[?(?P<time>{_ISO})\]? - (?P<logger>\S+) - (?P<level>{_LEVEL}) - (?P<message>.*)$",
    "timestamp, level, logger": rf"^\[?(?P<time>{_ISO})\]?\s+(?:\[(?P<thread>[^\]]*)\]\s+)?"
    rf"\[?(?P<level>{_LEVEL})\]?:?\s+"
    r"(?:\[(?P<context>[^\]]*)\]\s+)?(?P<logger>[\w.$/]+)\s?[:-]\s(?P<message>.*)$",
    "timestamp, level": rf"^\[?(?P<time>{_ISO})\]?\s+\[?(?P<level>{_LEVEL})\]?:?\s+(?P<message>.*)$",
    "syslog with full dates": rf"^(?:<(?P<priority>\d{{1,3}})>\d? ?)?(?P<time>{_ISO}) (?P<host>[\w.-]+) "
    r"(?P<process>[^\s\[:]+)(?:\[(?P<pid>\d+)\])?: (?P<message>.*)$",
    "timestamp": rf"^\[?(?P<time>{_ISO})\]?[\s:,-]+(?P<message>\S.*)$",
    "compact timestamp": r"^(?P<date>\d{6}) (?P<clock>\d{6}) (?P<pid>\d+) (?P<level>[A-Z]+) "
    r"(?P<component>[^:]+): (?P<message>.*)$",
}
_PAIR = re.compile(r'(?:^|\s)([A-Za-z_][\w-]*)=("[^"]*"|\S*)')
#: What a line says before its first pair.
_MESSAGE, BEFORE_PAIRS = "(?P<message>.*)$", r"(?P<message>.*?)(?=(?<![\w-])[A-Za-z_][\w-]*=|$)"
_STARTS_WITH_TIME = rf"^\[?(?P<time>{_ISO})"
_LOOKED_AT = 2_000
#: Lines that must be of one kind; others, such as the lines of a traceback, are left out.
_MATCHING = 0.7
_LEAST_PAIRS = 3
_KEY_SHARE = 0.02
_MOST_KEYS = 60
_WEB_TIME = "%d/%b/%Y:%H:%M:%S %z"
_SYSLOG_TIME = "%Y %b %d %H:%M:%S"
#: A leap year, for dates without a year: the 29th of February has to be one.
_YEAR = "2000 "
_UTF8 = Encoding("utf-8")


@dataclass(frozen=True)
class LogLines:
    """Lines cut by a regular expression with named groups, and by keys; those that do not fit are left out.

    Attributes:
        file: relative to the raw folder.
        pattern: the expression.
        keys: each becomes a column, from ``key=value`` or ``key="a value"`` in a line.
        encoding: of the text.
    """

    file: str
    pattern: str
    keys: tuple[str, ...] = ()
    encoding: Encoding = _UTF8

    imports = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The file."""
        return (self.file,)

    def _options(self) -> Options:
        # No text holds the unit separator, so each line is one cell.
        options: Options = (("sep", "\x1f"), ("header", None), ("names", ("line",)), ("dtype", "str"),
                            ("quoting", 3), ("na_filter", False), ("on_bad_lines", "skip"))  # fmt: skip
        if self.encoding.name != "utf-8":
            options += (("encoding", self.encoding.name),)
        return (*options, ("encoding_errors", "replace")) if self.encoding.broken else options

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """Some lines at a time."""
        options = dict(self._options()) | {"names": ["line"]}
        with pd.read_csv(folder / self.file, chunksize=rows, **options) as reader:
            for chunk in reader:
                yield self._cut(chunk["line"])

    def read(self, folder: Path) -> pd.DataFrame:
        """All lines that fit."""
        options = dict(self._options()) | {"names": ["line"]}
        return self._cut(pd.read_csv(folder / self.file, **options)["line"])

    def _cut(self, lines: pd.Series) -> pd.DataFrame:
        table = lines.str.extract(self.pattern) if self.pattern else pd.DataFrame(index=lines.index)
        for key in self.keys:
            table[key] = lines.str.extract(rf'(?:^|\s){key}=("[^"]*"|\S*)', expand=False).str.strip('"')
        return table.dropna(how="all").reset_index(drop=True)

    def code(self, table: str) -> list[str]:
        """The lines, the columns, and the lines left out."""
        made = [f'lines = {call("pd.read_csv", raw_file(self.file), **dict(self._options()))}["line"]']
        if self.pattern:
            pattern = regex(self.pattern).replace("\n", "\n    ")
            made.append(f"{table} = lines.str.extract(\n    {pattern}\n)")
        else:
            made.append(f"{table} = pd.DataFrame(index=lines.index)")
        if self.keys:
            made += [
                f"for key in {literal(self.keys)}:",
                '    found = lines.str.extract(rf\'(?:^|\\s){key}=("[^"]*"|\\S*)\', expand=False)',
                f"    {table}[key] = found.str.strip('\"')",
            ]
        return [*made, f'{table} = {table}.dropna(how="all").reset_index(drop=True)']


def plan_log(folder: Path, relative: str) -> Recipe:
    """The recipe for a log.

    Raises:
        UnreadableTable: its lines are of no known kind.
    """
    path = folder / relative
    encoding = find_encoding(path)
    head = list(islice(_lines(path, encoding), _LOOKED_AT))
    if not head:
        raise UnreadableTable(f"{path.name}: the file is empty")
    shares = {kind: _share(pattern, head) for kind, pattern in PATTERNS.items()}
    # What fits a more exact kind fits a bare timestamp, too.
    exact = [each for each in shares if each != "timestamp" and shares[each] >= _MATCHING]
    kind = max(exact or shares, key=lambda each: round(shares[each], 3))
    keys = _keys(head)
    if keys and shares[kind] < 0.95:
        timed = _share(_STARTS_WITH_TIME, head) >= _MATCHING and "time" not in keys
        source = LogLines(relative, _STARTS_WITH_TIME if timed else "", keys, encoding)
        kind, fits = "keys with values", re.compile(r"[A-Za-z_][\w-]*=")
    elif shares[kind] >= _MATCHING:
        pattern = PATTERNS[kind]
        if keys:
            pattern = pattern.replace(_MESSAGE, BEFORE_PAIRS)
            keys = tuple(key for key in keys if f"(?P<{key}>" not in pattern)
        source, fits = LogLines(relative, pattern, keys, encoding), re.compile(pattern)
    else:
        raise UnreadableTable(
            f"{path.name}: its lines are of no known kind of log ({', '.join(PATTERNS)}, key=value)"
        )
    counts = Counter(fits.search(line) is not None for line in _lines(path, encoding))
    note = f"a log ({kind}): {counts[True]} lines"
    if counts[False]:
        note += f"; {counts[False]} lines of another form are left out"
    return Recipe(source, _typed(source.read(folder), kind), (note,))


def _typed(table: pd.DataFrame, kind: str) -> tuple[Step, ...]:
    """Times and numbers as such."""
    steps: list[Step] = []
    if kind == "web server":
        steps.append(Dates(("time",), _WEB_TIME))
    elif kind == "syslog":
        steps.append(Dates(("time",), _SYSLOG_TIME, prefix=_YEAR))
    numeric = []
    for name in table.columns:
        cells = table[name].dropna()
        cells = cells[~cells.isin(["-", ""])]
        if name != "time" and len(cells) and pd.to_numeric(cells, errors="coerce").notna().all():
            numeric.append(name)
    return (*steps, Numbers(tuple(numeric))) if numeric else tuple(steps)


def _share(pattern: str, lines: list[str]) -> float:
    fits = re.compile(pattern)
    return sum(fits.search(line) is not None for line in lines) / len(lines)


def _keys(lines: list[str]) -> tuple[str, ...]:
    """The keys of lines that are mostly pairs, in the order in which they come."""
    found: Counter[str] = Counter()
    paired = 0
    for line in lines:
        keys = {key: None for key, _ in _PAIR.findall(line)}
        paired += len(keys) >= _LEAST_PAIRS
        found.update(keys.keys())
    if paired < _MATCHING * len(lines):
        return ()
    return tuple(key for key, count in found.items() if count >= _KEY_SHARE * len(lines))[:_MOST_KEYS]


def _lines(path: Path, encoding: Encoding) -> Iterable[str]:
    """Lines that are not blank, one by one."""
    with opened(path) as stream:
        for line in io.TextIOWrapper(stream, encoding.name, "replace"):
            if line.strip():
                yield line.rstrip("\n")
