"""description.txt in three manners of writing."""

from __future__ import annotations

from benchmarks.cleantasks.metrics import METRICS
from benchmarks.cleantasks.recipes import Material, Recipe

_SPLIT = {
    "random": "Rows were put into the training and the test set at random.",
    "stratified": "The classes have the same shares in the training and the test set.",
    "group": "All rows with the same {by} are either in the training or in the test set.",
    "time": "The test set is later than the training set, by {by}.",
}
_VALUES = {
    "label": "the label",
    "number": "a number",
    "chance": "a number between 0 and 1, larger for rows that are more likely positive",
    "chances": "a probability for each class",
    "flags": "0 or 1 for each label",
}


def _files(recipe: Recipe, others: list[str]) -> dict[str, str]:
    shape = recipe.shape
    if shape == "folders":
        files = {"train/": "a folder for each class", "test/": "files to label, named by their id"}
    elif shape == "media":
        files = {
            "train/": "files named by their id",
            recipe.train: "ids and labels of these files",
            "test/": "files to label, named by their id",
        }
    elif shape == "arrays":
        files = {
            "train.npz": "arrays id, series (one row each) and label",
            "test.npz": "arrays id and series",
        }
    elif shape == "steps":
        files = {
            "train_sensors.csv": "measurements, several rows for each id",
            recipe.train: "the label of each id",
            "test_sensors.csv": "measurements of the ids to label",
        }
    else:
        files = {recipe.train: "rows with their answers", recipe.test: "rows to predict"}
    files |= dict.fromkeys(others, "further data")
    return files | {"sample_submission.csv": "a submission in the right form"}


def _columns(recipe: Recipe, material: Material) -> dict[str, str]:
    columns = {recipe.id: "identifies a row"}
    if recipe.shape in ("media", "folders"):
        columns[str(recipe.target)] = recipe.notes.get(str(recipe.target), "to be predicted")
        return columns
    names = [name for name in material.table.columns if name not in columns]
    if len(names) > 40:
        kept = [name for name in names if name in recipe.targets or name in recipe.notes or name == recipe.by]
        rest = [name for name in names if name not in kept]
        columns[f"{rest[0]} ... {rest[-1]}"] = f"{len(rest)} measurements"
        names = kept
    for name in names:
        values = material.table[name]
        known = sorted(values.dropna().astype(str).unique())
        told = f"one of {', '.join(known)}" if values.dtype == object and len(known) < 9 else "number"
        told = told if values.dtype != object or len(known) < 9 else "text"
        if name in recipe.targets:
            told = f"to be predicted; {told}"
        columns[name] = recipe.notes.get(name, told)
    if recipe.shape == "steps":
        columns.pop(recipe.by, None)
    return columns


def _example(recipe: Recipe, targets: list[str]) -> str:
    ids = {"code": [f"{recipe.id[:1].upper()}00003", f"{recipe.id[:1].upper()}00017"]}
    ids |= {"hash": ["0c2f4a91be", "77ad01e5c3"], "number": ["104233", "870012"]}
    values = {"number": "1.5", "chance": "0.3", "chances": "0.25", "flags": "0"}.get(
        METRICS[recipe.metric].values
    )
    cells = ",".join([values or "<label>"] * len(targets))
    lines = [f"{each},{cells}" for each in ids.get(recipe.ids, ["3", "17"])]
    return "\n".join([",".join([recipe.id, *targets]), *lines])


def description(recipe: Recipe, material: Material, targets: list[str], title: str) -> str:
    """The text of description.txt."""
    metric = METRICS[recipe.metric]
    files = _files(recipe, sorted(material.others))
    columns = _columns(recipe, material)
    score = f"{metric.label}: {metric.formula}. {'Higher' if metric.higher else 'Lower'} is better"
    split = _SPLIT[recipe.split].format(by=recipe.by)
    if recipe.shape == "future":
        split = f"The last {recipe.horizon} steps of each series are the test set."
    hand_in = (
        f"a CSV file with the columns {', '.join(targets[:20])} next to {recipe.id}: {_VALUES[metric.values]}"
    )
    example = _example(recipe, targets)
    if recipe.style == "markdown":
        listed = "\n".join(f"- `{name}`: {told}" for name, told in files.items())
        rows = "\n".join(f"| {name} | {told} |" for name, told in columns.items())
        return (
            f"# {title}\n\n{recipe.story}\n\n## Files\n\n{listed}\n\n{split}\n\n"
            f"## Columns\n\n| column | meaning |\n|---|---|\n{rows}\n\n"
            f"## Evaluation\n\nSubmissions are scored by {score}.\n\n"
            f"## Submission\n\nHand in {hand_in}. One row for each test id:\n\n```\n{example}\n```\n"
        )
    if recipe.style == "prose":
        listed = " ".join(f"{name} holds {told}." for name, told in files.items())
        told = "; ".join(f"{name} ({told})" for name, told in columns.items())
        return (
            f"{recipe.story}\n\n{listed} {split} The columns are: {told}.\n\n"
            f"The score is the {score}.\n\n"
            f"Submit {hand_in}, for every id of the test set, like this:\n\n{example}\n"
        )
    width = max(len(name) for name in [*files, *columns])
    listed = "\n".join(f"{name:<{width}}  {told}" for name, told in (files | columns).items())
    return (
        f"{title.upper()}\n\nTask\n----\n{recipe.story}\n\nData\n----\n{listed}\n\n{split}\n\n"
        f"Metric\n------\n{score}.\n\n"
        f"What to submit\n--------------\nOne line for each id of the test set, {hand_in}.\n\n"
        f"{example}\n"
    )
