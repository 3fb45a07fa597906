"""Raw data with the labels of test rows under public/."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.wanted import Wanted, plain_id
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.preparation.tracing import same_names
from generator.verifier.public.inventory import Content, PublicFile, contents, inventory
from generator.verifier.public.kinds import MEDIA, FileKind
from generator.verifier.public.sheets import sheets
from generator.verifier.targets import Kind, to_numbers
from harness.tasks.package import file_hash

#: Share of the labels of train and test together that a raw file must hold to be the labelled whole.
_WHOLE = 0.95
#: Share of the test rows that must be told from all others by the columns in which they are looked for.
_DISTINCT = 0.5
_FOUND = 0.5
#: Share of a column's cells that must stand in the raw column for it to be the same.
_KEPT = 0.5
_FEWEST = 20


def check(case: Case) -> Iterator[Finding]:
    """Raw files, by content, and tables that hold the test rows with their labels."""
    copies, wanted = _raw_copies(case), Wanted(case)
    for file in case.inventory:
        table = case.tables.get(file.path)
        if file.path in (case.test_path, case.prepared.sample_path):
            continue
        # The training table alone is compared elsewhere; with a second one it may be the whole.
        if file.path == case.train_path and file.path not in copies and not _has_rival(case):
            continue
        frames = [(file.name, table)] if table is not None else list(_frames(case, file, copies))
        for name, frame in frames:
            how = _by_rows(case, frame, wanted)
            if not how and file.path in copies:
                how = _by_counts(case, frame, copies)
            if how:
                raw = copies.get(file.path)
                yield finding(
                    "raw_in_public",
                    f"public/{name} {f'is raw/{raw} and ' if raw else ''}{how}",
                    "write to public/ only what participants may see, never the raw files",
                )
                break


def _has_rival(case: Case) -> bool:
    others = (case.train_path, case.test_path, case.prepared.sample_path)
    wanted = set(case.targets)
    return any(wanted <= set(table.columns) for path, table in case.tables.items() if path not in others)


def _raw_copies(case: Case) -> dict[Path, str]:
    """Files under public/ that equal a raw file, with its name; archives by what they hold."""
    if not case.task.raw.is_dir():
        return {}
    raw = inventory(case.task.raw)
    sizes = {file.size for file in raw}
    ours = [file for file in case.inventory if file.kind not in MEDIA and file.size]
    hashes = {file_hash(file.path): file.name for file in raw if file.kind not in MEDIA and file.size}
    found = {
        file.path: hashes[digest]
        for file in ours
        if file.size in sizes and (digest := file_hash(file.path)) in hashes
    }
    for file in ours:
        if file.kind is FileKind.ARCHIVE and file.path not in found:
            for content in contents(file, case.limits.files):
                if len(content.data) in sizes:
                    name = hashes.get(hashlib.sha256(content.data).hexdigest())
                    if name is not None:
                        found[file.path] = name
                        break
    return found


def _frames(case: Case, file: PublicFile, copies: dict[Path, str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables in a file that is none by its name: in archives, databases, arrays and copies of raw files."""
    if file.kind in (*MEDIA, FileKind.OTHER, FileKind.TEXT) and file.path not in copies:
        return
    if file.kind is FileKind.TABLE and file.suffix == "json" and file.size < 10_000:
        return
    for content in contents(file, case.limits.files):
        if _may_hold_tables(content):
            for sheet in sheets(content, case.limits.files.text_bytes):
                if len(sheet.frame) >= _FEWEST:
                    yield sheet.name, sheet.frame


def _may_hold_tables(content: Content) -> bool:
    return content.kind in (FileKind.TABLE, FileKind.ARRAY, FileKind.TEXT)


def _by_rows(case: Case, frame: pd.DataFrame, wanted: Wanted) -> str:
    """The test rows stand in the table, and a column beside them tells a target."""
    if case.test is None or len(frame) < _FEWEST:
        return ""
    own = {*case.targets, case.id_column}
    asked = case.test[[name for name in case.test.columns if name not in own]]
    pairs = same_names(asked, RawTable(("",), frame))
    ours, theirs = asked[list(pairs)].apply(_plain), frame[list(pairs.values())].apply(_plain)
    # Columns that were written anew say nothing of the row.
    kept = [name for name, other in pairs.items() if ours[name].isin(set(theirs[other])).mean() >= _KEPT]
    if not kept:
        return ""
    sought, offered = _keys(ours[kept]), _keys(theirs[[pairs[name] for name in kept]])
    once = ~pd.Series(sought).duplicated(keep=False).to_numpy()
    if once.mean() < _DISTINCT:
        return ""
    place = pd.Series(np.arange(len(frame)), index=offered)
    place = place[~place.index.duplicated(keep=False)]
    partner = pd.Series(sought).map(place).to_numpy(dtype=float)
    rows = case.test[case.id_column].map(plain_id).map(wanted.row_of).to_numpy(dtype=float)
    known = once & np.isfinite(rows)
    matched = known & np.isfinite(partner)
    share = matched.sum() / max(1, known.sum())
    if share < _FOUND or matched.sum() < _FEWEST:
        return ""
    others = frame.drop(columns=[pairs[name] for name in kept])
    beside = others.iloc[partner[matched].astype(int)].reset_index(drop=True)
    told = next(wanted.compared(beside, rows[matched].astype(int)), None)
    if told is None:
        return ""
    return (
        f"holds {share:.0%} of the test rows, found by {len(kept)} shared columns, with "
        f"{told.target} in its column {told.column}: {told.how}"
    )


def _keys(frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(pd.util.hash_pandas_object(frame, index=False).to_numpy())


def _plain(cells: pd.Series) -> pd.Series:
    """Numbers in one spelling, so that 1.50 is 1.5; other cells without spaces at their ends."""
    numbers = to_numbers(cells)
    if numbers.notna().mean() > 0.5:
        return numbers.map(lambda value: f"{value:.9g}").where(numbers.notna(), cells.str.strip())
    return cells.str.strip()


def _by_counts(case: Case, frame: pd.DataFrame, copies: Mapping[Path, str]) -> str:
    """A column of a raw table holds the labels of train and test together."""
    train = _training(case, copies)
    for target in case.targets:
        answers = _plain(case.answers[target])
        known = answers
        if train is not None and target in train.columns:
            known = pd.concat([answers, _plain(train[target])])
        telling = case.kinds[target] is not Kind.CLASS or not to_numbers(answers).notna().all()
        wanted = known.value_counts()
        for column in frame.columns:
            named = str(column).casefold() == target.casefold()
            if len(frame) < _WHOLE * len(known) or not (named or (telling and len(wanted) > 2)):
                continue
            counts = _plain(frame[column]).value_counts().reindex(wanted.index, fill_value=0)
            if float(np.minimum(counts, wanted).sum()) >= _WHOLE * len(known) and len(wanted) > 1:
                return f"its column {column} holds the values of {target} of train and test together"
    return ""


def _training(case: Case, copies: Mapping[Path, str]) -> pd.DataFrame | None:
    """The longest table with the targets that is no copy of a raw one, else what passes for it."""
    others = [
        table
        for path, table in case.tables.items()
        if set(case.targets) <= set(table.columns)
        and path not in (*copies, case.test_path, case.prepared.sample_path)
    ]
    return max(others, key=len, default=case.train)
