"""What the rules can mend of a task in which the verifier found defects.

A finding says in a sentence what is wrong. Which columns it means is read off that sentence only where it
stands as the gates write it, and only when a real column has that very name: a guess would mend sound things.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from generator.backend import GaveUp
from generator.columns import Kind
from generator.defects.base import Finding, Severity
from generator.profile import Table
from generator.proposals import Proposal, SplitChoice

#: How gates name a column in evidence or fix, by code; ``{}`` is the column.
_NAMED: dict[str, tuple[str, ...]] = {
    "proxy_column": (
        "{} alone gives ", "{} is filled in only where ", "{} seems known only with ", "drop {} if it is ",
    ),
    "target_copied": ("column {} of ",),
    "target_in_test": ("the test table holds {}", "drop {} from the test table"),
    "missingness_leak": ("; {} alone ", "drop {}, or fill it in"),
    "future_aggregate": ("compute {} from ", "drop {}, or compute it"),
    "category_drift": ("have a category of {} that training lacks",),
    "type_drift": ("{} is a number in ",),
    "columns_across_split": ("{} is in the test table only", "{} is in the training table only"),
    "personal_data": ("column {} of ",),
    "prompt_injection": ("column {} of ",),
    "group_leak": (" groups by {} in test ", " share {} with training rows", " rows of one {} on one side"),
    "time_leak": (" last training row by {}",),
}  # fmt: skip
_WHY_DROPPED = {
    "category_drift": "most of its values in the test rows do not occur in the training rows",
    "type_drift": "it is of another kind in the test rows",
    "columns_across_split": "it is not there for all rows",
    "personal_data": "it tells who a person is",
    "prompt_injection": "it gives orders to whoever reads it",
}
_RARE = re.compile(r"training rows, '(?P<name>.*)' has \d+")
_TOGETHER = "columns of the test table give "
#: Share of the rows that is tested where the usual one cannot tell good from better.
_LARGE_SHARE = 0.5
_WARNINGS = ("rare_class", "imbalanced_accuracy", "hidden_classes", "coarse_metric", "few_test_rows")

Remedy = Callable[[Proposal, Finding, Table | None], "Proposal | None"]


def revise(proposal: Proposal, findings: Sequence[Finding], table: Table | None) -> Proposal:
    """The proposal with another design of the same task, in which no error should be left.

    Args:
        proposal: what was built.
        findings: what the verifier found.
        table: the profile of its table; ``None`` for media.

    Raises:
        GaveUp: there is an error that the rules cannot mend, and what it is.
    """
    mended = proposal
    for found in findings:
        error = found.severity is Severity.ERROR
        if not error and found.code not in _WARNINGS:
            continue
        remedy = _REMEDIES.get(found.code)
        better = remedy(mended, found, table) if remedy is not None else None
        if better is None and error:
            raise GaveUp("not_mended", f"the rules know no remedy for {found.code}: {found.evidence}")
        mended = better or mended
    if mended == proposal:
        raise GaveUp("not_mended", "the rules know no other design of it")
    if not mended.features:
        raise GaveUp("not_mended", "no feature is left beside the columns that give the target away")
    codes = ", ".join(dict.fromkeys(found.code for found in findings))
    return mended.model_copy(update={"rationale": f"{proposal.rationale} Designed anew after {codes}."})


def named_columns(found: Finding, names: Sequence[str]) -> list[str]:
    """Which of ``names`` a finding is about; the longest where one is part of another."""
    said = f"{found.evidence}\n{found.fix}"
    phrases = _NAMED.get(found.code, ())
    told = [name for name in names if any(_says(said, phrase, name) for phrase in phrases)]
    return [name for name in told if not any(other != name and name in other for other in told)]


def _says(said: str, phrase: str, name: str) -> bool:
    """Whether the sentence has the phrase with that name, not with a longer one that begins like it."""
    before, after = phrase.split("{}")
    begin = r"(?:^|(?<=\n))" if not before else re.escape(before)
    end = r"(?![\w.])" if not after else re.escape(after)
    return re.search(begin + re.escape(name) + end, said) is not None


def _without(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """Without the columns that the finding names."""
    names = named_columns(found, proposal.features)
    if not names and found.code == "target_copied" and found.evidence.startswith(_TOGETHER):
        names = _last_of_sum(proposal, found)
    if not names:
        return None
    why = _WHY_DROPPED.get(found.code, "it gives the target away")
    return proposal.model_copy(
        update={
            "features": tuple(name for name in proposal.features if name not in names),
            "ignored": (*proposal.ignored, *((name, why) for name in names)),
        }
    )


def _last_of_sum(proposal: Proposal, found: Finding) -> list[str]:
    """One of the columns that make the target together, the last that the formula names."""
    formula = found.evidence.partition(": ")[2]
    places = {
        name: max(match.start() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", formula))
        for name in proposal.features
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", formula)
    }
    return [max(places, key=lambda name: places[name])] if places else []


def _by_group(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """All rows of one entity on one side."""
    if table is None or proposal.query is not None or proposal.split.kind not in ("random", "stratified"):
        return None
    names = named_columns(found, [column.name for column in table.columns])
    if len(names) != 1 or names[0] in proposal.targets:
        return None
    reason = f"rows that share {names[0]} have like answers, so none appears on both sides"
    return _split(proposal, SplitChoice(kind="group", columns=(names[0],), reason=reason))


def _alike_together(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """Rows that are equal in all features on one side."""
    if table is None or proposal.query is not None or proposal.split.kind not in ("random", "stratified"):
        return None
    reason = "some rows repeat others in all features, so rows that are alike stay on one side"
    return _split(proposal, SplitChoice(kind="group", columns=proposal.features, reason=reason))


def _by_time(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """The latest rows as the test rows."""
    if table is None or proposal.query is not None or proposal.split.kind == "time":
        return None
    dates = [column.name for column in table.columns if column.kind is Kind.DATE]
    names = named_columns(found, dates)
    columns = (names[0],) if len(names) == 1 else table.time.columns if table.time is not None else ()
    if not columns:
        return None
    reason = "rows of near moments have like answers, so the test rows are the latest"
    return _split(proposal, SplitChoice(kind="time", columns=columns, reason=reason))


def _fewer_classes(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """Without the class that the finding names and those that are no more frequent."""
    if table is None or proposal.objective != "classification" or len(proposal.classes) < 3:
        return None
    counts = dict(table.column(proposal.targets[0]).classes)
    match = _RARE.search(found.evidence)
    rarest = min(proposal.classes, key=lambda name: (counts.get(name, 0), name))
    limit = counts.get(match["name"] if match else rarest, counts.get(rarest, 0))
    kept = tuple(name for name in proposal.classes if counts.get(name, 0) > limit)
    return proposal.model_copy(update={"classes": kept}) if len(kept) >= 2 else None


def _even_metric(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """A metric that counts rare classes as much as frequent ones."""
    return proposal.model_copy(update={"metric": "macro_f1"}) if proposal.metric == "accuracy" else None


def _more_tested(proposal: Proposal, found: Finding, table: Table | None) -> Proposal | None:
    """Half of the rows in the test set."""
    if proposal.shape != "table" or proposal.train_rows or proposal.test_share == _LARGE_SHARE:
        return None
    return proposal.model_copy(update={"test_share": _LARGE_SHARE})


def _split(proposal: Proposal, split: SplitChoice) -> Proposal:
    return proposal.model_copy(update={"split": split})


_REMEDIES: dict[str, Remedy] = {
    **dict.fromkeys((*_WHY_DROPPED, "proxy_column", "target_copied", "target_in_test", "missingness_leak",
                     "future_aggregate"), _without),
    "group_leak": _by_group,
    "duplicates_across_split": _alike_together,
    "near_duplicates": _alike_together,
    "time_leak": _by_time,
    "rare_class": _fewer_classes,
    "unseen_class": _fewer_classes,
    "imbalanced_accuracy": _even_metric,
    "hidden_classes": _even_metric,
    "coarse_metric": _more_tested,
    "few_test_rows": _more_tested,
}  # fmt: skip
