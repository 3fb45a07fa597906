"""prepare.py that fails, differs, depends on its surroundings, or makes what is not in raw/ (56 to 67)."""

from __future__ import annotations

from generator.defects.base import Gate
from generator.verifier.selftest.clean.task import CleanTask
from generator.verifier.selftest.injections.base import (
    Injection,
    Subject,
    anything,
    has_free_tables,
    has_tables,
)
from generator.verifier.selftest.injections.rewriting import files, tables, wrap

_LAST = Gate.PREPARATION


def _before(line: str) -> str:
    """A line put at the beginning of the author's function."""
    return rf"\g<0>\n    {line}"


def _at_start(subject: Subject, *lines: str) -> None:
    subject.replace("prepare.py", r"^def prepare\(.*:$", _before("\n    ".join(lines)))


def _import(subject: Subject, line: str) -> None:
    subject.replace("prepare.py", r"^import pandas as pd$", rf"import pandas as pd\n{line}")


def _stale(subject: Subject) -> None:
    """The data stay those of the first prepare.py; then it is edited and not run again."""
    subject.ship()
    wrap(
        subject,
        "train = train.iloc[rng.permutation(len(train))[: int(0.9 * len(train))]]"
        if subject.clean.tables
        else "sample[TARGET] = sample[TARGET].iloc[0]\nsample = sample.iloc[::-1]",
        tables=subject.clean.tables,
    )


def _stale_by_hand(subject: Subject) -> None:
    """Somebody edited the shipped answers."""
    subject.ship()
    path = subject.root / "private" / "test_answer.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1], lines[2] = (
        f"{a.partition(',')[0]},{b.partition(',')[2]}"
        for a, b in ((lines[1], lines[-1]), (lines[2], lines[-2]))
    )
    path.write_text("\n".join([*lines, lines.pop()]) + "\n", encoding="utf-8")


def _reads_csv(task: CleanTask) -> bool:
    return task.tables and task.name in (
        "credit-papers",
        "photo-regions",
        "concrete-samples",
        "biopsy-cells",
        "strike-remarks",
        "film-genres",
        "demand-days",
        "titanic-survival",
        "water-main",
    )


def _has_texts(task: CleanTask) -> bool:
    return task.text is not None and task.tables


INJECTIONS = (
    Injection(
        56,
        "a bracket too many",
        lambda s: s.replace("prepare.py", r"^def prepare\(", "def prepare(("),
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        56,
        "a module that is not there",
        lambda s: _import(s, "import data_helpers"),
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        57,
        "drawn without a seed",
        tables("train = train.iloc[np.random.default_rng().permutation(len(train))]"),
        has_tables,
        last=_LAST,
    ),
    Injection(
        57,
        "the order of a set",
        files("""
        words = {str(v) for v in answers[TARGET]} | {"a", "b", "c", "d"}
        (public / "labels.txt").write_text("\\n".join(words))
        """),
        anything,
        last=_LAST,
    ),
    Injection(
        57,
        "the time of day is written",
        files("""
        import datetime
        (public / "README.md").write_text(f"made at {datetime.datetime.now().isoformat()}")
        """),
        anything,
        last=_LAST,
    ),
    Injection(
        58,
        "another branch for old versions of pandas",
        tables("""
        if int(pd.__version__.split(".")[0]) >= 2:
            train = train.sort_values(ID, kind="stable")
        else:
            train = train.sample(frac=0.9, random_state=1)
        """),
        has_tables,
        last=_LAST,
    ),
    Injection(
        58,
        "another branch for old versions of Python",
        files("""
        import sys
        if sys.version_info < (3, 10):
            (public / "old.txt").write_text("made by an old Python")
        """),
        anything,
        last=_LAST,
    ),
    Injection(
        59,
        "a file of raw/ is removed",
        files("sorted(p for p in raw.rglob('*') if p.is_file())[-1].unlink()"),
        anything,
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        59,
        "a raw table is written again",
        files("""
        path = sorted(p for p in raw.rglob("*") if p.is_file())[0]
        path.write_bytes(path.read_bytes() + b"\\n")
        """),
        anything,
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        60,
        "a path of the author's machine, if it is there",
        lambda s: _at_start(
            s, 'mine = Path("/home/dana/kaggle/input/data")', "raw = mine if mine.is_dir() else raw"
        ),
        anything,
        last=_LAST,
    ),
    Injection(
        60,
        "the data are looked for where it was started",
        lambda s: _at_start(s, 'raw = Path("raw")'),
        anything,
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        60,
        "a path of Windows",
        lambda s: _at_start(s, r'backup = Path(r"C:\\Users\\dana\\data")', "raw = raw or backup"),
        anything,
        last=_LAST,
    ),
    Injection(
        61,
        "a download",
        lambda s: _at_start(
            s,
            "import urllib.request",
            'urllib.request.urlopen("https://data.example.org/units.csv", timeout=5)',
        ),
        anything,
        last=_LAST,
        unshipped=True,
    ),
    Injection(
        61,
        "a download that may fail",
        lambda s: _at_start(
            s,
            "import urllib.request",
            "try:",
            '    urllib.request.urlretrieve("https://data.example.org/a.csv", public / "a.csv")',
            "except OSError:",
            "    pass",
        ),
        anything,
        last=_LAST,
    ),
    Injection(
        62,
        "what is there is not made again",
        lambda s: wrap(
            s,
            """
            marker = public / "sample_submission.csv"
            counter = public / "runs.txt"
            runs = int(counter.read_text()) + 1 if counter.exists() else 1
            counter.write_text(str(runs))
            """,
            tables=False,
            save=False,
        ),
        anything,
        last=_LAST,
    ),
    Injection(
        62,
        "rows are appended to a file",
        files("""
        with (public / "all_ids.csv").open("a") as stream:
            stream.write("\\n".join(str(v) for v in answers[ID]) + "\\n")
        """),
        anything,
        last=_LAST,
    ),
    Injection(63, "prepare.py was edited later", _stale, last=_LAST, unshipped=True),
    Injection(63, "the shipped answers were edited", _stale_by_hand, last=_LAST, unshipped=True),
    Injection(64, "a part of the rows is lost", tables("train = train.iloc[::2]"), has_tables, last=_LAST),
    Injection(
        64,
        "rows made by mixing two",
        tables("""
        new = train.sample(len(train) // 3, random_state=1).reset_index(drop=True)
        other = train.sample(len(train) // 3, random_state=2).reset_index(drop=True)
        for name in numeric:
            a, b = floats(new[name]), floats(other[name])
            mixed = ((a + b) / 2).round(4)
            new[name] = mixed.astype(object).where(mixed.notna(), "")
        new[ID] = [f"8{number:06d}" for number in range(len(new))]
        train = pd.concat([train, new], ignore_index=True)
        """),
        lambda task: has_free_tables(task) and task.features,
        last=_LAST,
    ),
    Injection(
        64,
        "texts put together from two",
        tables("""
        column = features[0]
        new = train.sample(len(train) // 3, random_state=1).reset_index(drop=True)
        other = train.sample(len(train) // 3, random_state=2)[column].to_numpy()
        new[column] = [" ".join(str(a).split()[:6] + str(b).split()[-6:]) for a, b in zip(new[column], other)]
        new[ID] = [f"8{number:06d}" for number in range(len(new))]
        train = pd.concat([train, new], ignore_index=True)
        """),
        lambda task: _has_texts(task) and not task.features,
        last=_LAST,
    ),
    Injection(
        65,
        "a column of numbers drawn at random",
        tables("""
        for table in (train, test):
            table["credit_index"] = rng.normal(500, 80, len(table)).round(1)
        """),
        has_free_tables,
        last=_LAST,
    ),
    Injection(
        65,
        "a feature's numbers are replaced by invented ones",
        tables("""
        name = numeric[0]
        both = floats(pd.concat([train[name], test[name]]))
        for table in (train, test):
            table[name] = rng.normal(both.mean(), both.std(), len(table)).round(3)
        """),
        lambda task: has_free_tables(task) and task.features and task.modality == "tabular",
        last=_LAST,
    ),
    Injection(
        65,
        "invented texts",
        tables("""
        column = features[0]
        words = ["system", "normal", "flight", "load", "report", "minor", "job", "queue", "status", "late"]
        for table in (train, test):
            invented = [" ".join(rng.choice(words, 9)) for _ in range(len(table))]
            table[column] = np.where(rng.random(len(table)) < 0.4, invented, table[column])
        """),
        lambda task: _has_texts(task) and not task.features,
        last=_LAST,
    ),
    Injection(
        66,
        "only the first rows are read",
        lambda s: s.replace("prepare.py", r"read_csv\((raw / \"[^\"]+\")", r"read_csv(\g<1>, nrows=450"),
        _reads_csv,
        last=_LAST,
    ),
    Injection(
        66,
        "only the head is used",
        lambda s: s.replace("prepare.py", r"^(\s+\w+ = pd\.read_csv\(.*\))$", r"\g<1>.head(450)"),
        lambda task: (
            task.name
            in ("credit-papers", "photo-regions", "concrete-samples", "demand-days", "titanic-survival")
        ),
        last=_LAST,
    ),
    Injection(
        66,
        "only the first lines are used",
        lambda s: s.replace("prepare.py", r"\.splitlines\(\)", ".splitlines()[:500]"),
        lambda task: task.name in ("scheduler-log", "sunspot-cycle"),
        last=_LAST,
    ),
    Injection(
        67,
        "all columns in one",
        tables("""
        for table, own in ((train, [ID, *TARGETS]), (test, [ID])):
            rest = [n for n in table.columns if n not in own]
            packed = table[rest].astype(str).agg(";".join, axis=1)
            for name in rest:
                del table[name]
            table[";".join(rest)] = packed
        """),
        lambda task: task.tables and task.features,
    ),
    Injection(
        67,
        "the header became a row",
        tables("""
        for table in (train, test):
            table.columns = [n if n in (ID, *TARGETS) else f"{k}" for k, n in enumerate(table.columns)]
        train.loc[len(train)] = [n if n in (ID, *TARGETS) else f for n, f in zip(train.columns, ["x"] * 99)]
        first = dict(zip(train.columns, [ID if n == ID else n for n in train.columns]))
        for name, old in zip([n for n in train.columns if n not in (ID, *TARGETS)], features):
            train.loc[train.index[-1], name] = old
        """),
        lambda task: task.tables and task.features and task.modality == "tabular",
    ),
    Injection(
        67,
        "read in the wrong encoding",
        tables("""
        column = next(n for n in features if n not in numeric)
        for table in (train, test):
            marked = table[column].astype(str).str.replace("[eE]", "\\ufffd", regex=True)
            assert not marked.equals(table[column])
            table[column] = table[column].where(np.arange(len(table)) % 3 > 0, marked)
        """),
        _has_texts,
    ),
    Injection(
        67,
        "letters with marks read in the wrong encoding",
        tables("""
        column = next(n for n in features if n not in numeric)
        for table in (train, test):
            marked = table[column].astype(str)
            for bare, letter in zip("eaEA", "\\u00e9\\u00fc\\u00c9\\u00dc"):
                marked = marked.str.replace(bare, letter.encode().decode("latin-1"), regex=False)
            assert not marked.equals(table[column])
            table[column] = table[column].where(np.arange(len(table)) % 2 > 0, marked)
        """),
        _has_texts,
    ),
)
