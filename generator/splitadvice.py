"""Which split a table calls for, for authors of tasks: the choice, why, and the lines that make it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from generator.profile import profile_table
from generator.proposals import SplitChoice
from generator.splits import choose_split
from generator.tables import UnreadableTable, read_table
from harness.errors import InputError

_MOST_CLASSES = 20
_TEST_SHARE, _LATEST_SHARE = 0.25, 0.15
_SEED = 7


@dataclass(frozen=True)
class Advice:
    """A split for a table.

    Attributes:
        choice: its kind, its columns, and why.
        classes: whether the target was taken for classes.
        code: lines of Python that make ``train`` and ``test`` of a data frame ``table``.
        toml: the table ``[split]`` of task.toml.
    """

    choice: SplitChoice
    classes: bool
    code: str
    toml: str


def advise_split(path: Path, target: str, *, leave_out: tuple[str, ...] = ()) -> Advice:
    """Choose the split for a raw table.

    Args:
        path: CSV, TSV, JSON, JSON lines or parquet.
        target: the column to predict.
        leave_out: columns that participants will not get, such as other outcomes.

    Raises:
        InputError: the file or a column is not there, or the file cannot be read.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        frame = read_table(path)
    except UnreadableTable as error:
        raise InputError(f"{path}: {error}") from error
    for name in (target, *leave_out):
        if name not in frame.columns:
            raise InputError(f"{path}: no column {name!r}; columns are {', '.join(frame.columns[:20])}")
    table = profile_table(frame, path.name)
    truth = frame[target]
    classes = not table.column(target).is_number or truth.nunique() <= _MOST_CLASSES
    kept = [name for name in frame.columns if name not in (target, *leave_out, *table.keys)]
    choice = choose_split(table, frame, tuple(kept), truth, classes=classes)
    return Advice(choice, classes, _code(choice, target), _toml(choice))


def _code(choice: SplitChoice, target: str) -> str:
    columns = json.dumps(list(choice.columns), ensure_ascii=False)
    if choice.kind == "time" and len(choice.columns) == 1:
        lines = [f"times = pd.to_datetime(table[{columns[1:-1]}], utc=True)"]
    elif choice.kind == "time":
        parts = dict(zip(("year", "month", "day", "hour"), choice.columns, strict=False))
        named = ", ".join(
            f"{part}=table[{json.dumps(column, ensure_ascii=False)}]" for part, column in parts.items()
        )
        lines = [f"times = pd.to_datetime(dict({named}{'' if 'day' in parts else ', day=1'}))"]
    if choice.kind == "time":
        lines += [
            f"is_test = times > times.quantile({1 - _LATEST_SHARE})",
            "train, test = table[~is_test], table[is_test]",
        ]
    elif choice.kind == "group":
        lines = [
            f"groups = table.groupby({columns}, dropna=False, sort=False).ngroup()",
            f"chosen = groups.drop_duplicates().sample(frac={_TEST_SHARE}, random_state={_SEED})",
            "train, test = table[~groups.isin(chosen)], table[groups.isin(chosen)]",
        ]
    else:
        by = f".groupby({json.dumps(target, ensure_ascii=False)})" if choice.kind == "stratified" else ""
        lines = [
            f"test = table{by}.sample(frac={_TEST_SHARE}, random_state={_SEED})",
            "train = table.drop(index=test.index)",
        ]
    return "\n".join(lines) + "\n"


def _toml(choice: SplitChoice) -> str:
    lines = ["[split]", f'kind = "{choice.kind}"']
    if choice.kind in ("group", "time"):
        lines.append(f"{choice.kind}_column = {json.dumps(choice.columns[0], ensure_ascii=False)}")
    if choice.kind != "time":
        lines.append(f"seed = {_SEED}")
    return "\n".join(lines) + "\n"
