"""Test images and sounds that all but equal a training one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.agreeing import agreed_labels
from generator.verifier.files.decoded import Decoded, decoded
from generator.verifier.public.images import SIDE
from generator.verifier.public.kinds import FileKind
from generator.verifier.sampling import told

Floats = npt.NDArray[np.floating]

_BLOCK = 500
_FLAT = 1e-3


@dataclass(frozen=True)
class Nearest:
    """The nearest of some vectors to each of others.

    Attributes:
        place: its position, shape (n,).
        distance: one minus the correlation with it, shape (n,).
    """

    place: npt.NDArray[np.intp]
    distance: Floats


def check(case: Case) -> Iterator[Finding]:
    """Near copies across the split, when there are more of them than nature makes."""
    train, test = decoded(case, "train"), decoded(case, "test")
    if train is None or test is None or train.kind is not test.kind:
        return
    if min(len(train.files), len(test.files)) < case.limits.files.told_rows:
        return
    limits = case.limits.files
    most = limits.image_distance if test.kind is FileKind.IMAGE else limits.sound_distance
    known, asked = _unit(train.vectors), _unit(test.vectors)
    across, within = nearest(asked, known), nearest(known, known, itself=True)
    usual = float(np.median(within.distance))
    near = min(most, limits.typical_part * usual)
    said = list(_judged(case, train, test, across, near, float((within.distance <= near).mean())))
    if not said and test.kind is FileKind.IMAGE:
        # Pictures that are nearly symmetrical resemble others turned as they do themselves.
        part = known[: limits.turned_files]
        across, natural = (
            _turned(asked, known),
            float((_turned(part, known, itself=True).distance <= near).mean()),
        )
        said = list(_judged(case, train, test, across, near, natural, ", mirrored or turned"))
    yield from said


def _turned(asked: Floats, known: Floats, itself: bool = False) -> Nearest:
    """The nearest of all ways to mirror an image and to turn it by right angles, but for the way it is."""
    known = known.astype(np.float32)
    side = np.moveaxis(asked.astype(np.float32).reshape(-1, SIDE, SIDE), 0, -1)
    ways = [np.rot90(image, turns) for image in (side, side[:, ::-1]) for turns in range(4)][1:]
    found = [nearest(np.moveaxis(way, -1, 0).reshape(len(asked), -1), known, itself) for way in ways]
    best = np.stack([each.distance for each in found]).argmin(axis=0)
    rows = np.arange(len(asked))
    return Nearest(
        np.stack([each.place for each in found])[best, rows],
        np.stack([each.distance for each in found])[best, rows],
    )


def _judged(
    case: Case,
    train: Decoded,
    test: Decoded,
    across: Nearest,
    near: float,
    natural: float,
    how: str = "",
) -> Iterator[Finding]:
    limits = case.limits.files
    found = np.flatnonzero(across.distance <= near)
    if len(found) < limits.shared_files:
        return
    # Each near copy can only be met when its original is in the sample.
    share = len(found) / len(test.files) * max(1.0, train.of / max(1, len(train.files)))
    seen = len(found) / len(test.files)
    error = np.sqrt(max(natural * (1 - natural), 1 / len(test.files)) / len(test.files))
    unusual = (seen - natural) / error >= limits.near_z and share >= limits.near_share
    agreed = agreed_labels(case, test.truth.iloc[found], train.truth.iloc[across.place[found]])
    telling = agreed >= limits.near_agreement
    if not (unusual or (telling and seen >= limits.near_noted)):
        return
    serious = (unusual and agreed >= limits.near_copied) or (telling and seen >= limits.near_many)
    ours, theirs = test.files[found[0]], train.files[across.place[found[0]]]
    yield finding(
        "near_duplicates",
        f"{len(found):,} of {len(test.files):,} test files ({seen:.1%}) all but equal a training file{how}, "
        f"{ours.name} and {theirs.name} for one; within training {natural:.1%} do "
        f"(agreement of their labels beyond chance: {agreed:.2f})"
        f"{told(len(train.files), train.of, 'training files')}",
        "keep all versions of one picture or recording on one side of the split",
        None if serious else Severity.WARNING,
    )


def nearest(asked: Floats, known: Floats, itself: bool = False) -> Nearest:
    """For each unit vector the most correlated of others.

    Args:
        asked: shape (n, d).
        known: shape (m, d).
        itself: the two are the same vectors, and none is its own neighbour.
    """
    place = np.zeros(len(asked), dtype=np.intp)
    distance = np.ones(len(asked))
    for start in range(0, len(asked), _BLOCK):
        block = asked[start : start + _BLOCK] @ known.T
        if itself:
            rows = np.arange(len(block))
            block[rows, start + rows] = -np.inf
        place[start : start + _BLOCK] = block.argmax(axis=1)
        distance[start : start + _BLOCK] = 1.0 - block.max(axis=1)
    return Nearest(place, distance)


def _unit(vectors: Floats) -> Floats:
    """Rows less their mean, of length one; flat ones (blank images, silence) become nothing."""
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    flat = length < _FLAT * np.sqrt(vectors.shape[1])
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, length)))
