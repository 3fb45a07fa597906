"""What verification costs, gate by gate, and how it grows with the rows of a table.

    python benchmarks/verify.py [--rows 1000,10000,100000,1000000] [--quick] [--json OUT]

The tables are synthetic: scikit-learn's ``make_classification`` with 20 numbers, of which 8 tell of one of
two classes, and two columns of categories. Each becomes a task package with a random split, whose prepare.py
cuts the raw table, and is verified in full in a sandbox of this machine. Below the seconds of each gate
stand the processor seconds of the verifying process alone, which other programs hardly change (what runs in
sandboxes is not among them), and the unit of the same run: hashing the package's files and reading its raw
table with pandas as text.
The growth exponent is the slope of log seconds over log rows between the last two sizes: 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.choose import choose_sandbox
from harness.tasks.package import file_hash, raw_hash

TOML = """\
schema_version = 1
id = "{id}"
title = "Which of two classes"
set = "benchmark"
modality = "tabular"
objective = "classification"
id_column = "row"
target_columns = ["side"]
difficulty = "medium"
[source]
name = "make_classification of scikit-learn (synthetic)"
licence = "CC0-1.0"
sha256 = "{sha256}"
[metric]
name = "accuracy"
higher_is_better = true
best = 1.0
worst = 0.0
[split]
kind = "random"
seed = 7
"""
PREPARE = """\
from pathlib import Path

import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    table = pd.read_csv(raw / "table.csv").sample(frac=1, random_state=7)
    table.insert(0, "row", range(len(table)))
    cut = len(table) // 4
    test, train = table.iloc[:cut], table.iloc[cut:]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="side").to_csv(public / "test.csv", index=False)
    test[["row"]].assign(side="left").to_csv(public / "sample_submission.csv", index=False)
    test[["row", "side"]].to_csv(private / "test_answer.csv", index=False)
"""
METRIC = """\
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError


class Accuracy(CompetitionMetrics):
    def evaluate(self, y_true, y_pred):
        merged = y_true.merge(y_pred, on="row", suffixes=("", "_said"), validate="one_to_one")
        return float((merged["side"] == merged["side_said"]).mean())

    def validate_submission(self, submission, ground_truth):
        if set(submission["row"]) != set(ground_truth["row"]):
            raise InvalidSubmissionError("each test row needs one answer")
        if not submission["side"].isin(["left", "right"]).all():
            raise InvalidSubmissionError("side is left or right")
        return "fine"
"""
DESCRIPTION = """\
Predict `side`, left or right, of each row of test.csv from its measurements; train.csv shows it.

Submissions are scored by accuracy, the share of rows that are right; higher is better. Hand in a CSV file
with the columns `row` and `side`, one line for each row of test.csv.
"""


def write_task(folder: Path, rows: int) -> Path:
    """A package of that many rows in all, not yet prepared."""
    root = folder / f"rows-{rows}"
    (root / "raw").mkdir(parents=True)
    numbers, side = make_classification(
        rows, 20, n_informative=8, n_redundant=4, class_sep=0.7, flip_y=0.05, random_state=rows
    )
    table = pd.DataFrame(numbers.round(4), columns=[f"measure {letter}" for letter in "abcdefghijklmnopqrst"])
    rng = np.random.default_rng(rows)
    table["site"] = rng.choice(["north", "east", "south", "west"], rows)
    table["device"] = rng.choice([f"device {number}" for number in range(30)], rows)
    table["side"] = np.where(side == 1, "right", "left")
    table.to_csv(root / "raw" / "table.csv", index=False)
    (root / "task.toml").write_text(TOML.format(id=root.name, sha256=raw_hash(root / "raw")))
    (root / "prepare.py").write_text(PREPARE)
    (root / "metric.py").write_text(METRIC)
    (root / "description.txt").write_text(DESCRIPTION)
    return root


def unit(root: Path) -> float:
    """Seconds to hash the package's files once and to read its raw table as text once."""
    started = time.perf_counter()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        file_hash(path)
    pd.read_csv(root / "raw" / "table.csv", dtype=str, keep_default_na=False)
    return time.perf_counter() - started


def measure(rows: int, plan: Plan) -> dict[str, Any]:
    """One verification from nothing."""
    folder = Path(tempfile.mkdtemp(prefix="mlesmith-benchmark-"))
    try:
        root = write_task(folder, rows)
        base, started = unit(root), time.process_time()
        result = verify_task(root, choose_sandbox(), plan, cache=folder, fresh=True)
        processor = time.process_time() - started
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "rows": rows,
        "verdict": str(result.verdict),
        "codes": [found.code for found in result.findings],
        "error": result.error,
        "gates": dict(result.gates),
        "seconds": result.seconds,
        "processor": processor,
        "unit": base,
    }


def exponent(before: dict[str, Any], after: dict[str, Any], seconds: tuple[float, float]) -> float:
    """The slope of log seconds over log rows."""
    return math.log(max(seconds[1], 1e-3) / max(seconds[0], 1e-3)) / math.log(after["rows"] / before["rows"])


def show(runs: list[dict[str, Any]]) -> None:
    """The table: a line for each gate, a column for each size, and the growth exponent."""
    print("synthetic tables (make_classification of scikit-learn): 20 numbers, 2 columns of categories")
    print(f"{'seconds':<14}" + "".join(f"{run['rows']:>12,}" for run in runs) + f"{'growth':>9}")
    lines = {gate: [run["gates"].get(gate, 0.0) for run in runs] for gate in runs[-1]["gates"]}
    more = {"all": "seconds", "own processor": "processor", "hash and read": "unit"}
    lines |= {name: [run[key] for run in runs] for name, key in more.items()}
    for name, seconds in lines.items():
        grown = exponent(runs[-2], runs[-1], (seconds[-2], seconds[-1])) if len(runs) > 1 else math.nan
        print(f"{name:<14}" + "".join(f"{each:>12.2f}" for each in seconds) + f"{grown:>9.2f}")
    print(f"{'all / unit':<14}" + "".join(f"{run['seconds'] / run['unit']:>12.0f}" for run in runs))
    for run in runs:
        print(f"{run['rows']:,} rows: {run['verdict']} {run['codes']} {run['error'] or ''}")


def main() -> None:
    """Measure each size once and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", default="1000,10000,100000,1000000")
    parser.add_argument("--quick", action="store_true", help="without the gates that train baselines")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    plan = Plan(deep=not arguments.quick)
    runs = [measure(int(rows), plan) for rows in arguments.rows.split(",")]
    show(runs)
    if arguments.json:
        arguments.json.write_text(json.dumps({"schema_version": 1, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
