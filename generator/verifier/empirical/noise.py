"""How much the score of one baseline depends on its seed alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.empirical.standing import Standing
from generator.verifier.empirical.trials import open_trials
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall
from harness.models.scripted.reading import read_answer

_SEEDED = re.compile(r"random_state=0\b")
_PLACES = re.compile(r"^DATA, OUT = .*$", flags=re.MULTILINE)


class Reseeded:
    """A candidate that runs one program again and again, each time with other seeds.

    Args:
        program: what another candidate wrote; its places are replaced by those of this trial.
        seeds: one execution each.
    """

    name = "scripted/reseeded"

    def __init__(self, program: str, seeds: Sequence[int]) -> None:
        self._program = program
        self._seeds = seeds

    @property
    def steps(self) -> int:
        """How many steps it takes."""
        return len(self._seeds) + 3

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Asks for both places, then runs the programs one after the other."""
        told = [message.text for message in messages if message.role not in ("system", "assistant")][1:]
        number, params = len(told), dict[str, str]()
        if number < 2:
            name, params = "request_info", {"info_type": ("data_path", "output_path")[number]}
        elif number < 2 + len(self._seeds):
            data, out = (read_answer(text).text for text in told[:2])
            name, params = "execute_code", {"code": self._written(self._seeds[number - 2], data, out)}
        else:
            name = "submit"
        if tools and settings.action_format is ActionFormat.TOOLS:
            call = ToolCall(f"call_{number}", name, json.dumps(params))
            return Reply("", tool_calls=(call,), finish=Finish.TOOL_CALLS)
        return Reply(f"```json\n{json.dumps({'action': name, 'params': params})}\n```")

    def _written(self, seed: int, data: str, out: str) -> str:
        places = f"DATA, OUT = Path({json.dumps(data)}), Path({json.dumps(out)})"
        program = _PLACES.sub(lambda _: places, self._program)
        return _SEEDED.sub(f"random_state={seed}", program)


def check(case: Case, standing: Standing, height: float) -> Iterator[Finding]:
    """The seed must matter less than what the baseline has learnt.

    Args:
        case: the verification.
        standing: the best baseline.
        height: how far perfect lies above the floor, in the metric's units.
    """
    if not _SEEDED.search(standing.rung.program):
        return
    limits = case.limits.empirical
    model = Reseeded(standing.rung.program, range(1, limits.seeds + 1))
    case.say(f"running the {standing.rung.name} baseline with {limits.seeds} seeds")
    with open_trials(case) as trials:
        result, _ = trials.run("reseeded", model, model.steps, limits.ladder_seconds)
    scores = [step.score for step in result.steps if step.score is not None]
    if len(scores) < 2:
        return
    spread, lead = max(scores) - min(scores), standing.gain * height
    if spread > limits.seed_spread * lead:
        told = ", ".join(f"{score:.5g}" for score in scores)
        yield finding(
            "noisy_scores",
            f"{standing.rung.name} with {len(scores)} seeds scores {told}: a spread of {spread:.3g}, and it "
            f"stands {lead:.3g} above the floor",
            "hold out more rows, or use a finer metric",
        )
