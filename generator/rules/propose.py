"""The rules' brainstorm: up to a few different, learnable tasks from one dataset."""

from __future__ import annotations

from pathlib import Path

from generator.datasets.catalogue import DatasetCard
from generator.profile import Profile
from generator.proposals import Proposal, Refusal
from generator.rules.context import LEAST_ROWS, Context, Outcome
from generator.rules.images import propose_images
from generator.rules.tabular import Candidate, candidates, examine
from generator.rules.temporal import propose_series
from generator.tables import read_table

#: How promising a target must be to be asked for beside the dataset's main one.
_SECOND_PROMISE = 0.6
_MOST_CHECKS = 8


def propose(folder: Path, card: DatasetCard, profile: Profile, *, max_tasks: int = 3) -> Outcome:
    """At most ``max_tasks`` proposals that differ in target, objective or metric, and what was refused.

    The largest table is used; a target is proposed only when a quick cross-validation beats a constant
    guess clearly, and when no single column gives it away.
    """
    proposals: list[Proposal] = []
    refusals: list[Refusal] = []
    if profile.images is not None:
        found = propose_images(card.name, card.title, folder, profile.images)
        proposals += found.proposals
        refusals += found.refusals
    if profile.tables:
        table = profile.tables[0]
        if table.rows < LEAST_ROWS:
            reason = f"the table has {table.rows} rows; at least {LEAST_ROWS} are needed"
            refusals.append(Refusal(target=table.path, objective="any", reason=reason, code="few_rows"))
        else:
            context = Context(card.name, card.title, card.modality, table, read_table(folder / table.path))
            found = _from_table(context, max_tasks - len(proposals))
            proposals += found.proposals
            refusals += found.refusals
    if not proposals and not refusals:
        skipped = "; ".join(f"{path}: {reason}" for path, reason in profile.skipped[:5])
        reason = f"no table or images found ({skipped})"
        refusals.append(Refusal(target=card.name, objective="any", reason=reason, code="nothing_found"))
    return Outcome(tuple(_named_apart(proposals[:max_tasks])), tuple(refusals))


def _from_table(context: Context, wanted: int) -> Outcome:
    series = propose_series(context)
    proposals, refusals = list(series.proposals)[:wanted], list(series.refusals)
    queue, checks = candidates(context), 0
    while queue and len(proposals) < wanted and checks < _MOST_CHECKS:
        chosen = max(queue, key=lambda c: _worth(c, proposals))
        queue.remove(chosen)
        if proposals and _worth(chosen, proposals) < _SECOND_PROMISE:
            break
        if any(_same(chosen, earlier) for earlier in proposals):
            continue
        checks += 1
        result = examine(context, chosen)
        if isinstance(result, Proposal):
            proposals.append(result)
        else:
            refusals.append(result)
    return Outcome(tuple(proposals), tuple(refusals))


def _worth(candidate: Candidate, proposals: list[Proposal]) -> float:
    """Promise, less for an objective or a target that is there already."""
    objectives = [proposal.objective for proposal in proposals]
    targets = {name for proposal in proposals for name in proposal.targets}
    same = objectives.count(candidate.objective)
    again = sum(column.name in targets for column in candidate.columns)
    return candidate.promise - 0.8 * same - 0.4 * again


def _same(candidate: Candidate, proposal: Proposal) -> bool:
    names = tuple(column.name for column in candidate.columns)
    return candidate.objective == proposal.objective and names == proposal.targets


def _named_apart(proposals: list[Proposal]) -> list[Proposal]:
    """Give a second task of the same id its objective as a suffix."""
    seen: set[str] = set()
    named = []
    for proposal in proposals:
        name = proposal.id
        if name in seen:
            name = f"{name}-{proposal.objective.split()[0]}"
        seen.add(name)
        named.append(proposal.model_copy(update={"id": name}))
    return named
