"""A proposed task: everything that has to be decided before a task package can be written."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Shape = Literal["table", "windows", "media"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SplitChoice(_Model):
    """How train and test are separated, and why.

    Attributes:
        kind: as in ``task.toml``.
        columns: for ``time`` those that give the time of a row, for ``group`` those that identify an entity.
        reason: a sentence for people.
    """

    kind: Literal["random", "stratified", "group", "time"]
    columns: tuple[str, ...] = ()
    reason: str = Field(min_length=1)


class Window(_Model):
    """A stretch of one series from which a later value is predicted.

    Attributes:
        value: the column of the series.
        history: number of successive values shown.
        ahead: how many steps after the last shown value the target lies.
        step_seconds: the distance of the values.
    """

    value: str
    history: int = Field(ge=2)
    ahead: int = Field(ge=1)
    step_seconds: float = Field(gt=0)


class Evidence(_Model):
    """What a quick cross-validation says about a target. Skills: 0 a constant guess, 1 perfect.

    Attributes:
        skill: mean skill of a forest.
        spread: standard deviation of the skill over the folds.
        measure: what the skill is (R², 2 AUC - 1, ...).
        rows: how many rows were used.
    """

    skill: float
    spread: float
    measure: str
    rows: int


class Formulation(_Model):
    """One task that the data can carry, whoever found it.

    Attributes:
        id: short, telling, unique among the tasks of a set.
        title: in a line, for people.
        modality: as in ``task.toml``; ``objective`` likewise.
        targets: the columns to predict, as they will be named in the task.
        metric: the name of the metric.
        difficulty: as in ``task.toml``.
        rationale: why it is worth solving, and can be solved.
        tags: as in ``task.toml``.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)
    title: str = Field(min_length=1)
    modality: str
    objective: str
    targets: tuple[str, ...] = Field(min_length=1)
    metric: str
    difficulty: Literal["easy", "medium", "hard"]
    rationale: str
    tags: tuple[str, ...] = ()


class Proposal(Formulation):
    """A formulation of the rules, with all that their design needs.

    Attributes:
        shape: which layout of prepare.py fits.
        table: path of the table below the raw folder, empty for media.
        source_target: the raw column behind the targets when it is named otherwise (lists of labels).
        features: raw columns that the participant gets.
        ignored: raw columns that are left out, each with the reason.
        classes: labels that are kept, most frequent first, of a classification.
        positive: the class written as 1: of a probability, an anomaly, or the value by which a flag says yes.
        train_rows: how many labelled rows are given when fewer than usual are, to leave something to do.
        known_anomalies: how many rows of the rare class are among the training rows of an anomaly detection.
        test_share: share of the rows that is tested, when it is not the usual one.
        query: the column within whose values rows are ranked.
        change_of: the raw column of a series of whose change since the row before the target is.
        step_seconds: the distance of neighbouring rows of that series.
        window: of the shape ``windows``.
        split: how train and test are separated.
        evidence: what the quick check found; the difficulty follows from it.
    """

    shape: Shape
    table: str = ""
    source_target: str | None = None
    features: tuple[str, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    classes: tuple[str, ...] = ()
    positive: str | None = None
    train_rows: int | None = None
    known_anomalies: int | None = None
    test_share: float | None = None
    query: str | None = None
    change_of: str | None = None
    step_seconds: float | None = None
    window: Window | None = None
    split: SplitChoice
    evidence: Evidence


class Refusal(_Model):
    """A formulation that was considered and not proposed.

    Attributes:
        target: what would have been predicted.
        objective: as in ``task.toml``.
        reason: why it is not proposed, for people.
        code: the same in a short word, for the funnel.
    """

    target: str
    objective: str
    reason: str
    code: str = "unfit"
