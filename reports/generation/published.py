"""What the paper (arXiv 2510.07307) reports of its own generation, beside the same figures of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.pipeline.labour import WITHIN, AgentWork, Money
from generator.pipeline.shares import Share
from generator.pipeline.statistics import Statistics
from generator.pipeline.tidy import told

NOTHING = "–"


@dataclass(frozen=True)
class Beside:
    """One figure.

    Attributes:
        name: what it is.
        paper: the paper's.
        here: this generation's.
        interval: its 95 % interval, of a share.
        remark: what keeps them from being the same thing.
    """

    name: str
    paper: str
    here: str
    interval: str = ""
    remark: str = ""


def beside_the_paper(statistics: Statistics) -> Iterator[Beside]:
    """The paper's figures that a generation has, too."""
    works = {work.agent: work for work in statistics.agents}
    designer, refactor = works.get("designer"), works.get("refactor")
    yield _share("Datasets that gave a verified task", "224 of 300 (74.7%)", statistics.giving)
    yield _share(
        "Verified of generated tasks", "606 of 807 (75.1%)", statistics.of_proposed,
        "Here of the formulations that were proposed and judged.",
    )  # fmt: skip
    yield Beside(
        "Verified tasks for each dataset that gave one", "2.71",
        _number(statistics.per_dataset(float(statistics.verified)), 2),
    )  # fmt: skip
    yield _share(
        "Designer: one attempt was enough", "over 99%", designer.once if designer else None,
        "Here later gates may send a task back, too, which counts as a second attempt.",
    )  # fmt: skip
    yield _share(f"Designer: at most {WITHIN} steps", "about 92%", designer.within if designer else None)
    yield _share(
        "Refactor: needed a second attempt", "about 6%", refactor.twice if refactor else None,
        "Here another design of a task needs another attempt, too.",
    )  # fmt: skip
    yield _share("Refactor: needed a third attempt", "about 1%", refactor.thrice if refactor else None)
    yield Beside(
        "Refactor: steps", "more than 13, most 15 to 22", _steps(refactor),
        remark="Here the median, and the quartiles.",
    )  # fmt: skip
    unsaid = "Whether the paper's figure includes what was spent on failures is not said."
    spent, well = statistics.spent, statistics.spent_well
    for name, per, seconds, cost in (
        ("verified task", statistics.per_task, "420", "0.78"),
        ("dataset that gave one", statistics.per_dataset, "1136", "2.11"),
    ):
        yield Beside(
            f"Seconds of preparing for each {name}", seconds,
            _both(_number(per(spent.preparing), 0), _number(per(well.preparing), 0)), remark=unsaid,
        )  # fmt: skip
        yield Beside(
            f"US dollars for each {name}", cost,
            _both(_dollars(spent.money, per(spent.money.known)), _dollars(well.money, per(well.money.known))),
            remark=unsaid,
        )  # fmt: skip
    yield Beside(
        "Seconds of verifying for each verified task", "usually under 600",
        _both(*(_number(statistics.per_task(each.verifying), 0) for each in (spent, well))),
        remark="The paper's of the execution alone, here of all gates.",
    )  # fmt: skip
    for field, value, paper in (
        ("modality", "tabular", "43.5%"), ("modality", "text", "21.7%"), ("modality", "image", "11.8%"),
        ("objective", "classification", "57.9%"), ("objective", "regression", "27.4%"),
    ):  # fmt: skip
        verified = {each.value: each.verified for each in statistics.distributions[field]}
        share = Share(verified.get(value, 0), statistics.verified)
        remark = "The paper's tasks may have several modalities." if field == "modality" else ""
        yield _share(f"Verified tasks: {value}", paper, share, remark)


#: What readers of the paper ask for and it leaves open.
NOT_IN_THE_PAPER = (
    "Where the 201 tasks that were not verified failed, and why, is not in the paper, nor is the cost of "
    "each agent. The funnel and the table of agents above say it of this generation."
)


def _share(name: str, paper: str, share: Share | None, remark: str = "") -> Beside:
    return Beside(name, paper, *told(share), remark)


def _both(included: str, left_out: str) -> str:
    return NOTHING if included == NOTHING else f"{included}; without failures {left_out}"


def _dollars(money: Money, known: float | None) -> str:
    text = _number(known, 2)
    return f"at least {text}" if money.unpriced and text != NOTHING else text


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def _steps(work: AgentWork | None) -> str:
    if work is None or work.steps is None:
        return NOTHING
    return f"{work.steps.median:g} ({work.steps.lower_quartile:g} to {work.steps.upper_quartile:g})"
