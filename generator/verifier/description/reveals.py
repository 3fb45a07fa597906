"""Whether the description tells answers, or how the test rows were drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.text import Text

_TOKEN = re.compile(r"[^\s,;|:=`\"'()\[\]{}<>]+")
_SEED = re.compile(
    r"(?i)\brandom_state\s*=?\s*\(?\d+|\b(?:np\.)?random\.seed\s*\(\s*\d+|\bdefault_rng\s*\(\s*\d+|"
    # Blanks belong to the word before them: three runs of them in a row would be tried in every division.
    r"\b(?:random |split(?:ting)? |shuffl\w+ )?seed\b\s*(?:(?:is|was|of|=|:|set to|number|value)\s*)?"
    r"(?:(?:is|was|=|:)\s*)?`?\d+"
)
_PRIVATE = re.compile(r"(?i)\bprivate[/\\][\w./\\-]*|\btest_answers?(?:\.\w+)?\b|\b(?:prepare|metric)\.py\b")
_PRIVATE_BOARD = re.compile(r"(?i)private/public|public/private|private/\s*(?:public|leaderboard)")
_PLACE = re.compile(
    r"(?i)\btest (?:set|rows|data|samples|examples|split)\b[^.;\n]{0,60}?\b(?:last|first|final|"
    r"remaining|every)\s+"
    r"(?:\w+\s+){0,3}?(?:\d+(?:\.\d+)?\s?%|percent|\d+(?:st|nd|rd|th))[^.;\n]{0,40}?\b(?:of|"
    r"in)\b[^.;\n]{0,30}?"
    r"\b(?:raw|original|source|file|data ?set|table|iris|rows)\b"
)

#: Signs behind an id that may be its answers.
_LONGEST = 400


def check(case: Case, text: Text) -> Iterator[Finding]:
    """Findings about answers, and about what leads to them."""
    yield from _pairs(case, text)
    yield from _sequence(case, text)
    told = [" ".join(match[0].split()) for match in _SEED.finditer(text.plain)]
    told += [
        match[0] for match in _PRIVATE.finditer(text.plain)
        if not _PRIVATE_BOARD.match(text.plain, match.start())
    ]  # fmt: skip
    told += [" ".join(match[0].split()) for match in _PLACE.finditer(text.plain)]
    if told:
        yield finding(
            "description_reveals",
            f"description.txt tells how the test rows were drawn or where the answers are: "
            f"{', '.join(repr(words) for words in list(dict.fromkeys(told))[:3])}",
            "leave it out: with the source of the data it gives the answers away",
            Severity.WARNING,
        )


def _pairs(case: Case, text: Text) -> Iterator[Finding]:
    """Lines that hold the id of a test row beside its answer, more often than guessing would."""
    limits = case.limits.description
    first = case.answers.drop_duplicates(case.id_column)
    truth = dict(zip(first[case.id_column], first[case.targets].to_numpy().tolist(), strict=True))
    shares = [dict(first[name].value_counts(normalize=True)) for name in case.targets]
    best, shown = 1.0, list[str]()
    for rows in _rows_with_ids(text, truth):
        right = [(token, said) for token, said in rows if all(_stands(value, said) for value in truth[token])]
        if len(right) < limits.told_rows or len(right) < limits.told_share * len(rows):
            continue
        chance = math.log10(math.comb(len(rows), len(right)))
        spread = 1 if len(case.targets) > 1 else _spread([(truth[token][0], said) for token, said in right])
        for token, _ in right:
            values = zip(shares, truth[token], strict=True)
            hit = math.prod(min(1.0, float(share[one]) * spread) for share, one in values)
            chance += math.log10(max(hit, 1e-9))
        if 10**chance < best:
            best, shown = 10**chance, [f"{token} {', '.join(truth[token][:3])}" for token, _ in right]
    if best <= limits.doubted_chance:
        yield finding(
            "description_reveals",
            f"description.txt shows {len(shown)} test rows with their true answers, such as {shown[0]!r}; "
            f"made-up values would hit as many with a chance of {best:.1g}",
            "show made-up values in examples",
            None if best <= limits.told_chance else Severity.WARNING,
        )


def _spread(rows: list[tuple[str, str]]) -> int:
    """How many words of each line could have hit its value: one when it stands in the same place in all."""
    words = [[_plain(word) for word in _TOKEN.findall(said)] for _, said in rows]
    values = [_plain(value) for value, _ in rows]
    for place in (0, -1):
        if all(said and said[place] == value for said, value in zip(words, values, strict=True)):
            return 1
    return max(1, *map(len, words))


def _rows_with_ids(text: Text, truth: Mapping[str, object]) -> Iterator[list[tuple[str, str]]]:
    """Runs of neighbouring lines that hold the id of a test row: the id, and what stands behind it."""
    run: list[tuple[str, str]] = []
    for row in [*text.plain.split("\n"), ""]:
        found = next(
            (
                one
                for one in _TOKEN.finditer(row)
                if one[0] in truth and (not row[: one.start()].strip() or _is_id(one[0]))
            ),
            None,
        )
        if found is not None:
            run.append((found[0], row[found.end() : found.end() + _LONGEST]))
        elif run:
            yield run
            run = []


def _stands(value: str, said: str) -> bool:
    """Whether a value stands in a text, be it written otherwise as a number."""
    words = [_plain(word) for word in _TOKEN.findall(said)]
    return _plain(value) in words or (" " in value and value.lower() in said.lower())


def _is_id(token: str) -> bool:
    """Whether a word within a line may be an id: small numbers and plain words are most often no ids."""
    return len(token) >= 3 and any(sign.isdigit() for sign in token)


def _plain(value: str) -> str:
    value = value.strip().strip(".")
    try:
        return f"{float(value):.10g}"
    except ValueError:
        return value.lower()


def _sequence(case: Case, text: Text) -> Iterator[Finding]:
    """Runs of values that stand in the order of the answers."""
    limits = case.limits.description
    for name in case.targets:
        truth = [_plain(value) for value in case.answers[name]]
        orders = {tuple(truth)}
        ids = case.answers[case.id_column]
        orders.add(tuple(truth[place] for place in ids.argsort()))
        if case.test is not None:
            known = dict(zip(ids, truth, strict=True))
            orders.add(tuple(known[one] for one in case.test[case.id_column] if one in known))
        counts = case.answers[name].map(_plain).value_counts(normalize=True)
        for run in _runs(text.plain, set(counts.index)):
            chance = sum(math.log10(counts[value]) for value in run) + math.log10(len(truth) * len(orders))
            if len(run) < limits.told_run or chance > math.log10(limits.told_chance):
                continue
            if any(_within(run, order) for order in orders):
                yield finding(
                    "description_reveals",
                    f"description.txt holds {len(run)} answers of {name} in their order: "
                    f"{', '.join(run[:6])}, ...",
                    "take the answers out of the text",
                )
                return


def _runs(text: str, values: set[str]) -> Iterator[list[str]]:
    """The longest runs of words that are all values of the target."""
    run: list[str] = []
    for token in [*_TOKEN.findall(text), ""]:
        word = _plain(token)
        if word in values:
            run.append(word)
        else:
            if len(run) >= 3:
                yield run
            run = []


def _within(run: list[str], order: tuple[str, ...]) -> bool:
    return f"\n{chr(10).join(run)}\n" in f"\n{chr(10).join(order)}\n"
