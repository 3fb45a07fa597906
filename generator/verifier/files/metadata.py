"""What the file system and the headers of test files tell of the label."""

from __future__ import annotations

import stat
from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.paths import spelt
from generator.verifier.probing import column_strength
from generator.verifier.public import images, sounds
from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import FileKind
from generator.verifier.public.pairs import pairs_of
from generator.verifier.sampling import told
from generator.verifier.targets import Kind

_ANY = frozenset(FileKind)
#: Facts of the file system and of an archive's tools, never of the content.
_PLACE = "place in its archive"
_OUTSIDE = ("time", "mode of the file", _PLACE)
#: Facts that follow from the content: large pictures of rich scenes, long words.
_INSIDE = ("size", "width", "height", "pixels", "frames")
_FIXES = {
    _PLACE: "give the files neutral names and pack them in the order of these",
    **dict.fromkeys(_INSIDE, "store all files in one form: size, format, rate and length"),
}


def check(case: Case) -> Iterator[Finding]:
    """The strongest fact beside the content that predicts a target."""
    pairs = pairs_of(case, "test", _ANY)
    if pairs is None:
        return
    # Members of archives have to be unpacked as a whole for their headers.
    unpacked = any(file.read is not None for file in pairs.files)
    pairs = pairs.sampled(case.limits.files.media, case.limits.files.media_bytes if unpacked else None)
    facts = pd.DataFrame([_facts(file) for file in pairs.files]).fillna("").astype(str)
    # Since the first file: a tree tells no seconds of this century apart.
    moments = facts["time"].astype(float)
    facts["time"] = (moments - moments.min()).map(lambda seconds: f"{seconds:.3f}")
    facts = facts.loc[:, facts.nunique() > 1]
    note = told(len(pairs.files), pairs.of, "files")
    for target in case.targets:
        truth = pairs.truth[target]
        labelled = truth.str.strip().ne("").to_numpy()
        if labelled.sum() < case.limits.files.told_rows or case.kinds[target] not in (
            Kind.CLASS,
            Kind.NUMBER,
        ):
            continue
        known = facts[labelled].reset_index(drop=True)
        found = _strongest(case, known, truth[labelled].reset_index(drop=True), case.kinds[target])
        if found is not None:
            fact, gain, how, severity = found
            yield finding(
                "file_metadata_leak",
                f"the {fact} of the test files {how} {target}, "
                f"{gain:.0%} of the way from chance to all{note}",
                _FIXES.get(fact, "write the files anew, without embedded texts, and give all the same time"),
                severity,
            )
            return


def _strongest(
    case: Case, facts: pd.DataFrame, truth: pd.Series, kind: Kind
) -> tuple[str, float, str, Severity | None] | None:
    limits = case.limits.files
    best: tuple[str, float, str, Severity | None] | None = None
    for fact in facts.columns:
        cells = facts[fact]
        embedded = fact not in (*_INSIDE, *_OUTSIDE)
        if embedded and (share := _names(cells, truth)) >= limits.path_gain:
            return fact, share, "names", None
        known = column_strength(cells, truth, kind)
        if known.z < limits.telling_z:
            continue
        severity: Severity | None = None
        loose = _PLACE not in facts.columns
        if fact == "time" and loose and np.ptp(cells.astype(float)) < limits.run_seconds:
            # Written class after class in one run: true on this machine, and lost in the next copy.
            severity = Severity.WARNING
            if known.gain < limits.metadata_hint:
                continue
        elif fact in _INSIDE or kind is Kind.NUMBER:
            # The size of a file mostly is its content's: dark pictures and short texts take little.
            honest = fact == "size" or known.gain < limits.metadata_gain
            severity = Severity.WARNING if honest else None
            if known.gain < limits.metadata_hint:
                continue
        elif known.gain < limits.path_gain:
            continue
        elif known.gain < limits.metadata_hint and not embedded:
            severity = Severity.WARNING
        rank = (severity is None, known.gain)
        if best is None or rank > (best[3] is None, best[1]):
            best = fact, known.gain, "tells", severity
    return best


def _names(cells: pd.Series, truth: pd.Series) -> float:
    """How much more often a text holds the row's label than another row's, as a share."""
    texts = [f"_{spelt(cell)}_" for cell in cells]
    labels = [f"_{spelt(label)}_" for label in truth]
    if truth.nunique() < 2 or any(label == "__" for label in labels):
        return 0.0
    other = np.random.default_rng(0).permutation(len(labels))
    hits = np.array([label in text for label, text in zip(labels, texts, strict=True)])
    chance = np.array([labels[place] in text for place, text in zip(other, texts, strict=True)])
    gain = float(hits.mean() - chance.mean())
    error = np.sqrt(max(hits.mean() * (1 - hits.mean()), 1 / len(hits)) / len(hits))
    return gain if gain > 6 * error else 0.0


def _facts(file: PublicFile) -> dict[str, str]:
    facts = {
        "size": str(file.size),
        "time": f"{file.time:.3f}",
        "mode of the file": stat.filemode(file.mode),
    }
    if file.place is not None:
        facts[_PLACE] = str(file.place)
    try:
        if file.kind is FileKind.IMAGE:
            facts |= images.image_facts(file.opened())
        elif file.kind is FileKind.AUDIO:
            facts |= sounds.sound_facts(file.opened())
    except (*images.BROKEN, *sounds.BROKEN, sounds.NoReader):
        return facts
    return facts
