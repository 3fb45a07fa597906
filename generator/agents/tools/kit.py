"""The kit that all three agents work with; everything in it happens inside their sandbox."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath

from generator.agents.fencing import clipped, fenced
from generator.agents.tools.base import AgentTool, Kit, Result, number_parameter, text_parameter, tool
from generator.agents.workbench import FILE_BYTES, Workbench, bounded
from generator.backend import Desk
from generator.datasets.catalogue import raw_files
from harness.budget import BudgetMeter
from harness.sandboxes.base import FileRefused, Limits, RunResult

#: Code 3 is browse.py's word for a path that it does not show.
_REFUSED = 3
_PROGRAM = ".program.py"
_BROWSE_SECONDS = 60.0


class Hands:
    """What the tools do.

    Args:
        desk: the dataset.
        bench: the sandbox.
        meter: the budget of the attempt, whose time no run outlives.
        limits: of one run.
        characters: of one observation at most.
    """

    def __init__(
        self, desk: Desk, bench: Workbench, meter: BudgetMeter, limits: Limits, characters: int
    ) -> None:
        self._desk, self._bench, self._meter = desk, bench, meter
        self._limits, self._most = limits, characters

    def kit(self) -> Kit:
        """All tools."""
        path = text_parameter("a path below the raw folder or the work folder")
        return Kit([
            tool("list_files", "List a folder.", self.list_files, path=path),
            tool("read_file", "Read a part of a text file.", self.read_file, path=path,
                 offset=number_parameter("the byte to begin at", default=0)),
            tool("search_files", "Find lines of text files that match a regular expression.",
                 self.search_files, path=path, pattern=text_parameter("a regular expression of Python")),
            tool("table_summary", "Rows, columns, types, ranges and missing cells of a raw table.",
                 self.table_summary, path=text_parameter("the table's path below the raw folder")),
            tool("media_summary", "How many media files of which kinds there are, and their sizes.",
                 self.media_summary),
            tool("run_shell", "Run a shell command in the work folder.", self.run_shell,
                 command=text_parameter("the command")),
            tool("run_python", "Run a Python program in the work folder; only what it prints is seen.",
                 self.run_python, code=text_parameter("a complete program")),
            self._writer(),
        ])  # fmt: skip

    def _writer(self) -> AgentTool:
        return tool(
            "write_file", "Write a whole text file below the work folder.", self.write_file,
            path=text_parameter("a path below the work folder"), content=text_parameter("the whole text"),
        )  # fmt: skip

    def list_files(self, path: str) -> Result:
        """The entries of a folder."""
        return self._browse(f"list of {path}", do="list", path=path)

    def read_file(self, path: str, offset: int) -> Result:
        """A part of a file."""
        return self._browse(f"file {path}", do="read", path=path, offset=offset, most=self._most - 200)

    def search_files(self, path: str, pattern: str) -> Result:
        """Lines that match."""
        return self._browse(f"search in {path}", do="search", path=path, pattern=pattern)

    def table_summary(self, path: str) -> Result:
        """What the profile says of a raw table."""
        profile = self._desk.profile
        name = PurePosixPath(path).as_posix().removeprefix(f"{self._bench.raw}/").removeprefix("raw/")
        found = [table for table in profile.tables if table.path == name]
        if not found:
            known = ", ".join(table.path for table in profile.tables[:20]) or "none"
            return Result(False, fenced("names", f"no raw table {path!r}; the tables are: {known}"))
        told = dataclasses.replace(profile, tables=tuple(found), skipped=())
        read = [f"read by: {each.recipe.code()}" for each in found if each.recipe]
        return self._told(f"summary of {name}", "\n".join([*told.summary()[1:], *read]))

    def media_summary(self) -> Result:
        """How many files of which endings lie in which folders, and what the profile says of them."""
        profile = dataclasses.replace(self._desk.profile, tables=(), skipped=())
        files = [path.relative_to(self._desk.folder) for path in raw_files(self._desk.folder)]
        kinds = Counter((path.parent.as_posix(), path.suffix.lower()) for path in files)
        lines = [f"{folder}/*{ending}: {count:,} files" for (folder, ending), count in kinds.most_common(60)]
        lines += profile.summary()[1:]
        return self._told("summary of media", "\n".join(lines))

    def run_shell(self, command: str) -> Result:
        """Run a command."""
        return self._ran(self._bench.run(["/bin/sh", "-c", command], self._now()))

    def run_python(self, code: str) -> Result:
        """Run a program."""
        program = f"{self._bench.work}/{_PROGRAM}"
        try:
            self._bench.put({_PROGRAM: code})
        except FileRefused as refused:
            return Result(False, str(refused))
        return self._ran(self._bench.sandbox.run_python(program, limits=self._now()))

    def write_file(self, path: str, content: str) -> Result:
        """Write a file."""
        if len(content) > FILE_BYTES:
            return Result(False, f"{len(content):,} characters are too many; {FILE_BYTES:,} is the most")
        place = self._ask(do="write", path=path)
        if not place.ok:
            return Result(False, clipped(place.output.strip(), self._most))
        try:
            self._bench.sandbox.put(content.encode("utf-8", "backslashreplace"), place.output.strip())
        except FileRefused as refused:
            return Result(False, str(refused))
        return Result(True, f"{len(content):,} characters are written")

    def _browse(self, name: str, **request: str | int) -> Result:
        run = self._ask(**request)
        if run.exit_code == _REFUSED:
            return Result(False, fenced("refusal", clipped(run.output.strip(), self._most)))
        return self._ran(run, name) if not run.ok else self._told(name, run.output)

    def _ask(self, **request: str | int) -> RunResult:
        asked = json.dumps({"raw": self._bench.raw, "work": self._bench.work, **request})
        limits = bounded(self._limits, min(_BROWSE_SECONDS, self._meter.time_left()))
        if len(asked) > 100_000:
            asked = json.dumps({"raw": self._bench.raw, "work": self._bench.work, "do": "none", "path": "\0"})
        return self._bench.sandbox.run_python(self._bench.script("browse.py"), [asked], limits=limits)

    def _now(self) -> Limits:
        return replace(bounded(self._limits, self._meter.time_left()), output_bytes=self._most)

    def _ran(self, run: RunResult, name: str = "output") -> Result:
        ended = "it ended without an error"
        if run.over:
            ended = f"it was stopped: it went over its limit of {run.over}"
        elif run.timed_out:
            ended = f"it was stopped after {run.seconds:.0f} s"
        elif not run.ok:
            ended = f"it ended with code {run.exit_code}"
        if run.output_bytes > self._most:
            ended += f"; it wrote {run.output_bytes:,} bytes, of which head and tail are shown"
        return Result(run.ok, f"{ended}, after {run.seconds:.1f} s\n{self._fenced(name, run.output)}")

    def _told(self, name: str, text: str) -> Result:
        return Result(True, self._fenced(name, text))

    def _fenced(self, name: str, text: str) -> str:
        return fenced(clipped(name, 200), clipped(text, self._most))
