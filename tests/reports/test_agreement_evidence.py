"""Evidence from score tables: figures against independent computations, and files that lack something."""

from __future__ import annotations

import json
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pingouin
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats

from harness.records import strict_json
from leaderboards.published import published_ratings
from reports.agreement import agreement_of_files
from reports.agreement.rated import Options
from stats.bradley_terry import GaussianPrior, fit
from stats.comparisons import Comparisons
from stats.sandwich import task_covariance

MODELS = ("ant", "bee", "cat", "dog", "eel")
QUICK = Options(replicates=120)


def scores_of(prefix: str, tasks: int, seed: int, models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """One attempt of each model on each task, without ties; later models are better on average."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"{prefix}{t}", model, 1, 0.35 * i + rng.normal(), True, True)
        for t in range(tasks)
        for i, model in enumerate(models)
    ]
    return pd.DataFrame(rows, columns=["task", "model", "attempt", "score", "valid", "higher_is_better"])


def saved(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return scores_of("a", 24, 1), scores_of("b", 30, 2)


@pytest.fixture(scope="module")
def files(frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("scores")
    return [saved(f, folder / f"scores-{n}.csv") for f, n in zip(frames, ("first", "second"), strict=True)]


@pytest.fixture(scope="module")
def document(files: list[Path]) -> dict[str, Any]:
    return agreement_of_files(files, replace(QUICK, margin=300.0))


def pair_of(document: dict[str, Any]) -> dict[str, Any]:
    (pair,) = document["pairs"]
    assert isinstance(pair, dict)
    return pair


def glm_ratings(frame: pd.DataFrame) -> np.ndarray:
    """Bradley-Terry ratings of MODELS by statsmodels' logistic regression on all comparisons."""
    design, won = [], []
    for _, rows in frame.groupby("task"):
        score = rows.set_index("model")["score"]
        for i, left in enumerate(MODELS):
            for right in MODELS[i + 1 :]:
                design.append([(m == left) - (m == right) for m in MODELS[1:]])
                won.append(float(score[left] > score[right]))
    fit = sm.GLM(np.array(won), np.array(design, float), family=sm.families.Binomial()).fit(tol=1e-12)
    strengths = np.concatenate([[0.0], fit.params])
    return np.asarray(1000 + 400 / np.log(10) * (strengths - strengths.mean()))


def test_correlations_are_those_of_ratings_from_another_library(
    document: dict[str, Any], frames: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    x, y = map(glm_ratings, frames)
    pair = pair_of(document)
    assert document["sets"] == ["first", "second"]
    assert pair["by_tasks"] is True and pair["n"] == 5
    assert pair["pearson_r"] == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-7)
    assert pair["kendall_tau_b"] == pytest.approx(scipy_stats.kendalltau(x, y).statistic)


def test_intervals_name_their_sample(document: dict[str, Any]) -> None:
    pair = pair_of(document)
    for name, interval in pair["intervals"].items():
        assert interval["unit"] == "tasks" and interval["n"] == 24 and interval["level"] == 0.95, name
        assert interval["replicates"] == 120
    assert pair["intervals"]["pearson_r"]["low"] < pair["pearson_r"] < pair["intervals"]["pearson_r"]["high"]
    fisher = pair["intervals_by_models"]["pearson_r"]
    # Fisher's interval: tanh(atanh(r) -+ 1.96 / sqrt(n - 3)).
    low, high = np.tanh(np.arctanh(pair["pearson_r"]) + np.array([-1, 1]) * 1.959964 / np.sqrt(2))
    assert fisher["unit"] == "models" and (fisher["low"], fisher["high"]) == pytest.approx(
        (low, high), abs=1e-6
    )


def test_reliability_is_cronbachs_alpha_of_the_win_shares(
    document: dict[str, Any], frames: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    for name, frame in zip(("first", "second"), frames, strict=True):
        # Without ties, the share of four opponents beaten is (rank - 1) / 4, worst first.
        table = frame.pivot_table(index="model", columns="task", values="score").rank() / 4 - 0.25
        alpha = float(pingouin.cronbach_alpha(table)[0])
        length = document["tasks_needed"][name]
        tasks = table.shape[1]
        assert length["tasks"] == tasks and length["models"] == 5
        assert length["reliability"] == pytest.approx(alpha, abs=1e-9)
        # Spearman-Brown, solved for the number of tasks that gives 0.9.
        assert length["needed"] == ceil(tasks * 0.9 * (1 - alpha) / (alpha * 0.1))
        low, high = (length["interval"][end] for end in ("low", "high"))
        assert length["needed_low"] == ceil(tasks * 9 * (1 - high) / high)
        assert length["needed_high"] == (ceil(tasks * 9 * (1 - low) / low) if low > 0 else None)
        for at, value in length["curve"]:
            k = at / tasks
            assert value == pytest.approx(k * alpha / (1 + (k - 1) * alpha), abs=1e-9)
        assert max(at for at, _ in length["curve"]) >= length["needed"]


def test_leaving_a_task_out_is_refitting_without_it(
    document: dict[str, Any], frames: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    influence = pair_of(document)["influence"]["tasks"]
    rows = {row["task"]: row for row in influence["without"]}
    assert len(rows) == 54 and {row["set"] for row in rows.values()} == {"first", "second"}
    x, y = map(glm_ratings, frames)
    for task in ("a3", "a17"):
        without = glm_ratings(frames[0][frames[0]["task"] != task])
        assert rows[task]["pearson_r"] == pytest.approx(np.corrcoef(without, y)[0, 1], abs=1e-6)
        pairs = np.triu_indices(5, 1)
        swapped = np.sign(np.subtract.outer(x, x)[pairs]) * np.sign(
            np.subtract.outer(without, without)[pairs]
        )
        assert rows[task]["swaps"] == (swapped < 0).sum()
    most = influence["statistics"]["pearson_r"]
    changes = {task: abs(row["pearson_r"] - most["full"]) for task, row in rows.items()}
    assert most["most_influential"] == max(changes, key=lambda task: changes[task])
    assert most["without"] == rows[most["most_influential"]]["pearson_r"]


def test_ceiling_and_equivalence_are_consistent_with_their_parts(document: dict[str, Any]) -> None:
    pair = pair_of(document)
    found, same = pair["ceiling"], pair["equivalence"]
    a, b = found["reliability_a"]["value"], found["reliability_b"]["value"]
    assert found["fit"] == "maximum likelihood" or "Firth" in found["fit"]
    assert found["expected"] == pytest.approx(np.sqrt(a * b))
    assert found["disattenuated"] == pytest.approx(found["observed"] / np.sqrt(a * b))
    assert any(f"r = {a:.2f} and second with itself at {b:.2f}" in line for line in pair["shows"])
    assert len(same["pairs"]) == 10 and same["margin"] == 300 and same["unit"] == "tasks"
    for key in ("equivalent", "different"):
        assert same[f"share_{key}"] == pytest.approx(sum(row[key] for row in same["pairs"]) / 10)
    assert sum(same[f"share_{k}"] for k in ("equivalent", "different", "undecided")) == pytest.approx(1)
    # The shift of a pair is the difference of two differences of ratings.
    assert any("Of the 10 differences between two models" in line for line in pair["shows"])


def test_documents_are_strict_reproducible_and_blind_to_the_order_of_rows(
    document: dict[str, Any], frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    assert json.loads(strict_json(document)) == document
    names = dict(zip(MODELS, ("z", "y", "x", "w", "v"), strict=True))
    renamed = [
        saved(frame.assign(model=frame["model"].map(names))[::-1], tmp_path / f"scores-{name}.csv")
        for frame, name in zip(frames, ("first", "second"), strict=True)
    ]
    again = agreement_of_files(renamed, replace(QUICK, margin=300.0))
    old, new = pair_of(document), pair_of(again)
    for name in ("pearson_r", "kendall_tau_b", "ccc", "top3_overlap"):
        assert new[name] == pytest.approx(old[name], abs=1e-9)
    assert new["lines"]["deming"]["slope"] == pytest.approx(old["lines"]["deming"]["slope"], abs=1e-7)
    for name in ("first", "second"):
        assert again["tasks_needed"][name]["needed"] == document["tasks_needed"][name]["needed"]
    most = old["influence"]["models"]["statistics"]["pearson_r"]["most_influential"]
    assert new["influence"]["models"]["statistics"]["pearson_r"]["most_influential"] == names[most]


def test_rating_tables_give_what_can_be_had_without_tasks(tmp_path: Path) -> None:
    table = published_ratings()
    paths = [
        saved(table[["model", name]].rename(columns={name: "elo"}), tmp_path / f"{name}.csv")
        for name in ("dojo", "smith")
    ]
    document = agreement_of_files(paths, replace(QUICK, margin=50.0, prior=GaussianPrior(300)))
    assert any("the prior is not used" in note for note in document["notes"])
    pair = pair_of(document)
    x, y = (table[name].to_numpy(float) for name in ("dojo", "smith"))
    assert pair["by_tasks"] is False and pair["ceiling"] is None and document["tasks_needed"] == {}
    assert pair["influence"]["tasks"] is None
    exact = scipy_stats.kendalltau(x, y, method="exact", alternative="greater").pvalue
    assert pair["permutation"]["kendall_tau_b"]["p"] == pytest.approx(exact, abs=1e-12)
    assert pair["permutation"]["kendall_tau_b"]["exact"] is True
    # Deming's line with equal errors is the first principal axis.
    axis = np.linalg.eigh(np.cov(x, y))[1][:, -1]
    assert pair["lines"]["deming"]["slope"] == pytest.approx(axis[1] / axis[0])
    for row in pair["influence"]["models"]["without"]:
        rest = (table["model"] != row["model"]).to_numpy()
        assert row["pearson_r"] == pytest.approx(scipy_stats.pearsonr(x[rest], y[rest]).statistic)
    assert any("is no question here" in line for line in pair["shows"])
    assert any("ratings alone cannot say" in note for note in document["notes"])


def test_scores_beside_ratings_are_rated_and_the_note_says_what_is_missing(
    files: list[Path], tmp_path: Path
) -> None:
    elo = saved(pd.DataFrame({"model": MODELS, "elo": [900, 950, 1000, 1050, 1100]}), tmp_path / "board.csv")
    document = agreement_of_files([*files, elo], QUICK)
    by = {(p["a"], p["b"]): p for p in document["pairs"]}
    assert by["first", "second"]["by_tasks"] and not by["first", "board"]["by_tasks"]
    assert all(i["unit"] == "models" for i in by["first", "board"]["intervals"].values())
    assert any("board is a table of ratings, so first was rated" in note for note in document["notes"])
    assert set(document["tasks_needed"]) == {"first", "second"}


def test_sets_that_share_tasks_are_part_and_whole(
    frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    whole = saved(pd.concat(frames), tmp_path / "everything.csv")
    part = saved(frames[0], tmp_path / "part.csv")
    document = agreement_of_files([whole, part], QUICK)
    pair = pair_of(document)
    assert not pair["by_tasks"] and pair["ceiling"] is None
    assert any("part-whole: the sets share 24 tasks by name" in note for note in document["notes"])
    assert all(interval["unit"] == "models" for interval in pair["intervals"].values())


def test_the_set_is_named_by_its_tasks(frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    named = [frame.assign(task=f"{name}/" + frame["task"]) for frame, name in zip(frames, "xy", strict=True)]
    paths = [saved(frame, tmp_path / f"table-{i}.csv") for i, frame in enumerate(named)]
    assert agreement_of_files(paths, QUICK)["sets"] == ["x", "y"]


def test_a_model_that_wins_everything_is_left_out_or_kept_by_a_prior(
    frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    best = frames[0].copy()
    best.loc[best["model"] == "eel", "score"] = 99.0
    paths = [saved(best, tmp_path / "best.csv"), saved(frames[1], tmp_path / "other.csv")]
    document = agreement_of_files(paths, QUICK)
    pair = pair_of(document)
    assert pair["n"] == 4 and "eel" in pair["dropped"]
    assert any("best: no Elo for eel" in note for note in document["notes"])
    kept = agreement_of_files(paths, replace(QUICK, prior=GaussianPrior(300)))
    assert pair_of(kept)["n"] == 5
    assert pair_of(kept)["ceiling"]["fit"] == "Gaussian prior on ratings, SD 300"


def test_the_errors_of_demings_line_are_those_of_ratings_that_tasks_tell(
    frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    """The winner of everything has a rating by the prior alone, which hardly moves from task to task."""
    first, second = frames
    first = first.assign(score=first["score"].where(first["model"] != "eel", 99.0))
    paths = [saved(f, tmp_path / f"{n}.csv") for f, n in ((first, "first"), (second, "second"))]
    prior = GaussianPrior(400.0)
    line = pair_of(agreement_of_files(paths, replace(QUICK, prior=prior)))["lines"]["deming"]
    variances = []
    for frame in (first, second):
        comparisons = Comparisons.from_scores(frame)
        covariance, _ = task_covariance(comparisons, fit(comparisons, prior=prior))
        variances.append(np.diagonal(covariance)[:-1].mean())
    assert line["method"].endswith(f"= {variances[1] / variances[0]:g}")


def test_the_ceiling_takes_firths_fit_where_halves_have_none(
    frames: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    """A model that wins on one task alone loses everything in the half without it: in every split."""
    rare = frames[0].copy()
    rare.loc[rare["model"] == "ant", "score"] = np.where(rare["task"].unique() == "a0", 99.0, -99.0)
    paths = [saved(rare, tmp_path / "rare.csv"), saved(frames[1], tmp_path / "other.csv")]
    document = agreement_of_files(paths, QUICK)
    found = pair_of(document)["ceiling"]
    assert found["fit"] == "Firth's bias-reduced fit" and found["expected"] is not None
    assert any("ceiling: 200 of 200 halves of rare" in note for note in document["notes"])
    lost = [row for row in pair_of(document)["influence"]["tasks"]["without"] if row["pearson_r"] is None]
    assert [row["task"] for row in lost] == ["a0"]


def test_kinds_of_intervals(files: list[Path]) -> None:
    found = {}
    for kind in ("inverted", "basic", "bca", "percentile"):
        document = agreement_of_files(files, Options(level=0.9, replicates=100, interval=kind))
        found[kind] = pair_of(document)["intervals"]["pearson_r"]
        assert found[kind]["level"] == 0.9
        warned = any("cover far less than their level" in note for note in document["notes"])
        assert warned is (kind == "percentile")
    assert len({interval["method"] for interval in found.values()}) == 4


@pytest.mark.parametrize(
    ("tasks", "models", "words"),
    [
        (1, MODELS[:1], "no task can be left out"),
        (1, MODELS[:2], "needed are two of each"),
        (2, MODELS[:2], "n = 2: correlations are always"),
        (3, MODELS[:3], "n = 3: no Fisher interval"),
        (4, MODELS[:4], "few tasks (n = 4"),
    ],
)
def test_few_tasks_and_models_give_nulls_and_notes(
    tmp_path: Path, tasks: int, models: tuple[str, ...], words: str
) -> None:
    # Equal scores on the first task keep every model from winning or losing everything.
    frames = [scores_of(prefix, tasks, 5, models) for prefix in "ab"]
    for frame in frames:
        frame.loc[frame["task"].str.endswith("0"), "score"] = 0.0
    paths = [saved(frame, tmp_path / f"{i}.csv") for i, frame in enumerate(frames)]
    document = agreement_of_files(paths, replace(QUICK, margin=100.0))
    strict_json(document)
    assert any(words in note for note in document["notes"]), document["notes"]
    assert pair_of(document)["shows"]


def test_all_ties_are_undefined_and_said(tmp_path: Path) -> None:
    paths = []
    for prefix in "ab":
        frame = scores_of(prefix, 5, 1).assign(score=1.0)
        paths.append(saved(frame, tmp_path / f"{prefix}.csv"))
    document = agreement_of_files(paths, QUICK)
    pair = pair_of(document)
    assert pair["pearson_r"] is None and pair["lines"]["deming"]["slope"] is None
    assert document["tasks_needed"]["a"]["reliability"] is None
    assert any("nothing varies" in note for note in document["notes"])
    assert pair["shows"] == ["a and b: 5 models are rated in both; their correlation is not defined."]
