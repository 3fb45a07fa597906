"""Clean tasks of files: digits by path and by folder (images), vowels (audio, made from measured spectra)."""

from __future__ import annotations

import gzip
import io
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.datasets.catalogue import dataset_path
from generator.verifier.selftest.clean.metrics import metric
from generator.verifier.selftest.clean.task import Answers, CleanTask, Package, toml
from harness.tasksets.catalogue import reference_task

_SEED = 5
_DIGITS = tuple("0123456789")


def _scans() -> pd.DataFrame:
    from sklearn.datasets import load_digits

    data = load_digits()
    drawn = np.random.default_rng(_SEED).choice(len(data.target), size=700, replace=False)
    return pd.DataFrame({"scan": [f"{n:04d}.png" for n in range(len(drawn))], "digit": data.target[drawn]})


def _write_scans(table: pd.DataFrame, raw: Path) -> None:
    from PIL import Image
    from sklearn.datasets import load_digits

    pixels = load_digits().images
    drawn = np.random.default_rng(_SEED).choice(len(pixels), size=700, replace=False)
    (raw / "scans").mkdir()
    for name, number in zip(table["scan"], drawn, strict=True):
        grey = np.clip(np.kron(pixels[number], np.ones((2, 2))) * 15.9, 0, 255).astype(np.uint8)
        Image.fromarray(grey).save(raw / "scans" / name)
    table.to_csv(raw / "labels.csv", index=False)


_SCANS_PREPARE = '''"""Copy the pictures under new names and say in tables which is which."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(88)
    labels = pd.read_csv(raw / "labels.csv", dtype=str)
    labels["image_id"] = rng.permutation(len(labels)) + 1
    labels = labels.sort_values("image_id")
    labels["path"] = [f"images/{number:05d}.png" for number in labels["image_id"]]
    (public / "images").mkdir()
    for source, target in zip(labels["scan"], labels["path"]):
        shutil.copyfile(raw / "scans" / source, public / target)
    in_test = rng.random(len(labels)) < 0.35
    labels.loc[~in_test, ["image_id", "path", "digit"]].to_csv(public / "train.csv", index=False)
    labels.loc[in_test, ["image_id", "path"]].to_csv(public / "test.csv", index=False)
    labels.loc[in_test, ["image_id", "digit"]].to_csv(private / "test_answer.csv", index=False)
    sample = labels.loc[in_test, ["image_id"]].assign(digit="0")
    sample.to_csv(public / "sample_submission.csv", index=False)
'''

_SCANS_TEXT = """Read the digits

Small grey pictures of handwritten digits, 16 by 16 pixels, lie in images/. train.csv says which digit (0
to 9) is
on a picture: image_id, path, digit. test.csv holds image_id and path of the pictures to read.

Submit a CSV file with the columns image_id and digit, one row for each picture of test.csv, as in
sample_submission.csv. The score is the accuracy, the share of digits that were read right; higher is
better and 1.0
is the best.
"""

SCANS = CleanTask(
    name="scanned-digits",
    modality="image",
    data="real: digits (scikit-learn), written as PNG files",
    answers=Answers.LABEL,
    metric="accuracy",
    higher=True,
    media="images",
    media_column="path",
    features=False,
    raw_target="digit",
    shipped=True,
    package=Package(
        toml=toml(
            "scanned-digits",
            "Read the digits",
            "image",
            "classification",
            ("image_id", "digit"),
            ("digits (scikit-learn)", "BSD-3-Clause"),
            'name = "accuracy"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 88',
        ),
        prepare=_SCANS_PREPARE,
        metric=metric("accuracy", "DigitMetrics", ("image_id", "digit"), labels=_DIGITS),
        description=_SCANS_TEXT,
        table=_scans,
        write=_write_scans,
    ),
)


def _folders() -> pd.DataFrame:
    rows = [
        (path.name, digit)
        for digit in "013578"
        for path in sorted((dataset_path("digit-images") / digit).glob("*.png"))[:90]
    ]
    return pd.DataFrame(rows, columns=["file", "digit"])


def _write_folders(table: pd.DataFrame, raw: Path) -> None:
    """One folder for each label; the pictures are those of the embedded dataset, in its order."""
    originals = _folders()
    for (name, digit), label in zip(originals.itertuples(index=False), table["digit"], strict=True):
        place = raw / str(label)
        place.mkdir(exist_ok=True)
        (place / name).write_bytes((dataset_path("digit-images") / digit / name).read_bytes())


_FOLDERS_PREPARE = '''"""Training pictures stay in a folder for each digit; test pictures get a number."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(3)
    pictures = sorted(raw.glob("*/*.png"), key=lambda path: (path.parent.name, path.name))
    pictures = [pictures[place] for place in rng.permutation(len(pictures))]
    (public / "test").mkdir()
    rows = []
    for number, picture in enumerate(pictures):
        if number < 180:
            shutil.copyfile(picture, public / "test" / f"p{number:03d}.png")
            rows.append((f"p{number:03d}", picture.parent.name))
        else:
            folder = public / "train" / picture.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, folder / f"p{number:03d}.png")
    answers = pd.DataFrame(rows, columns=["picture", "digit"])
    answers.to_csv(private / "test_answer.csv", index=False)
    answers.assign(digit="8").to_csv(public / "sample_submission.csv", index=False)
'''

_FOLDERS_TEXT = """Sort the digits

The folder train/ holds a folder for each of six digits (0, 1, 3, 5, 7 and 8) with pictures of it, 60 on
average.
The folder test/ holds 180 pictures whose digit is to be told.

A submission is a CSV file with the columns picture (the file's name in test/ without .png; the id) and
digit, as in
sample_submission.csv.

Metric: accuracy, the share of right digits. Higher is better; 1 is perfect.
"""

FOLDERS = CleanTask(
    name="digit-folders",
    modality="image",
    data="real: digit images (embedded), a folder for each class",
    answers=Answers.LABEL,
    metric="accuracy",
    higher=True,
    train=None,
    test=None,
    media="test",
    features=False,
    raw_target="digit",
    package=Package(
        toml=toml(
            "digit-folders",
            "Sort the digits",
            "image",
            "classification",
            ("picture", "digit"),
            ("digits (scikit-learn)", "BSD-3-Clause"),
            'name = "accuracy"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 3',
        ),
        prepare=_FOLDERS_PREPARE,
        metric=metric("accuracy", "DigitMetrics", ("picture", "digit"), labels=tuple("013578")),
        description=_FOLDERS_TEXT,
        table=_folders,
        write=_write_folders,
    ),
)

_RATE = 8_000
_FRAME = 64
_FRAMES = 14


def _cepstra() -> list[tuple[npt.NDArray[np.float64], str]]:
    """Measured cepstra, shape (frames, 12), and the speaker of each utterance of Japanese vowels."""
    found = []
    for part in ("TRAIN", "TEST"):
        packed = reference_task("vowel-speakers") / "raw" / f"JapaneseVowels_{part}.ts.gz"
        for line in gzip.decompress(packed.read_bytes()).decode().split("@data", 1)[1].split():
            *dimensions, label = line.split(":")
            found.append((np.array([d.split(",") for d in dimensions], dtype=float).T, f"speaker_{label}"))
    return found


def sound(cepstra: npt.NDArray[np.float64], rng: np.random.Generator) -> bytes:
    """A WAV file of a voice with these spectra: pulses and breath through the filter of each frame.

    The coefficients a of the all-pole filter follow from the cepstra c of linear prediction:
    ``a_n = -c_n - sum_{k<n} (k / n) c_k a_{n-k}`` (Atal 1974).
    """
    from scipy.signal import lfilter

    frames = cepstra[np.linspace(0, len(cepstra) - 1, _FRAMES).round().astype(int)]
    period, pieces, state = int(rng.integers(50, 90)), [], np.zeros(frames.shape[1])
    driven = 0.05 * rng.normal(size=_FRAMES * _FRAME)
    driven[::period] += 1.0
    for place, c in enumerate(frames):
        a = np.zeros(len(c) + 1)
        a[0] = 1.0
        for n in range(1, len(c) + 1):
            a[n] = -c[n - 1] - sum(k / n * c[k - 1] * a[n - k] for k in range(1, n))
        piece, state = lfilter([1.0], a, driven[place * _FRAME : (place + 1) * _FRAME], zi=state)
        pieces.append(np.clip(piece, -1e3, 1e3))
        state = np.clip(state, -1e3, 1e3)
    signal = np.concatenate(pieces)
    samples = (signal / np.abs(signal).max() * 28_000).astype("<i2")
    stream = io.BytesIO()
    with wave.open(stream, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(_RATE)
        out.writeframes(samples.tobytes())
    return stream.getvalue()


def _vowels() -> pd.DataFrame:
    speakers = [speaker for _, speaker in _cepstra()]
    return pd.DataFrame({"clip": [f"clip{n:03d}.wav" for n in range(len(speakers))], "speaker": speakers})


def _write_vowels(table: pd.DataFrame, raw: Path) -> None:
    (raw / "clips").mkdir()
    rng = np.random.default_rng(_SEED)
    for name, (cepstra, _) in zip(table["clip"], _cepstra(), strict=True):
        (raw / "clips" / name).write_bytes(sound(cepstra, rng))
    table.to_csv(raw / "speakers.csv", index=False)


_VOWELS_PREPARE = '''"""Copy the clips under random names; a third of them is the test."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    rng = np.random.default_rng(640)
    clips = pd.read_csv(raw / "speakers.csv")
    clips = clips.iloc[rng.permutation(len(clips))].reset_index(drop=True)
    clips["clip_id"] = [f"{number:08x}" for number in rng.choice(2**32, size=len(clips), replace=False)]
    for part, rows in (("test", clips[:213]), ("train", clips[213:])):
        (public / "audio" / part).mkdir(parents=True)
        rows = rows.assign(file=[f"audio/{part}/{key}.wav" for key in rows["clip_id"]])
        for source, target in zip(rows["clip"], rows["file"]):
            shutil.copyfile(raw / "clips" / source, public / target)
        if part == "train":
            rows[["clip_id", "file", "speaker"]].to_csv(public / "train.csv", index=False)
        else:
            rows[["clip_id", "file"]].to_csv(public / "test.csv", index=False)
            rows[["clip_id", "speaker"]].to_csv(private / "test_answer.csv", index=False)
            sample = rows[["clip_id"]].assign(speaker="speaker_1")
            sample.to_csv(public / "sample_submission.csv", index=False)
'''

_VOWELS_TEXT = """Who speaks?

Nine people say two vowels. Each clip is a short WAV file (16 bits, 8000 samples a second), made anew from the
spectra that were measured of the recording. Say who speaks.

train.csv: clip_id, file (the path of the clip), speaker; 427 clips
test.csv: clip_id and file of 213 other clips
sample_submission.csv: the form of a submission

speaker is one of speaker_1, speaker_2, speaker_3, speaker_4, speaker_5, speaker_6, speaker_7, speaker_8
and speaker_9.
Submit a CSV file with the columns clip_id and speaker, a row for each clip of test.csv.
The metric is accuracy: the share of clips whose speaker is right (higher is better, the best is 1).
"""

VOWELS = CleanTask(
    name="vowel-clips",
    modality="audio",
    data="real labels and measured spectra (Japanese vowels); the WAV files are SYNTHESISED from them",
    answers=Answers.LABEL,
    metric="accuracy",
    higher=True,
    media="audio/test",
    media_column="file",
    features=False,
    raw_target="speaker",
    package=Package(
        toml=toml(
            "vowel-clips",
            "Who speaks?",
            "audio",
            "classification",
            ("clip_id", "speaker"),
            ("JapaneseVowels (sktime)", "BSD-3-Clause"),
            'name = "accuracy"\nhigher_is_better = true\nbest = 1.0\nworst = 0.0',
            'kind = "random"\nseed = 640',
        ),
        prepare=_VOWELS_PREPARE,
        metric=metric(
            "accuracy",
            "SpeakerMetrics",
            ("clip_id", "speaker"),
            labels=tuple(f"speaker_{n}" for n in range(1, 10)),
        ),
        description=_VOWELS_TEXT,
        table=_vowels,
        write=_write_vowels,
    ),
)
