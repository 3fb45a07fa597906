"""Plain features of media by which a quick check sees whether classes can be told apart at all."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from PIL import Image
from scipy.signal import spectrogram
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from generator.media.kinds import Kind
from generator.tables.encoding import head

Array = npt.NDArray[np.float64]

_THUMBNAIL = (16, 16)
#: Bands of pitch and stretches of time of a recording.
_BANDS, _STRETCHES = 24, 4
_SECONDS = 30
_TOPICS = 50
_DOCUMENT_BYTES = 65_536
_SEED = 7


def media_features(pairs: Sequence[tuple[Path, str]], kind: Kind) -> tuple[pd.DataFrame, pd.Series]:
    """Features and classes of the files that open; one row for each."""
    if kind == "text":
        return _topics(pairs)
    rows, labels = [], []
    for path, label in pairs:
        try:
            rows.append(_thumbnail(path) if kind == "image" else _spectrum(path))
        except (OSError, ValueError, EOFError, SyntaxError, RuntimeError, ImportError, wave.Error):
            continue
        labels.append(label)
    matrix = pd.DataFrame(np.stack(rows) if rows else np.empty((0, 1))).rename(columns=str)
    return matrix, pd.Series(labels, name="label")


def _thumbnail(path: Path) -> Array:
    """Grey levels of a small copy."""
    with Image.open(path) as image:
        return np.asarray(image.convert("L").resize(_THUMBNAIL), dtype=float).ravel()


def _spectrum(path: Path) -> Array:
    """Logarithms of the power in bands of equal width, over a few stretches of time, of the first seconds."""
    samples, rate = _samples(path)
    window = int(min(max(64, rate // 40), len(samples)))
    _, _, power = spectrogram(samples, rate, nperseg=window)
    bands = [part.mean(axis=0) for part in np.array_split(power, min(_BANDS, len(power)))]
    stretches = np.array_split(np.stack(bands), _STRETCHES, axis=1)
    means = np.stack([part.mean(axis=1) if part.size else np.zeros(len(bands)) for part in stretches])
    features = np.zeros((_STRETCHES, _BANDS))
    features[:, : len(bands)] = np.log(means + 1e-12)
    return np.append(features.ravel(), len(samples) / rate)


def _samples(path: Path) -> tuple[Array, int]:
    """The first seconds of a recording, one channel, between -1 and 1, and the samples of a second."""
    if path.suffix.lower() == ".wav":
        try:
            with wave.open(str(path), "rb") as sound:
                width, rate = sound.getsampwidth(), sound.getframerate()
                if width in (1, 2, 4):
                    data = sound.readframes(_SECONDS * rate)
                    kinds: dict[int, str] = {1: "u1", 2: "<i2", 4: "<i4"}
                    values = np.frombuffer(data, kinds[width]).astype(float)
                    values = (values - 128 * (width == 1)) / 2.0 ** (8 * width - 1)
                    return values.reshape(-1, sound.getnchannels()).mean(axis=1), rate
        except wave.Error:
            pass  # another coding than plain samples
    import soundfile

    with soundfile.SoundFile(str(path)) as sound:
        values = sound.read(_SECONDS * sound.samplerate, always_2d=True)
        return values.mean(axis=1), int(sound.samplerate)


def _topics(pairs: Sequence[tuple[Path, str]]) -> tuple[pd.DataFrame, pd.Series]:
    """Weights of the main directions of the documents' word frequencies."""
    texts = [head(path, _DOCUMENT_BYTES).decode("utf-8", "replace") for path, _ in pairs]
    labels = pd.Series([label for _, label in pairs], name="label")
    try:
        counts = TfidfVectorizer(min_df=3, max_features=5_000, sublinear_tf=True).fit_transform(texts)
    except ValueError:  # no word stands in three documents
        return pd.DataFrame(np.zeros((len(texts), 1))).rename(columns=str), labels
    size = max(1, min(_TOPICS, counts.shape[1] - 1))
    topics = TruncatedSVD(size, random_state=_SEED).fit_transform(counts)
    return pd.DataFrame(topics).rename(columns=str), labels
