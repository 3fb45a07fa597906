"""All injections, by class."""

from __future__ import annotations

from generator.verifier.selftest.injections import (
    data,
    description,
    empirical,
    files,
    leaks,
    machine,
    metric,
    preparation,
    sharing,
)
from generator.verifier.selftest.injections.base import Injection

INJECTIONS: tuple[Injection, ...] = tuple(
    sorted(
        (
            *leaks.INJECTIONS,
            *sharing.INJECTIONS,
            *files.INJECTIONS,
            *data.INJECTIONS,
            *metric.INJECTIONS,
            *empirical.INJECTIONS,
            *preparation.INJECTIONS,
            *description.INJECTIONS,
            *machine.INJECTIONS,
        ),
        key=lambda injection: injection.number,
    )
)
