"""One trial of the self-test: a defect is put into a copy of a clean package, which is verified."""

from __future__ import annotations

import logging
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from generator.defects.base import Finding, Gate, has_errors
from generator.verifier.selftest.classes import CLASSES
from generator.verifier.selftest.clean.task import CleanTask
from generator.verifier.selftest.injections.base import Injection, Machine, Subject
from generator.verifier.selftest.injections.machine import LosesSandboxes, ShowsPrivate
from generator.verifier.verification import Verdict, Verification
from generator.verifier.verify import Plan, verify_task, verify_tasks
from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers
from harness.tasks.package import load_task
from harness.tasks.preparing import prepare_task

log = logging.getLogger(__name__)

#: Findings that say that an injection did not work, unless its class expects them.
_BROKEN = frozenset({"prepare_failed", "prepare_timeout", "bad_task_toml", "syntax_error"})


@dataclass(frozen=True)
class Trial:
    """One injection into one clean task."""

    injection: Injection
    clean: CleanTask

    @property
    def codes(self) -> frozenset[str]:
        """The findings that count as caught."""
        return frozenset(self.injection.codes or CLASSES[self.injection.number].codes)


@dataclass(frozen=True)
class Outcome:
    """What a trial gave.

    Attributes:
        trial: the trial.
        caught: the defect was named.
        by: the gate that named it first; ``"verdict"`` where the verdict itself is the right answer.
        verification: what the verifier said.
        broken: why the injection did not work, if so; such a trial counts as neither caught nor missed.
    """

    trial: Trial
    caught: bool
    by: str | None
    verification: Verification
    broken: str | None = None


class Workshop:
    """Builds clean packages once, and runs trials on copies of them.

    Args:
        scratch: where packages are built.
        provider: opens sandboxes.
        cache: folder for remembered verdicts.
        keep: where packages of missed trials are kept, if anywhere.
        seed: of all that injections draw at random.
    """

    def __init__(
        self,
        scratch: Path,
        provider: SandboxProvider,
        *,
        cache: Path | None = None,
        keep: Path | None = None,
        seed: int = 0,
    ) -> None:
        self.scratch, self.provider, self.cache, self.keep, self.seed = scratch, provider, cache, keep, seed

    def build(self, clean: CleanTask) -> Path:
        """The unprepared package of a clean task, built at most once."""
        root = self.scratch / "clean" / clean.name / clean.name
        if not root.is_dir():
            with tempfile.TemporaryDirectory(dir=self.scratch) as name:
                clean.write(Path(name) / clean.name)
                root.parent.mkdir(parents=True, exist_ok=True)
                (Path(name) / clean.name).replace(root)
        return root

    def check_clean(self, clean: CleanTask, plan: Plan | None = None) -> Verification:
        """What the verifier says of the clean package, with all its gates unless told otherwise."""
        with self._copy(clean) as place:
            root = Path(place) / clean.name
            if clean.shipped:
                prepare_task(load_task(root), self.provider)
            return verify_task(root, self.provider, plan or Plan(), cache=self.cache)

    def run(self, trial: Trial, base: frozenset[str] = frozenset()) -> Outcome:
        """Run one trial; ``base`` are the codes that are found in the clean task, which prove nothing."""
        injection = trial.injection
        with self._copy(trial.clean) as place:
            root = Path(place) / trial.clean.name
            subject = Subject(trial.clean, root, self.provider, self.seed)
            injection.apply(subject)
            if trial.clean.shipped and not injection.unshipped:
                try:
                    subject.ship()
                except TaskError as error:
                    log.debug("%s: handed on without data: %s", root.name, error)
            result = self._verified(root, self._machine(subject, injection), plan_of(injection))
            outcome = judge(trial, result, base)
            if self.keep is not None and not outcome.caught:
                name = f"{injection.number:02d}-{trial.clean.name}-{_slug(injection.name)}"
                shutil.rmtree(self.keep / name, ignore_errors=True)
                shutil.copytree(place, self.keep / name, symlinks=True)
            return outcome

    def _verified(self, root: Path, provider: SandboxProvider, plan: Plan) -> Verification:
        """What is said of the package; of it and its neighbours, where an injection put any beside it."""
        roots = sorted(path.parent for path in root.parent.glob("*/task.toml"))
        if roots in ([], [root]):
            return verify_task(root, provider, plan, cache=self.cache)
        said = verify_tasks(roots, provider, plan, cache=self.cache)
        findings = tuple(found for each in said for found in each.findings)
        return replace(said[roots.index(root)], findings=findings)

    def _copy(self, clean: CleanTask) -> tempfile.TemporaryDirectory[str]:
        built = self.build(clean)
        place = tempfile.TemporaryDirectory(prefix=leftovers.prefix("selftest"), dir=self.scratch)
        shutil.copytree(built, Path(place.name) / clean.name)
        return place

    def _machine(self, subject: Subject, injection: Injection) -> SandboxProvider:
        if injection.machine is Machine.SHOWS_PRIVATE:
            return ShowsPrivate(subject.root / "private")
        if injection.machine is Machine.LOSES_SANDBOXES:
            return LosesSandboxes()
        return self.provider


def plan_of(injection: Injection) -> Plan:
    """Verification up to the gate that the injection needs, without costly ones before it."""
    deep = injection.last in (Gate.EMPIRICAL, Gate.EXECUTION)
    return Plan(deep=deep, execution=injection.last is Gate.EXECUTION, last=injection.last)


def judge(trial: Trial, result: Verification, base: frozenset[str]) -> Outcome:
    """Whether what the verifier said names the defect."""
    if trial.injection.machine is Machine.LOSES_SANDBOXES:
        blamed = [found for found in result.findings if found.stage is not Gate.STRUCTURE]
        caught = result.verdict is Verdict.ERROR and not blamed and not has_errors(result.findings)
        return Outcome(trial, caught, "verdict" if caught else None, result)
    if result.verdict is Verdict.ERROR:
        return Outcome(trial, False, None, result, f"the verification ended with: {result.error}")
    naming = [found for found in result.findings if found.code in trial.codes - base]
    broken = _broken(trial, result.findings)
    return Outcome(trial, bool(naming), str(naming[0].stage) if naming else None, result, broken)


def _broken(trial: Trial, findings: tuple[Finding, ...]) -> str | None:
    for found in findings:
        if found.code in _BROKEN - trial.codes:
            return f"{found.code}: {found.evidence}"
    return None


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())[:40]
