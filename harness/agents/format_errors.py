"""Why nothing could be done for a reply, or for a call of it."""

from __future__ import annotations

from enum import StrEnum


class FormatErrorKind(StrEnum):
    """Why nothing could be done. The values are written to trajectories."""

    NO_ACTION = "no_action"
    SEVERAL_ACTIONS = "several_actions"
    BROKEN_ARGUMENTS = "broken_arguments"
    TOO_LONG = "too_long"
    EMPTY = "empty"
    CUT_OFF = "cut_off"
    REFUSAL = "refusal"
    MALFORMED = "malformed"
    """The provider could not read the model's own tool call."""


class FormatError(Exception):
    """A reply, or a call of it, that cannot be carried out.

    Args:
        kind: why.
        detail: what exactly, for the model to do better; may be empty.
    """

    def __init__(self, kind: FormatErrorKind, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else str(kind))
        self.kind = kind
        self.detail = detail
