"""The sample of media files of each side, decoded once for all parts of the gate that look at it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.public import images, sounds
from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import MEDIA, FileKind
from generator.verifier.public.pairs import Side, pairs_of

log = logging.getLogger(__name__)

Floats = npt.NDArray[np.float64]
_REASON = 120


@dataclass(frozen=True)
class Decoded:
    """Media files of one side.

    Attributes:
        kind: image or audio; the one that most files are.
        files: those that could be decoded, in row order.
        vectors: shape (n, d), thumbnails or spectra of these files.
        truth: shape (n, targets), the labels of their rows.
        broken: names of files that could not be decoded, with the reason.
        looked_at: how many were tried.
        of: how many there are.
    """

    kind: FileKind
    files: list[PublicFile]
    vectors: Floats
    truth: pd.DataFrame
    broken: Mapping[str, str]
    looked_at: int
    of: int


def decoded(case: Case, side: Side) -> Decoded | None:
    """The decoded sample of a side, or ``None`` when its rows have no media; the case keeps it."""
    kept = case.__dict__.setdefault("_decoded", {})
    if side not in kept:
        kept[side] = _decode(case, side)
    found: Decoded | None = kept[side]
    return found


def _decode(case: Case, side: Side) -> Decoded | None:
    pairs, limits = pairs_of(case, side, MEDIA), case.limits.files
    if pairs is None:
        return None
    # Copies of test files are looked for among more training files.
    most = limits.media if side == "test" else 2 * limits.media
    pairs = pairs.sampled(most, limits.media_bytes)
    counts = pd.Series([file.kind for file in pairs.files]).value_counts()
    kind = FileKind(counts.index[0])
    files, rows, vectors, broken, tried = [], [], [], {}, 0
    for row, file in enumerate(pairs.files):
        if file.kind is not kind or file.size > limits.member_bytes:
            continue
        tried += 1
        try:
            vector = _vector(file, kind, limits.pixels, limits.sound_seconds)
        except images.TooLarge as error:
            log.info("not decoded: %s", error)
            continue
        except sounds.NoReader:
            log.info("%s is not decoded: install mle-smith[audio]", file.name)
            tried -= 1
            continue
        except (*images.BROKEN, *sounds.BROKEN) as error:
            broken[file.name] = (
                str(error).replace(str(file.path), file.name).splitlines()[0][:_REASON]
                if str(error)
                else type(error).__name__
            )
            continue
        files.append(file)
        rows.append(row)
        vectors.append(vector)
    matrix = np.stack(vectors) if vectors else np.zeros((0, 1))
    truth = pairs.truth.iloc[rows].reset_index(drop=True)
    return Decoded(kind, files, matrix, truth, broken, tried, pairs.of)


def _vector(file: PublicFile, kind: FileKind, pixels: int, seconds: float) -> Floats:
    if kind is FileKind.IMAGE:
        return images.thumbnail(file.opened(), pixels)
    return sounds.spectrum(file.opened(), seconds)
