"""The self-test: clean tasks must pass, and injected defects must be named."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.defects.registry import DEFECTS
from generator.verifier.selftest.choosing import chosen, possible
from generator.verifier.selftest.classes import CLASSES
from generator.verifier.selftest.clean.catalogue import CLEAN
from generator.verifier.selftest.clean.task import CleanTask
from generator.verifier.selftest.injections.catalogue import INJECTIONS
from generator.verifier.selftest.result import SelfTest
from generator.verifier.selftest.trials import Outcome, Trial, Workshop
from generator.verifier.verification import Verification
from generator.verifier.verify import Plan
from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers

Progress = Callable[[str], None]


def self_test(
    provider: SandboxProvider,
    *,
    numbers: Collection[int] = (),
    tasks: Collection[str] = (),
    full: bool = False,
    workers: int = 1,
    seed: int = 0,
    cache: Path | None = None,
    keep: Path | None = None,
    progress: Progress | None = None,
    quick: bool = False,
) -> SelfTest:
    """Verify the clean tasks, inject defects into copies of them, and verify these.

    Args:
        provider: opens sandboxes.
        numbers: the classes of defects; all unless some are named.
        tasks: the names of the clean tasks; all that are not costly unless some are named.
        full: every variant of every class on every task it applies to, costly ones too, not two for each
            class.
        workers: how many packages are verified at once.
        seed: draws which trials are run, and what injections draw.
        cache: folder for remembered verdicts: what was verified before is not verified again.
        keep: where packages of missed trials are kept, if anywhere.
        progress: told what was done.
        quick: look at the clean tasks without the gates that train baselines.

    Raises:
        InputError: there is no such class or clean task.
    """
    asked, clean = tuple(sorted(set(numbers) or set(CLASSES))), _clean(tasks, full)
    say = progress or (lambda text: None)
    injections = [each for each in INJECTIONS if each.number in asked]
    trials = possible(injections, clean)
    if not full:
        trials = chosen(trials, seed=seed)
    if not tasks:
        used = {trial.clean.name for trial in trials}
        clean = [task for task in clean if not numbers or task.name in used]
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("selftest")) as name:
        shop = Workshop(Path(name), provider, cache=cache, keep=keep, seed=seed)
        with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
            for task in clean:
                shop.build(task)
            plan = Plan(deep=False) if quick else Plan()
            verdicts = dict(
                zip(
                    [task.name for task in clean],
                    pool.map(lambda task: _check(shop, task, plan, say), clean),
                    strict=True,
                )
            )
            base = {name: frozenset(found.code for found in said.findings) for name, said in verdicts.items()}
            done = _counted(
                pool.map(lambda trial: shop.run(trial, base[trial.clean.name]), trials), len(trials), say
            )
    return SelfTest(tuple(done), verdicts, {task.name: task for task in clean}, asked)


def numbers_of(words: Iterable[str]) -> list[int]:
    """Class numbers, from numbers and from codes of findings.

    Raises:
        InputError: a word is neither.
    """
    numbers: set[int] = set()
    for word in words:
        if word.isdigit() and int(word) in CLASSES:
            numbers.add(int(word))
        elif word in DEFECTS:
            found = {number for number, kind in CLASSES.items() if word in kind.codes}
            if not found:
                raise InputError(f"--class {word}: no class of the catalogue is caught by this code")
            numbers |= found
        else:
            raise InputError(f"--class {word}: give a number from 1 to {len(CLASSES)}, or a code of a defect")
    return sorted(numbers)


def _clean(names: Collection[str], full: bool) -> list[CleanTask]:
    unknown = sorted(set(names) - set(CLEAN))
    if unknown:
        raise InputError(f"--task {unknown[0]}: no such clean task; there are {', '.join(CLEAN)}")
    if names:
        return [CLEAN[name] for name in CLEAN if name in names]
    return [task for task in CLEAN.values() if full or not task.costly]


def _check(shop: Workshop, task: CleanTask, plan: Plan, say: Progress) -> Verification:
    said = shop.check_clean(task, plan)
    say(f"clean {task.name}: {said.verdict} ({said.seconds:.0f} s)")
    return said


def _counted(outcomes: Iterable[Outcome], total: int, say: Progress) -> list[Outcome]:
    done = []
    for place, outcome in enumerate(outcomes, start=1):
        done.append(outcome)
        say(f"{place}/{total} {_told(outcome)}")
    return done


def _told(outcome: Outcome) -> str:
    trial: Trial = outcome.trial
    what = f"{trial.injection.number} {CLASSES[trial.injection.number].name} ({trial.injection.name})"
    end = f"caught by {outcome.by}" if outcome.caught else "MISSED"
    return f"{what} in {trial.clean.name}: {outcome.broken or end} ({outcome.verification.seconds:.0f} s)"
