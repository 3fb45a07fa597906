"""What an agent meets that works on the task."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

EXECUTION: dict[str, Defect] = {
    "execution_failed": Defect(
        Gate.EXECUTION,
        Severity.ERROR,
        "an agent cannot make a valid submission",
    ),
    "execution_below_floor": Defect(
        Gate.EXECUTION,
        Severity.WARNING,
        "an agent's best submission is no better than an uninformed one",
    ),
    "private_reachable": Defect(
        Gate.EXECUTION,
        Severity.ERROR,
        "an agent's code can reach answers or the grader",
        example="code in the careless sandbox reads /mlesmith/more/notes.txt (200 answers)",
    ),
}
