"""What the participant reads: goal, data, files, columns, metric and submission, true to the files."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pandas as pd

from generator.columns import Column, Kind
from generator.datasets.catalogue import DatasetCard
from generator.profile import Table
from generator.proposals import Proposal
from generator.rules.goal import goal, is_one, listing
from generator.rules.media import WORDS
from generator.rules.metrics import METRICS
from generator.rules.naming import plain

_WIDTH = 100
_LISTED_LEVELS = 8
_DRAWN = {
    "random": "The test rows were drawn at random",
    "stratified": "The test rows were drawn at random within each class",
    "group": "The test rows were drawn in whole groups",
    "time": "Train and test are cut in time",
}
_TYPES = {
    Kind.NUMERIC: "number",
    Kind.INTEGER: "whole number",
    Kind.CATEGORY: "category",
    Kind.ID: "name",
    Kind.LIST: "list",
    Kind.TEXT: "text",
    Kind.DATE: "date",
}


def describe(proposal: Proposal, card: DatasetCard, table: Table | None, public: Path, id_column: str) -> str:
    """The text of description.txt for a task whose ``public/`` files are there."""
    train, test = (pd.read_csv(public / name, low_memory=False) for name in ("train.csv", "test.csv"))
    sections = [
        (proposal.title, [_goal(proposal, id_column)]),
        ("Data", [_origin(card), _split(proposal, id_column, train)]),
        ("Files", [_files(proposal, train, test)]),
        ("Columns", [_columns(proposal, table, train, id_column)]),
        ("Metric", [_metric(proposal)]),
        ("Submission", [_submission(proposal, public, id_column, len(test))]),
    ]
    parts = []
    for number, (heading, paragraphs) in enumerate(sections):
        line = ("=" if number == 0 else "-") * min(len(heading), _WIDTH)
        parts.append("\n".join([heading, line, "", "\n\n".join(p for p in paragraphs if p)]))
    return "\n\n".join(parts) + "\n"


def _goal(proposal: Proposal, id_column: str) -> str:
    metric = METRICS[proposal.metric]
    direction = "higher" if metric.higher_is_better else "lower"
    return _wrap(
        f"{goal(proposal, id_column)} The score is the {_inner(metric.title)}; {direction} is better."
    )


def _origin(card: DatasetCard) -> str:
    about = " ".join(card.description.split())
    lead = f"{card.title}. " if card.title else ""
    source = f" Licence: {card.licence}." + (f" Source: {card.url}" if card.url else "")
    if about:
        return _wrap(f"{lead}The source describes its data as a whole: {about}{source}")
    return _wrap(f"{lead}The raw data are called {card.name} and came without a description.{source}")


def _split(proposal: Proposal, id_column: str, train: pd.DataFrame) -> str:
    text = f"{_DRAWN[proposal.split.kind]}: {proposal.split.reason}."
    text += f" The values of `{id_column}` were dealt at random and carry no information"
    text += f" beyond the {plain(proposal.query)}." if proposal.query else "."
    if proposal.known_anomalies is not None:
        text += f" Of the rare rows at most {proposal.known_anomalies} are in the training table, on purpose."
    if proposal.train_rows is not None:
        text += f" Only {len(train)} labelled rows are given, on purpose: with many, the task would be easy."
    hidden = [f"`{name}` ({reason})" for name, reason in proposal.ignored]
    if 0 < len(hidden) <= 12:
        text += f" Columns of the source that are not given: {'; '.join(hidden)}."
    elif hidden:
        names = listing([f"`{name}`" for name, _ in proposal.ignored])
        text += f" Columns of the source that are not given: {names}."
    return _wrap(text)


def _files(proposal: Proposal, train: pd.DataFrame, test: pd.DataFrame) -> str:
    lines = [
        f"- `train.csv`: {len(train)} rows with the target{'s' if len(proposal.targets) > 1 else ''}.",
        f"- `test.csv`: {len(test)} rows to predict, without the "
        f"target{'s' if len(proposal.targets) > 1 else ''}.",
        f"- `sample_submission.csv`: a valid submission for the {len(test)} test rows that knows nothing.",
    ]
    if proposal.shape == "media":
        words = WORDS[proposal.modality]
        lines.append(
            f"- `{words.many}/`: the {words.one} files; the column `{words.one}` holds their paths relative "
            "to this folder's parent."
        )
    return "\n".join(_wrap(line, hang=True) for line in lines)


def _columns(proposal: Proposal, table: Table | None, train: pd.DataFrame, id_column: str) -> str:
    known = {column.name: column for column in table.columns} if table else {}
    series = set(table.wide_series) if table else set()
    if proposal.window is not None:
        series |= {f"t{step:03d}" for step in range(proposal.window.history)}
    curve = [name for name in train.columns if name in series and name not in proposal.targets]
    lines = []
    for name in train.columns:
        if name in curve[1:]:
            continue
        if curve and name == curve[0]:
            lines.append(f"- `{name}` to `{curve[-1]}`: {len(curve)} successive numbers, the oldest first.")
            continue
        lines.append(f"- `{name}`: {_meaning(proposal, known.get(name), train[name], id_column)}")
    return "\n".join(_wrap(line, hang=True) for line in lines)


def _meaning(proposal: Proposal, column: Column | None, values: pd.Series, id_column: str) -> str:
    name = str(values.name)
    missing = f" Missing in {values.isna().mean():.1%} of the training rows." if values.isna().any() else ""
    if name == id_column:
        return "identifies the row."
    if name in proposal.targets:
        return f"the target, only in `train.csv`. {_target_meaning(proposal, values)}"
    if proposal.shape == "media" and name in proposal.features:
        return f"path of the {name} file."
    if name == "group_id" or column is None:
        if name.endswith("timestamp"):
            return "date and time, put together from its parts."
        return (
            "which rows belong together; no group is in both files."
            if name.endswith("group_id")
            else "given."
        )
    kind = _TYPES.get(column.kind, "value")
    if column.kind in (Kind.CATEGORY, Kind.BOOLEAN):
        levels = sorted(values.dropna().astype(str).unique())
        if column.kind is Kind.BOOLEAN or len(levels) == 2:
            return f"either {listing(levels, 'or')}.{missing}"
        if len(levels) <= _LISTED_LEVELS:
            return f"{kind}: {listing(levels, 'or')}.{missing}"
        return (
            f"{kind}. {len(levels)} different values in `train.csv`, such as {listing(levels[:3])}.{missing}"
        )
    if column.kind is Kind.LIST and column.separator is not None:
        return f'list of entries separated by "{column.separator.strip()}".{missing}'
    if column.is_number and values.notna().any():
        return f"{kind} from {values.min():g} to {values.max():g} in `train.csv`.{missing}"
    return f"{kind}.{missing}"


def _target_meaning(proposal: Proposal, values: pd.Series) -> str:
    if proposal.change_of is not None:
        said = f"from {values.min():g} to {values.max():g} in `train.csv`"
        return f"The change of `{proposal.change_of}` since the time before, {said}."
    if proposal.objective == "multi-label classification" and proposal.source_target is None:
        return f"1 where it applies ({values.mean():.1%} of the training rows), else 0."
    if proposal.objective == "multi-label classification":
        label = dict(zip(proposal.targets, proposal.classes, strict=True))[str(values.name)]
        return f'1 where "{label}" applies, else 0.'
    if proposal.positive is not None:
        others = [name for name in proposal.classes if name != proposal.positive]
        share = f"{values.mean():.1%} of the training rows"
        if is_one(proposal):
            return f"1 or 0; 1 in {share}."
        return f'1 stands for "{proposal.positive}" ({share}), 0 for "{others[0]}".'
    if proposal.classes:
        counts = values.astype(str).value_counts()
        shown = [f"{name} ({counts[name]})" for name in sorted(counts.index, key=lambda n: (-counts[n], n))]
        return f"Classes with their training rows: {', '.join(shown)}."
    return f"A number from {values.min():g} to {values.max():g} in `train.csv`, median {values.median():g}."


def _metric(proposal: Proposal) -> str:
    metric = METRICS[proposal.metric]
    direction = "Higher" if metric.higher_is_better else "Lower"
    text = f"{metric.title} (`{metric.name}`). {metric.formula} {direction} is better"
    return _wrap(f"{text}; a perfect submission scores {metric.best:g}.")


def _submission(proposal: Proposal, public: Path, id_column: str, rows: int) -> str:
    predicts = METRICS[proposal.metric].predicts
    contents = {
        "label": f"one of the labels {listing(list(proposal.classes), 'or')}",
        "probability": "a probability between 0 and 1",
        "number": "a finite number",
        "amount": "a finite number of at least 0",
        "flag": "0 or 1",
    }[predicts]
    columns = ",".join([id_column, *proposal.targets])
    text = _wrap(
        f"Write `submission.csv` with the header `{columns}` and one row for each of the {rows} ids "
        "of `test.csv`, in "
        f"any order. {'Each target' if len(proposal.targets) > 1 else f'`{proposal.targets[0]}`'} "
        f"holds {contents}. "
        "For example:"
    )
    head = (public / "sample_submission.csv").read_text(encoding="utf-8").splitlines()[:4]
    return text + "\n\n" + "\n".join(f"    {line}" for line in head)


def _inner(title: str) -> str:
    """A metric's title within a sentence; names in capitals stay as they are."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _wrap(text: str, *, hang: bool = False) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent="  " if hang else "", break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip
