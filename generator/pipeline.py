"""The line from raw datasets to verified tasks.

out/
  <task-id>/                 a verified task package
  .rejected/<task-id>/       one that did not pass, with findings.json
  .generate/<dataset>.json   what was done, by the hash of the inputs: doing it again is skipped
  funnel.csv funnel.md       how many formulations reached each stage, and why the others did not
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.datasets.catalogue import DatasetCard, DatasetError, dataset_path, load_card
from generator.funnel import Funnel, Passage, Stage, merge
from generator.profile import Profile, profile_dataset
from generator.proposals import Proposal, Refusal
from generator.rules.design import design
from generator.rules.propose import propose
from generator.verifier.verification import Verdict, Verification
from generator.verifier.verify import Plan, verify_task
from harness.errors import InputError
from harness.records import strict_json, write_atomically
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import file_hash

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
REJECTED, MARKERS, FINDINGS = ".rejected", ".generate", "findings.json"
Progress = Callable[[str, str, str], None]


@dataclass(frozen=True)
class Rejection:
    """A formulation or a package that did not become a verified task.

    Attributes:
        task: the id, or the target of a formulation that was refused.
        stage: the stage that it did not pass.
        reason: one line.
        path: the kept package, when there is one.
    """

    task: str
    stage: Stage
    reason: str
    path: Path | None = None


@dataclass(frozen=True)
class DatasetResult:
    """What one dataset gave. ``error`` is set when it could not be worked on at all."""

    dataset: str
    verified: tuple[Path, ...]
    rejected: tuple[Rejection, ...]
    passages: tuple[Passage, ...]
    error: str | None = None


@dataclass(frozen=True)
class Generation:
    """The result of :func:`generate`."""

    results: tuple[DatasetResult, ...]
    funnel: Funnel

    @property
    def complete(self) -> bool:
        """Whether every dataset gave at least one verified task."""
        return all(result.verified for result in self.results)

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
        }  # fmt: skip


def generate(
    datasets: Sequence[Path | str],
    out: Path,
    *,
    provider: SandboxProvider,
    max_tasks: int = 3,
    verify: bool = True,
    deep: bool = True,
    execution: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> Generation:
    """Make verified tasks from raw datasets; one dataset's failure never stops the others.

    Running it again keeps what is done and takes up what is not.

    Args:
        datasets: folders, or names of embedded datasets.
        out: where the tasks go; see the module's drawing.
        provider: opens the sandboxes in which the tasks' code runs.
        max_tasks: most tasks for each dataset.
        verify: run the verifier; without it, prepared packages count as done but not as verified.
        deep: let the verifier train baselines.
        execution: with ``deep``, let it try each task with an agent, too.
        workers: datasets at a time.
        progress: told the dataset, the stage and what happens; from several threads with several workers.

    Raises:
        InputError: no dataset is given, one does not exist, or ``max_tasks`` is less than 1; then nothing
            has been done.
    """
    if not datasets:
        raise InputError("no dataset given; name a folder or an embedded dataset")
    if max_tasks < 1:
        raise InputError(f"max_tasks is {max_tasks}; it must be at least 1")
    for dataset in datasets:
        _locate(dataset)
    out.mkdir(parents=True, exist_ok=True)
    plan = Plan(deep=deep, execution=execution)
    line = _Line(out.resolve(), provider, max_tasks, verify, plan, progress or _silent)
    with ThreadPoolExecutor(max(1, workers), thread_name_prefix="dataset") as pool:
        results = tuple(pool.map(line.run, datasets))
    funnel = merge([result.passages for result in results])
    write_atomically(out / "funnel.csv", funnel.as_csv())
    write_atomically(out / "funnel.md", funnel.as_markdown())
    return Generation(results, funnel)


@dataclass(frozen=True)
class _Line:
    """The fixed part of one generation."""

    out: Path
    provider: SandboxProvider
    max_tasks: int
    verify: bool
    plan: Plan
    progress: Progress

    def run(self, dataset: Path | str) -> DatasetResult:
        """One dataset, whatever happens."""
        name = str(dataset)
        try:
            folder = _locate(dataset)
            card = load_card(folder)
            name = card.name
            return self._run(folder, card)
        except DatasetError as error:
            return _failed(name, "unreadable", str(error))
        except Exception as error:  # whatever is wrong with one dataset, the others go on
            log.exception("%s: could not be worked on", name)
            return _failed(name, "internal_error", f"{type(error).__name__}: {error}")

    def _run(self, folder: Path, card: DatasetCard) -> DatasetResult:
        started = time.monotonic()
        self.progress(card.name, "profile", "reading the raw data")
        profile = profile_dataset(folder, card.name)
        marker = self.out / MARKERS / f"{card.name}.json"
        identity = _identity(card, profile.sha256, self.max_tasks)
        known = _recall(marker, identity)
        if known is not None:
            proposals, refusals = known
        else:
            self.progress(card.name, "propose", "looking for targets that can be learned")
            outcome = propose(folder, card, profile, max_tasks=self.max_tasks)
            proposals, refusals = outcome.proposals, outcome.refusals
            _remember(marker, identity, proposals, refusals)
        passages, rejected = [], []
        for refusal in refusals:
            code = _code(refusal.reason)
            passages.append(
                Passage(
                    card.name,
                    refusal.target,
                    Stage.CONSIDERED,
                    code,
                    refusal.reason,
                    objective=refusal.objective,
                )
            )
            rejected.append(Rejection(refusal.target, Stage.PROPOSED, refusal.reason))
        shared = (time.monotonic() - started) / max(1, len(proposals))
        verified = []
        for proposal in proposals:
            begun = time.monotonic()
            reached, code, reason, path = self._make(proposal, folder, card, profile)
            if reached is Stage.VERIFIED or (reached is Stage.PREPARED and not code):
                assert path is not None
                verified.append(path)
            else:
                rejected.append(Rejection(proposal.id, _next(reached), reason, path))
            seconds = shared + time.monotonic() - begun
            kinds = (proposal.modality, proposal.objective, proposal.metric)
            passages.append(Passage(card.name, proposal.id, reached, code, reason, seconds, *kinds))
        return DatasetResult(card.name, tuple(verified), tuple(rejected), tuple(passages))

    def _make(
        self, proposal: Proposal, folder: Path, card: DatasetCard, profile: Profile
    ) -> tuple[Stage, str, str, Path | None]:
        """Design, prepare and verify one task: the stage reached, and why it went no further."""
        key = hashlib.sha256(
            f"{_rules_hash()}\0{card.model_dump_json()}\0{profile.sha256}\0{proposal.model_dump_json()}".encode()
        ).hexdigest()
        marker = self.out / MARKERS / card.name / f"{proposal.id}.json"
        done = _read(marker)
        home = self.out / proposal.id
        away = self.out / REJECTED / proposal.id
        root = next((path for path in (home, away) if path.is_dir()), None)
        if done.get("key") != key or root is None:
            if root is not None and done.get("key") is None and not _is_ours(root, card):
                return Stage.PROPOSED, "name_taken", f"{root} belongs to another dataset", None
            work = self.out / MARKERS / "work"
            self.progress(card.name, "design", proposal.id)
            try:
                made = design(proposal, folder, card, profile, work, self.provider)
            except InputError as error:
                return Stage.DESIGNED, "prepare_failed", str(error), None
            except Exception as error:  # one task's failure must not take the others along
                log.exception("%s: could not be designed", proposal.id)
                return Stage.PROPOSED, "internal_error", f"{type(error).__name__}: {error}", None
            for old in (home, away):
                shutil.rmtree(old, ignore_errors=True)
            made.rename(home)
            root = home
            write_atomically(marker, strict_json({"schema_version": SCHEMA_VERSION, "key": key}))
        if not self.verify:
            return Stage.PREPARED, "", "", root
        self.progress(card.name, "verify", proposal.id)
        result = verify_task(root, self.provider, self.plan, cache=self.out / MARKERS / "verdicts")
        return self._settle(result, root, home, away)

    def _settle(
        self, result: Verification, root: Path, home: Path, away: Path
    ) -> tuple[Stage, str, str, Path | None]:
        if result.verdict is Verdict.VERIFIED:
            if root != home:
                root.rename(home)
            (home / FINDINGS).unlink(missing_ok=True)
            return Stage.VERIFIED, "", "", home
        if result.verdict is Verdict.ERROR:
            return Stage.PREPARED, "machine", result.error or "verification was interrupted", root
        if root != away:
            away.parent.mkdir(exist_ok=True)
            root.rename(away)
        write_atomically(away / FINDINGS, strict_json(result.to_dict()) + "\n")
        worst = next(found for found in result.findings if found.severity == "error")
        return Stage.PREPARED, worst.code, worst.evidence, away


def _locate(dataset: Path | str) -> Path:
    """A folder given as a path, else the embedded dataset of that name."""
    path = Path(dataset)
    if path.is_dir():
        return path
    if isinstance(dataset, Path):
        raise DatasetError(f"{dataset}: no such folder; give a folder of raw data or an embedded dataset")
    return dataset_path(str(dataset))


def _failed(name: str, code: str, reason: str) -> DatasetResult:
    return DatasetResult(
        name,
        (),
        (Rejection(name, Stage.PROPOSED, reason),),
        (Passage(name, name, Stage.CONSIDERED, code, reason),),
        reason,
    )


def _next(reached: Stage) -> Stage:
    order = tuple(Stage)
    return order[min(order.index(reached) + 1, len(order) - 1)]


def _code(reason: str) -> str:
    """A short word for a refusal."""
    for word, code in (
        ("hardly", "unlearnable"),
        ("give", "given_away"),
        ("rows", "few_rows"),
        ("image", "few_images"),
    ):
        if word in reason:
            return code
    return "unfit"


@functools.cache
def _rules_hash() -> str:
    """Hash of the code that proposes and designs: work done by other code is done again."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.glob("*.py"), *here.glob("rules/**/*.py"), *here.glob("rules/**/*.j2")]):
        digest.update(f"{path.relative_to(here).as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()


def _identity(card: DatasetCard, sha256: str, max_tasks: int) -> str:
    return hashlib.sha256(
        f"{_rules_hash()}\0{card.model_dump_json()}\0{sha256}\0{max_tasks}".encode()
    ).hexdigest()


def _is_ours(root: Path, card: DatasetCard) -> bool:
    path = root / "task.toml"
    return path.is_file() and f"dataset = {json.dumps(card.name)}" in path.read_text(encoding="utf-8")


def _remember(
    marker: Path, identity: str, proposals: Sequence[Proposal], refusals: Sequence[Refusal]
) -> None:
    document = {
        "schema_version": SCHEMA_VERSION,
        "identity": identity,
        "proposals": [proposal.model_dump(mode="json") for proposal in proposals],
        "refusals": [refusal.model_dump(mode="json") for refusal in refusals],
    }
    write_atomically(marker, strict_json(document) + "\n")


def _recall(marker: Path, identity: str) -> tuple[tuple[Proposal, ...], tuple[Refusal, ...]] | None:
    document = _read(marker)
    if document.get("schema_version") != SCHEMA_VERSION or document.get("identity") != identity:
        return None
    return (
        tuple(Proposal.model_validate(each) for each in document["proposals"]),
        tuple(Refusal.model_validate(each) for each in document["refusals"]),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _silent(dataset: str, stage: str, text: str) -> None:
    """The progress of those who want none."""
