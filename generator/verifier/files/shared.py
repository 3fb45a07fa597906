"""Media files that lie on both sides of the split, byte for byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import MEDIA
from generator.verifier.public.pairs import Pairs, pairs_of


def check(case: Case) -> Iterator[Finding]:
    """Test files that equal a training file."""
    train, test = pairs_of(case, "train", MEDIA), pairs_of(case, "test", MEDIA)
    if train is None or test is None:
        return
    hashes = _hashes(train, test, case.limits.files.member_bytes)
    first: dict[str, int] = {}
    for row, file in enumerate(train.files):
        if file.name in hashes:
            first.setdefault(hashes[file.name], row)
    found = [
        (row, first[hashes[file.name]])
        for row, file in enumerate(test.files)
        if hashes.get(file.name) in first and file.name != train.files[first[hashes[file.name]]].name
    ]
    if not found:
        return
    share, limits = len(found) / len(test.files), case.limits.files
    agreed = _agreement(case, train, test, found)
    least = limits.shared_label_share if agreed >= limits.near_agreement else limits.shared_share
    serious = share >= least and len(found) >= limits.shared_files
    ours, theirs = test.files[found[0][0]], train.files[found[0][1]]
    yield finding(
        "media_across_split",
        f"{len(found):,} of {len(test.files):,} test files ({share:.1%}) equal a training file, {ours.name} "
        f"and {theirs.name} for one (agreement of their labels beyond chance: {agreed:.2f})",
        "drop equal files, or keep them on one side of the split",
        None if serious else Severity.WARNING,
    )


def _hashes(train: Pairs, test: Pairs, most_bytes: int) -> dict[str, str]:
    """Hashes of the files whose size occurs on the other side too."""
    sizes = [Counter(file.size for file in part.files) for part in (train, test)]
    both = set(sizes[0]) & set(sizes[1])
    wanted: dict[str, PublicFile] = {
        file.name: file for part in (train, test) for file in part.files if file.size in both and file.size
    }
    return {name: file.digest() for name, file in wanted.items() if file.size <= most_bytes}


def _agreement(case: Case, train: Pairs, test: Pairs, found: list[tuple[int, int]]) -> float:
    """Kappa of the labels of the copies, the mean over the targets."""
    rows = np.array(found)
    kappas = []
    for target in case.targets:
        ours = test.truth[target].iloc[rows[:, 0]].reset_index(drop=True)
        theirs = train.truth[target].iloc[rows[:, 1]].reset_index(drop=True)
        if theirs.str.strip().ne("").any():
            same = bool((ours == theirs).all())
            kappas.append(1.0 if same else agreement(Values(pd.Series(ours)), Values(pd.Series(theirs))))
    return float(np.mean(kappas)) if kappas else 0.0
