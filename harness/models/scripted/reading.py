"""Reading the environment's observations, as a candidate does: from their text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """What a policy has understood of a task.

    Attributes:
        metric: the metric's name, lower case with underscores.
        columns: the columns of every CSV file, by the file's name.
    """

    data_path: str
    output_path: str
    modality: str
    objective: str
    metric: str
    higher_is_better: bool
    id_column: str
    target_columns: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]

    @property
    def readable(self) -> bool:
        """Whether the data come as the tables these programs can read."""
        return "train.csv" in self.columns and "test.csv" in self.columns


@dataclass(frozen=True)
class Outcome:
    """What came back after an execution.

    Attributes:
        ran: the program ended without an error and its submission was valid.
        score: the score told, if any.
        validation: the score that the program itself printed as ``validation: <number>``, if any.
        text: the whole observation.
    """

    ran: bool
    score: float | None
    validation: float | None
    text: str


def split_observation(text: str) -> tuple[bool, str]:
    """Whether an action was carried out, and the text of its answer, without the budget line."""
    body = re.sub(r"\s*\[left: [^\]]*\]\s*\Z", "", text)
    return body.startswith("ok: "), re.sub(r"\A(?:ok|error): ", "", body)


def read_facts(overview: str, structure: str, data_path: str, output_path: str) -> Facts:
    """Facts from the answers to four requests for information.

    Raises:
        ValueError: a fact is missing from the texts.
    """
    facts = dict(re.findall(r"^([a-z ]+): (.*)$", overview, flags=re.MULTILINE)[::-1])
    columns = {
        name: tuple(listed.split(", "))
        for name, listed in re.findall(
            r"^(\S+\.csv) \(\d+ rows, \d+ columns: (.*)\)$", structure, re.MULTILINE
        )
    }
    try:
        return Facts(
            data_path=data_path.strip(),
            output_path=output_path.strip(),
            modality=facts["modality"],
            objective=facts["objective"],
            metric=re.sub(r"\W+", "_", facts["metric"].split(" (")[0].lower()),
            higher_is_better="higher is better" in facts["metric"],
            id_column=facts["id column"],
            target_columns=tuple(json.loads(facts["target columns"])),
            columns=columns,
        )
    except KeyError as error:
        raise ValueError(f"the overview does not tell {error}") from error


def read_outcome(ok: bool, text: str) -> Outcome:
    """What an execution gave, from its observation."""
    score = re.search(r"^Score: (\S+) \(", text, re.MULTILINE)
    validation = re.findall(r"^validation: (\S+)$", text, re.MULTILINE)
    return Outcome(
        ran=ok,
        score=float(score.group(1)) if score else None,
        validation=float(validation[-1]) if validation else None,
        text=text,
    )
