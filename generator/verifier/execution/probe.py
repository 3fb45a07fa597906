"""A candidate whose only program looks for answers and grader from inside the agent's sandbox."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import jinja2

from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall
from harness.models.scripted.reading import read_answer
from harness.tasks.package import Task, file_hash

_PROGRAM = Path(__file__).with_name("walk.py.j2")
_LINES = 200
_FOUND = "found: "


@dataclass(frozen=True)
class Wanted:
    """What the probe looks for, in a form from which no answer can be read.

    Attributes:
        salt: goes before every line that is hashed.
        lines: salted SHA-256 of lines of the answer file.
        files: SHA-256 of whole private files and of the metric.
        names: names of those files.
    """

    salt: str
    lines: tuple[str, ...]
    files: tuple[str, ...]
    names: tuple[str, ...]


def wanted(task: Task) -> Wanted:
    """Hashes of a task's private files, and of up to 200 of its answers."""
    found = [*sorted(path for path in task.private.rglob("*") if path.is_file()), task.metric_path]
    files = [path for path in found if path.stat().st_size > 0]
    salt = secrets.token_hex(16)
    lines = task.answer_path.read_text(encoding="utf-8-sig").splitlines()[1:]
    step = max(1, len(lines) // _LINES)
    hashes = [hashlib.sha256((salt + line.strip()).encode()).hexdigest() for line in lines[::step]]
    return Wanted(
        salt, tuple(hashes), tuple(map(file_hash, files)), tuple(dict.fromkeys(path.name for path in files))
    )


class Probe:
    """Runs the probe once and ends.

    Args:
        wanted: what to look for.
        seconds: how long the program looks.
    """

    name = "scripted/probe"

    def __init__(self, wanted: Wanted, seconds: float) -> None:
        self._settings = {**asdict(wanted), "seconds": seconds, "found": _FOUND}

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Asks where the data are, runs the program, and has nothing left to do."""
        told = [message.text for message in messages if message.role not in ("system", "assistant")][1:]
        params: dict[str, str] = {}
        if not told:
            name, params = "request_info", {"info_type": "data_path"}
        elif len(told) == 1:
            name, params = "validate_code", {"code": self._program(read_answer(told[0]).text)}
        else:
            name = "submit"
        if tools and settings.action_format is ActionFormat.TOOLS:
            call = ToolCall(f"call_{name}", name, json.dumps(params))
            return Reply("", tool_calls=(call,), finish=Finish.TOOL_CALLS)
        return Reply(f"```json\n{json.dumps({'action': name, 'params': params})}\n```")

    def _program(self, data: str) -> str:
        text = _PROGRAM.read_text(encoding="utf-8")
        settings = json.dumps(self._settings | {"data": data})
        program: str = jinja2.Template(text, autoescape=False).render(settings=json.dumps(settings))
        return program


@dataclass(frozen=True)
class Sighting:
    """What the probe came across.

    Attributes:
        path: as the sandbox shows it.
        what: ``answers`` when lines of the answer file are in it, ``copy`` when it is a private file byte for
            byte, ``name`` when it is only called so.
        count: how many of the answers it looked for.
    """

    path: str
    what: str
    count: int


def read_sightings(printed: str) -> list[Sighting] | None:
    """What the program printed, worst first; ``None`` when it did not come to its end."""
    for line in printed.splitlines():
        if line.startswith(_FOUND):
            found = [Sighting(*each) for each in json.loads(line.removeprefix(_FOUND))]
            return sorted(found, key=lambda each: (each.what, each.path))
    return None
