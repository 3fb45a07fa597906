"""Test texts that all but equal a training text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.agreeing import agreed_labels
from generator.verifier.public.pairs import training_labels
from generator.verifier.sampling import sampled_rows, told

_HASHES, _BANDS = 64, 16
_CHUNK = 20_000
_LOOKED_AT = 500
_SHOWN = 40
_SEED = 31
#: A prime above all 32-bit hashes.
_PRIME = np.uint64((1 << 61) - 1)
_WORD = re.compile(r"\w+")

Signatures = npt.NDArray[np.uint32]


def check(case: Case) -> Iterator[Finding]:
    """Near copies across the split in each column of longer texts."""
    train, test, joined = case.train, case.test, case.joined
    if train is None or test is None or joined is None:
        return
    for column in case.features:
        if _is_text(train[column], case.limits.files.text_words):
            yield from _check_column(case, column)


def _is_text(cells: pd.Series, words: int) -> bool:
    part = cells.iloc[sampled_rows(len(cells), _LOOKED_AT)].tolist()
    return len(part) > 0 and float(np.median([len(cell.split()) for cell in part])) >= words


def _check_column(case: Case, column: str) -> Iterator[Finding]:
    limits, joined, train = case.limits.files, case.joined, case.train
    if joined is None or train is None:
        return
    train_rows = sampled_rows(len(train), limits.text_rows)
    known = train[column].iloc[train_rows].tolist()
    asked = joined.test[column].tolist()
    signatures, long_enough = _signatures([*asked, *known], limits.text_words)
    count = len(asked)
    partner = _partners(signatures, long_enough, count, limits.text_overlap)
    across = np.flatnonzero(partner[:count] >= 0)
    usable, trained = max(1, int(long_enough[:count].sum())), max(1, int(long_enough[count:].sum()))
    natural = float((partner[count:] >= 0).sum()) / trained
    seen = len(across) / count
    if len(across) < limits.shared_files or seen < limits.near_share / 2:
        return
    rows = train_rows[partner[across] - count]
    labels = training_labels(case, train)
    agreed = agreed_labels(case, joined.truth.iloc[across], labels.iloc[rows])
    within = np.flatnonzero(partner[count:] >= 0)
    if len(within) and len(across) / usable > 2 * natural:
        # What resembles by nature, and agrees as it does within training, is taken out of the mixture.
        usual = agreed_labels(
            case, labels.iloc[train_rows[within]], labels.iloc[train_rows[partner[count:][within] - count]]
        )
        part = natural * usable / len(across)
        agreed = min(1.0, (agreed - part * usual) / (1 - part))
    error = np.sqrt(max(natural * (1 - natural), 1 / usable) / usable)
    unusual = (len(across) / usable - natural) / error >= limits.near_z and seen >= limits.near_share
    telling, copied = agreed >= limits.near_agreement, unusual and agreed >= limits.near_copied
    if not (unusual or (telling and seen >= limits.near_noted)):
        return
    ours, theirs = asked[across[0]], known[partner[across[0]] - count]
    yield finding(
        "near_duplicates",
        f"{len(across):,} of {count:,} test texts ({seen:.1%}) in {column} all but equal a training text, "
        f"{_short(ours)} and {_short(theirs)} for one; within training {natural:.1%} do "
        f"(agreement of their labels beyond chance: {agreed:.2f}){told(count, joined.of)}",
        "keep all versions of one text on one side of the split",
        None if copied or (telling and seen >= limits.near_many) else Severity.WARNING,
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _signatures(texts: Sequence[str], words: int) -> tuple[Signatures, npt.NDArray[np.bool_]]:
    """MinHash signatures of words and their pairs, shape (n, 64), and which texts are long enough.

    Broder, "On the resemblance and containment of documents" (1997): the share of equal entries estimates
    the Jaccard index of the two sets of shingles.
    """
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(1, 1 << 31, _HASHES, dtype=np.uint64) | np.uint64(1)
    offsets = rng.integers(0, 1 << 31, _HASHES, dtype=np.uint64)
    found = np.zeros((len(texts), _HASHES), dtype=np.uint32)
    enough = np.zeros(len(texts), dtype=bool)
    codes: dict[str, int] = {}
    for start in range(0, len(texts), _CHUNK):
        chunk = [_WORD.findall(text.lower()) for text in texts[start : start + _CHUNK]]
        keep = [row for row, found_words in enumerate(chunk) if len(found_words) >= words]
        if not keep:
            continue
        shingles, starts = _shingles([chunk[row] for row in keep], codes)
        rows = start + np.array(keep)
        enough[rows] = True
        for number in range(_HASHES):
            mixed = ((shingles * factors[number] + offsets[number]) >> np.uint64(29)).astype(np.uint32)
            found[rows, number] = np.minimum.reduceat(mixed, starts)
    return found, enough


def _shingles(
    texts: list[list[str]], codes: dict[str, int]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp]]:
    """Hashes of all words and pairs of words, one text after the other, and where each text starts.

    A word that is dropped from a text of ten takes three of its nineteen shingles.
    """
    hashes, starts, at = [], [], 0
    for words in texts:
        numbers = np.array([codes.setdefault(word, len(codes) + 1) for word in words], dtype=np.uint64)
        # A word alone is a pair with no word after it.
        first, second = np.append(numbers[:-1], numbers), np.append(numbers[1:], np.zeros_like(numbers))
        pairs = first * np.uint64(0x9E3779B97F4A7C15)
        pairs = (pairs ^ (pairs >> np.uint64(31))) + second * np.uint64(0xBF58476D1CE4E5B9)
        pairs = (pairs ^ (pairs >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
        hashes.append(pairs ^ (pairs >> np.uint64(32)))
        starts.append(at)
        at += len(pairs)
    return np.concatenate(hashes), np.array(starts, dtype=np.intp)


def _partners(
    signatures: Signatures, enough: npt.NDArray[np.bool_], count: int, overlap: float
) -> npt.NDArray[np.intp]:
    """For each text a training text (position from ``count`` on, never itself) that all but equals it, or -1.

    Texts that agree in all entries of one of 16 bands are compared: of those with a Jaccard index of
    0.7 that is all but 1 in 80.
    """
    partner = np.full(len(signatures), -1, dtype=np.intp)
    best = np.full(len(signatures), overlap - 1e-9)
    width = _HASHES // _BANDS
    trained = np.flatnonzero(enough[count:]) + count
    everyone = np.flatnonzero(enough)
    for band in range(_BANDS):
        part = np.ascontiguousarray(signatures[:, band * width : (band + 1) * width])
        keys = part.view(np.dtype((np.void, part.dtype.itemsize * width))).ravel()
        order = trained[np.argsort(keys[trained], kind="stable")]
        places = np.searchsorted(keys[order], keys[everyone], side="left")
        for step in (0, 1):
            at = np.minimum(places + step, len(order) - 1)
            if not len(order):
                return partner
            other = order[at]
            same = (keys[other] == keys[everyone]) & (other != everyone)
            mine, theirs = everyone[same], other[same]
            alike = (signatures[mine] == signatures[theirs]).mean(axis=1)
            better = alike > best[mine]
            best[mine[better]] = alike[better]
            partner[mine[better]] = theirs[better]
    return partner
