"""A quick proof that a target can be learned from the features and is not given away by one of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from generator.columns import Column, Kind, as_dates, as_numbers
from generator.proposals import Evidence

Array = npt.NDArray[np.float64]
_ROWS = 1_500
_FOLDS = 3
_SEED = 7
_TOPICS = 30
#: Features that are tried in pairs, and the share of rows in which a pair must have a value.
_IN_PAIRS, _MOSTLY = 30, 0.8


def encode(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """The features as one numeric matrix: dates as calendar parts, text as topics, categories as codes."""
    parts: dict[str, Array] = {}
    for column in columns:
        values = frame[column.name]
        if column.is_number:
            parts[column.name] = as_numbers(values).to_numpy()
        elif column.kind is Kind.DATE:
            parts |= calendar(as_dates(values), column.name)
        elif column.kind in (Kind.TEXT, Kind.LIST):
            parts |= _topics(values.fillna("").astype(str), column.name)
        else:
            codes, _ = pd.factorize(values.astype(str), sort=True)
            parts[column.name] = codes.astype(float)
    return pd.DataFrame(parts, index=frame.index)


def calendar(times: pd.Series, name: str) -> dict[str, Array]:
    """Trend, season, week and hour of each time."""
    days = (times - pd.Timestamp("1970-01-01")).dt.total_seconds() / 86_400
    return {
        f"{name} trend": days.to_numpy(float),
        f"{name} day of year": times.dt.day_of_year.to_numpy(float),
        f"{name} weekday": times.dt.day_of_week.to_numpy(float),
        f"{name} hour": times.dt.hour.to_numpy(float),
    }


def skill(
    matrix: pd.DataFrame,
    target: pd.Series,
    *,
    classes: bool,
    groups: pd.Series | None = None,
    order: pd.Series | None = None,
    tree: bool = False,
    most: int | None = None,
    rare: int | None = None,
    labels: bool = False,
) -> Evidence:
    """Cross-validated skill of a forest (or one tree), split as the task will be.

    Args:
        matrix: numeric features, may have missing values.
        target: classes or numbers, without missing values.
        classes: which of the two.
        groups: rows of one group stay on one side.
        order: the time of each row; the last quarter is then predicted from what came before.
        tree: use a single tree, which suits a single feature.
        most: learn from no more than so many rows.
        rare: learn from no more than so many rows of the rarest class.
        labels: ask for the right class also where there are two, not only for their order.
    """
    rows = _sample(target, groups, order)
    data = matrix.loc[rows].fillna(-1e9).to_numpy(float)
    y = target.loc[rows]
    truth: Array = np.asarray(pd.factorize(y.astype(str), sort=True)[0] if classes else y, dtype=float)
    scores = []
    for train, test in _folds(
        truth, None if groups is None else groups.loc[rows], order is not None, classes
    ):
        train = _fewer(train, truth, most, rare)
        model = _model(classes, tree)
        model.fit(data[train], truth[train])
        scores.append(_score(model, data[test], truth[test], truth[train], classes, labels))
    kinds = len(np.unique(truth)) if classes else 0
    measure = (
        "R²"
        if not classes
        else "2 AUC - 1"
        if kinds == 2 and not labels
        else "share of the errors of the majority guess avoided"
    )
    return Evidence(skill=round(float(np.mean(scores)), 4), spread=round(float(np.std(scores)), 4),
                    measure=measure, rows=len(rows))  # fmt: skip


def joined(evidence: Sequence[Evidence]) -> Evidence:
    """The evidence about several parts of one target as one: their means."""
    return evidence[0].model_copy(
        update={
            "skill": round(float(np.mean([each.skill for each in evidence])), 4),
            "spread": round(float(np.mean([each.spread for each in evidence])), 4),
        }
    )


def proxies(
    matrix: pd.DataFrame, target: pd.Series, *, classes: bool, limit: float
) -> list[tuple[str, float]]:
    """Features that alone give the target with at least the skill ``limit``, the strongest first."""
    found = []
    for name in matrix.columns:
        alone = skill(matrix[[name]], target, classes=classes, tree=True).skill
        if alone >= limit:
            found.append((str(name), alone))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def together(matrix: pd.DataFrame, target: pd.Series, *, limit: float) -> tuple[str, float] | None:
    """Two features whose product or ratio follows a number to an R² of at least ``limit``, as a formula.

    Features and number may each be on a logarithmic scale.
    """
    rows = _sample(target, None, None)
    wanted = target.loc[rows].to_numpy(float)
    columns = {str(name): matrix.loc[rows, name].to_numpy(float) for name in matrix.columns}
    columns = {name: values for name, values in columns.items() if np.isfinite(values).mean() > _MOSTLY}
    best: tuple[str, float] | None = None
    for a, b in itertools.permutations(sorted(columns)[:_IN_PAIRS], 2):
        with np.errstate(all="ignore"):
            forms = {f"{a} / {b}": columns[a] / columns[b]}
            if a < b:
                forms[f"{a} * {b}"] = columns[a] * columns[b]
            for formula, said in forms.items():
                for values in (said, np.log1p(said)):
                    usable = np.isfinite(values)
                    if usable.mean() > _MOSTLY and np.ptp(values[usable]) > 0:
                        fit = float(np.corrcoef(values[usable], wanted[usable])[0, 1]) ** 2
                        if fit >= limit and (best is None or fit > best[1]):
                            best = (formula, fit)
    return best


def _sample(target: pd.Series, groups: pd.Series | None, order: pd.Series | None) -> pd.Index:
    """At most 1,500 rows: the latest in time, whole groups, or any."""
    rng = np.random.default_rng(_SEED)
    if order is not None:
        ordered = order.loc[target.index].sort_values(kind="stable").index
        # Every so-manieth row of the recent past keeps the seasons.
        recent = ordered[-8 * _ROWS :]
        return recent[:: max(1, len(recent) // _ROWS)]
    if len(target) <= _ROWS:
        return target.index
    if groups is not None:
        names = groups.loc[target.index].astype(str)
        shuffled = pd.Series(rng.permutation(names.unique()))
        sizes = shuffled.map(names.value_counts()).cumsum()
        return target.index[names.isin(shuffled[sizes <= _ROWS])]
    return target.index[np.sort(rng.choice(len(target), _ROWS, replace=False))]


def _folds(
    truth: Array, groups: pd.Series | None, ordered: bool, classes: bool
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    index = np.arange(len(truth))
    if ordered:
        cut = int(len(index) * 0.75)
        half = cut + (len(index) - cut) // 2
        return [(index[:cut], index[cut:half]), (index[:cut], index[half:])]
    if groups is not None and groups.nunique() >= _FOLDS:
        return list(GroupKFold(_FOLDS).split(index, groups=groups.astype(str)))
    if classes and np.bincount(truth.astype(int)).min() >= _FOLDS:
        return list(StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED).split(index, truth))
    return list(KFold(_FOLDS, shuffle=True, random_state=_SEED).split(index))


def _model(classes: bool, tree: bool) -> Any:
    if tree:
        kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
        return kind(max_leaf_nodes=256, min_samples_leaf=3, random_state=_SEED)
    kind = ExtraTreesClassifier if classes else ExtraTreesRegressor
    return kind(n_estimators=60, min_samples_leaf=2, max_features=0.5, random_state=_SEED)


def _fewer(
    train: npt.NDArray[np.intp], truth: Array, most: int | None, rare: int | None
) -> npt.NDArray[np.intp]:
    """The rows to learn from, thinned evenly."""
    if rare is not None:
        kinds, counts = np.unique(truth[train], return_counts=True)
        flagged = train[truth[train] == kinds[counts.argmin()]]
        train = np.setdiff1d(train, flagged[rare:])
    return train if most is None or len(train) <= most else train[:: -(-len(train) // most)]


def _score(model: Any, data: Array, truth: Array, seen: Array, classes: bool, labels: bool = False) -> float:
    if not classes:
        return float(r2_score(truth, model.predict(data)))
    if not labels and len(np.unique(seen)) == 2 and len(np.unique(truth)) == 2:
        return 2 * float(roc_auc_score(truth, model.predict_proba(data)[:, 1])) - 1
    guess = np.bincount(seen.astype(int)).argmax()
    floor = float(np.mean(truth == guess))
    right = float(np.mean(truth == model.predict(data)))
    return (right - floor) / (1 - floor) if floor < 1 else 0.0


def _topics(text: pd.Series, name: str) -> dict[str, Array]:
    words = TfidfVectorizer(min_df=3, max_features=3_000, token_pattern=r"(?u)\b\w+\b")
    try:
        counts = words.fit_transform(text)
    except ValueError:
        return {}
    size = min(_TOPICS, counts.shape[1] - 1)
    if size < 2:
        return {}
    topics = TruncatedSVD(size, random_state=_SEED).fit_transform(counts)
    return {f"{name} topic {number}": topics[:, number] for number in range(size)}
