"""How the work of a metric grows: quadratic ones of every make are named, and no linear one is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.verifier.case import Case
from generator.verifier.metric import growth
from harness.sandboxes.base import SandboxProvider
from tests.generator.verifier.metric_tasks import HONEST, bench_of, opened, use_metric, write_all

#: By what is quadratic: the task, and the body of its metric.
QUADRATIC = {
    "calls of Python": (
        "colours",
        "same = 0\nfor a in t:\n    same += sum(map(lambda b: a == b, p))\nreturn (t == p).mean() + 0 * same",
    ),
    "pairs": (
        "prices",
        "from itertools import combinations\nwrong = 0\nfor (a, b), (c, d) in combinations(zip(t, p), 2):\n"
        "    wrong += (a - c) * (b - d) < 0\nreturn wrong",
    ),
    "memory": ("prices", "d = (t - p).to_numpy()\nreturn float(np.abs(d[:, None] + d[None, :]).mean())"),
    "one long call": (
        "prices",
        "d = t.to_numpy()\nnp.correlate(d, d, mode='full')\nreturn (t - p).abs().mean()",
    ),
    "a search in a list": (
        "colours",
        "ids = y_true['thing'].tolist()\n"
        "return float(np.mean([ids.index(x) >= 0 for x in y_pred['thing']])) * (t == p).mean()",
    ),
    "a search in a column": (
        "chances",
        "for key in y_true['case']:\n    y_pred[y_pred['case'] == key]\nreturn roc_auc_score(t, p)",
    ),
    "a list that grows": (
        "colours",
        "seen = []\nfor x in y_pred['thing']:\n    if x not in seen:\n        seen.append(x)\n"
        "return (t == p).mean()",
    ),
}
LINEAR = {
    "columns": ("prices", HONEST["prices"]),
    "sorting of words": (
        "colours",
        "sorted(y_pred['thing'].tolist(), key=lambda word: word[::-1])\nreturn (t == p).mean()",
    ),
    "a sort in Python": (
        "prices",
        "import heapq\nheap = []\nfor x in t:\n    heapq.heappush(heap, x)\n"
        "while heap:\n    heapq.heappop(heap)\nreturn (t - p).abs().mean()",
    ),
    "a row at a time": (
        "colours",
        "right = 0\nfor _, row in both.iterrows():\n    right += row['colour'] == row['colour_said']\n"
        "return right / len(both)",
    ),
    "an index": (
        "colours",
        "said, right = y_pred.set_index('thing')['colour'], 0\n"
        "for key, colour in zip(y_true['thing'], y_true['colour']):\n    right += said.loc[key] == colour\n"
        "return right / len(said)",
    ),
    "a class at a time": (
        "colours",
        "return float(np.mean([(p[t == c] == c).mean() for c in sorted(set(t))]))",
    ),
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider) -> Iterator[dict[str, Case]]:
    roots = write_all(tmp_path_factory.mktemp("growth"))
    with (
        opened(roots["colours"], sandbox) as colours,
        opened(roots["prices"], sandbox) as prices,
        opened(roots["chances"], sandbox) as chances,
    ):
        yield {"colours": colours, "prices": prices, "chances": chances}


def evidence(case: Case, body: str) -> list[str]:
    use_metric(case.prepared.root, body)
    return [one.evidence for one in growth.check(bench_of(case)) if one.code == "metric_slow"]


@pytest.mark.parametrize("kind", QUADRATIC)
def test_work_that_grows_faster_than_the_rows_is_named(kind: str, cases: dict[str, Case]) -> None:
    name, body = QUADRATIC[kind]
    (told,) = evidence(cases[name], body)
    assert "memory" in told if kind == "memory" else "metric.py" in told


@pytest.mark.parametrize("kind", LINEAR)
def test_linear_work_is_no_defect_however_slow(kind: str, cases: dict[str, Case]) -> None:
    name, body = LINEAR[kind]
    assert evidence(cases[name], body) == []
