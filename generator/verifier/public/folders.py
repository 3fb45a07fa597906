"""Training files that are sorted into one folder for each class, as a table."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import FileKind

_SIDES = frozenset({FileKind.IMAGE, FileKind.AUDIO, FileKind.TEXT})
_FEWEST = 5


def class_folders(
    files: Iterable[PublicFile], target: str, answers: pd.Series
) -> tuple[str, pd.DataFrame] | None:
    """The parent of class folders, and a table of its files with the columns ``path`` and ``target``.

    Folders count as classes when nearly all answers are among their names.

    Args:
        files: all under public/.
        target: the name of the target column.
        answers: its values.

    Returns:
        ``None`` when there is no such folder.
    """
    by_parent: dict[str, list[tuple[str, str]]] = {}
    for file in files:
        parts = file.name.split("/")
        if file.kind in _SIDES and len(parts) > 2:
            for depth in range(1, len(parts) - 1):
                by_parent.setdefault("/".join(parts[:depth]), []).append((file.name, parts[depth]))
    best: tuple[str, pd.DataFrame] | None = None
    for parent, rows in sorted(by_parent.items()):
        named = {label for _, label in rows}
        if "test" in parent.lower() or len(named) < 2 or len(rows) < _FEWEST:
            continue
        if answers.isin(named).mean() >= 0.9 and (best is None or len(rows) > len(best[1])):
            best = parent, pd.DataFrame(rows, columns=["path", target])
    return best
