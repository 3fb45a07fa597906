"""The ladder of scripted candidates, weakest first.

A policy is a generator: it yields a thought with an action and is sent the observation's text. All learn about
the task by asking, write a program, look at what came back, and go on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from harness.actions import Action
from harness.models.scripted.programs import write_program
from harness.models.scripted.reading import Facts, Outcome, read_facts, read_outcome, split_observation

Turn = tuple[str, Action]
Play = Generator[Turn, str, None]

_SUBMIT = Action("submit")


@dataclass(frozen=True)
class Policy:
    """A scripted candidate; ``play`` is told whether scores stay hidden."""

    summary: str
    play: Callable[[bool], Play]


@dataclass(frozen=True)
class Variant:
    """One program to try, with the thought that goes with it."""

    thought: str
    program: str
    choices: dict[str, Any]


def _ask(info_type: str, thought: str) -> Generator[Turn, str, str]:
    observation = yield thought, Action("request_info", {"info_type": info_type})
    return split_observation(observation)[1]


def _learn_task() -> Generator[Turn, str, Facts]:
    overview = yield from _ask("overview", "First I read what the task asks for.")
    structure = yield from _ask("data_structure", "I look at the files and their columns.")
    data_path = yield from _ask("data_path", "Where are the data?")
    output_path = yield from _ask("output_path", "Where does the submission go?")
    return read_facts(overview, structure, data_path, output_path)


def _execute(variant: Variant, facts: Facts, blind: bool) -> Generator[Turn, str, Outcome]:
    code = write_program(variant.program, facts, validate=blind, **variant.choices)
    observation = yield variant.thought, Action("execute_code", {"code": code})
    return read_outcome(*split_observation(observation))


def _better(a: Outcome, b: Outcome | None, facts: Facts) -> bool:
    """Whether ``a`` is an improvement, by the score told, else by the programs' own validation."""
    if b is None:
        return a.ran
    for new, old in ((a.score, b.score), (a.validation, b.validation)):
        if a.ran and new is not None and old is not None:
            return new > old if facts.higher_is_better else new < old
    return False


def _idle(blind: bool) -> Play:
    yield from _ask("overview", "I read the task.")
    yield "I have nothing to offer.", _SUBMIT


def _improve(variants: list[Variant], fallback: Variant, blind: bool) -> Play:
    """Try variants in turn: repair a failure by the fallback, stop when a variant is no improvement.

    Args:
        variants: what to try, the most promising first.
        fallback: what to do when the first variant fails.
        blind: no scores are told, so programs validate by themselves and the last submission counts.
    """
    try:
        facts = yield from _learn_task()
    except ValueError as error:
        yield f"I cannot make sense of this task: {error}.", _SUBMIT
        return
    if not facts.readable:
        yield "There is no train.csv and test.csv, which is all I can read.", _SUBMIT
        return
    best: Outcome | None = None
    chosen = variants[0]
    for variant in variants:
        outcome = yield from _execute(variant, facts, blind)
        if not outcome.ran and best is None:
            lines = outcome.text.strip().splitlines() or ["no output"]
            thought = f"That failed ({lines[-1][:200]}); I fall back to something simpler."
            variant = Variant(thought, fallback.program, fallback.choices)
            outcome = yield from _execute(variant, facts, blind)
        if not _better(outcome, best, facts):
            if blind and best is not None:
                thought = "That validated worse; I return to the better one."
                yield from _execute(Variant(thought, chosen.program, chosen.choices), facts, blind)
            break
        best, chosen = outcome, variant
    yield "I see no further improvement within my means.", _SUBMIT


def _fit(thought: str, level: int, *families: tuple[str, dict[str, Any]], keep: int = 1) -> Variant:
    """A fit of one family of estimators, or of the best ``keep`` of several by validation.

    Args:
        thought: why.
        level: of the features: 0 numbers only; 1 also categories, text and dates; 2 also derived ones.
        families: name and parameters of the estimators to compare.
        keep: how many of them to average.
    """
    return Variant(thought, "fit", {"level": level, "families": families, "keep": keep})


_CONSTANT = Variant("I predict the same for every row.", "constant", {})
_SAMPLE = Variant("I submit the sample submission as it is.", "sample", {})

_TREE = (
    _fit("I grow one small tree on the numeric columns.", 0, ("tree", {"max_depth": 4})),
    _fit("Does a deeper tree do better?", 0, ("tree", {"max_depth": 8})),
)
_NEIGHBOURS = (
    _fit("I look at the fifteen most similar rows.", 1, ("neighbours", {"n_neighbors": 15})),
    _fit("Do fewer neighbours do better?", 1, ("neighbours", {"n_neighbors": 5})),
)
_LINEAR = (
    _fit("I fit a regularised linear model on all columns.", 1, ("linear", {"strength": 1.0})),
    _fit("Does stronger regularisation help?", 1, ("linear", {"strength": 10.0})),
)
_FOREST = (
    _fit("I fit a random forest on all columns.", 1, ("forest", {"n_estimators": 80})),
    _fit("Do larger leaves generalise better?", 1, ("forest", {"n_estimators": 80, "min_samples_leaf": 4})),
)
_BOOSTING = (
    _fit("I fit gradient boosting on all columns.", 1, ("boosting", {"max_iter": 80})),
    _fit("Do more but smaller steps help?", 1, ("boosting", {"max_iter": 150, "learning_rate": 0.05})),
)
_STRONG = (
    ("boosting", {"max_iter": 100, "learning_rate": 0.08}),
    ("extra", {"n_estimators": 120, "min_samples_leaf": 2}),
    ("linear", {"strength": 2.0}),
)
_TUNED = (
    _fit("I derive features and keep the estimator that validates best.", 2, *_STRONG),
    _fit("I compare again without the derived features.", 1, *_STRONG),
)
_BLENDED = (
    _fit("I derive features and average the estimators by how well they validate.", 2, *_STRONG, keep=3),
    _fit("Does a blend of all columns as they are do better?", 1, *_STRONG, keep=3),
)


def _policy(summary: str, *variants: Variant, fallback: Variant = _CONSTANT) -> Policy:
    return Policy(summary, lambda blind: _improve(list(variants), fallback, blind))


POLICIES: dict[str, Policy] = {
    "idle": Policy("reads the task and submits nothing", _idle),
    "sample": _policy("submits the sample submission", _SAMPLE, fallback=_SAMPLE),
    "constant": _policy(
        "the most frequent class, the mean or median, or the last value", _CONSTANT, fallback=_SAMPLE
    ),
    "tree": _policy("one small decision tree on the numeric columns", *_TREE),
    "neighbours": _policy("nearest neighbours on all columns", *_NEIGHBOURS),
    "linear": _policy("regularised linear model on all columns", *_LINEAR),
    "forest": _policy("random forest on all columns", *_FOREST),
    "boosting": _policy("gradient boosting on all columns", *_BOOSTING),
    "tuned": _policy(
        "derived features and the estimator that validates best", *_TUNED, fallback=_BOOSTING[0]
    ),
    "blended": _policy(
        "derived features and a weighted average of estimators", *_BLENDED, fallback=_BOOSTING[0]
    ),
}
