"""The rules' brainstorm: up to a few different, learnable tasks from one dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from generator.datasets.catalogue import DatasetCard
from generator.profile import Profile, Table, table_rows
from generator.proposals import Proposal, Refusal
from generator.rules.candidates import FROM_TEXT, Candidate, candidates
from generator.rules.context import LEAST_ROWS, Context, Outcome
from generator.rules.media import propose_media
from generator.rules.tabular import examine
from generator.rules.temporal import propose_series

#: What speaks for a second task must outweigh that its kind or its target is there already.
_SECOND_WORTH = -0.1
_MOST_CHECKS = 10
#: Tables of a dataset that are asked for tasks, the largest first.
_MOST_TABLES = 3
_SAME_KIND, _LIKE_KIND, _SAME_TARGET, _SAME_MEASUREMENT = 0.5, 0.2, 1.5, 0.4

#: What a formulation asks for: its objective and its targets.
Asked = tuple[str, tuple[str, ...]]


def propose(
    folder: Path,
    card: DatasetCard,
    profile: Profile,
    *,
    max_tasks: int = 3,
    avoid: Collection[Asked] = (),
    probed: bool = True,
    diverse: bool = True,
) -> Outcome:
    """At most ``max_tasks`` proposals that differ in target, objective or metric, and what was refused.

    The largest tables are used; a target is proposed only when a quick cross-validation beats a constant
    guess clearly, and when no single column gives it away.

    Args:
        folder: the raw dataset.
        card: its card.
        profile: its profile.
        max_tasks: most proposals.
        avoid: what was proposed before and turned out unfit.
        probed: whether targets are proven learnable and not given away.
        diverse: whether what resembles an earlier proposal counts for less, or for nothing.
    """
    proposals: list[Proposal] = []
    refusals: list[Refusal] = []
    for media in profile.media:
        found = propose_media(card.name, card.title, folder, media, probed=probed)
        proposals += [each for each in found.proposals if _asked(each) not in avoid]
        refusals += found.refusals
    for table in _worked(profile):
        if table.rows < LEAST_ROWS:
            reason = f"the table has {table.rows} rows; at least {LEAST_ROWS} are needed"
            refusals.append(Refusal(target=table.path, objective="any", reason=reason, code="few_rows"))
        elif len(proposals) < max_tasks:
            context = Context(card.name, card.title, card.modality, table, table_rows(table, folder), probed)
            found = _from_table(context, max_tasks, proposals, avoid, diverse)
            proposals += found.proposals
            refusals += found.refusals
    if not proposals and not refusals:
        skipped = "; ".join(f"{path}: {reason}" for path, reason in profile.skipped[:5])
        reason = f"no table or images found ({skipped})"
        refusals.append(Refusal(target=card.name, objective="any", reason=reason, code="nothing_found"))
    return Outcome(tuple(_named_apart(proposals[:max_tasks])), tuple(refusals))


def _worked(profile: Profile) -> list[Table]:
    """The largest tables, without those that only say what media show."""
    recipes = [media.labels.recipe for media in profile.media if media.labels is not None]
    labels = {name for recipe in recipes if recipe is not None for name in recipe.files}
    return [table for table in profile.tables if table.path not in labels][:_MOST_TABLES]


def _from_table(
    context: Context, most: int, earlier: Sequence[Proposal], avoid: Collection[Asked], diverse: bool
) -> Outcome:
    """New proposals of one table, until there are ``most`` with the ``earlier`` ones."""
    series = propose_series(context)
    proposals = list(earlier)
    proposals += [each for each in series.proposals if _asked(each) not in avoid][: most - len(earlier)]
    queue, refused = candidates(context)
    refusals, checks = [*series.refusals, *refused], 0
    if not (queue or refusals or series.proposals):
        refusals.append(_nothing_to_ask(context.table))
    while queue and len(proposals) < most and checks < _MOST_CHECKS:
        others = proposals if diverse else []
        chosen = max(queue, key=lambda c: _worth(c, others))
        queue.remove(chosen)
        if any(_same(chosen, proposal) for proposal in others):
            continue
        if proposals and _worth(chosen, others) < _SECOND_WORTH:
            break
        checks += 1
        result = examine(context, chosen)
        if isinstance(result, Refusal):
            refusals.append(result)
            # What the columns give away as a whole, they give away in any form; texts alone may not.
            if result.code == "given_away" and not chosen.texts:
                queue = [c for c in queue if c.texts or c.columns != chosen.columns]
        elif _asked(result) not in avoid:
            proposals.append(result)
    return Outcome(tuple(proposals[len(earlier) :]), tuple(refusals))


def _nothing_to_ask(table: Table) -> Refusal:
    kinds = Counter(str(column.kind) for column in table.columns)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    reason = (
        f"none of its {len(table.columns)} columns ({told}) is an outcome that many rows tell: a number of "
        "many values, or classes of enough rows each"
    )
    return Refusal(target=table.path, objective="any", reason=reason, code="no_target")


def _asked(proposal: Proposal) -> Asked:
    return proposal.objective, proposal.targets


def _same(candidate: Candidate, proposal: Proposal) -> bool:
    """Whether both ask the same, or one asks for a part of the labels or numbers that the other asks for."""
    names = {column.name for column in candidate.columns}
    if "classification" in proposal.objective or proposal.objective == "anomaly detection":
        return bool(names & {*proposal.targets, proposal.source_target})
    objective = _kind(proposal).removesuffix(f" {FROM_TEXT}")
    if objective != candidate.objective and {objective, candidate.objective} == {
        "regression",
        "multi-output",
    }:
        return bool(names & set(proposal.targets))
    return candidate.objective == objective and names == set(proposal.targets)


def _kind(proposal: Proposal) -> str:
    objective = "multi-output" if "multi-output" in proposal.tags else proposal.objective
    return f"{objective} {FROM_TEXT}" if FROM_TEXT in proposal.tags else objective


def _worth(candidate: Candidate, proposals: Sequence[Proposal]) -> float:
    """Promise, less for an objective or a target that is there already."""
    worth = candidate.promise
    names = {column.name for column in candidate.columns}
    for proposal in proposals:
        if _kind(proposal) == candidate.kind:
            worth -= _SAME_KIND
        elif proposal.objective == candidate.objective:
            worth -= _LIKE_KIND
        if names & {*proposal.targets, proposal.source_target, proposal.change_of}:
            # Only what is measured is worth another question, such as an order or several numbers at once.
            measured = not proposal.classes and _kind(proposal) != candidate.objective
            worth -= _SAME_MEASUREMENT if measured else _SAME_TARGET
    return worth


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
