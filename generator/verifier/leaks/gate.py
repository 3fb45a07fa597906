"""The part of the data gate that looks for answers that can be had without learning."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.leaks import (
    aggregates,
    combinations,
    copies,
    duplicates,
    groups,
    ids,
    missing,
    near,
    neighbours,
    orders,
    proxies,
    readings,
    samples,
    scaling,
    shifts,
    times,
)
from generator.verifier.leaks.view import View

_PARTS = (
    combinations,
    proxies,
    readings,
    missing,
    ids,
    orders,
    aggregates,
    shifts,
    scaling,
    samples,
    near,
    groups,
    times,
    neighbours,
)
_SHOWN = 20


def check(case: Case) -> Iterator[Finding]:
    """Findings about leaks; what the strongest probes told is left for the report."""
    yield from copies.check(case)
    yield from duplicates.check(case)
    view = View(case)
    for part in _PARTS:
        yield from part.check(view)
    probes = [*case.exhibits.get("probes", []), *view.probes]
    probes.sort(key=lambda probe: (-float(str(probe["gain"])), -float(str(probe["z"])), str(probe["column"])))
    case.exhibits["probes"] = probes[:_SHOWN]
