"""Gate 4: the metric, probed with the answers, with answers made wrong step by step, and with bad files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from generator.defects.base import Finding, has_errors
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical.floor import uninformed
from harness.tasks.grading import GradeResult
from harness.tasks.metrics import METRICS, named_metric
from harness.tasks.submission import Reason

_CODES = {
    Reason.METRIC_FAILED: "metric_failed",
    Reason.METRIC_NOT_FINITE: "metric_not_finite",
    Reason.METRIC_TIMEOUT: "metric_timeout",
    Reason.METRIC_REJECTED: "valid_rejected",
}
_NOISE = 1e-9
_SEED = 20
_REPEATS = 5


class _Stop(Exception):
    """The metric cannot score what it must; nothing further can be learnt."""

    def __init__(self, found: Finding) -> None:
        super().__init__(found.code)
        self.finding = found


def check(case: Case) -> Iterator[Finding]:
    """Findings about the metric. Leaves the scores of oracle, sample and exchanged answers in the case."""
    case.say("probing the metric")
    try:
        oracle, sample = case.oracle(), case.sample()
        perfect = _score(case, oracle, "the answers")
        floor = _score(case, sample, "the sample submission")
        case.scores |= {"oracle": perfect, "sample": floor}
        for name, frame in uninformed(case).items():
            result = case.grader.grade_frame(frame)
            if result.task_defect:
                raise _Stop(_cannot(result, name.replace("_", " ")))
            if result.raw_score is not None:
                case.scores[name] = result.raw_score
        yield from _check_repeat(case, oracle)
        yield from _check_declared(case, perfect, floor)
        direction = list(_check_direction(case, oracle, perfect, floor))
        yield from direction
        yield from _check_order(case, oracle, sample)
        if not has_errors(direction):
            yield from _check_formula(case, oracle)
    except _Stop as stop:
        yield stop.finding
        return
    yield from _check_malformed(case)
    yield from _check_partial(case, oracle)


def _score(case: Case, submission: pd.DataFrame, what: str) -> float:
    result = case.grader.grade_frame(submission)
    if result.raw_score is None:
        raise _Stop(_cannot(result, what))
    return result.raw_score


def _cannot(result: GradeResult, what: str) -> Finding:
    last = result.message.strip().splitlines()[-1][:300]
    return finding(
        _CODES[result.reason], f"graded on {what}: {last}", "make the metric score every valid submission"
    )


def close(a: float, b: float) -> bool:
    """Equal but for rounding."""
    return abs(a - b) <= _NOISE * max(1.0, abs(a), abs(b))


def _check_repeat(case: Case, oracle: pd.DataFrame) -> Iterator[Finding]:
    """Several times, as coarse scores of different draws coincide now and then."""
    wrong = exchanged(oracle, _targets(case, oracle), 0.3, np.random.default_rng(_SEED))
    first = _score(case, wrong, "answers with 30% of the rows exchanged")
    for _ in range(_REPEATS):
        again = case.grader.grade_frame(wrong).raw_score
        if again is None or not close(first, again):
            yield finding(
                "metric_random",
                f"one submission scores {first:.9g}, then {'nothing' if again is None else again}",
                "draw nothing at random, or seed it in evaluate",
            )
            return


def _targets(case: Case, frame: pd.DataFrame) -> list[str]:
    return [column for column in frame.columns if column != case.key.id_column]


def _check_declared(case: Case, perfect: float, floor: float) -> Iterator[Finding]:
    declared = case.task.spec.metric
    gap = case.limits.metric.oracle_gap * abs(floor - declared.best) + 1e-6 * max(1.0, abs(declared.best))
    if abs(perfect - declared.best) > gap:
        yield finding(
            "oracle_not_best",
            f"the answers score {perfect:.6g}, metric.best is {declared.best:.6g}",
            "correct the metric, or declare the score that perfect predictions get",
        )
    said = case.grader.higher_is_better
    if said is not None and said != declared.higher_is_better:
        yield finding(
            "direction_mismatch",
            f"task.toml says higher_is_better = {str(declared.higher_is_better).lower()}, "
            f"metric.py says {str(said).lower()}",
            "declare the same direction in both",
        )


def exchanged(
    frame: pd.DataFrame, columns: list[str], share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """A copy in which that share of the rows hold each other's values, so every value stays a legal one."""
    count = max(2, round(share * len(frame)))
    rows = rng.choice(len(frame), size=min(count, len(frame)), replace=False)
    # Rolling along a random order leaves no row in place.
    changed = frame.copy()
    for column in columns:
        values = frame[column].to_numpy(copy=True)
        values[rows] = values[np.roll(rows, 1)]
        changed[column] = values
    return changed


def _check_direction(case: Case, oracle: pd.DataFrame, perfect: float, floor: float) -> Iterator[Finding]:
    rng, limits = np.random.default_rng(_SEED), case.limits.metric
    columns = _targets(case, oracle)
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    means, better = [perfect], 0.0
    for share in limits.perturbed_shares:
        draws = [
            _score(
                case,
                exchanged(oracle, columns, share, rng),
                f"answers with {share:.0%} of the rows exchanged",
            )
            for _ in range(limits.perturbations)
        ]
        means.append(float(np.mean(draws)))
        better = max(better, max(sign * (score - perfect) for score in draws))
    worst = means[-1]
    case.scores["exchanged_answers"] = worst
    told = ", ".join(f"{mean:.5g}" for mean in means)
    shares = ", ".join(f"{share:.0%}" for share in (0.0, *limits.perturbed_shares))
    seen = f"answers with {shares} of the rows exchanged score {told}"
    loss = sign * (perfect - worst)
    if max(abs(mean - perfect) for mean in [*means, floor]) <= _NOISE * max(1.0, abs(perfect)):
        yield finding(
            "metric_insensitive", f"{seen}; the sample {floor:.5g}", "compare the submission with the answers"
        )
    elif loss < 0:
        yield finding("metric_direction", seen, "correct higher_is_better, or the sign of the metric")
    elif better > _NOISE * max(1.0, abs(perfect)):
        yield finding(
            "oracle_not_best",
            f"some wrong answers score better by {better:.5g}: {seen}",
            "correct the metric",
        )
    elif loss < limits.much_worse * abs(perfect - floor):
        yield finding(
            "metric_insensitive", f"{seen}; the sample {floor:.5g}", "use a metric that sees the whole error"
        )
    else:
        rises = [sign * (after - before) for before, after in itertools.pairwise(means)]
        if max(rises) > limits.monotone_slack * loss:
            yield finding("metric_not_monotone", seen, "use a metric that falls as errors grow")


def _check_order(case: Case, oracle: pd.DataFrame, sample: pd.DataFrame) -> Iterator[Finding]:
    """The metric alone, given rows in another order; our grader aligns them, other users' graders may not."""
    order = np.random.default_rng(_SEED).permutation(len(oracle))
    for what, frame in (("answers", oracle), ("sample", sample)):
        result = case.grader.grade_frame(frame.iloc[order].reset_index(drop=True))
        before = case.scores["oracle" if what == "answers" else what]
        if result.raw_score is None or not close(result.raw_score, before):
            now = "are refused" if result.raw_score is None else f"score {result.raw_score:.6g}"
            yield finding(
                "metric_positional",
                f"the {what} score {before:.6g}, and in another row order {now}",
                f"join on {case.key.id_column} before comparing",
            )
            return


def _check_formula(case: Case, oracle: pd.DataFrame) -> Iterator[Finding]:
    """The score of wrong answers against the known metric of the declared name."""
    declared = case.task.spec.metric
    known = named_metric(declared.name)
    if known is None:
        return
    if known.higher_is_better != declared.higher_is_better:
        yield finding(
            "metric_formula",
            f"task.toml has the direction of {known.name} wrong",
            f"correct the direction or the name (known names: {', '.join(sorted(METRICS))})",
        )
        return
    columns = _targets(case, oracle)
    rng = np.random.default_rng(_SEED)
    wrong = exchanged(oracle, columns, 0.3, rng)
    if known.soft and set(columns) <= set(case.key.numeric):
        # Soft scores in (0, 1) that keep each row's sum, legal as probabilities too.
        softened = 0.6 * oracle[columns] + 0.3 * wrong[columns] + 0.1 * oracle[columns].mean()
        wrong = wrong.assign(**{column: softened[column] for column in columns})
    result = case.grader.grade_frame(wrong)
    if result.raw_score is None:
        return
    try:
        expected = known(oracle[columns].to_numpy(), wrong[columns].to_numpy())
    except ValueError:
        return
    if abs(expected - result.raw_score) > 1e-6 * max(1.0, abs(expected)):
        yield finding(
            "metric_formula",
            f"partly wrong answers score {result.raw_score:.9g}; {known.name} is {expected:.9g}",
            "correct the metric, or give it a name of its own",
        )


def _check_malformed(case: Case) -> Iterator[Finding]:
    """Files that no participant may get a score for, through the same door as a participant's."""
    answers = case.key.answers[list(case.key.columns)]
    target = next(column for column in answers.columns if column != case.key.id_column)
    foreign = answers.copy()
    foreign.loc[0, case.key.id_column] = "no such id"
    files = {
        "without the column " + target: answers.drop(columns=target),
        "with half of the rows": answers.iloc[: len(answers) // 2],
        "with an id twice": pd.concat([answers, answers.iloc[:1]]),
        "with a foreign id": foreign,
        "with an empty value": answers.assign(**{target: ["", *answers[target][1:]]}),
        "without rows": answers.iloc[:0],
    }
    if target in case.key.numeric:
        files["with a word for a number"] = answers.assign(**{target: ["word", *answers[target][1:]]})
        files["with infinity"] = answers.assign(**{target: ["inf", *answers[target][1:]]})
    path = case.scratch / "malformed.csv"
    for what, frame in files.items():
        frame.to_csv(path, index=False)
        result = case.grader.grade(Path(path))
        if result.valid:
            yield finding(
                "malformed_accepted",
                f"a file {what} scores {result.raw_score:.6g}",
                "refuse it in validate_submission",
            )


def _check_partial(case: Case, oracle: pd.DataFrame) -> Iterator[Finding]:
    """The metric alone, past our grader's checks, given the easy half of the rows."""
    half = oracle.iloc[: max(1, len(oracle) // 2)]
    result = case.grader.grade_loose(half)
    if result.valid:
        yield finding(
            "metric_partial",
            f"half of the rows score {result.raw_score:.6g} where the framework's checks are not made",
            "refuse missing ids in validate_submission",
        )
