"""What a dataset holds and what the rules would make of it; nothing is written."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.archives import unpack
from generator.datasets.catalogue import load_card
from generator.pipeline.generation import locate
from generator.profile import Profile, profile_dataset
from generator.proposals import Proposal, Refusal
from generator.rules.propose import propose


@dataclass(frozen=True)
class Preview:
    """One dataset.

    Attributes:
        profile: what its files hold.
        proposals: what the rules would make.
        refusals: what they considered and refused.
    """

    profile: Profile
    proposals: tuple[Proposal, ...]
    refusals: tuple[Refusal, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "dataset": self.profile.name,
            "profile": self.profile.summary(),
            "proposals": [each.model_dump(mode="json") for each in self.proposals],
            "refusals": [each.model_dump(mode="json") for each in self.refusals],
        }

    def lines(self) -> list[str]:
        """For people."""
        told = list(self.profile.summary())
        for each in self.proposals:
            told.append(f"would make {each.id}: {each.objective} by {each.metric}, {each.difficulty}")
            told.append(f"  {each.rationale}")
        told += [f"refused {each.target} ({each.objective}): {each.reason}" for each in self.refusals]
        return told


def preview(datasets: Sequence[Path | str], max_tasks: int) -> list[Preview]:
    """Profile datasets and brainstorm by the rules.

    Raises:
        InputError: a dataset does not exist or cannot be read.
    """
    plans = []
    with tempfile.TemporaryDirectory(prefix="mlesmith-preview-") as scratch:
        for dataset in datasets:
            folder = unpack(locate(dataset), Path(scratch))
            card = load_card(folder)
            profile = profile_dataset(folder, card.name)
            found = propose(folder, card, profile, max_tasks=max_tasks)
            plans.append(Preview(profile, found.proposals, found.refusals))
    return plans
