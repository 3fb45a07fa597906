"""What an agent meets that works on the task."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

EXECUTION: dict[str, Defect] = {
    "execution_failed": Defect(
        Gate.EXECUTION,
        Severity.ERROR,
        "an agent cannot make a valid submission",
        example="scripted/nop ended with submitted after 2 steps and no valid submission (last word: "
        "nothing was handed in), where 2 baselines that were told their scores had one",
    ),
    "execution_below_floor": Defect(
        Gate.EXECUTION,
        Severity.WARNING,
        "an agent's best submission is no better than an uninformed one",
        example="scripted/sample scores 1.9028, constant 1.9005",
    ),
    "private_reachable": Defect(
        Gate.EXECUTION,
        Severity.ERROR,
        "an agent's code can reach answers or the grader",
        example="code in the careless sandbox reads /mlesmith/more/notes.txt (200 answers)",
    ),
}
