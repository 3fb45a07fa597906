"""Parts of the line that can be left out, to measure what each is good for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from generator.defects.base import Gate
from harness.errors import InputError

#: What each part does; without it the line goes on as if that had found nothing.
PARTS: dict[str, str] = {
    "probe": "targets are proven learnable, and given away by no column, before design",
    "diversity": "formulations that repeat an earlier one's target or objective are passed over",
    "assertions": "what Designer and Refactor leave behind is checked before the next step",
    "refactor": "the design is brought into the unified structure by an agent of its own",
    "repair": "defects go back to the agent that can mend them",
    **{
        str(gate): f"the verifier's gate of that name ({gate})" for gate in Gate if gate is not Gate.STRUCTURE
    },
}


def check_parts(names: Iterable[str]) -> frozenset[str]:
    """The parts of these names.

    Raises:
        InputError: there is no such part; the message names the nearest.
    """
    names = frozenset(names)
    for name in sorted(names - set(PARTS)):
        near = difflib.get_close_matches(name, PARTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(PARTS)}"
        raise InputError(f"no part of the line is called {name!r}: {hint}")
    return names


def check_backend(names: Iterable[str], backend: str, parts: frozenset[str]) -> None:
    """Refuse what would be left out in name only.

    Args:
        names: the parts to leave out.
        backend: the name of the backend.
        parts: those that it can work without.

    Raises:
        InputError: the backend has no such part.
    """
    own = {"repair", *(str(gate) for gate in Gate)}
    for name in sorted(set(names) - own - parts):
        raise InputError(
            f"the {backend} backend cannot leave out {name!r}, so leaving it out measures nothing"
        )


def gates_left_out(names: Iterable[str]) -> frozenset[Gate]:
    """The verifier's gates among parts."""
    return frozenset(Gate(name) for name in names if name in set(Gate))
