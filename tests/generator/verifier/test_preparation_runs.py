"""prepare.py under conditions that must not matter, in a real sandbox: what is said when one does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pandas as pd
import pytest

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case, open_case
from generator.verifier.preparation.gate import check
from generator.verifier.preparation.shipped import check_shipped
from generator.verifier.preparation.submission_files import check_submission_files
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task, load_task

#: What is added to the end of prepare, the code that must name it, its severity and words of its evidence.
WRONG = [
    (
        "(public / 'x.txt').write_text(' '.join(p.name for p in public.glob('*.csv')))",
        "not_deterministic",
        "error",
        "the order in which folders are listed",
    ),
    (
        "import os\n(public / 'x.txt').write_text(os.getcwd())",
        "prepare_needs_place",
        "error",
        "the folder in which it runs",
    ),
    (
        "import datetime\n(public / 'x.txt').write_text(str(datetime.date.today()))",
        "not_deterministic",
        "error",
        "the clock",
    ),
    ("pd.read_csv('/home/me/iris.csv')", "prepare_needs_place", "error", "/home/me/iris.csv"),
    (
        "try:\n    (raw / 'done').write_text('x')\nexcept OSError:\n    pass",
        "prepare_alters_raw",
        "error",
        "raw/ differs after the run",
    ),
    (
        "import glob\nn = sum(len(open(p).readlines()) for p in glob.glob(str(public / '*.csv')))\n"
        "(public / 'lines.txt').write_text(str(n))",
        "reads_leftovers",
        "error",
        "public/lines.txt",
    ),
    ("(public / 'images').mkdir()", "reads_leftovers", "info", "FileExistsError"),
    (
        "made = public / 'all.zip'\nassert not made.exists(), f'{made.name} already exists'\n"
        "made.write_bytes(b'x')",
        "reads_leftovers",
        "info",
        "all.zip already exists",
    ),
    (
        "import zipfile, time\nwith zipfile.ZipFile(public / 'all.zip', 'w') as z:\n"
        "    z.writestr('a.csv', 'x')",
        "not_deterministic",
        "warning",
        "public/all.zip",
    ),
]


@contextmanager
def opened(task: Task, sandbox: SandboxProvider, more: str) -> Iterator[Case]:
    """The case of a task whose prepare does something more at its end."""
    text = task.prepare_path.read_text().rstrip() + "\n"
    task.prepare_path.write_text(text + "".join(f"    {line}\n" for line in more.splitlines()))
    for name in ("public", "private"):
        shutil.rmtree(task.root / name)
    with open_case(load_task(task.root), sandbox, DEFAULTS) as case:
        yield case


@pytest.mark.parametrize(("more", "code", "severity", "words"), WRONG, ids=[f"{c[1]}: {c[3]}" for c in WRONG])
def test_what_must_not_matter_is_named(
    more: str, code: str, severity: str, words: str, iris: Task, sandbox: SandboxProvider
) -> None:
    with opened(iris, sandbox, more) as case:
        findings = {each.code: each for each in check(case)}
    assert code in findings, findings
    assert findings[code].severity == severity
    assert words in findings[code].evidence


def test_progress_and_copied_media_do_not_matter(iris: Task, sandbox: SandboxProvider) -> None:
    more = (
        "import shutil, sys\n"
        "for i in range(300):\n"
        "    print(f'\\r{i}/300', end='', file=sys.stderr)\n"
        "    (public / 'media').mkdir(exist_ok=True)\n"
        "    shutil.copy(raw / 'iris.csv', public / 'media' / f'{i}.dat')"
    )
    with opened(iris, sandbox, more) as case:
        assert [each.code for each in check(case)] == ["not_prepared"]
        assert case.prepared.root != iris.root


def test_without_raw_data_the_shipped_ones_are_looked_at(iris: Task, sandbox: SandboxProvider) -> None:
    shutil.rmtree(iris.raw)
    with open_case(iris, sandbox, DEFAULTS) as case:
        assert list(check(case)) == []
        assert case.prepared.root == iris.root
        assert case.test is not None and len(case.test) == 50


def test_links_in_shipped_data_are_errors(iris: Task, sandbox: SandboxProvider) -> None:
    (iris.public / "notes.csv").symlink_to(Path("..") / "private" / "test_answer.csv")
    with open_case(iris, sandbox, DEFAULTS) as case:
        [finding] = check(case)
    assert (finding.code, finding.severity) == ("linked_output", Severity.ERROR)
    assert finding.evidence == "public/notes.csv is a link to ../private/test_answer.csv"


def test_files_that_are_only_shipped_are_looked_at_too(iris: Task, sandbox: SandboxProvider) -> None:
    (iris.public / "notes.csv").write_text("a,b\n1,2\n")
    with open_case(iris, sandbox, DEFAULTS) as case:
        findings: list[Finding] = list(check(case))
        assert [each.code for each in findings] == ["stale_data"]
        assert (case.prepared.public / "notes.csv").is_file()


def test_archives_packed_at_another_time_hold_the_same(iris: Task, tmp_path: Path) -> None:
    shutil.copytree(iris.root, tmp_path / "again")
    again = Task(tmp_path / "again", iris.spec)
    for task, year in ((iris, 2001), (again, 2020)):
        with ZipFile(task.public / "all.zip", "w") as packed:
            packed.writestr(ZipInfo("a.csv", (year, 1, 1, 0, 0, 0)), "x\n1\n")
    [finding] = check_shipped(iris, again)
    assert (finding.code, finding.severity) == ("stale_data", Severity.INFO)
    with ZipFile(again.public / "all.zip", "w") as packed:
        packed.writestr("a.csv", "x\n2\n")
    [finding] = check_shipped(iris, again)
    assert (finding.code, finding.severity) == ("stale_data", Severity.ERROR)


def test_further_columns_of_the_answers_are_never_asked_for(iris: Task) -> None:
    """Kaggle's own answers have a column Usage, and some graders keep all columns of the test rows."""
    answers = pd.read_csv(iris.answer_path, dtype=str)
    answers.assign(Usage="Private").to_csv(iris.answer_path, index=False)
    [finding] = check_submission_files(iris)
    assert (finding.code, finding.severity) == ("columns_differ", Severity.INFO)
    sample = pd.read_csv(iris.sample_path, dtype=str)
    sample.assign(Usage="Private").to_csv(iris.sample_path, index=False)
    assert {each.severity for each in check_submission_files(iris)} == {Severity.INFO, Severity.ERROR}
