"""Labels that the description lists as the classes, against those of the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.text import Text
from generator.verifier.targets import Kind

_OPEN = re.compile(
    r"(?i)\b(?:e\.\s?g\.?|for (?:example|instance)|such as|including|among (?:others|them)|etc\.?|"
    r"like|and (?:others|more)|"
    r"other\w*|mostly|most (?:frequent|common)|rare\w*|some of|another|par exemple|z\. ?b\.)(?!\w)|"
    r"\.\.\.|…|例如"
)
_PROMISE = re.compile(
    r"(?i)\b(?:class(?:es)?|labels?|categor(?:y|ies)|one of|either|only|values?|kinds?|types?|"
    r"following|possible|choices?|"
    r"options?|species|predict|target|is|are|can be|must be|klassen?|clases?)\b|类别|クラス"
)
_RANGE = re.compile(
    r"(?<![\w.])(?:from |between )?(\d{1,3})\s*(?:to|and|–|-|\.\.|through)\s*(\d{1,3})(?![\w.]?\d)"
)
_SUBMISSION = re.compile(r"(?i)submission|sample")


def check(case: Case, text: Text) -> Iterator[Finding]:
    """A finding for each target of which the text lists classes, but not all."""
    for name in case.targets:
        if case.kinds[name] is not Kind.CLASS:
            continue
        labels = set(case.answers[name].str.strip()) - {""}
        if all(re.fullmatch(r"-?\d+(?:\.0+)?", label) for label in labels):
            yield from _numbers(name, labels, text)
        elif 3 <= len(labels) <= case.limits.description.most_labels:
            yield from _words(case, name, labels, text)


def _words(case: Case, name: str, labels: set[str], text: Text) -> Iterator[Finding]:
    train = case.train
    known = labels | (
        set(train[name].str.strip()) - {""} if train is not None and name in train.columns else set()
    )
    lowered = " ".join(text.plain.lower().split())
    promised = {label for label in labels if _stands(label, lowered)}
    unpromised = sorted(labels - promised)
    if not unpromised or len(promised) < max(2, case.limits.description.listed_share * len(labels)):
        return
    passage = _list_of(text, {label for label in known if _stands(label, lowered)})
    if passage is None or _OPEN.search(passage) or not _PROMISE.search(passage):
        return
    shown = ", ".join(repr(label) for label in unpromised[:5]) + (
        f" and {len(unpromised) - 5} more" if len(unpromised) > 5 else ""
    )
    hit = int(case.answers[name].str.strip().isin(unpromised).sum())
    yield finding(
        "unpromised_labels",
        f"description.txt lists {len(promised)} classes of {name}, but the answers also hold {shown} "
        f"({hit} of {len(case.answers)} rows)",
        "list all classes, or join the others under one that is listed",
    )


def _stands(label: str, lowered: str) -> bool:
    words = " ".join(label.lower().split())
    spelled = {words, words.replace("_", " "), words.replace("-", " ")}
    return any(re.search(rf"(?<![\w]){re.escape(one)}(?:e?s)?(?![\w])", lowered) for one in spelled)


def _list_of(text: Text, labels: set[str]) -> str | None:
    """The shortest passage that holds nearly all of them, with its title and the line before it."""
    lines = [line for line in text.lines if not _SUBMISSION.search(line.heading) and not line.is_code]
    best: str | None = None
    for start in range(len(lines)):
        passage = ""
        for line in lines[start : start + len(labels) + 4]:
            passage += line.text + "\n"
            lowered = " ".join(passage.lower().split())
            if sum(_stands(label, lowered) for label in labels) >= 0.9 * len(labels):
                if best is None or len(passage) < len(best):
                    best = passage
                break
    if best is None:
        return None
    before = [line.text for line in lines[max(0, _start(lines, best) - 1) : _start(lines, best)]]
    heading = next((line.heading for line in lines if line.text == best.split("\n")[0]), "")
    return "\n".join([heading, *before, best])


def _start(lines: list, best: str) -> int:  # type: ignore[type-arg]
    first = best.split("\n")[0]
    return next((number for number, line in enumerate(lines) if line.text == first), 0)


def _numbers(name: str, labels: set[str], text: Text) -> Iterator[Finding]:
    """Whole numbers that lie outside of the range that the target's own line states."""
    numbers = {int(float(label)) for label in labels}
    for line in text.lines:
        head = re.match(r"[`*\"'|\s]*([\w.\-]+)", line.text)
        if head is None or head[1] != name or line.is_code:
            continue
        found = _RANGE.search(line.text)
        if not found:
            continue
        low, high = int(found[1]), int(found[2])
        outside = sorted(number for number in numbers if not low <= number <= high)
        if low < high and outside and len(outside) < len(numbers):
            yield finding(
                "unpromised_labels",
                f"description.txt says that {name} is {low} to {high}; the answers also hold "
                f"{', '.join(map(str, outside[:5]))}",
                "state the range that the answers have",
                Severity.WARNING,
            )
            return
