"""All defects by code. Codes stay the same from release to release."""

from __future__ import annotations

from generator.defects.base import Defect, Finding, Severity
from generator.defects.data import DATA
from generator.defects.description import DESCRIPTION
from generator.defects.empirical import EMPIRICAL
from generator.defects.execution import EXECUTION
from generator.defects.files import FILES
from generator.defects.leaks import LEAKS
from generator.defects.metric import METRIC
from generator.defects.preparation import PREPARATION
from generator.defects.review import REVIEW
from generator.defects.structure import STRUCTURE

DEFECTS: dict[str, Defect] = {
    **STRUCTURE,
    **PREPARATION,
    **DATA,
    **LEAKS,
    **FILES,
    **METRIC,
    **EMPIRICAL,
    **DESCRIPTION,
    **REVIEW,
    **EXECUTION,
}


def finding(code: str, evidence: str, fix: str, severity: Severity | None = None) -> Finding:
    """A finding of a registered code, at its usual severity unless another is given.

    Raises:
        KeyError: the code is not registered.
    """
    kind = DEFECTS[code]
    return Finding(code, severity or kind.severity, kind.gate, evidence, fix)
