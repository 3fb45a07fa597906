"""What each candidate tries: models and features, from a first attempt to its best one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from harness.models.scripted.problems import Problem

Features = Literal["none", "numbers", "plain", "rich"]
_MODULES = {
    "constant": "dummy",
    "tree": "tree",
    "neighbours": "neighbors",
    "linear": "linear_model",
    "forest": "ensemble",
    "extra": "ensemble",
    "boosting": "ensemble",
}
_SCALED = ("linear", "neighbours")


@dataclass(frozen=True)
class Learner:
    """One model of a program: a family of estimators and its options."""

    family: str
    options: dict[str, Any] = field(default_factory=dict)
    label: str = ""

    @property
    def name(self) -> str:
        """How the program calls it; the first word is the family."""
        return f"{self.family} {self.label}".strip()

    @property
    def wants_scaled(self) -> bool:
        """Whether it learns from scaled columns rather than from codes."""
        return self.family in _SCALED


@dataclass(frozen=True)
class Plan:
    """One program to write.

    Attributes:
        title: what it is, in words.
        models: the models it validates.
        features: none, numbers only, the plain ones of every column, or derived ones too.
        folds: validation folds; 1 is a single held-out part.
        blends: average the models that validation chooses, rather than take the best one.
        thresholds: choose the decision rule by validation too.
        detrends: a straight line carries the trend of a forecast.
        rows: use so many training rows only.
    """

    title: str
    models: tuple[Learner, ...]
    features: Features = "plain"
    folds: int = 1
    blends: bool = False
    thresholds: bool = False
    detrends: bool = False
    rows: int | None = None

    @property
    def wants_scaled(self) -> bool:
        """Whether a model needs scaled columns."""
        return any(model.wants_scaled for model in self.models)

    @property
    def wants_dense(self) -> bool:
        """Whether a model needs codes."""
        return any(not model.wants_scaled for model in self.models)

    @property
    def sklearn_modules(self) -> list[str]:
        """What the program imports."""
        families = {_MODULES[model.family] for model in self.models}
        scaling = {"linear_model"} if self.detrends else set()
        return sorted(families | scaling | {"dummy", "metrics", "model_selection", "preprocessing"})

    @property
    def is_constant(self) -> bool:
        """Whether nothing is learnt from features."""
        return self.features == "none"


def attempts(candidate: str, problem: Problem) -> tuple[Plan, ...]:
    """The programs a candidate writes for a problem, each meant to be better than the last."""
    return _ATTEMPTS[candidate](problem)


def simpler(plan: Plan) -> Plan:
    """What to write when a program of this plan failed: one model, plain numbers, fewer rows."""
    return (
        Plan(
            title=f"{plan.title}, simplified",
            models=plan.models[:1],
            features="none" if plan.is_constant or plan.features == "numbers" else "numbers",
            rows=2000,
        )
        if plan.rows is None
        else constant_plan()
    )


def constant_plan() -> Plan:
    """The same answer for every row."""
    return Plan("The same answer for every row", (Learner("constant"),), "none")


def _constant(problem: Problem) -> tuple[Plan, ...]:
    return (constant_plan(),)


def _tree(problem: Problem) -> tuple[Plan, ...]:
    features: Features = "numbers" if problem.has_numbers else "plain"
    return tuple(
        Plan(f"One decision tree of depth {depth}", (_tree_of(depth),), features) for depth in (3, 5)
    )


def _neighbours(problem: Problem) -> tuple[Plan, ...]:
    return tuple(
        Plan(f"The {k} nearest neighbours", (Learner("neighbours", {"k": k, "by_distance": False}),))
        for k in (5, 15)
    )


def _linear(problem: Problem) -> tuple[Plan, ...]:
    strengths = (1.0, 4.0) if problem.texts else (1.0, 0.1)
    return tuple(Plan(f"A linear model, C = {c}", (_linear_of(c),)) for c in strengths)


def _forest(problem: Problem) -> tuple[Plan, ...]:
    return tuple(
        Plan(f"A random forest with leaves of {leaf}", (_forest_of("forest", leaf, problem),), detrends=True)
        for leaf in (1, 4)
    )


def _boosting(problem: Problem) -> tuple[Plan, ...]:
    return tuple(
        Plan(f"Boosted trees of {leaves} leaves", (_boosting_of(leaves, leaf, problem),), detrends=True)
        for leaves, leaf in ((15, 10), (6, 20))
    )


def _tuned(problem: Problem) -> tuple[Plan, ...]:
    models = (
        _linear_of(1.0),
        _linear_of(4.0 if problem.texts else 0.05),
        _forest_of("extra", 2, problem),
        _best_boosting(problem),
    )
    return _searches("The best", models, problem, blends=False)


def _blended(problem: Problem) -> tuple[Plan, ...]:
    models = (
        _linear_of(3.0 if problem.texts else 0.3),
        Learner("neighbours", {"k": 10, "by_distance": True}),
        _forest_of("extra", 2, problem),
        _forest_of("forest", 2, problem),
        _best_boosting(problem),
    )
    return _searches("A blend", models, problem, blends=True)


def _searches(title: str, models: tuple[Learner, ...], problem: Problem, *, blends: bool) -> tuple[Plan, ...]:
    """On plain features, then on derived ones, or on finer models where nothing can be derived."""
    plain = Plan(
        f"{title} of {len(models)} models on plain features",
        models,
        folds=_folds(problem),
        blends=blends,
        thresholds=True,
        detrends=True,
    )
    if problem.has_derived:
        second = replace(plain, title=f"{title} of {len(models)} models on derived features", features="rich")
    else:
        finer = (_linear_of(30.0), _forest_of("extra", 1, problem), _boosting_of(31, 5, problem))
        kept = tuple(model for model in models if model.family == "neighbours")
        second = replace(
            plain, title=f"{title} of models that follow the data more closely", models=finer + kept
        )
    return plain, second


def _tree_of(depth: int) -> Learner:
    return Learner("tree", {"depth": depth, "leaf": 5})


def _linear_of(c: float) -> Learner:
    return Learner("linear", {"c": c}, f"C={c:g}")


def _forest_of(family: str, leaf: int, problem: Problem) -> Learner:
    """Fewer trees on many rows and fewer tries on wide ones, so that a program stays within seconds."""
    outputs = 1 if problem.kind in ("classes", "shares") else problem.n_outputs
    trees = max(25, min(60, 200_000 // (problem.rows[0] * outputs)))
    wide = problem.rows[0] * (problem.width + 20 * len(problem.texts)) > 60_000
    share = "sqrt" if problem.classifies else 0.15 if wide else 0.4
    return Learner(family, {"trees": trees, "leaf": leaf, "share": share})


def _boosting_of(leaves: int, leaf: int, problem: Problem) -> Learner:
    """Boosting fits a tree for each output in each round: fewer and longer rounds when there are many."""
    outputs = 1 if problem.kind == "classes" and problem.n_outputs == 2 else problem.n_outputs
    rounds = max(20, min(60, 240 // outputs))
    rate = 0.15 if rounds == 60 else 0.2
    options = {"rounds": rounds, "rate": rate, "leaves": leaves, "leaf": leaf}
    return Learner("boosting", options, f"{leaves} leaves")


def _best_boosting(problem: Problem) -> Learner:
    return _boosting_of(*((15, 10) if problem.rows[0] > 500 else (8, 15)), problem)


def _folds(problem: Problem) -> int:
    return 3 if problem.rows[0] * max(20, problem.width) * problem.n_outputs < 60_000 else 1


_ATTEMPTS = {
    "constant": _constant,
    "tree": _tree,
    "neighbours": _neighbours,
    "linear": _linear,
    "forest": _forest,
    "boosting": _boosting,
    "tuned": _tuned,
    "blended": _blended,
}
