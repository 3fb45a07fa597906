"""Small prepared packages whose description is what a test is about; nothing of them is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from generator.verifier.case import Case, open_case
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.process import Process
from harness.tasks.package import load_task

_TOML = """\
schema_version = 1
id = "{id}"
title = "A task"
set = "own"
modality = "{modality}"
objective = "{objective}"
id_column = "{id_column}"
target_columns = [{targets}]
difficulty = "easy"
[source]
name = "made"
licence = "CC0-1.0"
sha256 = "0"
[metric]
name = "{metric}"
higher_is_better = {higher}
best = {best}
[split]
kind = "random"
"""


def write(
    root: Path,
    description: str,
    answers: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    *,
    metric: str,
    higher: bool,
    objective: str = "classification",
    modality: str = "tabular",
    raw: pd.DataFrame | None = None,
    files: tuple[str, ...] = (),
) -> Path:
    """Write a package; the first column of the answers is the id, the others are targets.

    Args:
        root: its folder.
        description: the text.
        answers: private/test_answer.csv.
        tables: what lies under public/ by path, by whose ending it is written.
        metric: the declared name.
        higher: the declared direction.
        objective, modality: as declared.
        raw: the raw table; without one raw/ is empty, as in packages made elsewhere.
        files: further files under public/, of a few bytes.
    """
    for folder in ("public", "private", "raw"):
        (root / folder).mkdir(parents=True)
    id_column, *targets = answers.columns
    (root / "task.toml").write_text(
        _TOML.format(
            id=root.name, modality=modality, objective=objective, id_column=id_column, metric=metric,
            targets=", ".join(f'"{name}"' for name in targets), higher=str(higher).lower(),
            best=float(higher),
        ),
        encoding="utf-8",
    )  # fmt: skip
    (root / "description.txt").write_text(description, encoding="utf-8")
    (root / "prepare.py").write_text("def prepare(raw, public, private):\n    pass\n")
    (root / "metric.py").write_text("class Metric:\n    pass\n")
    answers.to_csv(root / "private" / "test_answer.csv", index=False)
    answers.assign(**{name: answers[name].iloc[0] for name in targets}).to_csv(
        root / "public" / "sample_submission.csv", index=False
    )
    for name, table in tables.items():
        path = root / "public" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    for name in files:
        path = root / "public" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x00\x01")
    if raw is not None:
        raw.to_csv(root / "raw" / "source.csv", index=False)
    return root


@contextmanager
def opened(root: Path) -> Iterator[Case]:
    """A case of a package as it lies there; its code is not run."""
    with open_case(load_task(root), Process(), DEFAULTS) as case:
        yield case
