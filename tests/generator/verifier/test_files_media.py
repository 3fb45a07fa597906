"""Files of rows: missing, left over, broken, telling names, telling headers, and copies across the split."""

from __future__ import annotations

import io
import os
import wave
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image, PngImagePlugin

from generator.verifier.public import sounds
from tests.generator.verifier.filed import answers, digits, found, open_files

LAYOUTS = ["columns", "ids", "folders"]


def _test_files(root: Path) -> list[Path]:
    """The test files in the order of the answers."""
    folder = "images" if (root / "public" / "images").is_dir() else "test"
    return [root / "public" / folder / f"{key}.png" for key in answers(root)["image_id"]]


def _codes(root: Path) -> list[int]:
    """The classes as numbers."""
    return [int(label[1:]) for label in answers(root)["digit"]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_clean_images_are_linked_and_honest(layout: str, tmp_path: Path) -> None:
    """Many of these plain little images resemble each other; none is a copy."""
    root = digits(tmp_path / "task", layout)
    case = open_files(root)
    assert case.media is not None
    train = case.train
    assert (
        train is not None and len(train) == 240 and set(train["digit"]) == {f"d{code}" for code in range(10)}
    )
    for links, count in ((case.media.train, 240), (case.media.test, 160)):
        assert [int((link.paths != "").sum()) for link in links] == [count] * len(links) != []
    assert not found(root)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_missing_left_over_and_broken_files(layout: str, tmp_path: Path) -> None:
    root = digits(tmp_path / "task", layout)
    files = _test_files(root)
    for file in files[:8]:
        file.unlink()
    for file in files[8:16]:
        file.write_bytes(file.read_bytes()[:40])
    for number in range(10):
        files[20].with_name(f"more{number}.png").write_bytes(files[20].read_bytes())
    seen = found(root)
    # By hand: 8 of 160 test rows; 8 of the 392 files that are left.
    assert "8 of 160 test rows (5.0%)" in seen["media_missing"].evidence
    assert "8 of 392 media files" in seen["media_unreadable"].evidence
    assert "10 files lie among the 392" in seen["media_orphaned"].evidence


def test_a_folder_or_a_number_that_is_the_label(tmp_path: Path) -> None:
    """Class names as folders; codes behind the id; files numbered class by class."""
    for way in ("folder", "code", "order"):
        root = digits(tmp_path / way)
        table = pd.read_csv(root / "public" / "test.csv", dtype=str)
        labels, codes = answers(root)["digit"], _codes(root)
        place = np.argsort(np.argsort(codes, kind="stable"))
        names = {
            "folder": [
                f"test/{label}/{key}.png" for key, label in zip(table["image_id"], labels, strict=True)
            ],
            "code": [f"images/{key}_{code}.png" for key, code in zip(table["image_id"], codes, strict=True)],
            "order": [f"images/s{number:05d}.png" for number in place],
        }[way]
        for old, new in zip(_test_files(root), names, strict=True):
            (root / "public" / new).parent.mkdir(parents=True, exist_ok=True)
            old.rename(root / "public" / new)
        table.assign(image=names).to_csv(root / "public" / "test.csv", index=False)
        assert found(root)["label_in_path"].severity == "error", way


@pytest.mark.parametrize("layout", LAYOUTS)
def test_times_texts_and_sizes_that_are_the_label(layout: str, tmp_path: Path) -> None:
    timed, noted, sized = (digits(tmp_path / name, layout) for name in ("timed", "noted", "sized"))
    for file, code in zip(_test_files(timed), _codes(timed), strict=True):
        os.utime(file, (1_600_000_000 + code * 86_400,) * 2)
    for file, label in zip(_test_files(noted), answers(noted)["digit"], strict=True):
        note = PngImagePlugin.PngInfo()
        note.add_text("Comment", f"scan of {label}")
        with Image.open(file) as image:
            image.load()
            image.save(file, pnginfo=note)
    for file, code in zip(_test_files(sized), _codes(sized), strict=True):
        with Image.open(file) as image:
            points = np.asarray(image)
        Image.fromarray(np.pad(points, ((0, code), (0, 0)))).save(file)
    assert "the time of the test files" in found(timed)["file_metadata_leak"].evidence
    assert "Comment" in found(noted)["file_metadata_leak"].evidence
    assert "height" in found(sized)["file_metadata_leak"].evidence


def test_files_written_class_by_class_in_one_run_are_no_error(tmp_path: Path) -> None:
    root = digits(tmp_path / "task")
    for file, code in zip(_test_files(root), _codes(root), strict=True):
        os.utime(file, (1_600_000_000 + code,) * 2)
    assert found(root)["file_metadata_leak"].severity == "warning"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_and_all_but_equal_images_across_the_split(layout: str, tmp_path: Path) -> None:
    """A tenth of the test images are training images of the same class: as they are, or with noise."""
    equal, near = digits(tmp_path / "equal", layout), digits(tmp_path / "near", layout)
    rng = np.random.default_rng(0)
    for root in (equal, near):
        case = open_files(root)
        assert case.train is not None and case.media is not None
        for file, label in list(zip(_test_files(root), answers(root)["digit"], strict=True))[:16]:
            row = int(np.flatnonzero(case.train["digit"] == label)[int(file.stem) % 5])
            source = root / "public" / case.media.train[0].paths.iloc[row]
            if root == equal:
                file.write_bytes(source.read_bytes())
                continue
            with Image.open(source) as image:
                noisy = np.asarray(image) + rng.normal(0, 3, (8, 8))
            packed = io.BytesIO()
            Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(packed, "JPEG", quality=95)
            Image.open(packed).save(file)
    assert found(equal)["media_across_split"].severity == "error"
    assert "16 of 160" in found(equal)["media_across_split"].evidence
    seen = found(near)
    assert seen["near_duplicates"].severity == "error" and "media_across_split" not in seen


def test_a_bomb_is_not_decoded(tmp_path: Path) -> None:
    """An image that claims 100 million points is not decoded, and is no broken one."""
    root = digits(tmp_path / "task")
    Image.new("1", (10_000, 10_000)).save(_test_files(root)[0])
    assert "media_unreadable" not in found(root)


def _tone(path: Path, pitch: float, loud: float) -> None:
    """A made-up sound of two seconds at 8 kHz: a tone that falls, in 16 bits."""
    moments = np.arange(16_000) / 8_000
    samples = loud * np.sin(2 * np.pi * pitch * moments * (1 - moments / 8)) * np.exp(-moments)
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes((samples * 32_767).astype("<i2").tobytes())


def test_a_louder_copy_of_a_sound_is_nearer_than_another_sound(tmp_path: Path) -> None:
    for name, pitch, loud in (("one", 440, 0.3), ("louder", 440, 0.8), ("other", 610, 0.3)):
        _tone(tmp_path / f"{name}.wav", pitch, loud)
    one, louder, other = (
        sounds.spectrum(tmp_path / f"{name}.wav", 10) for name in ("one", "louder", "other")
    )
    assert np.corrcoef(one, louder)[0, 1] > 0.98 > np.corrcoef(one, other)[0, 1]
    facts = sounds.sound_facts(tmp_path / "one.wav")
    assert (facts["sample rate"], facts["channels"], facts["frames"]) == ("8000", "1", "16000")
