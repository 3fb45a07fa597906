"""The floor, the ladder and what they tell, on numbers with an error and on log lines with an accuracy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.base import Severity
from generator.verifier.empirical import floor, gate, headroom, learnable, noise
from generator.verifier.empirical.floor import Floor, lowest, uninformed
from generator.verifier.empirical.ladder import RUNGS, Rung, climb
from generator.verifier.empirical.standing import Field, Standing
from generator.verifier.empirical.trials import TrialInterrupted
from harness.sandboxes.base import Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from tests.generator.verifier.ladders import Change, case_of, measured, messages

Made = Callable[[], tuple[pd.DataFrame, pd.DataFrame, str]]
both = pytest.mark.parametrize("made", [measured, messages])


@both
def test_a_clean_task_has_a_ladder_of_four_and_no_finding(
    made: Made, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    case = case_of(made(), tmp_path, sandbox)
    with case.grader:
        assert list(gate.check(case)) == []
    ladder = case.exhibits["ladder"]
    assert [each["name"] for each in ladder] == list(RUNGS)
    assert all(each["low"] < each["gain"] < each["high"] for each in ladder)
    assert max(each["low"] for each in ladder) > 0.1
    assert {each["name"] for each in case.exhibits["floors"]} >= {"sample", "constant", "prior"}


def permute(train: pd.DataFrame, answers: pd.DataFrame, sample: pd.DataFrame) -> None:
    answers.iloc[:, 1] = np.random.default_rng(9).permutation(answers.iloc[:, 1].to_numpy())


def permute_all(train: pd.DataFrame, answers: pd.DataFrame, sample: pd.DataFrame) -> None:
    permute(train, answers, sample)
    train.iloc[:, -1] = np.random.default_rng(8).permutation(train.iloc[:, -1].to_numpy())


@pytest.mark.parametrize(
    ("made", "change", "code"),
    [(measured, permute_all, "unlearnable"), (messages, permute, "answers_misaligned")],
)
def test_permuted_answers_are_told_from_a_target_that_cannot_be_learnt(
    made: Made, change: Change, code: str, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """The self-test does so on many more tasks."""
    case = case_of(made(), tmp_path, sandbox, change)
    with case.grader:
        field = Field(case, lowest(case))
        standings = [standing for standing in map(field.standing, climb(case, ["linear"])) if standing]
        (found,) = learnable.check(case, field, standings)
    assert (found.code, found.severity) == (code, Severity.ERROR)


@both
@pytest.mark.parametrize(("gain", "severity"), [(0.06, Severity.WARNING), (0.03, Severity.ERROR)])
def test_a_signal_beyond_luck_is_at_most_a_warning(
    made: Made, gain: float, severity: Severity, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """Too little to compare candidates by, but not nothing: 2.4 standard errors, and 1.2."""
    case = case_of(made(), tmp_path, sandbox, permute_all)
    with case.grader:
        field = Field(case, lowest(case))
        standing = Standing(Rung("linear", field.floor.score, field.floor.submission, "ok"), gain, 0.025)
        (found,) = learnable.check(case, field, [standing])
    assert (found.code, found.severity) == ("unlearnable", severity)


@both
def test_a_sample_that_holds_some_of_the_answers(
    made: Made, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """A quarter of the sample's rows are right on purpose; random values of the same kind are not."""

    def know(share: float) -> Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame], None]:
        def change(train: pd.DataFrame, answers: pd.DataFrame, sample: pd.DataFrame) -> None:
            rng = np.random.default_rng(6)
            drawn = rng.choice(train.iloc[:, -1].to_numpy(), len(sample))
            right = rng.random(len(sample)) < share
            sample[sample.columns[1]] = np.where(right, answers.iloc[:, 1].to_numpy(), drawn)

        return change

    for share, codes in ((0.4, ["sample_informative"]), (0.0, [])):
        case = case_of(made(), tmp_path / str(share), sandbox, know(share))
        with case.grader:
            found = [each for each in floor.check(case) if each.code == "sample_informative"]
        assert [each.code for each in found] == codes
        assert all(each.severity is Severity.ERROR for each in found)


def test_a_sample_by_a_rule_is_only_worth_a_warning(sandbox: SandboxProvider, tmp_path: Path) -> None:
    """As the sample of the Titanic that lets women survive."""
    made = measured()

    def follow(train: pd.DataFrame, answers: pd.DataFrame, sample: pd.DataFrame) -> None:
        sample["load"] = np.where(made[1]["a"].to_numpy() > 0, 1.5, -1.5)

    case = case_of(made, tmp_path, sandbox, follow)
    with case.grader:
        (found,) = floor.check(case)
    assert (found.code, found.severity) == ("sample_informative", Severity.WARNING)


def test_the_constant_is_what_the_metric_wants(sandbox: SandboxProvider, tmp_path: Path) -> None:
    """The median for an absolute error, the majority for an accuracy, from the training rows alone."""
    for made in (measured(), messages()):
        train, target = made[0], made[0].columns[-1]
        case = case_of(made, tmp_path / made[2], sandbox)
        with case.grader:
            constant = uninformed(case)["constant"][target]
            assert lowest(case, without="sample").name in ("constant", "shuffled_sample", "prior")
        expected = train[target].median() if made[2] == "mae" else train[target].mode()[0]
        assert constant.nunique() == 1
        assert constant[0] == pytest.approx(expected) if made[2] == "mae" else constant[0] == expected


@pytest.mark.parametrize(
    ("rows", "simple", "strong", "codes"),
    [
        (400, 1.0, 1.0, ["trivial"]),
        (2_000, 0.996, 0.9995, ["ceiling"]),  # as on shuttle: something is left to do
        (50, 1.0, 1.0, ["ceiling"]),  # as on iris: luck on few rows
        (400, 0.9, 0.95, []),
        (400, 0.02, 0.03, ["weak_signal"]),
    ],
)
def test_trivial_only_when_nothing_is_left_to_do(
    rows: int, simple: float, strong: float, codes: list[str], sandbox: SandboxProvider, tmp_path: Path
) -> None:
    case = case_of(measured(3 * rows), tmp_path, sandbox)
    bottom = Floor("constant", case.sample(), 2.0, 0.0)
    standings = [
        Standing(Rung(name, 2.0 * (1 - gain), None, "ok"), gain, 0.001)
        for name, gain in (("tree", simple), ("forest", strong))
    ]
    assert [each.code for each in headroom.check(case, bottom, standings)] == codes


def test_without_training_rows_no_baseline_hands_anything_in(
    sandbox: SandboxProvider, tmp_path: Path
) -> None:
    """That may be beyond the baselines alone, so it is a warning; refused submissions would be an error."""
    case = case_of(measured(60), tmp_path, sandbox)
    (case.task.public / "train.csv").unlink()
    with case.grader:
        (found,) = gate.check(case)
    assert (found.code, found.severity) == ("ladder_failed", Severity.WARNING)
    assert "forest: handed in nothing" in found.evidence


class Broken(Bubblewrap):
    """Shows agents no sandbox, for a reason that nobody has foreseen."""

    def start(self, spec: SandboxSpec) -> Sandbox:
        if any(mount.target.endswith("/public") for mount in spec.mounts):
            raise ValueError("unforeseen")
        return super().start(spec)


@pytest.mark.usefixtures("sandbox")
def test_baselines_that_all_end_by_errors_of_their_own_say_nothing_of_the_task(tmp_path: Path) -> None:
    case = case_of(measured(60), tmp_path, Broken())
    with case.grader, pytest.raises(TrialInterrupted, match="error of their own"):
        list(gate.check(case))


PROGRAM = """\
import numpy as np
import pandas as pd
from pathlib import Path
DATA, OUT = Path("nowhere"), Path("nowhere")
rng = np.random.default_rng(dict(random_state=0)["random_state"])
sample = pd.read_csv(DATA / "sample_submission.csv")
sample["load"] += rng.normal(0, {noise}, 1)
sample.to_csv(OUT / "submission.csv", index=False)
"""


@pytest.mark.parametrize(("size", "codes"), [(2.0, ["noisy_scores"]), (0.001, [])])
def test_a_seed_that_matters_more_than_the_lead(
    size: float, codes: list[str], sandbox: SandboxProvider, tmp_path: Path
) -> None:
    case = case_of(measured(), tmp_path, sandbox)
    rung = Rung("forest", 1.9, None, "ok", program=PROGRAM.format(noise=size))
    with case.grader:
        found = list(noise.check(case, Standing(rung, 0.05, 0.01), height=2.0))
    assert [each.code for each in found] == codes
