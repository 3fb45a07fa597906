"""Gate 8: an agent works on the task, and a program looks for the answers from where agents work."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical.trials import TrialInterrupted, Trials, open_trials
from generator.verifier.execution.probe import Probe, read_sightings, wanted
from harness.models.registry import ModelConfig, make_model
from harness.records import Feedback

#: Baselines in order of their cost on many rows.
_CHEAPEST = ("linear", "tree", "neighbours", "forest")
_PROBE_STEPS = 3
_SHOWN = 3


def check(case: Case) -> Iterator[Finding]:
    """Findings of an agent that works on the task, and of a probe in its place.

    Raises:
        TrialInterrupted: a trial was lost to the machine or to the model's endpoint.
    """
    with open_trials(case) as trials:
        yield from check_reach(case, trials)
        yield from check_agent(case, trials)


def check_agent(case: Case, trials: Trials) -> Iterator[Finding]:
    """A whole trial without feedback, as in the paper's validation (arXiv 2510.07307, section 3.2)."""
    limits = case.limits.execution
    name = limits.candidate or f"scripted/{cheapest(case)}"
    case.say(f"{name} works on the task")
    model = make_model(ModelConfig(name=name), task=case.scored)
    result, _ = trials.run("agent", model, limits.steps, limits.seconds, Feedback.NONE)
    climbed = [key for key in case.scores if key.startswith("ladder/")]
    if result.score is None:
        codes = [step.reason_code for step in result.steps if step.reason_code]
        if climbed:
            yield finding(
                "execution_failed",
                f"{name} ended with {result.status} after {len(result.steps)} steps and no valid submission "
                f"(last word: {codes[-1] if codes else 'nothing was handed in'}), where "
                f"{len(climbed)} baselines that were told their scores had one",
                "say in description.txt how a submission is made, and keep what it takes small",
            )
        return
    case.scores["agent"] = result.score
    sign = 1.0 if case.task.spec.metric.higher_is_better else -1.0
    floors = {each["name"]: each["score"] for each in case.exhibits.get("floors", [])}
    if not floors:
        return
    best = max(floors, key=lambda each: sign * floors[each])
    if sign * result.score <= sign * floors[best]:
        yield finding(
            "execution_below_floor",
            f"{name} scores {result.score:.5g}, {best} {floors[best]:.5g}",
            "let description.txt and the training data say what the metric rewards",
        )


def cheapest(case: Case) -> str:
    """The cheapest baseline that is clearly above the floor; where none is, the highest of them."""
    ladder: dict[str, dict[str, float]] = {each["name"]: each for each in case.exhibits.get("ladder", [])}
    risen = [name for name in _CHEAPEST if name in ladder and ladder[name]["low"] > 0]
    if risen or not ladder:
        return risen[0] if risen else _CHEAPEST[0]
    return max(ladder, key=lambda name: ladder[name]["gain"])


def check_reach(case: Case, trials: Trials) -> Iterator[Finding]:
    """A program in the agent's sandbox walks parent folders, mounts, environments and processes."""
    case.say("looking for the answers from inside the sandbox")
    limits = case.limits.execution
    probe = Probe(wanted(case.scored), limits.probe_seconds)
    result, paths = trials.run("probe", probe, _PROBE_STEPS, 4 * limits.probe_seconds, Feedback.NONE)
    output = paths.step(2) / "output.txt"
    printed = output.read_text(encoding="utf-8", errors="replace") if output.is_file() else ""
    sightings = read_sightings(printed)
    if sightings is None:
        raise TrialInterrupted(f"the probe of the sandbox did not come to its end ({result.status})")
    contents = [each for each in sightings if each.what != "name"]
    if not contents:
        return
    told = ", ".join(
        f"{each.path} ({f'{each.count} answers' if each.count else 'a private file byte for byte'})"
        for each in contents[:_SHOWN]
    )
    more = f" and {len(contents) - _SHOWN} more" if len(contents) > _SHOWN else ""
    isolated = case.provider.capabilities.isolated
    yield finding(
        "private_reachable",
        f"code in the {case.provider.name} sandbox reads {told}{more}",
        "show agents nothing but public/"
        if isolated
        else "the process sandbox isolates nothing: use bubblewrap or docker",
        None if isolated else Severity.WARNING,
    )
