"""The funnel, counted by hand."""

from __future__ import annotations

from generator.pipeline.funnel import Funnel, Passage, Stage


def test_counts_and_reasons() -> None:
    """Five: one refused, one not prepared, one rejected by a gate, one by the agent, one verified."""
    funnel = Funnel((
        Passage("d", "a", Stage.CONSIDERED, "unlearnable", "no"),
        Passage("d", "b", Stage.DESIGNED, "prepare_failed", "no"),
        Passage("e", "c", Stage.REFACTORED, "trivial", "no"),
        Passage("e", "d", Stage.REVIEWED, "execution_failed", "no"),
        Passage("e", "f", Stage.VERIFIED),
    ))  # fmt: skip
    assert funnel.counts() == {
        "considered": 5, "proposed": 4, "designed": 4, "refactored": 3, "reviewed": 2, "executed": 1,
        "verified": 1,
    }  # fmt: skip
    assert funnel.reasons() == {
        "proposed": {"unlearnable": 1}, "refactored": {"prepare_failed": 1}, "reviewed": {"trivial": 1},
        "executed": {"execution_failed": 1},
    }  # fmt: skip
