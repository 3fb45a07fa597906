"""The rules' brainstorm: up to a few different, learnable tasks from one dataset."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from generator.datasets.catalogue import DatasetCard
from generator.profile import Profile, table_rows
from generator.proposals import Proposal, Refusal
from generator.rules.context import LEAST_ROWS, Context, Outcome
from generator.rules.media import propose_media
from generator.rules.tabular import Candidate, candidates, examine
from generator.rules.temporal import propose_series

#: How promising a target must be to be asked for beside the dataset's main one.
_SECOND_PROMISE = 0.6
_MOST_CHECKS = 8


#: What a formulation asks for: its objective and its targets.
Asked = tuple[str, tuple[str, ...]]


def propose(
    folder: Path,
    card: DatasetCard,
    profile: Profile,
    *,
    max_tasks: int = 3,
    avoid: Collection[Asked] = (),
) -> Outcome:
    """At most ``max_tasks`` proposals that differ in target, objective or metric, and what was refused.

    The largest table is used; a target is proposed only when a quick cross-validation beats a constant
    guess clearly, and when no single column gives it away.

    Args:
        folder: the raw dataset.
        card: its card.
        profile: its profile.
        max_tasks: most proposals.
        avoid: what was proposed before and turned out unfit.
    """
    proposals: list[Proposal] = []
    refusals: list[Refusal] = []
    for media in profile.media:
        found = propose_media(card.name, card.title, folder, media)
        proposals += [each for each in found.proposals if _asked(each) not in avoid]
        refusals += found.refusals
    if profile.tables:
        table = profile.tables[0]
        if table.rows < LEAST_ROWS:
            reason = f"the table has {table.rows} rows; at least {LEAST_ROWS} are needed"
            refusals.append(Refusal(target=table.path, objective="any", reason=reason, code="few_rows"))
        else:
            context = Context(card.name, card.title, card.modality, table, table_rows(table, folder))
            found = _from_table(context, max_tasks - len(proposals), avoid)
            proposals += found.proposals
            refusals += found.refusals
    if not proposals and not refusals:
        skipped = "; ".join(f"{path}: {reason}" for path, reason in profile.skipped[:5])
        reason = f"no table or images found ({skipped})"
        refusals.append(Refusal(target=card.name, objective="any", reason=reason, code="nothing_found"))
    return Outcome(tuple(_named_apart(proposals[:max_tasks])), tuple(refusals))


def _from_table(context: Context, wanted: int, avoid: Collection[Asked]) -> Outcome:
    series = propose_series(context)
    proposals = [each for each in series.proposals if _asked(each) not in avoid][:wanted]
    refusals = list(series.refusals)
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
        if isinstance(result, Refusal):
            refusals.append(result)
        elif _asked(result) not in avoid:
            proposals.append(result)
    return Outcome(tuple(proposals), tuple(refusals))


def _asked(proposal: Proposal) -> Asked:
    return proposal.objective, proposal.targets


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
