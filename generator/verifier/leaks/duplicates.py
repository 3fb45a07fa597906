"""Test rows that also stand in training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.leaks.copies import row_hashes
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers
from harness.tasks.package import file_hash

Hashes = npt.NDArray[np.uint64]


def check(case: Case) -> Iterator[Finding]:
    """Test rows whose features, files by content, equal those of a training row beyond chance.

    Rows of few coarse columns are alike by chance: then training rows are so among themselves as often, and
    as many pairs as that are equal but for one column. Copies are more, or have no such neighbours.
    """
    train, test = case.train, case.test
    if train is None or test is None or train.empty or test.empty:
        return
    varied = [name for name in case.features if train[name].nunique() > 1 or test[name].nunique() > 1]
    features = [name for name in varied if not _names_rows(case, train[name], test[name])]
    if not features or features == [case.task.spec.split.time_column]:
        return
    if len(features) == 1 and to_numbers(test[features[0]]).notna().mean() > 0.5:
        return  # The same number twice is no copy.
    both = np.column_stack([_cells(case, train[name], test[name]) for name in features])
    known, asked = pd.Series(_rows(both[: len(train)])), pd.Series(_rows(both[len(train) :]))
    partner = asked.map(pd.Series(np.arange(len(train)), index=known)[~known.duplicated().to_numpy()])
    share = float(partner.notna().mean())
    targets = [column for column in case.targets if column in train.columns]
    limits = case.limits.leaks
    if share <= limits.duplicate_share or partner.notna().sum() < limits.rare_rows or not targets:
        return
    usual = float(known.duplicated(keep=False).mean())
    more = (
        _more(share, usual, len(train), len(test), limits.z) and share > 1.2 * usual + limits.duplicate_share
    )
    chance = by_chance(both[: len(train)])
    fine = share > limits.duplicate_beyond * chance + limits.duplicate_share
    if not (more or fine):
        return
    agreed = _agreed(case, partner, targets)
    serious = agreed >= limits.duplicate_agreement or (
        more and share > chance and _excess(case, known, asked, targets) >= limits.duplicate_agreement
    )
    yield finding(
        "duplicates_across_split",
        f"{share:.1%} of the test rows equal a training row in all {len(features)} shared columns "
        f"(agreement of their labels beyond chance: {agreed:.2f}); {usual:.1%} of the training rows equal "
        f"another one, and {chance:.1%} would by chance",
        "drop duplicates, or keep equal rows on one side of the split",
        None if serious else Severity.WARNING,
    )


def by_chance(cells: Hashes, most: int = 20_000) -> float:
    """The share of rows that would equal another one if equal rows were coincidences.

    Of the pairs that are alike in all columns but one, this one has the same value in a share c of them by
    chance, c being that of all pairs; so k rows that differ in that column alone make k * c / (1 - c) equal
    ones expected. The column that makes most of it counts for each row.

    Args:
        cells: shape (n, d), one hash for each cell.
        most: rows that are looked at; the expectation grows with the rows left out.
    """
    rows = len(cells)
    cells = cells[sampled_rows(rows, most)]
    whole = _rows(cells)
    _, first, equal = _grouped(whole)
    expected = np.zeros(len(cells))
    for column in range(cells.shape[1]):
        _, _, alike = _grouped(whole - _weighed(cells[:, column], column))
        counts = np.unique(cells[first, column], return_counts=True)[1].astype(float)
        pairs = counts.sum() * (counts.sum() - 1)
        same = float((counts * (counts - 1)).sum()) / pairs if pairs else 1.0
        if same < 1:
            expected = np.maximum(expected, (alike - equal) * same / (1 - same))
    return float(np.mean(1 - np.exp(-expected * rows / max(len(cells), 1))))


def _grouped(rows: Hashes) -> tuple[Hashes, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Distinct rows, where each stands first, and for each row how many equal it, itself among them."""
    distinct, first, places, counts = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True
    )
    return distinct, first, counts[places.ravel()]


def _more(share: float, usual: float, train: int, test: int, z: float) -> bool:
    """Whether test rows have copies more often than training rows have among themselves."""
    base = max(usual, 1 / test)
    return share - usual >= z * float(np.sqrt(base * (1 - min(base, 0.99)) * (1 / train + 1 / test)))


def _agreed(case: Case, partner: pd.Series, targets: list[str]) -> float:
    """Kappa of the labels of test rows and of the first training row that each equals."""
    ours, theirs = _targets(case, targets)
    pair = partner.notna().to_numpy() & ours.notna().to_numpy()
    left = ours[pair].reset_index(drop=True)
    right = theirs.iloc[partner[pair].astype(int)].reset_index(drop=True)
    if left.nunique() == 1:
        return float((left == right).mean())
    return agreement(Values(left), Values(right))


def _excess(case: Case, known: pd.Series, asked: pd.Series, targets: list[str]) -> float:
    """Of the copies beyond those that training has within itself, the share that has the label too."""
    ours, theirs = _targets(case, targets)
    usual = known.duplicated(keep=False).mean()
    labelled = known + theirs.to_numpy(dtype=np.uint64)
    ours = asked + ours.fillna(0).to_numpy(dtype=np.uint64)
    more = asked.isin(known).mean() - usual
    return float((ours.isin(labelled).mean() - labelled.duplicated(keep=False).mean()) / max(more, 1e-9))


def _targets(case: Case, targets: list[str]) -> tuple[pd.Series, pd.Series]:
    """A hash of the targets of each test row, missing where it has no answer, and of each training row."""
    train, test = case.train, case.test
    assert train is not None and test is not None
    answers = case.answers.drop_duplicates(case.id_column)
    places = pd.Index(answers[case.id_column]).get_indexer(pd.Index(test[case.id_column]))
    known = _labels(answers[targets]).to_numpy()
    ours = pd.Series(known[np.maximum(places, 0)]).astype("UInt64").mask(places < 0)
    return ours, _labels(train[targets])


def _labels(table: pd.DataFrame) -> pd.Series:
    """One hash for each row of targets, 1 and 1.0 being one."""
    return row_hashes(
        table.apply(lambda cells: to_numbers(cells).astype(str).where(_is_number(cells), cells))
    )


def _is_number(cells: pd.Series) -> pd.Series:
    return to_numbers(cells).notna()


def _names_rows(case: Case, train: pd.Series, test: pd.Series) -> bool:
    """Whether a column is a second id: one word or whole number for each row, none on both sides."""
    if not (train.is_unique and test.is_unique) or train.isin(set(test)).any():
        return False
    some = pd.concat([train.iloc[:200], test.iloc[:200]])
    return not (some.str.contains(r"\s|\.\d", regex=True).mean() > 0.1 or _is_file(case, str(test.iloc[0])))


def _rows(cells: Hashes) -> Hashes:
    """One hash for each row; that of a row without one column is the difference."""
    total = np.zeros(len(cells), dtype=np.uint64)
    for column in range(cells.shape[1]):
        total += _weighed(cells[:, column], column)
    return total


def _weighed(cells: Hashes, column: int) -> Hashes:
    """The hashes of a column, other ones in each place, so that rows with exchanged cells differ."""
    return cells * np.uint64(2 * column + 1)


def _cells(case: Case, train: pd.Series, test: pd.Series) -> Hashes:
    """A 64-bit hash of each cell; numbers count by value, a path of a file under public/ by its content."""
    both = pd.concat([train, test], ignore_index=True)
    if _is_file(case, str(test.iloc[0])) or _is_file(case, str(train.iloc[0])):
        both = both.map(lambda path: _content(case, path))
    filled = both.str.strip() != ""
    numbers = to_numbers(both)
    if bool(numbers[filled].notna().all()):
        return np.asarray(pd.util.hash_array(numbers.to_numpy()), dtype=np.uint64)
    return np.asarray(pd.util.hash_array(both.to_numpy(dtype=object)), dtype=np.uint64)


def _is_file(case: Case, path: str) -> bool:
    return 0 < len(path) < 200 and "\x00" not in path and (case.prepared.public / path).is_file()


def _content(case: Case, path: str) -> str:
    return file_hash(case.prepared.public / path) if _is_file(case, path) else path
