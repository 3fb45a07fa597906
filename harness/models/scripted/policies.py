"""The policies: generators that yield what to do and are sent what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from harness.actions import Action
from harness.models.scripted.plans import Plan, attempts, simpler
from harness.models.scripted.problems import Problem, understand
from harness.models.scripted.programs import (
    Place,
    answers_program,
    look_program,
    model_program,
    place,
    sample_program,
)
from harness.models.scripted.reading import (
    Answer,
    Outcome,
    Unreadable,
    read_facts,
    read_outcome,
    read_printed,
)


@dataclass(frozen=True)
class Turn:
    """A thought and an action."""

    thought: str
    action: Action


Policy = Generator[Turn, Answer, None]
_REPAIRS = 2


def nop() -> Policy:
    """Asks what the task is and hands in nothing."""
    yield _ask("overview", "I read what the task is.")
    yield submit("I have nothing to hand in.")


def sample() -> Policy:
    """Hands in the sample submission."""
    yield _ask("sample_submission", "I read what a submission looks like.")
    data_path = yield _ask("data_path", "The sample can be handed in as it is; I need its place.")
    output_path = yield _ask("output_path", "And the place to write to.")
    program = sample_program(data_path.text, output_path.text)
    yield Turn("I hand in the sample submission.", Action("execute_code", {"code": program}))
    yield submit("That is all I can do.")


def oracle(answers: str) -> Callable[[], Policy]:
    """A policy that hands in the answers, which shows that a task can be solved.

    Args:
        answers: a submission as CSV.
    """

    def policy() -> Policy:
        output_path = yield _ask("output_path", "I know the answers; I need the place to write to.")
        program = answers_program(answers, output_path.text)
        yield Turn("I hand in the answers.", Action("execute_code", {"code": program}))
        yield submit("It cannot get better.")

    return policy


def modelling(candidate: str) -> Callable[[], Policy]:
    """A policy that reads the task, looks at the data, and tries plans while they get better."""

    def policy() -> Policy:
        try:
            task, problem = yield from _study()
        except Unreadable as error:
            yield submit(f"I cannot work on this task: {error}.")
            return
        yield from _improve(task, problem, attempts(candidate, problem))

    return policy


def _study() -> Generator[Turn, Answer, tuple[Place, Problem]]:
    overview = yield _ask("overview", "First I read what is to be predicted and how it is scored.")
    tree = yield _ask("data_structure", "Which files and columns are there?")
    facts = read_facts(overview.text, tree.text)
    direction = "higher" if facts.higher_is_better else "lower"
    data_path = yield _ask(
        "data_path", f"{facts.objective} by {facts.metric}, {direction} is better. Where are the files?"
    )
    output_path = yield _ask("output_path", "And where do I write?")
    task = place(facts, data_path.text, output_path.text)
    looked = yield Turn(
        f"Before I model {', '.join(facts.targets[:3])}, I look at what the columns hold.",
        Action("validate_code", {"code": look_program(task)}),
    )
    if not looked.ok:
        raise Unreadable(f"looking at the data failed: {read_outcome(looked).reason}")
    return task, understand(facts, read_printed(looked.text))


def _improve(task: Place, problem: Problem, plans: tuple[Plan, ...]) -> Policy:
    """Execute plan after plan while the score gets better; the best one is what is handed in."""
    best: tuple[float, Plan] | None = None
    last: Plan | None = None
    told = True
    thought = f"The target is a matter of {problem.kind}; columns: {_describe(problem)}."
    for plan in plans:
        outcome, done, steps_left = yield from _attempt(task, problem, plan, thought)
        if not outcome.valid:
            thought = f"That did not work either: {outcome.reason}."
            break
        told, last, merit = outcome.score is not None, done, outcome.merit
        if merit is None:
            break
        sign = 1 if problem.higher_is_better else -1
        if best is not None and sign * merit <= sign * best[0]:
            thought = f"{merit:g} is no improvement on {best[0]:g}."
            break
        thought = f"{merit:g}{'' if best is None else f' improves {best[0]:g}'}; I try something better."
        best = (merit, done)
        if steps_left == 0:
            break
    if best is not None and not told and last is not best[1]:
        # Without scores the last valid submission is the one that counts.
        program = model_program(task, problem, best[1])
        yield Turn(f"{thought} I go back to the better program.", Action("execute_code", {"code": program}))
    yield submit("My best submission stands." if best else f"I give up. {thought}")


def _attempt(
    task: Place, problem: Problem, plan: Plan, thought: str
) -> Generator[Turn, Answer, tuple[Outcome, Plan, int]]:
    """Execute a plan; answer a failure with a simpler program."""
    for repair in range(_REPAIRS + 1):
        program = model_program(task, problem, plan)
        answer = yield Turn(f"{thought} {plan.title}.", Action("execute_code", {"code": program}))
        outcome = read_outcome(answer)
        if outcome.valid or repair == _REPAIRS:
            break
        thought = f"It failed: {outcome.reason}. I write something simpler."
        plan = simpler(plan)
    return outcome, plan, answer.steps_left


def _describe(problem: Problem) -> str:
    roles = {
        "numbers": len(problem.numbers),
        "numbered blocks": len(problem.blocks),
        "texts": len(problem.texts),
        "categories": len(problem.categories),
        "dates": len(problem.dates),
        "images": int(problem.images is not None),
        "recordings": int(problem.sounds is not None),
    }
    return ", ".join(f"{count} {role}" for role, count in roles.items() if count) or "none"


def _ask(info_type: str, thought: str) -> Turn:
    return Turn(thought, Action("request_info", {"info_type": info_type}))


def submit(thought: str) -> Turn:
    """The turn that ends a trial."""
    return Turn(thought, Action("submit"))


POLICIES: dict[str, Callable[[], Policy]] = {
    "nop": nop,
    "sample": sample,
    **{
        name: modelling(name)
        for name in ("constant", "tree", "neighbours", "linear", "forest", "boosting", "tuned", "blended")
    },
}
"""The ladder: all policies that know no answers, weakest first."""

SUMMARIES: dict[str, str] = {
    "nop": "reads the task and submits nothing",
    "sample": "submits the sample submission",
    "constant": "the prior, the mean or median, or the last value of a series",
    "tree": "a small decision tree on the numbers",
    "neighbours": "nearest neighbours on scaled columns",
    "linear": "regularised linear models on all columns",
    "forest": "random forests on all columns",
    "boosting": "gradient boosting on all columns",
    "tuned": "derived features, and the estimator that validates best",
    "blended": "derived features, and a blend of the estimators that validate best",
    "oracle": "hands in the answers: shows that a task can be solved; never on a board",
}
"""What each policy does, in a line."""
