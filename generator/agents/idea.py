"""An idea for a task: what a Brainstormer proposes, with the code that makes its table from the raw files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from generator.proposals import Evidence, Formulation, SplitChoice
from harness.tasks.package import MODALITIES, OBJECTIVES

#: What is not the model's to fill: facts that we measure, and what another agent decides.
OURS = frozenset({"metric", "evidence", "features", "layout", "works"})

_Line = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(min_length=1, max_length=4_000)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Ignored(_Model):
    """Raw data that are left out, and why."""

    name: str = Field(max_length=500)
    reason: str = Field(max_length=1_000)


class MetricChoice(_Model):
    """How submissions are scored.

    Attributes:
        name: as people know it, or a name of its own.
        higher_is_better: its direction.
        best: the score of a perfect submission.
        worst: the worst possible score, where there is one.
        reason: why it fits.
    """

    name: str = Field(min_length=1, max_length=80, description="such as rmse, mae, macro_f1, roc_auc")
    higher_is_better: bool
    best: float = Field(allow_inf_nan=False, description="the score of a perfect submission")
    worst: float | None = Field(default=None, allow_inf_nan=False, description="null where there is none")
    reason: str = Field(max_length=1_000)


class Layout(_Model):
    """What a Designer decides about the files of a task, as ``task.toml`` has to say it.

    Attributes:
        id_column: the column that identifies rows.
        target_columns: what is predicted, as the files name it.
        metric: how submissions are scored.
        split_kind: how train and test are separated.
        split_column: with ``group`` or ``time`` the column of the prepared tables for it, else empty.
        seed: of random choices in prepare.py.
    """

    id_column: _Line = Field(description="the column that identifies rows in all tables")
    target_columns: tuple[_Line, ...] = Field(
        min_length=1, description="the columns to predict, as sample_submission.csv names them"
    )
    metric: MetricChoice
    split_kind: Literal["random", "stratified", "group", "time"]
    split_column: str = Field(
        max_length=200,
        description="with group or time the column of the prepared tables for it, else an empty string",
    )
    seed: int = Field(description="the seed of random choices in prepare.py")

    @field_validator("split_column")
    @classmethod
    def _named(cls, column: str, info: object) -> str:
        kind = getattr(info, "data", {}).get("split_kind")
        if kind in ("group", "time") and not column:
            raise ValueError(f"name the column of the prepared tables that the split by {kind} follows")
        return column


class Work(_Model):
    """An attempt of an agent that led to what there is now."""

    agent: str
    model: str
    version: str = ""
    transcript: str = ""
    sha256: str = ""


class Idea(Formulation):
    """A formulation with all that a Brainstormer has to say about it.

    Attributes:
        problem: what is predicted, from what, and who would want to know it.
        data_use: which raw files and columns serve for what.
        processing: how the raw files become features and targets.
        scoring: the metric, its direction, and why it fits.
        split: how train and test are separated, and why.
        ignored: what is left out, and why.
        data_files: the raw files that the task is made of; a folder stands for all below it.
        media_column: the column that holds paths of media files relative to the raw folder, else empty.
        derivation: Python source of ``def table(raw) -> pandas.DataFrame``: features and targets.
        evidence: what a quick check found; ``None`` without one.
        features: the columns of the derived table beside the targets.
        layout: what the Designer decided.
        works: the attempts that led here.
    """

    id: str = Field(
        pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60, description="short, of a-z, 0-9 and dashes"
    )
    title: _Line = Field(description="one line for people")
    modality: str = Field(json_schema_extra={"enum": [*MODALITIES]})
    objective: str = Field(json_schema_extra={"enum": [*OBJECTIVES]})
    targets: tuple[_Line, ...] = Field(
        min_length=1, max_length=50, description="the columns of the derived table that are predicted"
    )
    metric: str = Field(default="", max_length=80)
    rationale: _Text = Field(description="why it is worth solving, and can be solved")
    problem: _Text = Field(description="what is predicted from what, and who would want to know")
    data_use: _Text = Field(description="which raw files and columns serve for what")
    processing: _Text = Field(description="how raw files become features and targets")
    scoring: MetricChoice
    split: SplitChoice
    ignored: tuple[Ignored, ...] = Field(description="raw columns or files that are left out, and why")
    data_files: tuple[str, ...] = Field(
        min_length=1, description="paths of the raw files or folders that the task needs"
    )
    media_column: str = Field(
        max_length=200, description="the column with paths of media files below raw, else an empty string"
    )
    derivation: str = Field(
        max_length=40_000,
        description="Python source with def table(raw: Path) -> pandas.DataFrame, features and targets",
    )
    evidence: Evidence | None = None
    features: tuple[str, ...] = ()
    layout: Layout | None = None
    works: tuple[Work, ...] = ()

    @field_validator("modality")
    @classmethod
    def _a_modality(cls, word: str) -> str:
        return _one_of(word, MODALITIES)

    @field_validator("objective")
    @classmethod
    def _an_objective(cls, word: str) -> str:
        return _one_of(word, OBJECTIVES)

    @field_validator("derivation")
    @classmethod
    def _defines_table(cls, source: str) -> str:
        if "def table(" not in source:
            raise ValueError("define a function table(raw) that returns a pandas.DataFrame")
        return source

    def model_post_init(self, context: object) -> None:
        """The metric's name is said once by the model."""
        object.__setattr__(self, "metric", self.scoring.name)


class Ideas(_Model):
    """A Brainstormer's answer."""

    ideas: tuple[Idea, ...] = Field(max_length=12)


def _one_of(word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise ValueError(f"it is {word[:60]!r}, but must be one of {', '.join(known)}")
    return word
