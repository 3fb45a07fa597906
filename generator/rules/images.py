"""Proposals from a folder of images sorted by class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from generator.profile import ImageFolder
from generator.proposals import Proposal, Refusal, SplitChoice
from generator.rules.context import (
    CLASS_ROWS,
    LEAST_ROWS,
    LEAST_SKILL,
    MOST_CLASSES,
    Outcome,
    difficulty,
    few_rows,
)
from generator.rules.naming import slug
from generator.rules.probe import skill

_THUMBNAIL = (16, 16)
_CHECKED = 1_500


def propose_images(dataset: str, title: str, folder: Path, images: ImageFolder) -> Outcome:
    """Name the class of each image, when the folders hold enough of each."""
    kept = [
        name for name, count in sorted(images.classes, key=lambda c: (-c[1], c[0])) if count >= CLASS_ROWS
    ]
    kept = kept[:MOST_CLASSES]
    counts = dict(images.classes)
    total = sum(counts[name] for name in kept)
    if len(kept) < 2 or total < LEAST_ROWS:
        reason = (
            f"images need at least 2 class folders of {CLASS_ROWS} and {LEAST_ROWS} in all; "
            f"found {len(images.classes)} class folders, {len(kept)} large enough, {total} images in them"
        )
        return Outcome(
            (),
            (Refusal(target="class folder", objective="classification", reason=reason, code="few_images"),),
        )
    matrix, target = _thumbnails(folder / images.root, kept)
    evidence = skill(matrix, target, classes=True)
    if evidence.skill < LEAST_SKILL:
        reason = f"thumbnails hardly tell the classes apart: skill {evidence.skill:.2f}"
        refusal = Refusal(
            target="class folder", objective="classification", reason=reason, code="unlearnable"
        )
        return Outcome((), (refusal,))
    balanced = counts[kept[0]] <= 3 * counts[kept[-1]]
    proposal = Proposal(
        id=slug(dataset),
        title=f"Classify images: {title or dataset}",
        shape="images",
        modality="image",
        objective="classification",
        targets=("label",),
        source_target=images.root,
        metric="accuracy" if balanced else "macro_f1",
        features=("image",),
        ignored=(),
        classes=tuple(sorted(kept)),
        train_rows=few_rows(evidence, len(kept)),
        split=SplitChoice(
            kind="stratified",
            reason="independent images; identical files are kept once; each class keeps its share",
        ),
        difficulty=difficulty(evidence),
        rationale=f"Thumbnails alone tell the {len(kept)} classes apart with a skill of {evidence.skill:.2f} "
        f"({evidence.measure}).",
        evidence=evidence,
    )
    return Outcome((proposal,), ())


def _thumbnails(root: Path, classes: list[str]) -> tuple[pd.DataFrame, pd.Series]:
    rows, labels = [], []
    share = max(1, _CHECKED // len(classes))
    for name in classes:
        for path in sorted((root / name).iterdir())[:share]:
            try:
                with Image.open(path) as image:
                    rows.append(np.asarray(image.convert("L").resize(_THUMBNAIL), dtype=float).ravel())
            except OSError:
                continue
            labels.append(name)
    matrix = pd.DataFrame(np.stack(rows)).rename(columns=str)
    return matrix, pd.Series(labels, name="label")
