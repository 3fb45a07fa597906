"""What a task asks for, in a sentence or two."""

from __future__ import annotations

from generator.proposals import Proposal
from generator.rules.media import WORDS
from generator.rules.naming import duration


def goal(proposal: Proposal, id_column: str) -> str:
    """What is to be predicted for each test row, and what a submission holds where that is not plain."""
    names = listing([f"`{name}`" for name in proposal.targets])
    if proposal.window is not None:
        window = proposal.window
        shown, after = (duration(steps * window.step_seconds) for steps in (window.history, window.ahead))
        return (
            f"Each row shows {window.history} successive values of `{window.value}`, one every "
            f"{duration(window.step_seconds)} ({shown} in all). Predict by how much the value will have "
            f"changed {after} after the last one shown: {names} is that later value minus the last one shown."
        )
    if proposal.shape == "media":
        one = WORDS[proposal.modality].one
        verb = "shows" if one == "image" else "belongs to"
        return f"Say for each test {one} which of the {len(proposal.classes)} classes it {verb}."
    if proposal.change_of is not None:
        step = duration(proposal.step_seconds or 0)
        return (
            f"Forecast {names} for each test row: the value of `{proposal.change_of}` minus the value {step} "
            "before it. The test rows come after all training rows in time, and only what is known in "
            "advance is given for them."
        )
    if proposal.known_anomalies is not None:
        usual = next(name for name in proposal.classes if name != proposal.positive)
        rare = "1" if is_one(proposal) else f'1, which stands for "{proposal.positive}"'
        often = "0" if is_one(proposal) else f'0, which stands for "{usual}"'
        return (
            f"Find the rare test rows for which {names} is {rare}, among many for which it is {often}. "
            "Submit any number for each row, the higher the more likely it is rare: only the order counts. "
            "Few such rows are known in advance, so few are in the training table."
        )
    if proposal.objective == "multi-label classification" and proposal.source_target is None:
        return (
            f"Predict each of the {len(proposal.targets)} flags {names} for each test row: 1 where it "
            "applies and 0 where not. Several may apply to a row, or none."
        )
    if proposal.objective == "multi-label classification":
        return (
            f"Say for each test row which values of `{proposal.source_target}` apply to it. Several may; "
            "each has a column of its own, 1 where it applies and 0 where not."
        )
    if proposal.query is not None:
        return (
            f"Order the test rows of each `{proposal.query}` by {names}, the highest first. Submit any "
            "number for each row: only the order within a group counts, not the size. The group of a row is "
            f"the part of `{id_column}` before the dash, and also the column `{proposal.query}`."
        )
    if proposal.positive is not None:
        others = [name for name in proposal.classes if name != proposal.positive]
        meaning = f', which stands for "{proposal.positive}"; 0 stands for "{others[0]}"'
        return (
            f"Predict for each test row the probability that {names} is 1"
            f"{'' if is_one(proposal) else meaning}."
        )
    if proposal.objective == "classification":
        return f"Predict {names} for each test row: one of {len(proposal.classes)} classes."
    if proposal.objective == "forecasting" and proposal.split.kind == "time":
        return (
            f"Forecast {names} for each test row. The test rows come after all training rows in time, "
            "and only what is known in advance is given for them."
        )
    if proposal.split.kind == "time":
        return (
            f"Predict {names} for each test row from the other figures of the same time. The test rows "
            "come after all training rows in time."
        )
    if len(proposal.targets) > 1:
        return f"Predict the {len(proposal.targets)} numbers {names} for each test row."
    return f"Predict {names}, a number, for each test row."


def is_one(proposal: Proposal) -> bool:
    """Whether the class written as 1 is 1 in the raw data, too."""
    return proposal.positive in ("1", "1.0")


def listing(items: list[str], word: str = "and") -> str:
    """``a, b and c``."""
    return "".join(items) if len(items) < 2 else f"{', '.join(items[:-1])} {word} {items[-1]}"
