"""The same submission again: in one process, after others, in a new process, on another day."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.metric.bench import Bench, close
from generator.verifier.metric.hashes import looks_at_hashes
from harness.tasks.grading import Grader
from harness.tasks.variants import Outcome, Variant, VariantResult

_REPEATS = 5
#: Two labels in a set come in the same order under one seed in two, as under 0, which all other runs have.
_HASH_SEEDS = (1, 2)
_DAYS = 400.0
_RANDOM_FIX = "draw nothing at random, or seed it in evaluate; look at no clock and at no order of a set"
_FIX = "work on copies in evaluate and validate_submission, and keep nothing between calls"


def check(bench: Bench) -> Iterator[Finding]:
    """Whether a score depends on anything but the submission, and whether the metric alters its arguments."""
    random = _random(bench)
    if random:
        yield finding("metric_random", random, _RANDOM_FIX)
        return
    sequence = [bench.oracle, bench.worse, bench.sample, bench.oracle, bench.worse]
    results = bench.many(sequence, same=True, twice=True)
    found = _remembered(bench, results) or _altered(results)
    if found:
        yield found


def _random(bench: Bench) -> str:
    """What differs when one submission is scored again; several times, as coarse scores coincide."""
    worse = bench.worse
    first = bench.score(worse, "answers with 30% of the rows exchanged")
    inside = [result.finite for result in bench.many([worse] * _REPEATS)]
    again = bench.grade(worse).raw_score
    if again is None or not close(first, again):
        return f"one submission scores {first:.9g}, then {_told(again)}"
    later = bench.case.grader.score_variants([Variant(worse)], clock=_DAYS * 86_400.0, answers=bench.answers)[
        0
    ].finite
    if later is not None and not close(first, later):
        return f"one submission scores {first:.9g}, and with the clock {_DAYS:.0f} days ahead {_told(later)}"
    for seed in _HASH_SEEDS if looks_at_hashes(_text(bench)) else ():
        with Grader(
            bench.case.scored, bench.case.provider, environment={"PYTHONHASHSEED": str(seed)}
        ) as other:
            again = other.score(bench.answers, worse).raw_score
        if again is None or not close(first, again):
            return f"one submission scores {first:.9g}, and in a process of other hashes {_told(again)}"
    differing = [score for score in inside if score is not None and not close(first, score)]
    if differing and _draws(bench):
        return f"one submission scores {first:.9g}, and again in the same process {differing[0]:.9g}"
    return ""


def _draws(bench: Bench) -> bool:
    """Whether the metric's text draws at random, which tells a seeded stream from a memory of calls."""
    text = _text(bench)
    return any(word in text for word in ("random", ".sample(", "shuffle", "secrets", "uuid"))


def _text(bench: Bench) -> str:
    return bench.case.scored.metric_path.read_text(encoding="utf-8", errors="replace")


def _told(score: float | None) -> str:
    return "nothing" if score is None else f"{score:.9g}"


def _remembered(bench: Bench, results: list[VariantResult]) -> Finding | None:
    """The answers, others, and the answers again, all with one instance of the metric."""
    for first, later, what in ((0, 3, "the answers"), (1, 4, "answers with 30% of the rows exchanged")):
        before, after = results[first].score, results[later].score
        if results[first].finite is None or results[later].outcome is Outcome.SKIPPED:
            continue
        if after is None or not close(before or 0.0, after):
            return finding(
                "metric_mutates",
                f"{what} score {_told(before)}, and after others in the same process {_told(after)}",
                _FIX,
            )
    alone = bench.perfect
    if results[0].finite is not None and not close(alone, results[0].finite):
        return finding(
            "metric_mutates",
            f"the answers score {alone:.9g} alone, and {results[0].finite:.9g} in one process with others",
            _FIX,
        )
    return None


def _altered(results: list[VariantResult]) -> Finding | None:
    """What was changed in place. It is an error once it changes a score; else others may trip over it."""
    for result in results:
        if result.finite is None or not result.altered:
            continue
        told = " and ".join(f"the {what} of the {name}" for name, what in sorted(result.altered.items()))
        told = f"evaluate or validate_submission changes {told} in place"
        if result.again is not None and not close(result.finite, result.again):
            told += f"; the same tables then score {result.again:.9g} instead of {result.finite:.9g}"
            return finding("metric_mutates", told, _FIX)
        values = result.altered.get("answers", "").startswith(("values", "rows"))
        return finding(
            "metric_mutates",
            told,
            _FIX,
            Severity.ERROR if values and result.again is not None else Severity.WARNING,
        )
    return None
