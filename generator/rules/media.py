"""Proposals from folders of images, recordings and documents whose classes are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.media import MediaFolder
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
from generator.rules.mediaprobe import media_features
from generator.rules.naming import slug
from generator.rules.probe import skill

_CHECKED = 1_500


@dataclass(frozen=True)
class Words:
    """What people call media of one kind: one of them, several, and what a quick check looks at."""

    one: str
    many: str
    probe: str


WORDS = {
    "image": Words("image", "images", "Thumbnails"),
    "audio": Words("recording", "recordings", "Loudness by pitch and time"),
    "text": Words("document", "documents", "Frequencies of words"),
}


def propose_media(
    dataset: str, title: str, folder: Path, media: MediaFolder, *, probed: bool = True
) -> Outcome:
    """Name the class of each file, when there are enough of each."""
    words = WORDS[media.kind]
    counts = dict(media.classes)
    ordered = sorted(media.classes, key=lambda each: (-each[1], each[0]))
    kept = [name for name, count in ordered if count >= CLASS_ROWS][:MOST_CLASSES]
    total = sum(counts[name] for name in kept)
    if len(kept) < 2 or total < LEAST_ROWS:
        where = "no folders, table or names that tell classes" if not counts else f"{len(counts)} classes"
        reason = (
            f"{words.many} need at least 2 classes of {CLASS_ROWS} and {LEAST_ROWS} in all; found "
            f"{media.files} {words.many}, {where}, {len(kept)} large enough, {total} {words.many} in them"
        )
        return _refused(reason, "few_media")
    matrix, target = media_features(_some(media, folder, kept), media.kind)
    if len(matrix) < LEAST_ROWS / 2:
        return _refused(f"only {len(matrix)} of {total} {words.many} could be opened", "unreadable")
    evidence = skill(matrix, target, classes=True)
    if probed and evidence.skill < LEAST_SKILL:
        reason = f"{words.probe.lower()} hardly tell the classes apart: skill {evidence.skill:.2f}"
        return _refused(reason, "unlearnable")
    balanced = counts[kept[0]] <= 3 * counts[kept[-1]]
    proposal = Proposal(
        id=slug(dataset),
        title=f"Classify {words.many}: {title or dataset}",
        shape="media",
        modality=media.kind,
        objective="classification",
        targets=("label",),
        source_target=media.root,
        metric="accuracy" if balanced else "macro_f1",
        features=(words.one,),
        ignored=(),
        classes=tuple(sorted(kept)),
        train_rows=few_rows(evidence, len(kept)),
        split=SplitChoice(
            kind="stratified",
            reason=f"independent {words.many}; identical files are kept once; each class keeps its share",
        ),
        difficulty=difficulty(evidence),
        rationale=f"{words.probe} alone tell the {len(kept)} classes apart with a skill of "
        f"{evidence.skill:.2f} ({evidence.measure}).",
        evidence=evidence,
    )
    return Outcome((proposal,), ())


def _refused(reason: str, code: str) -> Outcome:
    return Outcome(
        (), (Refusal(target="class of a file", objective="classification", reason=reason, code=code),)
    )


def _some(media: MediaFolder, folder: Path, classes: Sequence[str]) -> list[tuple[Path, str]]:
    """The same number of files of each class."""
    share = max(1, _CHECKED // len(classes))
    pairs = media.labelled(folder)
    return [pair for name in classes for pair in [each for each in pairs if each[1] == name][:share]]
