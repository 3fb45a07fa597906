"""What a participant must be told: goal, metric, direction, form of a submission, id column, files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description import direction
from generator.verifier.description.metrics import canonical, mentions
from generator.verifier.description.text import Text

_GOAL = re.compile(
    r"(?i)\b(?:predict\w*|forecast\w*|classif\w*|estimat\w*|detect\w*|identif\w*|recogni[sz]\w*|"
    r"rank\w*|tell\w*|find\w*|"
    r"goal|task|determin\w*|segment\w*|generat\w*|label\w*|name|say|judge|prédi\w*|vorhersag\w*|"
    r"predecir|predi[cz]\w*|spot|"
    r"order|assign\w*|translat\w*|decid\w*)\b|预测|分类|予測|предска\w*"
)
_METRIC = re.compile(
    r"(?i)\b(?:evaluat\w*|metrics?|scor(?:ed|ing|e)\b|measured by|graded|judged by|évalu\w*|métri\w*|"
    r"bewert\w*|metrik|"
    r"leaderboard|loss|error)\b|评估|评价|指标|評価|метрик\w*|оцен\w*"
)
_FORM = re.compile(
    r"(?i)\b(?:submi\w+|predictions?)\b[^.]{0,80}\b(?:file|format|header|columns?|rows?|each|every|"
    r"must|should|contain\w*|"
    r"consists?|lines?)\b|\b(?:columns?|rows?|lines?|form|format|each) [^.]{0,40}\b(?:submi\w+|"
    r"predictions?)\b|\bheader\b|"
    r"\bone row (?:for|per) (?:each|every)|soumission|soumettre|einreich\w*|abgabe|envío|entrega|提交|提出"
)
_SUBMISSION = re.compile(
    r"(?i)submi[st]|header|predictions? file|upload|output file|soumission|soumettre|einreich|abgabe|envío|"
    r"entrega|提交|提出"
)
_SAMPLE = re.compile(
    r"(?i)^\W*sample_?submission\S*.*$|\bsample submission\b[^.]*|\bsample_?submission\S*", re.MULTILINE
)
_FILES = re.compile(
    r"(?i)\b[\w\-]+\.(?:csv|tsv|jsonl?|parquet|zip|npz|npy|txt|h5|png|jpe?g|wav)\b|\b(?:train\w*|"
    r"test)[ _-]?(?:set|data|file|"
    r"images?|folder)?\b|/"
)
_BOUND = re.compile(r"(?i)\b(?:perfect|best possible)\b|loss\b|error\b|distance\b|accuracy|correlation")


def check(case: Case, text: Text) -> Iterator[Finding]:
    """One finding that lists what is not said; an error when it is most of it."""
    missing = list(_missing(case, text))
    limits = case.limits.description
    short = text.words < limits.fewest_words
    most = len(missing) >= limits.most_missing
    if not missing and not short:
        return
    told = (
        f"description.txt does not say {', '.join(missing)}"
        if missing
        else "description.txt says next to nothing"
    )
    yield finding(
        "description_omits",
        told + (f"; it has {text.words} words" if short else ""),
        "say what is to be predicted, from which files, how it is scored, which direction is better, "
        "and what a "
        "submission looks like",
        Severity.ERROR if most else Severity.WARNING,
    )


def _missing(case: Case, text: Text) -> Iterator[str]:
    spec = case.task.spec
    targets = any(text.names(name) for name in case.targets)
    if not _GOAL.search(text.plain) and not targets:
        yield "what is to be predicted"
    named = mentions(text.plain)
    if not named and not _METRIC.search(text.plain) and not text.names(spec.metric.name):
        yield "how submissions are scored"
        yield "which direction is better"
    elif not named and not direction.stated(text) and canonical(spec.metric.name) is None:
        if not _BOUND.search(text.plain):
            yield "which direction is better"
    elif (
        not named
        and not text.names(spec.metric.name)
        and not any(
            re.search(r"(?i)metric|evaluat|scor", line.heading) and not line.is_heading for line in text.lines
        )
    ):
        yield "by which metric submissions are scored"
    rows = [line for line in text.lines if line.is_code or "," in line.text]
    shown = any(case.id_column in line.text and case.targets[0] in line.text for line in rows)
    told = shown or _FORM.search(_SAMPLE.sub(" ", text.plain))
    if not told or not _SUBMISSION.search(text.plain):
        yield "what a submission looks like"
    if not text.names(case.id_column):
        yield f"which column identifies a row ({case.id_column})"
    if not _FILES.search(text.plain):
        yield "which files there are"
