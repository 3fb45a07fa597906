"""What the code of a task depends on is read from its syntax tree, near misses apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.defects.base import Finding, Severity
from generator.verifier.structure.environment import check_environment
from generator.verifier.structure.network import check_network
from generator.verifier.structure.paths import check_paths
from generator.verifier.structure.syntax import Source
from generator.verifier.structure.truncation import check_truncation

Check = Callable[[Source], Iterator[Finding]]
HEAD = """\
import os, random, time, datetime, re, itertools
from datetime import datetime as dt
from pathlib import Path
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split, StratifiedKFold


def prepare(raw, public, private):
"""


def found(check: Check, folder: Path, body: str) -> list[Finding]:
    """What a check says of a prepare.py with that body."""
    path = folder / "prepare.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    return list(check(Source(path)))


WRONG: list[tuple[Check, str]] = [
    (check_paths, 'pd.read_csv("/home/me/flowers.csv")'),
    (check_paths, 'source = Path("/kaggle/input/pets")'),
    (check_paths, r'open("C:\\data\\pets.csv")'),
    (check_paths, r'Path(r"D:\\pets\\dogs")'),
    (check_paths, r'root = r"\\server\share\pets"'),
    (check_paths, 'os.path.join("~/data", "x.csv")'),
    (check_paths, 'folder = "/Users/ann/birds"'),
    (check_paths, 'Path.home() / "x.csv"'),
    (check_paths, "name = 'a'\npd.read_csv(f'/srv/pets/{name}.csv')"),
    (check_network, "import requests\nrequests.get(address)"),
    (check_network, "from urllib.request import urlopen"),
    (check_network, 'pd.read_csv("https://example.org/x.csv")'),
    (check_network, "from sklearn.datasets import fetch_california_housing\nfetch_california_housing()"),
    (check_network, "import torchvision\ntorchvision.datasets.MNIST('x', download=True)"),
    (check_network, "from datasets import load_dataset\nload_dataset('imdb')"),
    (check_network, 'os.system("wget -q " + address)'),
    (check_network, "import subprocess\nsubprocess.run(['curl', '-O', 'x'])"),
    (check_environment, "table.sample(frac=1)"),
    (check_environment, "table.sample(frac=1, random_state=None)"),
    (check_environment, "np.random.permutation(9)"),
    (check_environment, "random.shuffle(names)"),
    (check_environment, "rng = np.random.default_rng()"),
    (check_environment, "train_test_split(table, test_size=0.2)"),
    (check_environment, "StratifiedKFold(5, shuffle=True)"),
    (check_environment, "np.random.seed(int(time.time()))"),
    (check_environment, "table['made'] = dt.now()"),
    (check_environment, "year = datetime.date.today().year"),
    (check_environment, "if pd.__version__ < '2':\n    pass"),
    (check_environment, "seed = int(os.environ['SEED'])"),
    (check_environment, "part = os.getpid() % 5"),
    (check_environment, "part = hash(name) % 5"),
    (check_environment, "table['age'] = path.stat().st_mtime"),
    (check_truncation, "table = pd.read_csv(raw / 'x.csv', nrows=500)"),
    (check_truncation, "table = pd.read_csv(raw / 'x.csv').head(500)"),
    (check_truncation, "table = pd.read_json(raw / 'x.json')\ntable = table[:500]"),
    (
        check_truncation,
        "table = pd.read_csv(raw / 'x.csv')\nsmall = table.iloc[:500]\nsmall.to_csv(public / 'y')",
    ),
    (check_truncation, "files = sorted((raw / 'pets').glob('*.jpg'))[:100]"),
    (check_truncation, "for path in sorted(raw.rglob('*.wav'))[:100]:\n    pass"),
    (check_truncation, "lines = (raw / 'x.txt').read_text().splitlines()[:1000]"),
    (check_truncation, "lines = itertools.islice(open(raw / 'x').readlines(), 100)"),
    (check_truncation, "for i, line in enumerate(lines):\n    if i >= 100:\n        break"),
]

FINE: list[tuple[Check, str]] = [
    (check_paths, 'pd.read_csv(raw / "flowers.csv")'),
    (check_paths, '"/home/me is only named in a docstring"'),
    (check_paths, 're.sub("/usr/[a-z]+/", "", text)'),
    (check_paths, 'parts = text.split("/")\nunit = "km/h"'),
    (check_paths, 'table["url"].str.startswith("/data/")'),
    (check_paths, 'link = "https://example.org/data/x"'),
    (check_paths, 'log = "/dev/null"'),
    (check_paths, r'ends = r"\\n\\t"'),
    (check_paths, 'share = "a:b"'),
    (check_network, 'table["url"] = "https://example.org/" + table["slug"]'),
    (check_network, "from sklearn.datasets import load_iris\nload_iris()"),
    (check_network, "os.system('unzip x.zip')"),
    (check_environment, "table.sample(frac=1, random_state=7)"),
    (check_environment, "np.random.seed(7)\ntable.sample(frac=1)\nnp.random.permutation(9)"),
    (check_environment, "rng = np.random.default_rng(7)\nrng.shuffle(names)\nrng.permutation(5)"),
    (check_environment, "draw = random.Random(7)\ndraw.sample(names, 5)"),
    (check_environment, "train_test_split(table, shuffle=False)"),
    (check_environment, "start = time.time()\nprint(time.time() - start)"),
    (check_environment, "print(dt.now(), pd.__version__)"),
    (check_environment, "os.environ['OMP_NUM_THREADS'] = '1'"),
    (check_environment, "model(n_jobs=os.cpu_count())"),
    (check_environment, "dt.strptime(text, '%Y')\ntime.strftime('%Y', stamp)"),
    (check_truncation, "table = pd.read_csv(raw / 'x.csv')\nprint(table.head(20))"),
    (check_truncation, "columns = pd.read_csv(raw / 'x.csv', nrows=5).columns"),
    (
        check_truncation,
        "table = pd.read_csv(raw / 'x.csv')\ntrain = table.iloc[:500]\ntest = table.iloc[500:]",
    ),
    (
        check_truncation,
        "table = pd.read_csv(raw / 'x.csv').sample(frac=1, random_state=7)\ntest = table[:50]",
    ),
    (check_truncation, "table = pd.read_csv(raw / 'x.csv').iloc[:, :5]"),
    (check_truncation, "lines = open(raw / 'x').readlines()[:-1]"),
    (check_truncation, "names = sorted(seen)[:5]"),
]


def words(value: Check | str) -> str:
    """The name of a test case."""
    return value[:60] if isinstance(value, str) else value.__name__


@pytest.mark.parametrize(("check", "body"), WRONG, ids=words)
def test_dependence_is_named_with_its_line(check: Check, body: str, tmp_path: Path) -> None:
    [finding] = found(check, tmp_path, body)
    assert finding.severity is Severity.WARNING
    assert finding.evidence.startswith("prepare.py: line ")
    assert (
        finding.code
        == {
            check_paths: "absolute_path",
            check_network: "uses_network",
            check_environment: "environment_dependent",
            check_truncation: "truncates_raw",
        }[check]
    )


@pytest.mark.parametrize(("check", "body"), FINE, ids=words)
def test_near_misses_are_passed(check: Check, body: str, tmp_path: Path) -> None:
    assert found(check, tmp_path, body) == []


def test_many_places_are_counted(tmp_path: Path) -> None:
    """The head has nine lines, so the first of the five stands on line 10."""
    [finding] = found(check_environment, tmp_path, "random.random()\n" * 5)
    assert finding.evidence == (
        "prepare.py: line 10: random.random(); line 11: random.random(); line 12: random.random() and 2 more"
    )
