"""Write a task package from a recipe, as an ordinary careful author would."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from benchmarks.cleantasks.descriptions import description
from benchmarks.cleantasks.metrics import METRICS, metric_code
from benchmarks.cleantasks.prepares import prepare_code
from benchmarks.cleantasks.recipes import Material, Recipe
from benchmarks.sources import Sources
from harness.tasks.package import raw_hash


def build(recipe: Recipe, sources: Sources, out: Path) -> tuple[Path, int]:
    """Write the package, not yet prepared, to a folder of the recipe's name; also the rows of its raw table.

    Raises:
        MissingSourceError: its data are not at hand.
    """
    loaded = recipe.load(sources)
    material = loaded if isinstance(loaded, Material) else Material(loaded)
    root = out / recipe.name
    shutil.rmtree(root, ignore_errors=True)
    (root / "raw").mkdir(parents=True)
    material.table.to_csv(root / "raw" / "data.csv", index=False)
    for name, content in material.files.items():
        (root / "raw" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "raw" / name).write_bytes(content)
    for name, table in material.others.items():
        table.to_csv(root / "raw" / name, index=False)
    labels = sorted(material.table[recipe.targets[0]].dropna().astype(str).unique())
    targets = labels if METRICS[recipe.metric].values == "chances" else recipe.targets
    title = recipe.name.replace("-", " ").capitalize()
    (root / "prepare.py").write_text(prepare_code(recipe, targets, sorted(material.others)))
    (root / "metric.py").write_text(metric_code(recipe.metric, recipe.id, targets, labels))
    (root / "description.txt").write_text(description(recipe, material, targets, title))
    (root / "task.toml").write_text(_toml(recipe, targets, title, raw_hash(root / "raw")))
    return root, len(material.table)


def _toml(recipe: Recipe, targets: list[str], title: str, sha256: str) -> str:
    metric = METRICS[recipe.metric]
    split = {"group": f'group_column = "{recipe.by}"\n', "time": f'time_column = "{recipe.by}"\n'}
    kind = "time" if recipe.shape == "future" else recipe.split
    worst = "" if metric.worst is None else f"worst = {metric.worst}\n"
    return (
        f'schema_version = 1\nid = "{recipe.name}"\ntitle = "{title}"\nset = "clean"\n'
        f'modality = "{recipe.modality}"\nobjective = "{recipe.objective}"\nid_column = "{recipe.id}"\n'
        f'target_columns = {json.dumps(targets)}\ndifficulty = "medium"\ntags = []\n\n'
        f'[source]\nname = "{recipe.source}"\nlicence = "{recipe.licence}"\nsha256 = "{sha256}"\n\n'
        f'[metric]\nname = "{recipe.metric}"\nhigher_is_better = {str(metric.higher).lower()}\n'
        f"best = {metric.best}\n{worst}\n"
        f'[split]\nkind = "{kind}"\n{split.get(kind, "")}seed = {recipe.seed}\n'
    )
