"""Limits of the search through the files under public/."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileLimits:
    """Limits of the search through the files under public/.

    Attributes:
        media: media files that are opened and decoded; all are hashed.
        member_bytes: a member of an archive is read up to this size.
    """

    media: int = 2_000
    member_bytes: int = 256 * 1024 * 1024
