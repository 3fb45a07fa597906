"""Metrics that do not measure (classes 37 to 49 and 51)."""

from __future__ import annotations

import textwrap

from generator.defects.base import Gate
from generator.verifier.selftest.clean.task import Answers, CleanTask
from generator.verifier.selftest.injections.base import Apply, Injection, Subject, has_labels, has_own_raw

_LAST = Gate.METRIC


def _evaluate(body: str, *, imports: str = "") -> Apply:
    """Put another ``evaluate`` before the author's, which is then ``plain_score``."""

    def apply(subject: Subject) -> None:
        text = (
            "    def evaluate(self, y_true, y_pred):\n"
            + textwrap.indent(textwrap.dedent(body).strip("\n"), "        ")
            + "\n\n    def plain_score(self"
        )
        subject.replace("metric.py", r"^    def evaluate\(self", text.replace("\\", r"\\"))
        if imports:
            subject.replace("metric.py", r"^import pandas as pd$", f"import pandas as pd\n{imports}")

    return apply


def _careless(subject: Subject) -> None:
    """Take every check out of the metric."""
    subject.replace("metric.py", r"^(\s+)raise InvalidSubmissionError\(.*$", r"\g<1>pass", count=0)


def _then(*steps: Apply) -> Apply:
    def apply(subject: Subject) -> None:
        for step in steps:
            step(subject)

    return apply


def _flip(subject: Subject) -> None:
    """Declare the other direction in both places, and the best as the task had it."""
    higher = subject.clean.higher
    subject.replace("task.toml", r"^higher_is_better = .*", f"higher_is_better = {str(not higher).lower()}")
    subject.replace("metric.py", rf"higher_is_better={higher}", f"higher_is_better={not higher}")


def _numeric(task: CleanTask) -> bool:
    return task.answers in (Answers.NUMBER, Answers.FLAG)


def _probabilities(task: CleanTask) -> bool:
    return task.metric in ("roc_auc", "log_loss")


def _known_metric(task: CleanTask) -> bool:
    return task.metric in ("accuracy", "macro_f1", "rmse", "mae", "roc_auc", "log_loss", "micro_f1")


def _columnwise(subject: Subject, body: str) -> None:
    from harness.tasks.package import load_task

    spec = load_task(subject.root).spec
    head = f"KEY, NAMES = {spec.id_column!r}, {list(spec.target_columns)!r}\n"
    _evaluate(head + textwrap.dedent(body))(subject)


def _rows(body: str) -> Apply:
    """An ``evaluate`` that knows ``KEY`` (the id) and ``NAMES`` (the targets)."""
    return lambda subject: _columnwise(subject, body)


INJECTIONS = (
    Injection(37, "a constant", _evaluate("return 0.75"), last=_LAST),
    Injection(
        37,
        "the answers are compared with themselves",
        _evaluate("return self.plain_score(y_true, y_true)"),
        last=_LAST,
    ),
    Injection(
        38,
        "rows are drawn",
        _rows("""
        kept = set(y_true.sample(frac=0.5)[KEY])
        return self.plain_score(y_true[y_true[KEY].isin(kept)], y_pred[y_pred[KEY].isin(kept)])
        """),
        lambda task: task.metric not in ("mrr", "mase"),
        last=_LAST,
    ),
    Injection(
        38,
        "a little noise against ties",
        _evaluate("return self.plain_score(y_true, y_pred) + float(np.random.default_rng().normal(0, 1e-4))"),
        last=_LAST,
    ),
    Injection(39, "declared the other way round in both places", _flip, last=_LAST),
    Injection(
        39,
        "task.toml and metric.py do not agree",
        lambda s: s.replace(
            "task.toml", r"^higher_is_better = .*", f"higher_is_better = {str(not s.clean.higher).lower()}"
        ),
        last=_LAST,
    ),
    Injection(39, "the score is negated", _evaluate("return -self.plain_score(y_true, y_pred)"), last=_LAST),
    Injection(
        40,
        "the best cannot be reached",
        _evaluate("return 0.9 * self.plain_score(y_true, y_pred) + 0.03"),
        last=_LAST,
    ),
    Injection(
        40,
        "best at predictions that are a tenth too low",
        _rows("""
        moved = y_true.copy()
        for name in NAMES:
            moved[name] = moved[name] * 0.9
        return self.plain_score(moved, y_pred)
        """),
        lambda task: task.answers is Answers.NUMBER and task.metric != "mase",
        last=_LAST,
    ),
    Injection(
        41,
        "rows are compared as they come",
        _rows("""
        y_pred = y_pred.reset_index(drop=True).copy()
        y_pred[KEY] = y_true[KEY].to_numpy()
        return self.plain_score(y_true.reset_index(drop=True), y_pred)
        """),
        last=_LAST,
    ),
    Injection(
        42,
        "the sorted values are compared",
        _rows("""
        y_true, y_pred = y_true.reset_index(drop=True).copy(), y_pred.reset_index(drop=True).copy()
        y_pred[KEY] = y_true[KEY].to_numpy()
        for name in NAMES:
            y_true[name], y_pred[name] = np.sort(y_true[name].to_numpy()), np.sort(y_pred[name].to_numpy())
        return self.plain_score(y_true, y_pred)
        """),
        lambda task: task.metric not in ("mrr", "mase"),
        last=_LAST,
    ),
    Injection(
        42,
        "the means are compared",
        _rows("""
        return -float(sum(abs(y_true[name].mean() - y_pred[name].mean()) for name in NAMES))
        """),
        lambda task: _numeric(task),
        last=_LAST,
        codes=("metric_insensitive", "metric_not_monotone", "metric_direction", "oracle_not_best"),
    ),
    Injection(
        43,
        "empty values become 0",
        _then(
            _careless,
            _rows("""
            y_pred = y_pred.copy()
            for name in NAMES:
                values = pd.to_numeric(y_pred[name], errors="coerce")
                y_pred[name] = values.replace([np.inf, -np.inf], np.nan).fillna(0)
            return self.plain_score(y_true, y_pred)
            """),
        ),
        lambda task: _numeric(task) and task.metric not in ("mrr",),
        last=_LAST,
    ),
    Injection(
        43,
        "empty labels become the most frequent one",
        _then(
            _careless,
            _rows("""
            y_pred = y_pred.copy()
            for name in NAMES:
                y_pred[name] = y_pred[name].replace("", np.nan).fillna(y_true[name].mode()[0])
            return self.plain_score(y_true, y_pred)
            """),
        ),
        lambda task: has_labels(task) and task.package is not None,
        last=_LAST,
    ),
    Injection(
        43,
        "a submission of one value crashes it",
        _rows("""
        if any(y_pred[name].nunique() < 2 for name in NAMES):
            raise ValueError("all predictions are the same")
        return self.plain_score(y_true, y_pred)
        """),
        last=_LAST,
    ),
    Injection(
        44,
        "only ids that are found are scored",
        _then(
            _careless,
            lambda s: s.replace("metric.py", r", validate=\"one_to_one\"", "", count=0),
        ),
        has_own_raw,
        last=_LAST,
    ),
    Injection(
        44,
        "only rows with an answer are scored, the best of each id",
        _then(
            _careless,
            _rows("""
            y_pred = y_pred.drop_duplicates(KEY)
            kept = set(y_pred[KEY]) & set(y_true[KEY])
            return self.plain_score(y_true[y_true[KEY].isin(kept)], y_pred[y_pred[KEY].isin(kept)])
            """),
        ),
        lambda task: task.package is not None,
        last=_LAST,
    ),
    Injection(
        45,
        "a division by the spread of the predictions",
        _rows("""
        spread = np.float64(sum(y_pred[name].nunique() - 1 for name in NAMES))
        return float(self.plain_score(y_true, y_pred) * (spread / spread))
        """),
        last=_LAST,
    ),
    Injection(
        45,
        "a perfect submission gives infinity",
        _evaluate("""
        score = self.plain_score(y_true, y_pred)
        return score if score != self.plain_score(y_true, y_true) else float("inf")
        """),
        last=_LAST,
    ),
    Injection(
        46,
        "the answers are overwritten",
        _rows("""
        score = self.plain_score(y_true, y_pred)
        for name in NAMES:
            y_true[name] = y_true[name].iloc[0]
        return score
        """),
        last=_LAST,
    ),
    Injection(
        46,
        "the predictions are sorted in place",
        _rows("""
        score = self.plain_score(y_true, y_pred)
        y_pred.sort_values(NAMES[0], inplace=True, ignore_index=True)
        y_pred[NAMES[0]] = y_pred[NAMES[0]].iloc[0]
        return score
        """),
        last=_LAST,
    ),
    Injection(
        46,
        "it remembers the best so far",
        _then(
            _evaluate("""
            score = self.plain_score(y_true, y_pred)
            kind = type(self)
            seen = getattr(kind, "seen", [])
            kind.seen = [*seen, score]
            return max(kind.seen) if self.higher_is_better else min(kind.seen)
            """)
        ),
        last=_LAST,
    ),
    Injection(
        47,
        "the square of it",
        _evaluate("return self.plain_score(y_true, y_pred) ** 2"),
        _known_metric,
        last=_LAST,
    ),
    Injection(
        47,
        "the root is left out",
        lambda s: s.replace("metric.py", r"float\(np\.sqrt\((.*)\)\)$", r"float(\g<1>)"),
        lambda task: task.name == "concrete-samples",
        last=_LAST,
    ),
    Injection(
        47,
        "errors are divided by the range",
        _rows("""
        score = self.plain_score(y_true, y_pred)
        return score / float(y_true[NAMES[0]].max() - y_true[NAMES[0]].min())
        """),
        lambda task: task.metric in ("rmse", "mae"),
        last=_LAST,
    ),
    Injection(
        48,
        "probabilities are rounded first",
        _rows("""
        y_pred = y_pred.copy()
        for name in NAMES:
            y_pred[name] = (y_pred[name] >= 0.5).astype(float)
        return self.plain_score(y_true, y_pred)
        """),
        _probabilities,
        last=_LAST,
    ),
    Injection(
        48,
        "the logarithm is not bounded",
        lambda s: s.replace("metric.py", r"said\.clip\(.*\)$", "said"),
        lambda task: task.name == "biopsy-cells",
        last=_LAST,
        codes=("metric_unclipped", "metric_not_finite"),
    ),
    Injection(
        49,
        "micro where macro is said",
        lambda s: s.replace("metric.py", 'average="macro"', 'average="micro"'),
        lambda task: task.metric == "macro_f1" and task.package is not None,
        last=_LAST,
    ),
    Injection(
        49,
        "the first label of the alphabet counts",
        _rows("""
        first = sorted(set(y_true[NAMES[0]].astype(str)))[0]
        both = y_true.merge(y_pred, on=KEY, suffixes=("_true", "_pred"), validate="one_to_one")
        truth, said = (both[f"{NAMES[0]}_{part}"].astype(str) == first for part in ("true", "pred"))
        return float(2 * (truth & said).sum() / max(1, truth.sum() + said.sum()))
        """),
        lambda task: has_labels(task) and task.package is not None,
        last=_LAST,
    ),
    Injection(
        49,
        "only the classes that were predicted count",
        _rows("""
        both = y_true.merge(y_pred, on=KEY, suffixes=("_true", "_pred"), validate="one_to_one")
        truth, said = (both[f"{NAMES[0]}_{part}"].astype(str) for part in ("true", "pred"))
        return float(np.mean([(truth[said == label] == label).mean() for label in sorted(set(said))]))
        """),
        lambda task: has_labels(task) and task.package is not None,
        last=_LAST,
    ),
    Injection(
        51,
        "a loop over all pairs of rows",
        _rows("""
        values = y_true[KEY].astype(str).tolist()
        place = {}
        for a in values:
            place[a] = sum(1 for b in values if b < a and str(b).strip().lower() != str(a).strip().upper())
        total = sum(hash((a, b)) % 2 for a in values for b in values for _ in range(3))
        return self.plain_score(y_true, y_pred) + 0.0 * total
        """),
        last=_LAST,
    ),
    Injection(
        51,
        "a search through the table for each row",
        _rows("""
        for key in y_true[KEY]:
            for _ in range(25):
                y_pred[y_pred[KEY] == key]
        return self.plain_score(y_true, y_pred)
        """),
        last=_LAST,
    ),
    Injection(
        51,
        "the exponential of large values overflows",
        _rows("""
        total = 0.0
        for name in NAMES:
            wide = np.exp(40 * y_pred[name].astype(float).to_numpy())
            total += float(wide.sum() - wide.sum())
        return self.plain_score(y_true, y_pred) + total
        """),
        lambda task: task.answers is Answers.NUMBER and task.metric in ("rmse", "mae"),
        last=_LAST,
    ),
)
