"""What a language model says about the task, with its evidence."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

REVIEW: dict[str, Defect] = {
    "review_failed": Defect(
        Gate.REVIEW,
        Severity.ERROR,
        "a reviewer found the task unfit, with evidence",
        example="openai/small on shortcuts: It is known afterwards only. (description.txt: 'column "
        "`returned_on` is filled in after')",
    ),
    "review_concern": Defect(
        Gate.REVIEW,
        Severity.WARNING,
        "a reviewer has a concern, with evidence",
        example="openai/small on split: It is known afterwards only. (description.txt: 'filled in "
        "after the')",
    ),
}
