"""Reading what the environment answers: facts of the task, its files, and how a program went."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

SAMPLE = "sample_submission.csv"
_FOLLOWING = "\n\n[left: "


class Unreadable(Exception):
    """An observation that does not say what a policy needs; the message is the reason it gives up."""


@dataclass(frozen=True)
class Answer:
    """One observation.

    Attributes:
        ok: the action did what was asked.
        text: what was said.
        steps_left: steps left after it, as the observation's last line says.
    """

    ok: bool
    text: str
    steps_left: int


@dataclass(frozen=True)
class Facts:
    """What the overview and the folder tell.

    Attributes:
        title, modality, objective, metric, id_column, targets: as declared.
        higher_is_better: the direction of the metric.
        files: names of the public files on the first level, with the columns of those that are CSV.
    """

    title: str
    modality: str
    objective: str
    metric: str
    higher_is_better: bool
    id_column: str
    targets: tuple[str, ...]
    files: dict[str, tuple[str, ...]]

    @property
    def must_gather(self) -> bool:
        """Whether rows are not simply those of a training and a test table that share columns."""
        tables = [self.files.get(f"{name}.csv", ()) for name in ("train", "test")]
        if any(f"{name}.csv.gz" in self.files for name in ("train", "test")):
            return False
        shared = set(tables[0]) & set(tables[1]) - {self.id_column, *self.targets}
        others = set(self.files) - {"train.csv", "test.csv", SAMPLE, "description.txt"}
        return not all(tables) or (not shared and bool(others))

    def table(self, name: str) -> str:
        """The file that holds a table, plain or compressed.

        Raises:
            Unreadable: there is none.
        """
        for candidate in (f"{name}.csv", f"{name}.csv.gz"):
            if candidate in self.files:
                return candidate
        raise Unreadable(f"there is no {name}.csv among {', '.join(sorted(self.files))}")


@dataclass(frozen=True)
class Outcome:
    """How an execution went.

    Attributes:
        valid: a submission was written and accepted.
        score: the score that was told, if any.
        validation: the score the program printed of its own validation, if any.
        reason: the line that says what went wrong.
    """

    valid: bool
    score: float | None
    validation: float | None
    reason: str

    @property
    def merit(self) -> float | None:
        """What to compare: the told score, else the program's own validation."""
        return self.validation if self.score is None else self.score


def read_answer(text: str) -> Answer:
    """Split an observation as the agent's template writes it."""
    body, _, left = text.rpartition(_FOLLOWING)
    steps = re.match(r"(\d+) steps", left)
    status, _, said = (body or text).partition(": ")
    return Answer(status == "ok", said.strip(), int(steps[1]) if steps else 0)


def read_facts(overview: str, data_structure: str) -> Facts:
    """Facts from the two first observations.

    Raises:
        Unreadable: a line that every overview has is missing.
    """
    told = dict(re.findall(r"^([a-z ]+): (.*)$", overview.partition("\n\n")[0], flags=re.MULTILINE))
    try:
        metric = re.fullmatch(r"(.+?) \((higher|lower) is better.*\)", told["metric"])
        targets = json.loads(told["target columns"])
        if metric is None:
            raise Unreadable(f"the metric is told as {told['metric']!r}")
        return Facts(
            title=told["title"],
            modality=told["modality"],
            objective=told["objective"],
            metric=metric[1],
            higher_is_better=metric[2] == "higher",
            id_column=told["id column"],
            targets=tuple(targets),
            files=_read_files(data_structure),
        )
    except (KeyError, ValueError) as error:
        raise Unreadable(f"the overview cannot be read: {error}") from error


def read_printed(text: str) -> dict[str, Any]:
    """The JSON object that a program printed on a line of its own.

    Raises:
        Unreadable: there is none, or its middle was left out.
    """
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                return dict(json.loads(line))
            except ValueError:
                break
    raise Unreadable("what the look at the data printed cannot be read")


def read_outcome(answer: Answer) -> Outcome:
    """How an execution went, from its observation."""
    score = re.search(r"^Score: (\S+) \(", answer.text, flags=re.MULTILINE)
    validation = re.findall(r"^validation: (\S+)$", answer.text, flags=re.MULTILINE)
    lines = [line for line in answer.text.splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("Invalid submission", "The submission could not"))]
    traceback = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception)\b", line)]
    return Outcome(
        valid=answer.ok,
        score=float(score[1]) if score else None,
        validation=float(validation[-1]) if validation else None,
        reason="" if answer.ok else (wrong or traceback[-1:] or lines[:1] or ["no reason was told"])[0],
    )


def _read_files(tree: str) -> dict[str, tuple[str, ...]]:
    files: dict[str, tuple[str, ...]] = {}
    for line in tree.splitlines():
        found = re.fullmatch(r"(\S.*?) \((?:\d+ rows, \d+ columns: (.*)|.*)\)", line)
        if found:
            columns = found[2].split(", ") if found[2] else []
            files[found[1]] = tuple(columns)
    return files
