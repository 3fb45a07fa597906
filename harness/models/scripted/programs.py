"""The programs that policies write, rendered from the templates in ``programs/``."""

from __future__ import annotations

import base64
import functools
import json
import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from harness.models.scripted.plans import Plan
from harness.models.scripted.problems import Problem
from harness.models.scripted.reading import SAMPLE, Facts

_FOLDER = Path(__file__).with_name("programs")
#: Endings of files that are texts to be read.
_DOCUMENTS = (".txt", ".md", ".html", ".htm", ".eml", ".rst")


@dataclass(frozen=True)
class Place:
    """Where a program reads and writes, and the columns of the tables.

    Without names of a training and a test file, programs gather the rows from what tables and folders
    there are.
    """

    data_path: str
    output_path: str
    train_file: str
    test_file: str
    id_column: str
    targets: tuple[str, ...]

    @property
    def gathers(self) -> bool:
        """Whether programs look for the rows themselves."""
        return not self.train_file

    @property
    def sample_columns(self) -> list[str]:
        """The columns of a submission, in order."""
        return [self.id_column, *self.targets]


def place(facts: Facts, data_path: str, output_path: str) -> Place:
    """Put together what every program needs.

    Raises:
        Unreadable: there is no table of training or test rows, nor a sample submission to begin with.
    """
    names = ("", "")
    if not (facts.must_gather and SAMPLE in facts.files):
        names = (facts.table("train"), facts.table("test"))
    return Place(data_path, output_path, *names, facts.id_column, facts.targets)


def look_program(task: Place) -> str:
    """Prints what the columns hold, as one JSON object."""
    return _render("look", task=task)


def sample_program(data_path: str, output_path: str) -> str:
    """Hands in the sample submission."""
    return _render("sample", task={"data_path": data_path, "output_path": output_path})


def answers_program(answers: str, output_path: str) -> str:
    """Hands in this CSV, which is packed so that the program stays small."""
    packed = base64.b85encode(lzma.compress(answers.encode())).decode()
    return _render("answers", task={"output_path": output_path}, packed=packed)


def model_program(task: Place, problem: Problem, plan: Plan) -> str:
    """Validates the plan's models, fits the chosen ones to all rows, and writes the submission."""
    return _render("model", task=task, problem=problem, plan=plan)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # Python is written, not HTML; every value passes the filter below.
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["py"] = _literal
    environment.globals["documents"] = _DOCUMENTS
    return environment


def _render(name: str, **values: Any) -> str:
    return _spaced(_environment().get_template(f"{name}.py.j2").render(**values))


def _spaced(text: str) -> str:
    """Two blank lines around each function, one elsewhere: templates cannot know what comes before them."""
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"\n+(?=def )", "\n\n\n", text)
    return re.sub(r"(\n {4}return [^\n]+)\n+(?=\S)", r"\1\n\n\n", text).strip() + "\n"


def _literal(value: Any) -> str:
    """A Python literal."""
    if isinstance(value, str):
        return json.dumps(value)
    return repr(list(value) if isinstance(value, tuple) else value)
