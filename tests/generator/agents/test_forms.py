"""The forms of answers: schemas that strict endpoints take, and task.toml files that load."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from generator.agents.declaration import specification
from generator.agents.forms import Unfit, read_answer, strict_schema
from generator.agents.idea import OURS, Idea, Ideas, Layout, Work
from generator.agents.questions import Introduction, Title
from generator.agents.refactor import Done
from generator.backend import Desk
from generator.datasets.catalogue import dataset_path, load_card
from generator.profile import profile_dataset
from generator.selection.toml import to_toml
from harness.sandboxes.process import Process
from harness.tasks.package import TaskSpec
from tests.generator.agents.package import MAE, idea, layout
from tests.harness.models.strict import check_schema


@pytest.mark.parametrize("form", [Ideas, Layout, Done, Title, Introduction])
def test_schemas_are_what_strict_endpoints_take(form: type[BaseModel]) -> None:
    schema = strict_schema(form, OURS)
    check_schema(schema, form.__name__)
    assert not {"$ref", "$defs", "pattern", "default", "maxLength"} & set(_keys(schema))


def _keys(value: Any) -> list[str]:
    """The keys that are words of the schema, not names of properties."""
    if isinstance(value, list):
        return [key for each in value for key in _keys(each)]
    if not isinstance(value, dict):
        return []
    parts = [*value.get("properties", {}).values(), *(v for k, v in value.items() if k != "properties")]
    return [*value, *(key for part in parts for key in _keys(part))]


def test_what_is_ours_is_not_the_models_to_fill() -> None:
    forged = idea(evidence={"skill": 1.0, "spread": 0.0, "measure": "R²", "rows": 9}, features=["x"])
    forged |= {"works": [{"agent": "designer", "model": "other"}], "metric": "accuracy"}
    (read,) = read_answer(Ideas, {"ideas": [forged]}, OURS).ideas
    assert read.evidence is None and read.works == () and read.features == () and read.metric == "mae"
    assert Idea.model_validate(read.model_dump(mode="json")) == read


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"id": "Not An Id"}, "ideas.0.id"),
        ({"modality": "tables"}, "it is 'tables', but must be one of tabular"),
        ({"objective": "guessing"}, "must be one of classification"),
        ({"targets": []}, "ideas.0.targets: it is empty"),
        ({"derivation": "df = 1"}, "define a function table(raw)"),
        ({"scoring": MAE | {"best": "NaN"}}, "ideas.0.scoring.best"),
        ({"colour": "red"}, "ideas.0.colour: unknown key"),
    ],
)
def test_errors_name_field_and_fix(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(Unfit) as unfit:
        read_answer(Ideas, {"ideas": [idea(**changed)]}, OURS)
    assert told in str(unfit.value)


@pytest.mark.parametrize(
    ("split", "declared"),
    [
        ({"split_kind": "random"}, {"kind": "random", "seed": 11}),
        ({"split_kind": "group", "split_column": 'the "owner"'},
         {"kind": "group", "seed": 11, "group_column": 'the "owner"'}),
        ({"split_kind": "time", "split_column": "jour"}, {"kind": "time", "seed": 11, "time_column": "jour"}),
    ],
)  # fmt: skip
def test_a_declaration_loads_whatever_is_in_it(
    tmp_path: Path, split: dict[str, Any], declared: dict[str, Any]
) -> None:
    folder = dataset_path("diabetes")
    desk = Desk(folder, load_card(folder), profile_dataset(folder), Process(), tmp_path)
    odd = 'Ein "Titel" \\ mit\nUmbruch \u00e9\x7f'
    made = Idea.model_validate(idea(title=odd, rationale=odd, tags=[odd], layout=layout(**split)))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "x.csv").write_text("a\n1\n")
    work = Work(agent="designer", model="openai/small", transcript="designer-1.jsonl", sha256="0" * 64)
    document = tomllib.loads(to_toml(specification(desk, made, tmp_path, [work])))
    spec = TaskSpec.model_validate(document)
    assert spec.title == odd and spec.split.model_dump(exclude_none=True) == declared
    assert spec.provenance is not None and spec.provenance["agents"][0]["sha256"] == "0" * 64


def test_a_split_by_group_or_time_names_its_column() -> None:
    with pytest.raises(Unfit, match="name the column"):
        read_answer(Layout, layout(split_kind="group", split_column=""))
