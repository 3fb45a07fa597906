"""Sounds: small spectrograms, and what is written beside the samples."""

from __future__ import annotations

import itertools
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BANDS, MOMENTS = 16, 24
_TEXT = 300
#: What broken or hostile sounds raise; without the extra ``audio`` other formats than WAV count as unknown.
BROKEN = (
    OSError, ValueError, EOFError, wave.Error, struct.error, RuntimeError, TypeError, IndexError, MemoryError
)  # fmt: skip


class NoReader(Exception):
    """This format needs the extra ``audio``: ``pip install 'mle-smith[audio]'``."""


def spectrum(path: Path, seconds: float) -> Floats:
    """A small spectrogram, shape (384,): decibels of 16 bands at 24 moments of the first seconds.

    Raises:
        NoReader: the format needs the extra ``audio``.
        *BROKEN: it cannot be decoded.
    """
    samples, rate = _samples(path, seconds)
    if len(samples) < 64:
        raise ValueError(f"{path.name}: no samples")
    size = 256 if rate <= 16_000 else 512
    hop = max(1, len(samples) // (4 * MOMENTS))
    padded = np.pad(samples, (0, size))
    frames = np.stack([padded[start : start + size] for start in range(0, len(samples), hop)])
    power = np.abs(np.fft.rfft(frames * np.hanning(size), axis=1)) ** 2
    # Half the rate of a telephone is in every recording, so that another rate changes nothing.
    top = max(BANDS + 1, int(size * min(4_000, rate / 2) / rate))
    edges = np.unique(np.geomspace(1, top, BANDS + 1).astype(int))
    bands = np.stack([power[:, low:high].mean(axis=1) for low, high in itertools.pairwise(edges)], axis=1)
    parts = np.array_split(bands, MOMENTS) if len(bands) >= MOMENTS else [bands] * MOMENTS
    levels = 10 * np.log10(np.stack([part.mean(axis=0) for part in parts]) + 1e-12)
    # What lies 60 dB below the loudest is noise.
    levels = np.maximum(levels, levels.max() - 60)
    full = np.full((MOMENTS, BANDS), levels.min())
    full[:, : levels.shape[1]] = levels
    return np.asarray(full.ravel())


def sound_facts(path: Path) -> dict[str, str]:
    """What a sound's header says: rate, channels, duration, depth, and every tag by its name.

    Raises:
        NoReader: the format needs the extra ``audio``.
        *BROKEN: it cannot be opened.
    """
    facts: dict[str, str] = {}
    if path.suffix.lower() == ".wav":
        facts |= _chunks(path)
    try:
        import soundfile
    except ImportError:
        if path.suffix.lower() != ".wav":
            raise NoReader(path.suffix) from None
        with wave.open(str(path), "rb") as sound:
            facts |= {
                "sample rate": str(sound.getframerate()),
                "channels": str(sound.getnchannels()),
                "frames": str(sound.getnframes()),
                "bit depth": str(8 * sound.getsampwidth()),
            }
        return facts
    with soundfile.SoundFile(path) as sound:
        facts |= {
            "sample rate": str(sound.samplerate),
            "channels": str(sound.channels),
            "frames": str(sound.frames),
            "bit depth": sound.subtype,
            "format": sound.format,
        }
        facts |= {f"tag {key}": str(value)[:_TEXT] for key, value in sound.copy_metadata().items()}
    return facts


def _samples(path: Path, seconds: float) -> tuple[Floats, int]:
    """The first seconds, one channel, and the samples in a second."""
    try:
        import soundfile
    except ImportError:
        if path.suffix.lower() != ".wav":
            raise NoReader(path.suffix) from None
        return _wave(path, seconds)
    with soundfile.SoundFile(path) as sound:
        data = sound.read(int(seconds * sound.samplerate), dtype="float64", always_2d=True)
        if sound.frames and not len(data):
            raise ValueError(f"{path.name}: no samples")
        return np.asarray(data.mean(axis=1)), int(sound.samplerate)


def _wave(path: Path, seconds: float) -> tuple[Floats, int]:
    with wave.open(str(path), "rb") as sound:
        rate, channels, width = sound.getframerate(), sound.getnchannels(), sound.getsampwidth()
        raw = sound.readframes(int(seconds * rate))
    kinds: dict[int, Any] = {1: np.uint8, 2: np.int16, 4: np.int32}
    if width not in kinds:
        raise ValueError(f"{path.name}: {8 * width} bits are not read without the extra audio")
    data = np.frombuffer(raw[: len(raw) // width * width], dtype=kinds[width]).astype(float)
    data = (data - 128) / 128 if width == 1 else data / float(2 ** (8 * width - 1))
    return data[: len(data) // channels * channels].reshape(-1, channels).mean(axis=1), rate


def _chunks(path: Path) -> dict[str, str]:
    """Text in the chunks of a WAV file other than its format and samples."""
    found: dict[str, str] = {}
    with path.open("rb") as stream:
        if stream.read(4) != b"RIFF":
            return found
        stream.seek(12)
        while len(head := stream.read(8)) == 8 and len(found) < 20:
            name, size = struct.unpack("<4sI", head)
            if name in (b"fmt ", b"data", b"fact"):
                stream.seek(size + size % 2, 1)
                continue
            body = stream.read(min(size, 4_096))
            stream.seek(size + size % 2 - len(body), 1)
            text = "".join(chr(byte) if 32 <= byte < 127 else " " for byte in body).split()
            found[f"chunk {name.decode('ascii', 'replace')}"] = " ".join(text)[:_TEXT]
    return found
