"""The rules' designer: a proposal becomes a full task package. The same inputs give the same bytes."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from generator.columns import Kind
from generator.datasets.catalogue import DatasetCard
from generator.media import SUFFIXES, MediaFolder
from generator.profile import Profile, Table
from generator.proposals import Proposal
from generator.rules.describe import describe
from generator.rules.media import WORDS
from generator.rules.metrics import METRICS, MetricKind
from generator.rules.naming import plain, words
from generator.rules.temporal import STEP_BOUNDS
from generator.tables import plan_table
from generator.tables.literals import regex
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task, raw_hash
from harness.tasks.preparing import prepare_task

#: Of the rules, as recorded in a package; raised with each release that gives other packages.
VERSION = "2"
SEED = 7
MOST_TRAIN = 6_000
MOST_TEST = 2_000
LEAST_TEST = 100
#: Most of a small table that is tested: without training rows there is nothing to test.
MOST_TEST_SHARE = 0.4
_IMPORTS = {
    "average_precision": ("from sklearn.metrics import average_precision_score",),
    "macro_f1": ("from sklearn.metrics import f1_score",),
    "micro_f1": ("from sklearn.metrics import f1_score",),
    "roc_auc": ("from sklearn.metrics import roc_auc_score",),
    "ndcg": ("from sklearn.metrics import ndcg_score",),
}


@dataclass(frozen=True)
class Layout:
    """Names of the columns that the package adds to the raw ones."""

    id_column: str
    group_column: str | None
    group_sources: tuple[str, ...]
    time_column: str | None
    time_parts: tuple[tuple[str, str], ...]
    extra_columns: tuple[str, ...]


def design(
    proposal: Proposal,
    folder: Path,
    card: DatasetCard,
    profile: Profile,
    root: Path,
    provider: SandboxProvider,
) -> None:
    """Write the package of ``proposal`` to ``root``, whose name is its id, and prepare it in the sandbox.

    Args:
        proposal: what to build.
        folder: the raw dataset.
        card: its card.
        profile: its profile.
        root: receives the package; what is there is removed.
        provider: opens the sandbox in which prepare.py runs.

    Raises:
        TaskError: prepare.py failed.
    """
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    for path in _files(proposal, folder, profile):
        (root / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, root / "raw" / path)
    write_definition(proposal, folder, card, profile, root)
    task = load_task(root)
    (root / "description.txt").write_text("", encoding="utf-8")
    prepare_task(task, provider)
    # The description's numbers are those of the files, so it is written after them.
    table = _table(proposal, profile)
    text = describe(proposal, card, table, task.public, layout(proposal, table).id_column)
    for target in (task.description_path, task.public / "description.txt"):
        target.write_text(text, encoding="utf-8")


def write_definition(
    proposal: Proposal, folder: Path, card: DatasetCard, profile: Profile, root: Path
) -> None:
    """Write task.toml, prepare.py and metric.py into ``root``, where ``raw/`` is already."""
    table = _table(proposal, profile)
    names = layout(proposal, table)
    metric = METRICS[proposal.metric]
    environment = _environment()

    def write(name: str, template: str, **values: Any) -> None:
        text = environment.get_template(template).render(
            proposal=proposal, seed=SEED, id_column=names.id_column, targets=proposal.targets,
            classes=proposal.classes, group_column=names.group_column, time_column=names.time_column, **values
        )  # fmt: skip
        (root / name).write_text(text.rstrip("\n") + "\n", encoding="utf-8")

    write(
        "task.toml", "task.toml.j2",
        card=card, metric=metric, sha256=raw_hash(root / "raw"), dataset_sha256=profile.sha256,
        version=VERSION,
    )  # fmt: skip
    write(
        "metric.py", "metric.py.j2",
        metric=metric, imports=_IMPORTS.get(metric.name, ()), class_name=_class_name(proposal),
        body=environment.get_template(f"metrics/{metric.name}.py.j2").render(),
    )  # fmt: skip
    values = _prepare_values(proposal, folder, table, names, metric)
    if proposal.shape == "media":
        values |= _media_values(_media(proposal, profile), folder)
    write("prepare.py", f"prepare_{proposal.shape}.py.j2", **values)


def layout(proposal: Proposal, table: Table | None) -> Layout:
    """Which columns are added, under names that no raw column has."""
    taken = {column.name for column in table.columns} if table else set()
    taken |= set(proposal.targets)
    id_column = _free(f"{WORDS[proposal.modality].one}_id" if proposal.shape == "media" else "row_id", taken)
    split, extra = proposal.split, []
    group: str | None = None
    time: str | None = None
    sources: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    if split.kind == "group":
        group = split.columns[0]
        if len(split.columns) > 1 or group not in proposal.features:
            sources = split.columns
            group = _free("group_id", taken)
            extra.append(group)
    elif split.kind == "time":
        time = split.columns[0]
        if len(split.columns) > 1:
            parts = tuple(zip(split.columns, ("year", "month", "day", "hour"), strict=False))
            time = _free("timestamp", taken)
            extra.append(time)
        elif time not in proposal.features:
            extra.append(time)
    if proposal.query is not None and proposal.query not in (*proposal.features, *extra):
        extra.append(proposal.query)
    return Layout(id_column, group, sources, time, parts, tuple(extra))


def _prepare_values(
    proposal: Proposal, folder: Path, table: Table | None, names: Layout, metric: MetricKind
) -> dict[str, Any]:
    usual = 0.5 if proposal.train_rows else 0.15 if proposal.split.kind == "time" else 0.25
    values: dict[str, Any] = {
        "test_share": proposal.test_share or usual,
        "least_test": least_test(table.rows) if table else LEAST_TEST,
        "most_test": 400 if proposal.shape == "windows" else MOST_TEST,
        "most_train": proposal.train_rows or MOST_TRAIN,
        "source_target": proposal.source_target,
        "stratified": proposal.split.kind == "stratified",
        "query": proposal.query,
        "time_parts": dict(names.time_parts),
        "no_day": len(names.time_parts) == 2,
    }
    if table is None:
        return values
    recipe = table.recipe or plan_table(folder, table.path)
    used = {column.name: column for column in table.columns}
    named = (*proposal.features, *proposal.targets, *([proposal.change_of] if proposal.change_of else []))
    relevant = [used[name] for name in dict.fromkeys(named) if name in used]
    dates = [column.name for column in relevant if column.kind is Kind.DATE]
    if names.time_column in used and names.time_column not in dates:
        dates.append(str(names.time_column))
    entity = table.time.entity if table.time and table.time.entity else None
    sorted_too = entity and (entity in proposal.features or proposal.change_of)
    target = used.get(proposal.targets[0])
    labelled = used.get(proposal.source_target or "")
    return values | {
        "recipe_code": recipe.code(imports=False),
        "recipe_imports": recipe.imports,
        "features": proposal.features,
        "coerced": [column.name for column in relevant if column.coerced],
        "date_columns": dates,
        "entity_sort": f", {_py(entity)}" if sorted_too else "",
        "group_sources": list(names.group_sources),
        "extra_code": "".join(f"{_py(name)}, " for name in names.extra_columns),
        "labels": dict(zip(proposal.targets, proposal.classes, strict=True))
        if labelled and proposal.classes
        else {},
        "flags": proposal.positive if proposal.objective == "multi-label classification" else None,
        "change_of": proposal.change_of,
        "step_seconds": proposal.step_seconds,
        "step_bounds": STEP_BOUNDS,
        "entity": entity,
        "known_anomalies": proposal.known_anomalies,
        "separator": labelled.separator if labelled else None,
        "integer_classes": bool(proposal.classes) and target is not None and target.minimum is not None,
        "positive": proposal.positive,
        "query_words": plain(proposal.query) if proposal.query else "",
        "sample_code": _sample_code(proposal, metric),
    }


def least_test(rows: int) -> int:
    """The least number of test rows of a table: 100, of a small one two fifths."""
    return min(LEAST_TEST, round(MOST_TEST_SHARE * rows))


def _sample_code(proposal: Proposal, metric: MetricKind) -> str:
    """What the sample submission says everywhere: something valid that knows nothing of the test rows."""
    if metric.predicts == "label":
        return "train[name].mode()[0]"
    if metric.predicts == "probability":
        return "0.5"
    if metric.predicts == "flag":
        return "0"
    return "0.0" if proposal.query is not None else "round(float(train[name].median()), 4)"


def _media_values(media: MediaFolder, folder: Path) -> dict[str, Any]:
    """What a task of media says in its prepare.py beyond the proposal."""
    labels = media.labels
    assert labels is not None
    recipe = labels.recipe
    whole = recipe is not None and pd.api.types.is_numeric_dtype(recipe.read(folder)[labels.label_column])
    return {
        "suffixes": sorted(SUFFIXES[media.kind]),
        "labels": labels,
        "words": WORDS[media.kind],
        "whole_labels": whole,
        "recipe_code": recipe.code("labels", imports=False) if recipe else "",
        "recipe_imports": recipe.imports if recipe else (),
    }


def _files(proposal: Proposal, folder: Path, profile: Profile) -> list[Path]:
    """The raw files that the task is made of, relative to ``folder``."""
    if proposal.shape != "media":
        table = _table(proposal, profile)
        used = table.recipe.files if table and table.recipe else (proposal.table,)
        return [Path(name) for name in used]
    media = _media(proposal, profile)
    recipe = media.labels.recipe if media.labels else None
    named = [Path(name) for name in recipe.files] if recipe else []
    return named + [path.relative_to(folder) for path, _ in media.labelled(folder)]


def _media(proposal: Proposal, profile: Profile) -> MediaFolder:
    return next(each for each in profile.media if each.kind == proposal.modality)


def _table(proposal: Proposal, profile: Profile) -> Table | None:
    return next((table for table in profile.tables if table.path == proposal.table), None)


def _free(name: str, taken: set[str]) -> str:
    lowered = {other.lower() for other in taken}
    while name.lower() in lowered:
        name = f"task_{name}"
    return name


def _class_name(proposal: Proposal) -> str:
    joined = "".join(word.capitalize() for word in words(proposal.id))
    return f"{joined if joined[0].isalpha() else 'Task' + joined}Metrics"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # Python and TOML are written, not HTML; values pass the filters below.
    )
    filters: dict[str, Callable[[Any], str]] = {"py": _py, "toml": _toml, "regex": regex}
    environment.filters.update(filters)
    return environment


def _py(value: Any) -> str:
    """A Python literal; lists too long for a line have one item on each."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = [f"{_py(key)}: {_py(item)}" for key, item in value.items()]
        opened, closed = "{", "}"
    elif isinstance(value, (list, tuple)):
        items, opened, closed = [_py(item) for item in value], "[", "]"
    else:
        return repr(value)
    line = f"{opened}{', '.join(items)}{closed}"
    if len(line) <= 90:
        return line
    return "\n".join([opened, *(f"    {item}," for item in items), closed])


def _toml(value: Any) -> str:
    """A TOML value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no place in a task.toml")
        return repr(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
