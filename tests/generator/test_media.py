"""Folders of images, recordings and documents: what they hold, their classes, and the tasks made of them."""

from __future__ import annotations

import hashlib
import json
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from generator.datasets.catalogue import load_card
from generator.media import MediaFolder
from generator.profile import Profile, profile_dataset
from generator.rules.design import design
from generator.rules.media import WORDS
from generator.rules.propose import propose
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import load_task

CLASSES = ("cat", "dog", "owl")
EACH = 110
WORDS_OF = {"cat": "purr whisker milk", "dog": "bark bone walk", "owl": "night wing hoot"}


def draw(path: Path, number: int, label: int) -> None:
    rng = np.random.default_rng(number)
    pixels = rng.integers(0, 80, (12, 12, 3)) + 50 * label
    Image.fromarray(pixels.astype(np.uint8)).save(path)


def play(path: Path, number: int, label: int) -> None:
    rng = np.random.default_rng(number)
    time = np.arange(800 + number) / 4_000
    sound = np.sin(2 * np.pi * (300 + 200 * label) * time) + rng.normal(size=len(time))
    samples = (8_000 * sound).clip(-32_768, 32_767).astype("<i2")
    if path.suffix == ".flac":
        soundfile = pytest.importorskip("soundfile")
        soundfile.write(path, samples, 4_000)
        return
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(4_000)
        out.writeframes(samples.tobytes())


def tell(path: Path, number: int, label: int) -> None:
    rng = np.random.default_rng(number)
    common = ["the", "house", "and", "day", "they", "went", f"n{number}"]
    own = WORDS_OF[CLASSES[label]].split()
    path.write_text(" ".join(rng.choice([*common, *own], 30)) + f".\nThe end, {number}.\n", encoding="utf-8")


MAKERS: dict[str, tuple[str, Callable[[Path, int, int], None]]] = {
    "image": (".png", draw), "audio": (".wav", play), "text": (".txt", tell),
}  # fmt: skip


def make(folder: Path, kind: str, way: str, each: int = EACH) -> dict[str, str]:
    """Write files of one kind, labelled in one way; the class of each by the hash of its bytes."""
    suffix, write = MAKERS[kind]
    truth, rows = {}, []
    for number in range(each * len(CLASSES)):
        label = number % len(CLASSES)
        name = CLASSES[label]
        place = {
            "folder": folder / name / f"file{number:04d}{suffix}",
            "inner folder": folder / "data" / "all" / name / f"file{number:04d}{suffix}",
            "train and test": folder / ("test" if number % 5 == 0 else "train") / name / f"{number}{suffix}",
            "name": folder / "files" / f"{name}_{number:04d}{suffix}",
            "table": folder / "files" / f"{number:04d}{suffix}",
            "table of stems": folder / "files" / f"{number:04d}{suffix}",
            "table of paths": folder / "files" / str(number % 7) / f"x{number}{suffix}",
            "table of places": folder / "files" / str(number % 7) / f"x{number}{suffix}",
        }[way]
        place.parent.mkdir(parents=True, exist_ok=True)
        write(place, number, label)
        truth[hashlib.sha256(place.read_bytes()).hexdigest()] = name
        below = folder if way == "table of places" else folder / "files"
        named = place.relative_to(below).as_posix() if "table" in way else ""
        named = f"id{number:04d}" if way == "table of stems" else named
        if way == "table of stems":
            place.rename(place.with_name(f"id{number:04d}{suffix}"))
        rows.append({"which": named, "weight": number / 7, "breed": name, "good": number % 2})
    if "table" in way:
        pd.DataFrame(rows).to_csv(folder / "list.csv", index=False, sep=";")
    return truth


def only(profile: Profile) -> MediaFolder:
    (media,) = profile.media
    return media


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    "way",
    [
        "folder",
        "inner folder",
        "train and test",
        "name",
        "table",
        "table of stems",
        "table of paths",
        "table of places",
    ],
)
def test_classes_are_found(tmp_path: Path, kind: str, way: str) -> None:
    make(tmp_path, kind, way, each=12)
    media = only(profile_dataset(tmp_path))
    assert (media.kind, media.files, media.broken) == (kind, 36, ())
    assert dict(media.classes) == dict.fromkeys(CLASSES, 12)
    assert media.labels is not None
    if "table" in way:
        assert media.labels.label_column == "breed"
    assert {label for _, label in media.labelled(tmp_path)} == set(CLASSES)


def test_what_files_measure(tmp_path: Path) -> None:
    for kind in MAKERS:
        make(tmp_path / kind, kind, "folder", each=8)
    found = {media.kind: media for media in profile_dataset(tmp_path).media}
    assert found["image"].measure("width") == (12, 12) and found["image"].modes == (("RGB", 24),)
    assert found["audio"].measure("rate") == (4_000, 4_000) and found["audio"].measure("seconds")[0] == 0.2
    assert found["text"].measure("words") == (33, 33)
    text = json.dumps(profile_dataset(tmp_path).as_json(), allow_nan=False)
    assert '"kind": "audio"' in text


@pytest.mark.parametrize("kind", MAKERS)
def test_broken_files_are_counted_and_left_out(tmp_path: Path, kind: str) -> None:
    make(tmp_path, kind, "folder", each=12)
    suffix = MAKERS[kind][0]
    (tmp_path / "cat" / f"bad{suffix}").write_bytes(b"\0\1\2 no such thing")
    (tmp_path / "dog" / f"empty{suffix}").write_bytes(b"")
    profile = profile_dataset(tmp_path)
    media = only(profile)
    assert media.broken == (f"cat/bad{suffix}", f"dog/empty{suffix}") and media.files == 36
    assert not any(path.name.startswith(("bad", "empty")) for path in media.paths(tmp_path))
    assert profile.skipped and all(reason for _, reason in profile.skipped)


def test_other_formats_of_sound(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    for number in range(30):
        place = tmp_path / CLASSES[number % 3] / f"{number}.flac"
        place.parent.mkdir(exist_ok=True)
        play(place, number, number % 3)
    assert dict(only(profile_dataset(tmp_path)).classes) == dict.fromkeys(CLASSES, 10)


def test_a_few_papers_are_no_documents_and_tables_called_txt_stay_tables(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("About the data.\nIt is good, they say.\n")
    for number in range(25):
        frame = pd.DataFrame(np.random.default_rng(number).normal(size=(30, 3)).round(3), columns=list("abc"))
        frame.to_csv(tmp_path / f"part{number:02d}.txt", index=False)
    profile = profile_dataset(tmp_path)
    assert profile.media == () and [table.rows for table in profile.tables] == [750]
    assert [path for path, _ in profile.skipped] == ["README.txt"]


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("image", "table of places"),
        ("audio", "name"),
        ("audio", "table of paths"),
        ("text", "table"),
        ("text", "train and test"),
    ],
)
def test_tasks_of_media(tmp_path: Path, kind: str, way: str, sandbox: SandboxProvider) -> None:
    folder = tmp_path / "set"
    truth = make(folder, kind, way)
    profile, card = profile_dataset(folder), load_card(folder)
    outcome = propose(folder, card, profile)
    proposal = next(each for each in outcome.proposals if each.shape == "media")
    assert proposal.modality == kind and set(proposal.classes) == set(CLASSES)
    design(proposal, folder, card, profile, tmp_path / "out" / proposal.id, sandbox)
    task = load_task(tmp_path / "out" / proposal.id)
    words = WORDS[kind]
    train, test = pd.read_csv(task.public / "train.csv"), pd.read_csv(task.public / "test.csv")
    answers = pd.read_csv(task.answer_path).set_index(f"{words.one}_id")["label"]
    labels = dict(zip(train[words.one], train["label"], strict=True)) | {
        name: answers[number] for number, name in zip(test[f"{words.one}_id"], test[words.one], strict=True)
    }
    for name, label in labels.items():
        assert truth[hashlib.sha256((task.public / name).read_bytes()).hexdigest()] == label
        assert (task.public / name).stem.isdigit()
    assert list(test.columns) == [f"{words.one}_id", words.one]
    description = task.description_path.read_text(encoding="utf-8")
    assert f"`{words.many}/`" in description and f"each test {words.one}" in description
    with Grader(task, sandbox) as grader:
        best, sample = grader.grade(task.answer_path), grader.grade(task.sample_path)
    assert best.raw_score == pytest.approx(1.0) and sample.raw_score is not None and sample.raw_score < 0.6


def test_too_few_files_are_refused_with_a_reason(tmp_path: Path) -> None:
    make(tmp_path, "image", "folder", each=20)
    outcome = propose(tmp_path, load_card(tmp_path), profile_dataset(tmp_path))
    assert outcome.proposals == () and "at least 2 classes of 40" in outcome.refusals[0].reason


def test_classes_that_nothing_tells_apart_are_refused(tmp_path: Path) -> None:
    for number in range(330):
        place = tmp_path / CLASSES[number % 3] / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        draw(place, number, 0)
    outcome = propose(tmp_path, load_card(tmp_path), profile_dataset(tmp_path))
    assert outcome.proposals == () and outcome.refusals[0].code == "unlearnable"
