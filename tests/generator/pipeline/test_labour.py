"""The agents' work, counted by hand on :mod:`tests.generator.pipeline.example`."""

from __future__ import annotations

import dataclasses

import pytest

from generator.pipeline.funnel import Passage, Stage
from generator.pipeline.labour import AgentWork, spending_of, works_of
from harness.models.base import Usage
from tests.generator.pipeline.example import ATTEMPTS, PASSAGES, attempt

WORKS = {work.agent: work for work in works_of(PASSAGES, ATTEMPTS)}


def counts(work: AgentWork) -> list[tuple[int, int]]:
    return [(share.count, share.of) for share in (work.once, work.twice, work.thrice)]


def test_attempts_that_were_needed() -> None:
    """Left out: ``a-old``, which is not made any more, and ``c-2``, which the machine stopped."""
    assert list(WORKS) == ["brainstormer", "designer", "refactor", "reviewer", "verifier"]
    assert counts(WORKS["designer"]) == [(4, 5), (1, 5), (0, 5)]
    assert counts(WORKS["refactor"]) == [(3, 5), (2, 5), (1, 5)]
    assert counts(WORKS["verifier"]) == [(2, 4), (1, 4), (0, 4)]
    assert counts(WORKS["brainstormer"]) == [(3, 3), (0, 3), (0, 3)]
    assert [WORKS[name].interrupted for name in ("brainstormer", "designer", "verifier")] == [1, 1, 1]


def test_steps() -> None:
    """Designer: 12, 20, 14, 10, 16, 8. Refactor: 15, 16, 18, 22, 15 and three times 25."""
    designer, refactor = WORKS["designer"], WORKS["refactor"]
    assert designer.steps is not None
    assert (designer.steps.lower_quartile, designer.steps.median, designer.steps.upper_quartile) == (
        10.5, 13.0, 15.5,
    )  # fmt: skip
    assert (designer.within.count, designer.within.of) == (4, 6)
    assert dict(refactor.histogram) == {15: 2, 16: 1, 18: 1, 22: 1, 25: 3}
    assert WORKS["verifier"].steps is None and WORKS["verifier"].within.of == 0


def test_spending() -> None:
    """926 s of the three agents; the verifier's 190 s hold the 5 s of its reviewer, who has no price."""
    spent = spending_of(ATTEMPTS)
    assert (spent.preparing, spent.verifying) == (926, 190)
    assert (spent.money.known, spent.money.unpriced) == pytest.approx((2.52, 1))
    assert spent.money.total is None
    steps = sum(each.steps for each in ATTEMPTS)
    assert spent.usage == Usage(input=100 * steps, output=10 * steps)
    assert WORKS["designer"].spent.money.total == pytest.approx(1.37)


def test_what_the_agent_finished_must_pass_its_stage() -> None:
    """One attempt, done, but the draft was not accepted and nothing was mended."""
    stopped = dataclasses.replace(PASSAGES[0], reached=Stage.PROPOSED, code="missing_file")
    (work,) = works_of([stopped], [attempt("a-1", "designer", 1, "done", 1, 3)])
    assert counts(work) == [(0, 1), (0, 1), (0, 1)]


def test_work_that_began_anew_counts_as_it_was_done_last() -> None:
    series = [attempt("a-1", "designer", number, "done", 1, 3, 1.0) for number in (1, 2, 3, 1)]
    (work,) = works_of([PASSAGES[0]], series)
    assert counts(work) == [(1, 1), (0, 1), (0, 1)] and work.spent.money.total == 4.0


def test_nothing() -> None:
    assert works_of([], []) == ()
    nothing = spending_of([])
    assert (nothing.attempts, nothing.preparing, nothing.money.total) == (0, 0, 0.0)


def test_a_machine_that_ends_every_attempt_leaves_no_rate() -> None:
    passage = Passage("a", "a-1", Stage.PROPOSED, "machine", "503")
    (work,) = works_of([passage], [attempt("a-1", "designer", 1, "machine", 2)])
    assert work.once.value is None and work.seconds is None and work.interrupted == 1
