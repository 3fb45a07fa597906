"""Stands in for ``tqdm`` where it is not installed: the things themselves, no bar."""

from collections.abc import Iterable
from typing import Any


class tqdm:
    """Iterates, and counts nothing."""

    def __init__(self, iterable: Iterable[Any] = (), *_: Any, **__: Any) -> None:
        self.iterable = iterable

    def __iter__(self) -> Any:
        return iter(self.iterable)

    def __enter__(self) -> "tqdm":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        """``update``, ``set_description`` and the like do nothing."""
        return lambda *_, **__: None


def trange(*args: int, **_: Any) -> range:
    """``range``."""
    return range(*args)
