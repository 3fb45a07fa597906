"""The agreement of several sets as one strict JSON document: what ``mlesmith agree --json`` prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from reports.agreement.files import RatingFile, ScoreFile, read_files
from reports.agreement.names import is_part_whole

if TYPE_CHECKING:
    from reports.agreement.evidence import Evidence
    from reports.agreement.rated import Options, RatedSet
    from reports.agreement.reliability import Length
    from stats.agreement.ceiling import Ceiling
    from stats.agreement.equivalence import ContrastEquivalence, MeanEquivalence
    from stats.agreement.influence import Influence
    from stats.agreement.lines import Line
    from stats.agreement.pair import Agreement

SCHEMA_VERSION = 1
_OWN_KEYS = ("bland_altman", "intervals", "models", "dropped", "notes")


def agreement_of_files(
    paths: Sequence[Path],
    options: Options | None = None,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The agreement of every two of some CSV files of ratings or scores, as a strict JSON document.

    Args:
        paths: of two or more files (see :mod:`reports.agreement.files`).
        options: of the intervals, fits and tests.
        progress: told what is being computed, where that takes long.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    files = read_files(paths)
    from reports.agreement.evidence import gather
    from reports.agreement.rated import Options
    from reports.agreement.reliability import lengths

    options = options or Options()
    sets = [_rated(file, options) for file in files]
    evidence = [gather(a, b, options, progress) for a, b in combinations(sets, 2)]
    compared = {s.name: s.comparisons for s in sets if s.comparisons is not None}
    return agreement_document(
        [e.agreement for e in evidence],
        {s.name: s.ratings for s in sets},
        {s.name: s.unrated for s in sets},
        evidence=evidence,
        lengths=lengths(compared, level=options.level) if compared else {},
    )


def agreement_document(
    results: Sequence[Agreement],
    tables: Mapping[str, Mapping[str, float]],
    unrated: Mapping[str, Sequence[str]],
    *,
    evidence: Sequence[Evidence] = (),
    lengths: Mapping[str, Length] | None = None,
) -> dict[str, Any]:
    """Agreement of several sets as strict JSON data.

    Args:
        results: of the pairs.
        tables: by name of the set, Elo by model, for the figures over all sets.
        unrated: by name of the set, its models without a rating.
        evidence: on some of the pairs; what it shows is added to them.
        lengths: by name of the set, how reliably its tasks order the models.

    Returns:
        Keys schema_version, sets, pairs (see :func:`pair_document` and :func:`evidence_document`), all_sets
        (n, cronbach_alpha, icc_2_1), tasks_needed and notes. Undefined figures are ``None``, and a note says
        why.
    """
    from reports.agreement.evidence import few_models
    from reports.agreement.words import pair_sentences
    from stats.agreement.pair import align
    from stats.agreement.reliability import cronbach_alpha, icc_2_1

    found = {(e.agreement.a, e.agreement.b): e for e in evidence}
    lengths = lengths or {}
    notes = [
        f"{name}: no Elo for {', '.join(models)}: an order at most, but no finite rating; left out"
        for name, models in unrated.items()
        if models
    ]
    notes += [f"{name}: {note}" for name, length in lengths.items() for note in length.notes]
    said: dict[str, list[str]] = {}
    pairs = []
    for result in results:
        document, remarks = pair_document(result), list(result.notes)
        if (known := found.get((result.a, result.b))) is not None:
            document |= evidence_document(known) | {"shows": pair_sentences(known, lengths)}
            remarks += [*known.notes, *known.interval_notes]
        else:
            remarks += few_models(result)
        pairs.append(document)
        for here, there in ((result.a, result.b), (result.b, result.a)):
            listed = {*tables[there], *unrated.get(there, ())}
            if absent := sorted(set(tables[here]) - listed):
                remarks.append(f"not in {there}: {', '.join(absent)}")
        for remark in remarks:
            said.setdefault(remark, []).append(f"{result.a} - {result.b}")
    notes += [f"{', '.join(where)}: {remark}" for remark, where in said.items()]
    models, matrix, _ = align(tables)
    alpha = icc = None
    if len(models) > 1:
        alpha, icc = (_strict(float(f(matrix).value)) for f in (cronbach_alpha, icc_2_1))
    if len(tables) > 2 and any(is_part_whole(a, b) for a, b in combinations(tables, 2)):
        notes.append("all sets: one contains others, so alpha and ICC(2,1) over all sets are inflated")
    return {
        "schema_version": SCHEMA_VERSION,
        "sets": list(tables),
        "pairs": pairs,
        "all_sets": {"n": len(models), "cronbach_alpha": alpha, "icc_2_1": icc},
        "tasks_needed": {name: _strict(asdict(length)) for name, length in lengths.items()},
        "notes": notes,
    }


def pair_document(result: Agreement) -> dict[str, Any]:
    """One pair: figures by name, ``bland_altman``, ``intervals`` with method and unit, models and notes."""
    plain = asdict(result)
    return {
        **{key: _strict(value) for key, value in plain.items() if key not in _OWN_KEYS},
        **{key: _strict(plain[key]) for key in _OWN_KEYS},
    }


def evidence_document(evidence: Evidence) -> dict[str, Any]:
    """The keys that evidence adds to a pair; ``None`` for what cannot be known from the files."""
    return {
        "by_tasks": evidence.by_tasks,
        "intervals_by_models": _strict(
            {name: asdict(interval) for name, interval in evidence.by_models.intervals.items()}
        ),
        "ceiling": evidence.ceiling and _ceiling(evidence.ceiling, evidence.ceiling_fit),
        "influence": {
            "models": _influence(evidence.models, "model"),
            "tasks": evidence.tasks and _influence(evidence.tasks, "task"),
        },
        "lines": {"deming": _line(evidence.deming), "passing_bablok": _line(evidence.passing_bablok)},
        "permutation": _strict({name: asdict(test) for name, test in evidence.permutation.items()}),
        "equivalence": evidence.equivalence and _equivalence(evidence.equivalence),
        "remarks": [*evidence.notes, *evidence.interval_notes],
    }


def _rated(file: RatingFile | ScoreFile, options: Options) -> RatedSet:
    from reports.agreement.rated import RatedSet
    from stats.comparisons import Comparisons

    if isinstance(file, RatingFile):
        return RatedSet(file.name, file.ratings, file.unrated)
    try:
        comparisons = Comparisons.from_scores(file.scores)
    except ValueError as error:
        raise InputError(f"{file.path}: {error}") from error
    return RatedSet.from_comparisons(file.name, comparisons, options.prior)


def _ceiling(found: Ceiling, fitted: str) -> dict[str, Any]:
    plain = asdict(found)
    return dict(_strict({"fit": fitted, **plain, "sentence": found.sentence}))


def _influence(influence: Influence, noun: str) -> dict[str, Any]:
    """Per statistic the value with everything and the most influential one; then all rows."""
    statistics = {}
    for column, statistic in enumerate(influence.statistics):
        most = influence.most_influential[statistic]
        row = influence.left_out.index(most) if most is not None else None
        statistics[statistic] = {
            "full": float(influence.full[column]),
            "most_influential": most,
            "without": None if row is None else float(influence.without[row, column]),
        }
    rows = [
        {
            noun: name,
            **({"set": influence.sets[i], "swaps": int(influence.swaps[i])} if influence.sets else {}),
            **dict(zip(influence.statistics, map(float, influence.without[i]), strict=True)),
        }
        for i, name in enumerate(influence.left_out)
    ]
    return dict(
        _strict({"n": influence.n, "statistics": statistics, "without": rows, "notes": list(influence.notes)})
    )


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else dict(_strict(asdict(line)))


def _equivalence(found: ContrastEquivalence | MeanEquivalence) -> dict[str, Any]:
    from stats.agreement.equivalence import MeanEquivalence

    if isinstance(found, MeanEquivalence):
        return {"of": "mean difference", **_strict(asdict(found))}
    keys = ("margin", "level", "adjust", "method", "n", "unit", "notes")
    shares = ("share_equivalent", "share_different", "share_undecided")
    return dict(
        _strict(
            {
                "of": "differences between models",
                **{key: getattr(found, key) for key in (*keys, *shares)},
                "pairs": found.frame().to_dict("records"),
            }
        )
    )


def _strict(value: Any) -> Any:
    """Plain JSON data: NaN and infinities become ``None``."""
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
