"""The proof of an idea: each way in which one does not hold, on real data, and honest ones that do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from generator.agents.idea import Idea
from generator.agents.proof import Proven, apart, prove
from generator.backend import Desk
from generator.datasets.catalogue import dataset_path, load_card
from generator.profile import profile_dataset
from harness.sandboxes.base import SandboxProvider
from tests.generator.agents.package import MAE, idea

HEAD = "import numpy as np\nimport pandas as pd\n\n\ndef table(raw):\n"
READ = f"{HEAD}    t = pd.read_csv(raw / 'diabetes.csv')\n"


def desk_of(folder: Path, sandbox: SandboxProvider, tmp_path: Path, **more: Any) -> Desk:
    card = load_card(folder)
    return Desk(folder, card, profile_dataset(folder, card.name), sandbox, tmp_path / "transcripts", **more)


@pytest.fixture
def desk(sandbox: SandboxProvider, tmp_path: Path) -> Desk:
    return desk_of(dataset_path("diabetes"), sandbox, tmp_path)


def proven(desk: Desk, **changed: Any) -> Proven:
    return prove(desk, Idea.model_validate(idea(**changed)))


def derived(lines: str) -> str:
    return READ + "".join(f"    {line}\n" for line in lines.splitlines()) + "    return t\n"


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "t['ratio'] = t.s1 / t.s3",
        "t['older'] = t.age.rank()",
        "t['mean_bp'] = t.groupby('sex').bp.transform('mean')",
        "t = t.sort_values(['age', 'bmi', 'progression'])\nt['before'] = t.bmi.shift(1).fillna(0)",
        "t['before'] = t.s5.shift(1)\nt = t.dropna()",  # in file order, and what raw cells hold
    ],
)
def test_what_follows_from_the_rows_holds(desk: Desk, lines: str) -> None:
    found = proven(desk, derivation=derived(lines))
    assert found.flaws == () and found.idea.evidence is not None and found.idea.evidence.skill > 0.2
    assert "progression" not in found.idea.features and "bmi" in found.idea.features


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"derivation": "def table(raw):\n    return raw.missing\n"}, "not_derivable"),
        ({"derivation": "def table(raw):\n    return [1]\n"}, "not_derivable"),
        ({"derivation": derived("import urllib.request\nurllib.request.urlopen('http://example.org')")},
         "not_derivable"),
        ({"derivation": derived("t['x'] = np.random.normal(size=len(t))")}, "not_deterministic"),
        ({"derivation": derived("t['x'] = [hash(str(v)) % 1000 for v in t.s1]")}, "not_deterministic"),
        ({"derivation": derived("t = t.head(100)")}, "few_rows"),
        ({"targets": ["outcome"]}, "no_target"),
        ({"derivation": derived("t = t[['progression']]")}, "no_features"),
        ({"derivation": derived("t['progression'] = 1.0")}, "constant_target"),
        ({"derivation": derived("t.loc[t.age > 60, 'progression'] = np.nan")}, "missing_target"),
        ({"derivation": derived("t['x'] = np.random.default_rng(0).normal(size=len(t))")}, "untraceable"),
        ({"derivation": derived("t['y'] = np.random.default_rng(0).integers(0, 2, len(t))"),
          "targets": ["y"], "objective": "classification"}, "untraceable"),
        ({"derivation": "import numpy as np\nimport pandas as pd\n\n\ndef table(raw):\n"
          "    r = np.random.default_rng(0)\n    x = r.normal(size=500)\n"
          "    return pd.DataFrame({'x': x, 'progression': x + r.normal(size=500)})\n"}, "invented"),
        ({"derivation": derived("t = t[['age', 'sex', 'progression']]")}, "unlearnable"),
        ({"derivation": derived("t['also'] = t.progression * 2 + 1")}, "given_away"),
        ({"scoring": MAE | {"higher_is_better": True}}, "metric_direction"),
        ({"scoring": MAE | {"best": 1.0}}, "metric_best"),
        ({"data_files": ["patients.csv"]}, "no_such_file"),
        ({"media_column": "photo"}, "no_media"),
        ({"derivation": derived("t['photo'] = '../../etc/passwd'"), "media_column": "photo"}, "no_media"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_named(desk: Desk, changed: dict[str, Any], code: str) -> None:
    found = proven(desk, **changed)
    assert code in {flaw.code for flaw in found.flaws}, found.flaws
    assert found.refusal().reason


def test_without_the_probe_nothing_is_said_about_learning(sandbox: SandboxProvider, tmp_path: Path) -> None:
    desk = desk_of(dataset_path("diabetes"), sandbox, tmp_path, ablated=frozenset({"probe"}))
    found = proven(desk, derivation=derived("t = t[['age', 'sex', 'progression']]"))
    assert found.flaws == () and found.idea.evidence is None


def test_ideas_must_differ_by_name_and_by_what_they_hold(desk: Desk) -> None:
    first = proven(desk)
    renamed = derived("t = t.rename(columns={'progression': 'course'})")
    same = proven(desk, id="other", targets=["course"], derivation=renamed)
    other = proven(desk, id="sugar", targets=["s6"])
    again = proven(desk)
    judged = [[flaw.code for flaw in each.flaws] for each in apart([first, same, other, again])]
    assert judged == [[], ["same_as_other"], [], ["same_as_other"]]
    # One that does not hold takes nothing from another.
    wrong = proven(desk, targets=["none"])
    assert [bool(each.flaws) for each in apart([wrong, first])] == [True, False]


def test_images_by_a_column_of_paths(sandbox: SandboxProvider, tmp_path: Path) -> None:
    folder = dataset_path("digit-images")
    source = (
        "import pandas as pd\n\n\ndef table(raw):\n"
        "    paths = sorted(p for p in raw.glob('*/*.png'))\n"
        "    return pd.DataFrame({'image': [p.relative_to(raw).as_posix() for p in paths],\n"
        "                         'digit': [p.parent.name for p in paths]})\n"
    )
    accuracy = {"name": "accuracy", "higher_is_better": True, "best": 1.0, "worst": 0.0, "reason": "Even."}
    found = proven(
        desk_of(folder, sandbox, tmp_path), derivation=source, targets=["digit"], media_column="image",
        objective="classification", modality="image", scoring=accuracy, data_files=["."],
    )  # fmt: skip
    assert found.flaws == () and found.idea.evidence is not None, found.flaws


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".json", ".parquet"])
def test_rows_made_up_for_positions_are_found_in_every_format(
    sandbox: SandboxProvider, tmp_path: Path, suffix: str
) -> None:
    folder = tmp_path / "numbers"
    folder.mkdir()
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=400).round(4), "b": rng.normal(size=400).round(4)})
    frame["note"] = [f'line one Å …\nline "{number}"' for number in range(400)]
    frame["y"] = (frame.a * 2 + rng.normal(size=400)).round(4)
    path, read = folder / f"t{suffix}", "read_csv"
    if suffix == ".parquet":
        frame.to_parquet(path)
        read = "read_parquet"
    elif suffix.startswith(".json"):
        frame.to_json(path, orient="records", lines=suffix == ".jsonl")
        read = "read_json"
    else:
        frame.to_csv(path, index=False)
    more = ", lines=True" if suffix == ".jsonl" else ""
    head = f"{HEAD}    t = pd.{read}(raw / 't{suffix}'{more})\n"
    desk = desk_of(folder, sandbox, tmp_path)
    honest = proven(desk, targets=["y"], derivation=f"{head}    return t\n", data_files=[path.name])
    assert honest.flaws == ()
    made = f"{head}    t['c'] = np.random.default_rng(1).integers(0, 5, len(t))\n    return t\n"
    found = proven(desk, targets=["y"], derivation=made, data_files=[path.name])
    assert [flaw.code for flaw in found.flaws] == ["untraceable"] and "'c'" in found.flaws[0].text
