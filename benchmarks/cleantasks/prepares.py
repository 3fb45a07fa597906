"""prepare.py as an ordinary author writes it, for each shape of data and kind of split."""

from __future__ import annotations

from benchmarks.cleantasks.metrics import METRICS
from benchmarks.cleantasks.recipes import Recipe

_IDS = {
    "count": "range(1, len(TABLE) + 1)",
    "code": '[f"{PREFIX}{number:05d}" for number in range(len(TABLE))]',
    "hash": "[hashlib.md5(f'{SEED}-{number}'.encode()).hexdigest()[:10] for number in range(len(TABLE))]",
    "number": "np.random.default_rng(SEED).choice(900_000, len(TABLE), replace=False) + 100_000",
}
_SPLITS = {
    "random": """\
    test = TABLE.sample(frac=SHARE, random_state=SEED)
    train = TABLE.drop(test.index)
""",
    "stratified": """\
    train, test = train_test_split(TABLE, test_size=SHARE, stratify=TABLE[LABEL], random_state=SEED)
""",
    "group": """\
    splitter = GroupShuffleSplit(n_splits=1, test_size=SHARE, random_state=SEED)
    train_rows, test_rows = next(splitter.split(TABLE, groups=TABLE[{by!r}]))
    train, test = TABLE.iloc[train_rows], TABLE.iloc[test_rows]
""",
    "time": """\
    border = TABLE[{by!r}].sort_values().iloc[int(len(TABLE) * (1 - SHARE))]
    train, test = TABLE[TABLE[{by!r}] < border], TABLE[TABLE[{by!r}] >= border]
""",
}
_SAMPLES = {
    "zeros": "    sample = sample.assign(**{{name: 0 for name in TARGETS}})\n",
    "mean": "    sample[TARGETS] = train[TARGETS].mean().round(4).to_numpy()\n",
    "majority": "    sample[TARGETS[0]] = train[LABEL].mode()[0]\n",
    "uniform": "    sample = sample.assign(**{{name: round(1 / len(TARGETS), 4) for name in TARGETS}})\n",
    "half": "    sample[TARGETS] = 0.5\n",
    "random": "    known = sorted(train[LABEL].unique())\n"
    "    sample[TARGETS[0]] = np.random.default_rng(SEED).choice(known, len(test))\n",
}


def _write(frame: str, name: str, index: str = "index=False") -> str:
    """The line that writes a table in the format of its name."""
    if name.endswith(".jsonl"):
        return f'{frame}.to_json(public / "{name}", orient="records", lines=True)'
    if name.endswith(".tsv"):
        return f'{frame}.to_csv(public / "{name}", sep="\\t", {index})'
    return f'{frame}.to_csv(public / "{name}", {index})'


def _imports(text: str) -> str:
    lines = ["import hashlib"] if "hashlib." in text else []
    lines += ["import shutil"] if "shutil." in text else []
    lines += ["from pathlib import Path", ""]
    lines += ["import numpy as np"] if "np." in text else []
    lines += ["import pandas as pd"]
    for name in ("GroupShuffleSplit", "train_test_split"):
        lines += [f"from sklearn.model_selection import {name}"] if f"{name}(" in text else []
    return "\n".join(lines)


def _ids(recipe: Recipe, table: str, indent: str = "    ") -> str:
    if recipe.ids == "own":
        return ""
    made = _IDS[recipe.ids].replace("TABLE", table).replace("{PREFIX}", recipe.id[:1].upper())
    return f"{indent}{table}.insert(0, ID, {made})\n"


def _answers(recipe: Recipe) -> str:
    """The lines that write answers and sample, from ``train`` and ``test``."""
    if METRICS[recipe.metric].values == "chances":
        made = (
            "    answer = pd.get_dummies(test.set_index(ID)[LABEL])\n"
            "    answer = answer.reindex(columns=TARGETS, fill_value=False).astype(int).reset_index()\n"
        )
    else:
        made = "    answer = test[[ID, *TARGETS]]\n"
    return (
        f'{made}    answer.to_csv(private / "test_answer.csv", index=False)\n'
        "    sample = answer.copy()\n"
        f"{_SAMPLES[recipe.sample].format()}"
        '    sample.to_csv(public / "sample_submission.csv", index=False)\n'
    )


def _hidden(recipe: Recipe) -> str:
    return "LABEL" if METRICS[recipe.metric].values == "chances" or len(recipe.targets) == 1 else "TARGETS"


def _table(recipe: Recipe) -> str:
    shuffled = "table = table.sample(frac=1, random_state=SEED).reset_index(drop=True)"
    return (
        f"    {shuffled}\n{_ids(recipe, 'table')}"
        f"{_SPLITS[recipe.split].replace('TABLE', 'table').format(by=recipe.by)}"
        f"    {_write('train', recipe.train)}\n"
        f"    {_write(f'test.drop(columns={_hidden(recipe)})', recipe.test)}\n"
    )


def _media(recipe: Recipe) -> str:
    """Files get their id as name, in one folder for train and one for test, or one for each class."""
    place = 'public / "train" / str(row[LABEL])' if recipe.shape == "folders" else 'public / "train"'
    table = "" if recipe.shape == "folders" else f"    {_write('train[[ID, LABEL]]', recipe.train)}\n"
    return (
        f"    table = table.sample(frac=1, random_state=SEED).reset_index(drop=True)\n{_ids(recipe, 'table')}"
        f"{_SPLITS[recipe.split].replace('TABLE', 'table').format(by=recipe.by)}"
        "    for _, row in train.iterrows():\n"
        f"        folder = {place}\n"
        "        folder.mkdir(parents=True, exist_ok=True)\n"
        '        source = raw / row["file"]\n'
        '        shutil.copyfile(source, folder / f"{row[ID]}{source.suffix}")\n'
        '    (public / "test").mkdir()\n'
        "    for _, row in test.iterrows():\n"
        '        source = raw / row["file"]\n'
        '        shutil.copyfile(source, public / "test" / f"{row[ID]}{source.suffix}")\n'
        f"{table}"
    )


def _arrays(recipe: Recipe) -> str:
    return (
        "    table = table.sample(frac=1, random_state=SEED).reset_index(drop=True)\n"
        f"{_ids(recipe, 'table')}"
        f"{_SPLITS[recipe.split].replace('TABLE', 'table').format(by=recipe.by)}"
        '    steps = [name for name in table.columns if name.startswith("t") and name[1:].isdigit()]\n'
        "    np.savez_compressed(\n"
        '        public / "train.npz",\n'
        '        id=train[ID], series=train[steps].to_numpy("float32"), label=train[LABEL]\n'
        "    )\n"
        '    np.savez_compressed(public / "test.npz", id=test[ID], series=test[steps].to_numpy("float32"))\n'
    )


def _steps(recipe: Recipe) -> str:
    """Several rows for each case; the labels are a table of their own."""
    return (
        f"    cases = table.drop_duplicates({recipe.by!r})[[{recipe.by!r}, LABEL]]\n"
        "    cases = cases.sample(frac=1, random_state=SEED).reset_index(drop=True)\n"
        f"{_ids(recipe, 'cases')}"
        "    train, test = train_test_split(\n"
        "        cases, test_size=SHARE, stratify=cases[LABEL], random_state=SEED\n"
        "    )\n"
        f"    table = cases[[ID, {recipe.by!r}]].merge(table.drop(columns=LABEL))\n"
        f"    table = table.drop(columns={recipe.by!r})\n"
        "    steps_of_train = table[table[ID].isin(train[ID])]\n"
        "    steps_of_test = table[table[ID].isin(test[ID])]\n"
        '    steps_of_train.to_csv(public / "train_sensors.csv", index=False)\n'
        '    steps_of_test.to_csv(public / "test_sensors.csv", index=False)\n'
        f"    {_write('train[[ID, LABEL]]', recipe.train)}\n"
    )


def _future(recipe: Recipe) -> str:
    """The last steps of each series are to be forecast."""
    return (
        f'    table = table.sort_values(["series", {recipe.by!r}])\n'
        '    left = table.groupby("series").cumcount(ascending=False)\n'
        f"    train, test = table[left >= {recipe.horizon}], table[left < {recipe.horizon}].copy()\n"
        f"{_ids(recipe, 'test')}"
        f"    {_write('train', recipe.train)}\n"
        f"    {_write('test.drop(columns=LABEL)', recipe.test)}\n"
    )


_SHAPES = {
    "table": _table,
    "media": _media,
    "folders": _media,
    "arrays": _arrays,
    "steps": _steps,
    "future": _future,
}


def prepare_code(recipe: Recipe, targets: list[str], others: list[str]) -> str:
    """The text of prepare.py.

    Args:
        recipe: the author's decisions.
        targets: columns of the answers.
        others: names of further raw tables, which participants get as they are.
    """
    body = _SHAPES[recipe.shape](recipe) + _answers(recipe)
    body = body.replace("    test =", "    test =")
    copies = "".join(f'    shutil.copyfile(raw / "{name}", public / "{name}")\n' for name in others)
    label = f"LABEL = {recipe.target!r}\n" if isinstance(recipe.target, str) else ""
    share = f"SHARE = {recipe.share}\n" if "SHARE" in body else ""
    return (
        f'"""Split the data of {recipe.name}."""\n\n{_imports(body + copies)}\n\n'
        f"SEED = {recipe.seed}\n{share}ID = {recipe.id!r}\n{label}TARGETS = {targets!r}\n\n\n"
        "def prepare(raw: Path, public: Path, private: Path) -> None:\n"
        '    table = pd.read_csv(raw / "data.csv")\n'
        f"{body}{copies}"
    )
