"""Media in archives count as the files that participants unpack: linked, opened, compared and probed."""

from __future__ import annotations

import json
import os
import wave
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from generator.verifier.case import Case
from generator.verifier.public.inventory import inventory
from generator.verifier.public.packed import packed
from generator.verifier.thresholds.files import FileLimits
from tests.generator.verifier.filed import answers, digits, found, open_files, pack

#: Layout of the files, and of the archives.
PACKED = [("columns", "each"), ("ids", "each"), ("ids", "named"), ("folders", "named"), ("folders", "one")]


def _test_file(root: Path, key: str) -> Path:
    folder = "images" if (root / "public" / "images").is_dir() else "test"
    return root / "public" / folder / f"{key}.png"


def _originals(root: Path) -> dict[str, Path]:
    """A training image of each class, before they are packed."""
    case = open_files(root)
    assert case.train is not None and case.media is not None
    paths = case.media.train[0].paths
    return {
        label: root / "public" / str(path) for label, path in zip(case.train["digit"], paths, strict=True)
    }


@pytest.mark.parametrize(("layout", "how"), PACKED)
def test_rows_find_their_files_in_archives(layout: str, how: str, tmp_path: Path) -> None:
    """By hand: 240 training and 160 test rows, all linked, and nothing is said of them."""
    case: Case = open_files(pack(digits(tmp_path / "task", layout), how))
    assert case.media is not None and case.train is not None
    assert set(case.train["digit"]) == {f"d{code}" for code in range(10)}
    for links, count in ((case.media.train, 240), (case.media.test, 160)):
        assert [int((link.paths != "").sum()) for link in links] == [count] * len(links) != []
    assert not found(case.task.root)


@pytest.mark.parametrize(("layout", "how"), [("columns", "each"), ("folders", "one")])
def test_missing_broken_and_equal_files_in_archives(layout: str, how: str, tmp_path: Path) -> None:
    root = digits(tmp_path / "task", layout)
    rows = answers(root).to_numpy()
    for key, _ in rows[:8]:
        _test_file(root, key).unlink()
    for key, _ in rows[8:16]:
        _test_file(root, key).write_bytes(b"no image")
    originals = _originals(root)
    for key, label in rows[16:24]:
        _test_file(root, key).write_bytes(originals[label].read_bytes())
    seen = found(pack(root, how))
    assert "8 of 160 test rows (5.0%)" in seen["media_missing"].evidence
    assert "8 of 392 media files" in seen["media_unreadable"].evidence
    assert "8 of 152 test files" in seen["media_across_split"].evidence
    assert "/" in seen["media_unreadable"].evidence and str(tmp_path) not in seen["media_unreadable"].evidence


@pytest.mark.parametrize(("layout", "how"), [("columns", "named"), ("folders", "one")])
def test_dates_sizes_and_noisy_copies_in_archives(layout: str, how: str, tmp_path: Path) -> None:
    dated, sized, near = (digits(tmp_path / name, layout) for name in ("dated", "sized", "near"))
    for key, label in answers(dated).to_numpy():
        os.utime(_test_file(dated, key), (1_600_000_000 + int(label[1:]) * 86_400,) * 2)
    for key, label in answers(sized).to_numpy():
        with _test_file(sized, key).open("ab") as file:
            file.write(b"\0" * 1_000 * int(label[1:]))
    originals = _originals(near)
    for key, label in answers(near).to_numpy()[:16]:
        with Image.open(originals[label]) as image:
            noisy = np.asarray(image) + np.random.default_rng(0).normal(0, 3, (8, 8))
        Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(_test_file(near, key))
    assert "the time of the test files" in found(pack(dated, how))["file_metadata_leak"].evidence
    assert "the size of the test files" in found(pack(sized, how))["file_metadata_leak"].evidence
    assert found(pack(near, how))["near_duplicates"].severity == "error"


def test_an_archive_in_the_order_of_the_classes_tells_them(tmp_path: Path) -> None:
    """Neutral names and equal dates, and yet the list of members is sorted by class."""
    root = digits(tmp_path / "task", "ids")
    with zipfile.ZipFile(root / "public" / "test.zip", "w") as archive:
        for key, _ in answers(root).sort_values("digit", kind="stable").to_numpy():
            archive.writestr(zipfile.ZipInfo(f"{key}.png"), _test_file(root, key).read_bytes())
    for key, _ in answers(root).to_numpy():
        _test_file(root, key).unlink()
    seen = found(root)["file_metadata_leak"]
    assert seen.severity == "error" and "the place in its archive" in seen.evidence


def test_class_names_in_the_names_of_packed_files(tmp_path: Path) -> None:
    """Test files that carry their label, in an archive whose rows name the files."""
    root = digits(tmp_path / "task")
    table = pd.read_csv(root / "public" / "test.csv", dtype=str)
    names = [f"{key}_{label}.png" for key, label in answers(root).to_numpy()]
    for key, name in zip(table["image_id"], names, strict=True):
        _test_file(root, key).rename(root / "public" / "images" / name)
    table.assign(image=names).to_csv(root / "public" / "test.csv", index=False)
    seen = found(pack(root, "each"))["label_in_path"]
    assert seen.severity == "error" and "public/images.zip/" in seen.evidence


def _clip(path: Path, pitch: float) -> None:
    """A made-up sound: half a second of one pitch at 8 kHz."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        moments = np.arange(4_000) / 8_000
        sound.writeframes((np.sin(2 * np.pi * pitch * moments) * 20_000).astype("<i2").tobytes())


def test_labels_in_the_names_of_training_clips_and_equal_clips(tmp_path: Path) -> None:
    """As with whales: no training table, ``TRAIN7_1.wav`` holds a call, and ids are file names."""
    root = digits(tmp_path / "task", "ids")
    (root / "public" / "train_labels.csv").unlink()
    pack(root, "each")
    for name in ("train.zip", "test.zip"):
        (root / "public" / name).unlink()
    rows = [(f"Test{number}.wav", str(number % 2)) for number in range(60)]
    for number in range(120):
        _folder(root, "train")
        _clip(root / "public" / "train" / f"2009_TRAIN{number}_{number % 2}.wav", 200 + 7.0 * number)
    for number, (name, _) in enumerate(rows):
        _folder(root, "test")
        _clip(root / "public" / "test" / name, 203 + 7.0 * number if number >= 10 else 200 + 7.0 * number)
    table = pd.DataFrame(rows, columns=["image_id", "digit"])
    table.to_csv(root / "private" / "test_answer.csv", index=False)
    table.assign(digit="0").to_csv(root / "public" / "sample_submission.csv", index=False)
    case = open_files(pack(root, "named"))
    assert case.train is not None and len(case.train) == 120
    assert case.train["digit"].value_counts().to_dict() == {"0": 60, "1": 60}
    seen = found(root)["media_across_split"]
    assert "10 of 60 test files" in seen.evidence and "labels beyond chance: 1.00" in seen.evidence


def _folder(root: Path, name: str) -> None:
    (root / "public" / name).mkdir(exist_ok=True)


def test_archives_that_cannot_be_opened_are_no_missing_files(tmp_path: Path) -> None:
    """A 7z archive is not looked into; without any archive the same rows have no files."""
    root = digits(tmp_path / "task", "columns")
    pack(root, "each")
    (root / "public" / "images.zip").rename(root / "public" / "images.7z")
    assert found(root)["media_missing"].severity == "warning"
    (root / "public" / "images.7z").unlink()
    assert found(root)["media_missing"].severity == "error"


def test_names_of_members_stay_inside_and_bounds_hold(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("../up.png", "/abs.png", "__MACOSX/1.png", ".hidden.png"):
            archive.writestr(name, b"x")
        for number in range(6):
            archive.writestr(f"in/{number}.png", b"\0" * 5_000)
    limits = FileLimits(member_bytes=1_000, packed_members=5)
    seen = packed(inventory(tmp_path), tmp_path / "out", limits)
    assert [file.name for file in seen.files] == [f"a.zip/in/{number}.png" for number in range(5)]
    assert list(seen.unread) == ["a.zip"]
    with pytest.raises(OSError, match="more than 1,000 bytes"):
        seen.files[0].opened()
    whole = packed(inventory(tmp_path), tmp_path / "out", FileLimits())
    assert len(whole.files) == 6 and whole.files[0].opened().read_bytes() == b"\0" * 5_000


def test_a_table_among_the_media_of_an_archive_is_read(tmp_path: Path) -> None:
    root = digits(tmp_path / "task", "ids")
    labels = root / "public" / "train_labels.csv"
    labels.rename(root / "public" / "train" / "labels.csv")
    case = open_files(pack(root, "named"))
    assert case.train is not None and list(case.train.columns) == ["image_id", "digit"]
    assert not found(root)


def test_answers_beside_packed_media_are_found(tmp_path: Path) -> None:
    root = digits(tmp_path / "task", "ids")
    (root / "public" / "test" / "meta.json").write_text(json.dumps(dict(answers(root).to_numpy().tolist())))
    assert found(pack(root, "each"))["answers_public"].severity == "error"


def test_mirrored_and_turned_copies_across_the_split(tmp_path: Path) -> None:
    """A tenth of the test images are training images turned by a right angle or mirrored."""
    for layout in ("columns", "folders"):
        root = digits(tmp_path / layout, layout)
        originals = _originals(root)
        for number, (key, label) in enumerate(answers(root).to_numpy()[:24]):
            with Image.open(originals[label]) as image:
                points = np.asarray(image)
            turned = np.rot90(points) if number % 2 else points[:, ::-1]
            Image.fromarray(np.ascontiguousarray(turned)).save(_test_file(root, key))
        seen = found(root)["near_duplicates"]
        assert seen.severity == "error" and "mirrored or turned" in seen.evidence
