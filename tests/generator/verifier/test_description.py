"""The description against the files: each defect on tasks of two shapes, and near-misses that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.base import Finding
from generator.verifier.description import gate
from generator.verifier.description.metrics import agree, canonical, mentions
from tests.generator.verifier.described import opened, write

PARCELS = """\
Late parcels
============

Goal
----
Predict for each parcel of test.csv how likely it is that it arrives late.

Data
----
train.csv  40 parcels with the outcome
test.csv   24 parcels to judge
sample_submission.csv  a submission in the right form

parcel_id  the parcel's number
weight_kg  its weight, the higher the better it is insured
late       1 if it was late (only in train.csv)

Metric
------
The area under the ROC curve. Higher is better; unlike accuracy it needs no threshold.

Submission
----------
One row for each parcel, in any order:

    parcel_id,late
    41,0.5
    42,0.5
"""

BIRDS = """\
# Bird song

Name the *species* that sings in each recording of the folder `clips/`.

## Evaluation

Submissions are evaluated by **log loss**; the smallest value wins.

## Files

- `labels.tsv` - 30 labelled recordings
- `holdout.jsonl` - the 12 recordings to name
- `sample_submission.csv` - a valid file

## Fields

- `clip`: name of the file, such as `clips/<clip>.wav` or `clips/*.wav`
- `length_s`: seconds
- `species`: one of finch, robin, wren

## Submission

The header is `clip,species`, with one row for each of the 12 test clips:

```
clip,species
c900,finch
```
"""


def parcels(root: Path, text: str) -> list[Finding]:
    """A table of parcels with numbers as ids."""
    random = np.random.default_rng(1)
    raw = pd.DataFrame({"parcel_id": range(1, 65), "weight_kg": random.random(64).round(3)})
    raw["late"] = random.integers(0, 2, 64)
    train, test = raw[:40], raw[40:]
    tables = {"train.csv": train, "test.csv": test.drop(columns="late")}
    write(
        root / "parcels", text, test[["parcel_id", "late"]], tables,
        metric="roc_auc", higher=True, raw=raw,
    )  # fmt: skip
    with opened(root / "parcels") as case:
        return list(gate.check(case))


def birds(root: Path, text: str) -> list[Finding]:
    """A folder of clips with a table of labels that is no CSV."""
    kinds = ["finch", "robin", "wren"]
    raw = pd.DataFrame({"clip": [f"c{i:03d}" for i in range(42)], "length_s": range(42)})
    raw["species"] = [kinds[(i * 7) % 3] for i in range(42)]
    tables = {"labels.tsv": raw[:30], "holdout.jsonl": raw[30:].drop(columns="species")}
    write(
        root / "birds", text, raw[30:][["clip", "species"]], tables, metric="log_loss", higher=False,
        modality="audio", raw=raw, files=tuple(f"clips/c{i:03d}.wav" for i in range(42)),
    )  # fmt: skip
    with opened(root / "birds") as case:
        return list(gate.check(case))


def codes(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(found.code, str(found.severity)) for found in findings]


def swap(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


def add(more: str) -> Callable[[str], str]:
    return lambda text: f"{text}\n{more}\n"


def cut(heading: str) -> Callable[[str], str]:
    """Take out a section of the Markdown text."""
    return lambda text: "\n## ".join(
        part for part in text.split("\n## ") if not part.startswith(f"{heading}\n")
    )


def test_true_descriptions_are_silent(tmp_path: Path) -> None:
    assert parcels(tmp_path, PARCELS) == [] and birds(tmp_path, BIRDS) == []


def test_html_is_read_as_well(tmp_path: Path) -> None:
    rows = "".join(f"<li><code>{name}</code>: what it is</li>" for name in ("clip", "length_s", "species"))
    text = (
        "<h2>Goal</h2><p>Name the <code>species</code>: finch, robin or wren, in each file of "
        f"<code>clips/</code>.</p><ul>{rows}</ul><p>Scored by the log&nbsp;loss. Submit a CSV file with "
        "<code>clip,species</code>.</p>"
    )
    assert birds(tmp_path / "true", text) == []
    wrong = text.replace("log&nbsp;loss", "macro <b>F1</b>").replace("length_s", "pitch_hz")
    assert [found.code for found in birds(tmp_path, wrong)] == ["description_names", "description_metric"]


@pytest.mark.parametrize(
    ("task", "change", "expected"),
    [
        # Names of things that are not there.
        (parcels, swap("weight_kg  its", "height_cm  its height\nweight_kg  its"), ("names", "error")),
        (parcels, add("The weather of each day is in `weather.json`."), ("names", "error")),
        (birds, swap("labels.tsv", "metadata.xlsx"), ("names", "error")),
        (birds, swap("- `length_s`", "- `loudness_db`"), ("names", "error")),
        (birds, swap("`clips/`", "`spectrograms/`"), ("names", "error")),
        # What a participant must know.
        (parcels, lambda text: "Do your best with these data.", ("omits", "error")),
        (parcels, lambda text: text[: text.index("Submission\n")], ("omits", "warning")),
        (birds, cut("Evaluation"), ("omits", "warning")),
        # Another metric.
        (parcels, swap("The area under the ROC curve", "Classification accuracy"), ("metric", "error")),
        (birds, swap("**log loss**", "the Brier score"), ("metric", "error")),
        (birds, swap("by **log loss**", "not by log loss but by RMSE"), ("metric", "warning")),
        # The other direction.
        (parcels, swap("Higher is better", "Lower is better"), ("direction", "error")),
        (birds, swap("the smallest value wins", "higher scores are better"), ("direction", "error")),
        (birds, add("Participants should maximise the log loss."), ("direction", "error")),
        # Counts.
        (parcels, swap("40 parcels", "4,000 parcels"), ("counts", "error")),
        (parcels, add("There are 990 test rows."), ("counts", "error")),
        (birds, swap("30 labelled recordings", "350 labelled recordings"), ("counts", "error")),
        (birds, add("The songs are of 17 classes."), ("counts", "error")),
        (birds, add("The table has 85 columns."), ("counts", "error")),
        # How to get at the answers.
        (parcels, add("We used train_test_split(random_state=42)."), ("reveals", "warning")),
        (birds, add("The truth lies in private/test_answer.csv."), ("reveals", "warning")),
        (birds, add("The test rows are the last 30 % of the original file."), ("reveals", "warning")),
        # Labels beyond those that are listed.
        (birds, swap("one of finch, robin, wren", "one of finch, robin"), ("unpromised_labels", "error")),
    ],
)  # fmt: skip
def test_a_defect_is_found(
    tmp_path: Path,
    task: Callable[[Path, str], list[Finding]],
    change: Callable[[str], str],
    expected: tuple[str, str],
) -> None:
    code, severity = expected
    text = change(PARCELS if task is parcels else BIRDS)
    found = {one.removeprefix("description_"): how for one, how in codes(task(tmp_path, text))}
    assert found.get(code) == severity, found


@pytest.mark.parametrize(
    ("task", "more"),
    [
        (parcels, "Most public kernels start from `pandas` and a call of `train_test_split`."),
        (parcels, "The column `driver_name` of the source was removed."),
        (parcels, "Ids have the form `region_number`. See https://example.org/other.csv for more."),
        (parcels, "Write your predictions to `my_submission.csv`."),
        (parcels, "About half of the parcels, some 50 %, came late in 2019; 3 depots sent 200 per day."),
        (parcels, "The original data have 64 rows. Around 42 training rows are enough."),
        (parcels, "Minimise the time that you spend; a lower weight is no better sign."),
        (parcels, "Accuracy is not used. The log loss is often smaller when the AUC is high."),
        (birds, "Images of spectrograms, such as `plot.png`, help some people."),
        (birds, "Clips such as c900.wav are for illustration."),
        (birds, "Es gibt 3 Klassen. 分数越低越好。"),
        (birds, "Each clip is a WAV file (16 bits, 8000 samples a second)."),
        (birds, "WAV, 44100 samples/second; clips are 3000 samples long; 250 lines in a second."),
        (birds, "The species were heard in 5 regions with 40 different microphones."),
    ],
)
def test_a_near_miss_is_none(tmp_path: Path, task: Callable[[Path, str], list[Finding]], more: str) -> None:
    text = f"{PARCELS if task is parcels else BIRDS}\n{more}\n"
    assert [found for found in task(tmp_path, text) if str(found.severity) == "error"] == []


@pytest.mark.parametrize("more", ["-0.25", "-3 to 41", "-.5", ": 7", "= 7", " - 7", "| 7"])
def test_a_line_that_goes_on_with_an_item_names_no_column(more: str, tmp_path: Path) -> None:
    text = swap("- `length_s`: seconds", f"- `length_s`: seconds in each recording,\n  median {more}")(BIRDS)
    assert birds(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (PARCELS.replace("parcel_id", "Parcel ID"), None),
        (PARCELS.replace("parcel_id", "nr").replace("late", "y").replace("y if", "overdue if"), "warning"),
        ("Do your best with these data.", "error"),
    ],
)
def test_columns_may_be_named_in_words_or_by_the_sample(
    tmp_path: Path, text: str, severity: str | None
) -> None:
    assert dict(codes(parcels(tmp_path, text))).get("description_columns") == severity


def test_examples_of_classes_promise_nothing(tmp_path: Path) -> None:
    examples = BIRDS.replace("one of finch, robin, wren", "the bird, for example finch or robin")
    assert birds(tmp_path, examples) == []


def test_imported_packages_without_raw_data_may_tell_of_the_original(tmp_path: Path) -> None:
    """Names and counts of what a preparation elsewhere has changed deserve a look, not a rejection."""
    answers = pd.DataFrame({"id": range(30), "y": [0, 1] * 15})
    train = pd.DataFrame({"id": range(30, 90), "x": range(60), "y": [0, 1] * 30})
    tables = {"train.csv": train, "test.csv": answers[["id"]].assign(x=range(30))}
    text = (
        "Predict y for every id. Submissions are evaluated on accuracy. "
        "Submit a file with the header id,y.\n\n"
        "- sampleSubmission.csv - the form\n- train.zip - the training set, 5,000 rows\n"
        "- weather.csv - weather\n"
    )
    write(tmp_path / "old", text, answers, tables, metric="some-competition", higher=True)
    with opened(tmp_path / "old") as case:
        found = codes(list(gate.check(case)))
    assert found == [("description_names", "warning"), ("description_counts", "warning")]


@pytest.mark.parametrize("task", [parcels, birds])
def test_true_answers_beside_ids_are_found_and_made_up_ones_are_not(
    tmp_path: Path, task: Callable[[Path, str], list[Finding]]
) -> None:
    base = PARCELS if task is parcels else BIRDS
    task(tmp_path, base)
    name = "parcels" if task is parcels else "birds"
    answers = pd.read_csv(tmp_path / name / "private" / "test_answer.csv", dtype=str)
    target = answers.columns[1]

    def shown(values: list[str]) -> list[tuple[str, str]]:
        rows = "\n".join(f"    {one},{value}" for one, value in zip(answers.iloc[:, 0], values, strict=True))
        return codes(task(tmp_path / str(len(list(tmp_path.iterdir()))), f"{base}\nFor example:\n\n{rows}\n"))

    assert ("description_reveals", "error") in shown(answers[target].tolist())
    assert shown([answers[target].iloc[0]] * len(answers)) == []
    # A list of the answers without ids, in their order.
    listed = codes(task(tmp_path / "list", f"{base}\nIn order: {', '.join(answers[target])}.\n"))
    assert ("description_reveals", "error") in listed


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("root mean squared logarithmic error", "rmsle"),
        ("Root-Mean-Squared-Error", "rmse"),
        ("area under the precision-recall curve", "average_precision"),
        ("area under the receiver operating characteristic curve", "roc_auc"),
        ("quadratic weighted kappa", "quadratic_weighted_kappa"),
        ("mean column-wise log loss", "log_loss"),
        ("log_loss", "log_loss"),
        ("ROC-AUC", "roc_auc"),
        ("MAP@12", "map_at_k"),
        ("Matthews correlation coefficient (MCC)", "mcc"),
        ("balanced accuracy", "balanced_accuracy"),
        ("Spearman's rank correlation", "spearman"),
    ],
)
def test_the_longest_name_of_a_metric_counts(words: str, name: str) -> None:
    assert {each.name for each in mentions(f"scored by the {words}.")} == {name}


def test_general_names_agree_with_special_ones() -> None:
    assert agree("f1", "macro_f1") and not agree("micro_f1", "macro_f1") and not agree("mse", "rmse")
    assert (
        canonical("auc") == "roc_auc" and canonical("my-own-score") is None and canonical("maelstrom") is None
    )
