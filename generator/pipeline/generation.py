"""The line from raw datasets to verified tasks.

out/
  <task-id>/                 a verified task package
  .rejected/<task-id>/       one that did not pass, with findings.json
  generation.json            how it was made: agents, options, what was left out
  .generate/                 what was done, see :mod:`generator.pipeline.memory`: doing it again is skipped
  funnel.csv funnel.md       how many formulations reached each stage, and why the others did not
  attempts.csv               what each attempt of each agent took
  statistics.csv             what that comes to: shares with intervals, time, tokens, cost, kinds of tasks
  statistics.md              the same for people
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from generator.archives import unpack
from generator.backend import Backend, Desk
from generator.datasets.catalogue import DatasetCard, DatasetError, dataset_path, load_card
from generator.ledger import Attempt, Ledger, attempts_csv
from generator.pipeline.ablation import check_backend, check_parts, gates_left_out
from generator.pipeline.funnel import Funnel, Passage, Stage, merge
from generator.pipeline.line import DatasetResult, Line, Rejection
from generator.pipeline.making import Workshop
from generator.pipeline.record import Record, write_record
from generator.pipeline.statistics import Statistics, statistics_of
from generator.pipeline.tidy import as_csv, as_markdown
from generator.profile import profile_dataset
from generator.rules.backend import RulesBackend
from generator.rules.naming import slug
from generator.verifier.review.reviewer import Reviewer
from generator.verifier.verify import Plan
from harness.errors import InputError
from harness.records import write_atomically
from harness.sandboxes.base import SandboxProvider

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
MARKERS = ".generate"
#: Told the dataset, the stage and what happens in it.
Progress = Callable[[str, str, str], None]


@dataclass(frozen=True)
class Generation:
    """The result of :func:`generate`.

    Attributes:
        results: for each dataset, in the order given.
        funnel: all formulations.
        attempts: all attempts of the agents, also those of earlier runs into the same folder.
    """

    results: tuple[DatasetResult, ...]
    funnel: Funnel
    attempts: tuple[Attempt, ...]

    @property
    def statistics(self) -> Statistics:
        """What it comes to."""
        return statistics_of(self.funnel, self.attempts)

    @property
    def complete(self) -> bool:
        """Whether every dataset gave at least one verified task, and none was interrupted."""
        return all(result.verified and result.error is None for result in self.results)

    def to_document(self) -> dict[str, Any]:
        """The document that ``mlesmith generate --json`` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            "datasets": [
                {
                    "dataset": result.dataset,
                    "verified": [str(path) for path in result.verified],
                    "rejected": [
                        {"task": each.task, "stage": str(each.stage), "reason": each.reason,
                         "path": str(each.path) if each.path else None}
                        for each in result.rejected
                    ],
                    "error": result.error,
                }
                for result in self.results
            ],
            "funnel": self.funnel.as_json(),
            "statistics": self.statistics.as_json(),
        }  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How tasks are generated.

    Attributes:
        max_tasks: most tasks for each dataset.
        verify: run the verifier; without it, packages that are made count as done but not as verified.
        deep: let the verifier train baselines.
        execution: with ``deep``, let it try each task with an agent, too.
        reviewer: with ``deep``, a language model that reviews each task.
        without: parts of the line that are left out, see :data:`generator.pipeline.ablation.PARTS`.
        workers: datasets at a time.
        resume: go on with what earlier runs into the same folder did; else it is done anew.
    """

    max_tasks: int = 3
    verify: bool = True
    deep: bool = True
    execution: bool = True
    reviewer: Reviewer | None = None
    without: frozenset[str] = field(default_factory=frozenset)
    workers: int = 1
    resume: bool = True

    def plan(self) -> Plan | None:
        """How each task is verified."""
        if not self.verify:
            return None
        return Plan(
            deep=self.deep,
            execution=self.execution,
            reviewer=self.reviewer,
            without=gates_left_out(self.without),
        )


def generate(
    datasets: Sequence[Path | str],
    out: Path,
    *,
    provider: SandboxProvider,
    backend: Backend | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
    booked: Callable[[Attempt], None] | None = None,
) -> Generation:
    """Make verified tasks from raw datasets; one dataset's failure never stops the others.

    Running it again keeps what is done and takes up what is not.

    Args:
        datasets: folders, archives, single files, or names of embedded datasets.
        out: where the tasks go; see the module's drawing.
        provider: opens the sandboxes in which the tasks' code runs.
        backend: the agents; the rules when not given.
        options: how.
        progress: told the dataset, the stage and what happens; from several threads with several workers.
        booked: told every attempt of an agent when it has ended, likewise.

    Raises:
        InputError: no dataset is given, one does not exist, two have one name, or an option is out of range;
            then nothing has been done.
    """
    options = options or Options()
    if not datasets:
        raise InputError("no dataset given; name a folder, an archive or an embedded dataset")
    if options.max_tasks < 1:
        raise InputError(f"max_tasks is {options.max_tasks}; it must be at least 1")
    check_parts(options.without)
    backend = backend or RulesBackend()
    check_backend(options.without, backend.name, backend.parts)
    places = [locate(dataset) for dataset in datasets]
    names = [_name(place) for place in places]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"two datasets are called {twice[0]!r}; give each a name of its own in its dataset.toml"
        )
    out.mkdir(parents=True, exist_ok=True)
    plan = options.plan()
    record = Record(
        version=version("mle-smith"),
        backend=backend.identity,
        max_tasks=options.max_tasks,
        verification=plan.identity(provider.name) if plan else None,
        without=tuple(sorted(options.without)),
        datasets=tuple(names),
    )
    write_record(out, record)
    line = _Factory(out.resolve(), provider, backend, options, progress or _silent, booked)
    with ThreadPoolExecutor(max(1, options.workers), thread_name_prefix="dataset") as pool:
        results = tuple(pool.map(line.run, places, names))
    funnel = merge([result.passages for result in results])
    attempts = tuple(line.attempts(names))
    write_atomically(out / "funnel.csv", funnel.as_csv())
    write_atomically(out / "funnel.md", funnel.as_markdown())
    write_atomically(out / "attempts.csv", attempts_csv(attempts))
    generation = Generation(results, funnel, attempts)
    write_atomically(out / "statistics.csv", as_csv(generation.statistics))
    write_atomically(out / "statistics.md", as_markdown(generation.statistics))
    return generation


@dataclass(frozen=True)
class _Factory:
    """The fixed part of one generation."""

    out: Path
    provider: SandboxProvider
    backend: Backend
    options: Options
    progress: Progress
    booked: Callable[[Attempt], None] | None
    claims: dict[str, str] = field(default_factory=dict)

    def run(self, place: Path, name: str) -> DatasetResult:
        """One dataset, whatever happens."""
        try:
            folder = unpack(place, self.out / MARKERS / "unpacked")
            return self._run(folder, load_card(folder).model_copy(update={"name": name}))
        except DatasetError as error:
            return _failed(name, "unreadable", str(error))
        except Exception as error:  # whatever is wrong with one dataset, the others go on
            log.exception("%s: could not be worked on", name)
            return _failed(name, "internal_error", f"{type(error).__name__}: {error}")

    def _run(self, folder: Path, card: DatasetCard) -> DatasetResult:
        self.progress(card.name, "profile", "reading the raw data")
        home = self.out / MARKERS / card.name
        if not self.options.resume:
            shutil.rmtree(home, ignore_errors=True)
        desk = Desk(
            folder=folder,
            card=card,
            profile=profile_dataset(folder, card.name),
            provider=self.provider,
            transcripts=home / "transcripts",
            ablated=self.options.without,
            say=lambda stage, text: self.progress(card.name, stage, text),
        )
        shop = Workshop(
            out=self.out,
            backend=self.backend,
            plan=self.options.plan(),
            desk=desk,
            ledger=self._ledger(card.name),
            verdicts=self.out / MARKERS / "verdicts",
            claims=self.claims,
        )
        result = Line(shop, home, self.options.max_tasks).run()
        self.progress(card.name, "done", f"{len(result.verified)} verified, {len(result.rejected)} not")
        return result

    def attempts(self, names: Iterable[str]) -> Iterable[Attempt]:
        """What is written down about these datasets."""
        for name in names:
            yield from self._ledger(name).attempts()

    def _ledger(self, name: str) -> Ledger:
        return Ledger(self.out / MARKERS / name / "ledger.jsonl", self.booked)


def locate(dataset: Path | str) -> Path:
    """A folder or file given as a path, else the embedded dataset of that name."""
    path = Path(dataset)
    if path.exists():
        return path
    if isinstance(dataset, Path) or path.suffix or len(path.parts) > 1:
        raise DatasetError(
            f"{dataset}: no such folder or file; give raw data, or the name of an embedded dataset"
        )
    return dataset_path(str(dataset))


def _name(place: Path) -> str:
    """The dataset's name: its card's, else its folder's or file's."""
    if place.is_dir():
        try:
            return load_card(place).name
        except DatasetError:
            return place.resolve().name
    return slug(place.name.partition(".")[0]) or "dataset"


def _failed(name: str, code: str, reason: str) -> DatasetResult:
    return DatasetResult(
        name,
        (),
        (Rejection(name, Stage.PROPOSED, reason),),
        (Passage(name, name, Stage.CONSIDERED, code, reason),),
        reason,
    )


def _silent(dataset: str, stage: str, text: str) -> None:
    """The progress of those who want none."""
