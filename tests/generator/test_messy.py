"""Messy raw data, from the files to a prepared task: what is learned from is what the files mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.archives import unpack
from generator.datasets.catalogue import load_card
from generator.profile import profile_dataset
from generator.rules.design import design
from generator.rules.propose import propose
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task

ROWS = 900


def truth() -> pd.DataFrame:
    """A table whose class depends on its numbers, with noise."""
    rng = np.random.default_rng(11)
    numbers = pd.DataFrame(rng.normal(size=(ROWS, 3)).round(2), columns=["length", "price", "share"])
    score = numbers["length"] + numbers["price"] ** 2 + rng.normal(size=ROWS) * 0.6
    return numbers.assign(outcome=np.where(score > 1, "high", "low"))


def spreadsheet_export(folder: Path) -> None:
    """Windows-1252, a title, decimal commas, a currency, per cent, unknown values, a total at the end."""
    table = truth()
    table["price"] = [f"{value:,.2f} €".replace(".", ",") for value in table["price"]]
    table["share"] = [f"{value:.2f}%".replace(".", ",") if n % 3 else "n.a." for n, value in
                      enumerate(table["share"])]  # fmt: skip
    lines = table.to_csv(index=False, sep=";", decimal=",")
    (folder / "Übersicht.csv").write_text(f"Müller & Söhne\n\n{lines}Summe\n", encoding="cp1252")


def nameless_rows(folder: Path) -> None:
    """No header, question marks, in pieces."""
    table = truth().astype(object).mask(np.random.default_rng(1).random((ROWS, 4)) < 0.1, "?")
    table["outcome"] = truth()["outcome"]
    for part in range(3):
        rows = table.iloc[part * 300 : part * 300 + 300]
        rows.to_csv(folder / f"part{part}.data", index=False, header=False)


def nested_document(folder: Path) -> None:
    """Records deep in a document, with records in them."""
    items = [
        {"size": {"length": row.length, "more": {"price": f"${row.price:.2f}"}}, "share": row.share,
         "outcome": row.outcome, "tags": ["a", "b"]}
        for row in truth().itertuples()
    ]  # fmt: skip
    (folder / "answer.json").write_text(json.dumps({"status": 200, "data": {"items": items}}))


def keyed_log(folder: Path) -> None:
    """A log of keys with values, with other lines between."""
    lines = []
    for number, row in enumerate(truth().itertuples()):
        lines.append(f'length={row.length} price={row.price} share={row.share} outcome="{row.outcome}"')
        if number % 50 == 0:
            lines.append("--- the file was rotated ---")
    (folder / "server.log").write_text("\n".join(lines))


def two_tables(folder: Path) -> None:
    """Half of what tells the class stands in another table."""
    table = truth().assign(part_id=np.random.default_rng(2).permutation(ROWS) + 70_000)
    table[["part_id", "share", "outcome"]].to_csv(folder / "sales.csv", index=False)
    table[["part_id", "length", "price"]].to_csv(
        folder / "parts.tsv", index=False, sep="\t", encoding="utf-16"
    )


@pytest.mark.parametrize("write", [spreadsheet_export, nameless_rows, nested_document, keyed_log, two_tables])
@pytest.mark.parametrize("packed", [False, True])
def test_a_task_from_messy_files(
    tmp_path: Path, write: Callable[[Path], None], packed: bool, sandbox: SandboxProvider
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder)
    if packed:
        import shutil

        folder = unpack(Path(shutil.make_archive(str(tmp_path / "data"), "zip", folder)), tmp_path / "work")
    card, profile = load_card(folder), profile_dataset(folder)
    assert profile.skipped == ()
    (proposal,) = propose(folder, card, profile, max_tasks=1).proposals
    assert proposal.targets[0].endswith(("outcome", "column_4")) and proposal.objective == "classification"
    design(proposal, folder, card, profile, tmp_path / "out" / proposal.id, sandbox)
    task = load_task(tmp_path / "out" / proposal.id)
    train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
    numeric = test.select_dtypes("number").drop(columns=task.spec.id_column, errors="ignore")
    # The three numbers of the truth are numbers of the task, with their spread.
    near = [abs(numeric[name].std() - 1) < 0.25 for name in numeric if numeric[name].std() > 0]
    assert sum(near) == 3, numeric.describe()
    assert len(train) + len(test) > 0.85 * ROWS
