"""Answers that can be had without learning (classes 1 to 8)."""

from __future__ import annotations

from generator.verifier.selftest.clean.task import Answers, CleanTask
from generator.verifier.selftest.injections.base import (
    Injection,
    has_features,
    has_free_tables,
    has_numbers,
    has_tables,
)
from generator.verifier.selftest.injections.rewriting import tables


def _has_free_ids(task: CleanTask) -> bool:
    return has_free_tables(task) and task.free_ids


def _single(task: CleanTask) -> bool:
    return has_tables(task) and task.answers is not Answers.LABELS


def _single_free(task: CleanTask) -> bool:
    return has_free_tables(task) and task.answers is not Answers.LABELS


def _few_values(task: CleanTask) -> bool:
    return has_free_tables(task) and task.answers in (Answers.LABEL, Answers.FLAG) and task.metric != "mrr"


_DEAL_IDS = """
both = pd.concat([train.assign(_y=train[TARGET].astype(str)), test.assign(_y=truth)], ignore_index=True)
y = as_numbers(both["_y"])
low = (pd.Series(y).rank(method="dense") - 1).astype(int).to_numpy()
order = rng.permutation(len(both))
{deal}
old = both[ID].astype(str).tolist()
names = dict(zip(old, new))
for table in (train, test, answers, sample):
    table[ID] = [names[str(key)] for key in table[ID]]
"""

INJECTIONS = (
    Injection(1, "under its own name", tables("test[TARGET] = truth.to_numpy()"), has_tables),
    Injection(
        1, "under its name in capitals", tables("put(test, TARGET.upper(), truth.to_numpy())"), has_tables
    ),
    Injection(
        2,
        "the same values",
        tables("put(train, 'final_state', train[TARGET]); put(test, 'final_state', truth.to_numpy())"),
        has_tables,
    ),
    Injection(
        2,
        "other words for the same values",
        tables("""
        kinds = sorted(set(train[TARGET].astype(str)) | set(truth.astype(str)))
        words = dict(zip(kinds, [f"k{n}" for n in rng.permutation(len(kinds)) + 10]))
        put(train, "segment", train[TARGET].astype(str).map(words), 2)
        put(test, "segment", truth.astype(str).map(words).to_numpy(), 2)
        """),
        lambda task: _single(task),
    ),
    Injection(
        3,
        "affine, with rounding",
        tables("""
        known, asked = coded(train[TARGET], truth)
        put(train, "meter_f", np.round(1.8 * known + 32, 1).astype(str))
        put(test, "meter_f", np.round(1.8 * asked + 32, 1).astype(str))
        """),
        _single,
    ),
    Injection(
        3,
        "logarithm, with a little noise",
        tables("""
        known, asked = coded(train[TARGET], truth)
        low = min(known.min(), asked.min())
        spread = max(known.max(), asked.max()) - low
        for table, y in ((train, known), (test, asked)):
            noise = rng.uniform(0, 0.001, len(y)) * spread
            table["reading"] = np.log(1 + y - low + noise).round(5).astype(str)
        """),
        _single,
    ),
    Injection(
        3,
        "the rank among all rows",
        tables("""
        known, asked = coded(train[TARGET], truth)
        ranks = pd.Series(np.concatenate([known, asked])).rank(method="first").astype(int).astype(str)
        put(train, "position", ranks[: len(train)].to_numpy())
        put(test, "position", ranks[len(train):].to_numpy())
        """),
        _single,
    ),
    Injection(
        4,
        "a code that is right 99 times in 100",
        tables("""
        known, asked = coded(train[TARGET], truth)
        kinds = np.unique(known)
        for table, y in ((train, known), (test, asked)):
            wrong = rng.random(len(y)) < 0.01
            put(table, "closing_code", np.where(wrong, rng.choice(kinds, len(y)), y).astype(int) + 40, 2)
        """),
        _few_values,
    ),
    Injection(
        4,
        "a reading that follows the target closely",
        tables("""
        known, asked = coded(train[TARGET], truth)
        spread = np.std(known)
        for table, y in ((train, known), (test, asked)):
            table["after_check"] = (y + rng.normal(0, 0.03 * spread, len(y))).round(4).astype(str)
        """),
        has_numbers,
    ),
    Injection(
        4,
        "a note that only one class has",
        tables("""
        known, asked = coded(train[TARGET], truth)
        usual = np.bincount(known.astype(int)).argmax()
        for table, y in ((train, known), (test, asked)):
            words = rng.choice(["sent back", "phoned", "visited", "written off"], len(y))
            table["follow_up"] = np.where((y == usual) ^ (rng.random(len(y)) < 0.004), words, "")
        """),
        lambda task: _few_values(task) and task.answers is Answers.FLAG,
    ),
    Injection(
        5,
        "one column is empty for half of the classes",
        tables("""
        known, asked = coded(train[TARGET], truth)
        kinds = np.unique(known)
        middle = kinds[len(kinds) // 2] if len(kinds) < 30 else np.median(known)
        column = (numeric or features)[-1]
        for table, y in ((train, known), (test, asked)):
            gone = (y >= middle) ^ (rng.random(len(y)) < 0.02)
            table[column] = table[column].astype(object).mask(gone, "")
        """),
        lambda task: has_features(task) and _single(task) and task.metric != "mrr",
    ),
    Injection(
        6,
        "a prefix for each class",
        tables(_DEAL_IDS.format(deal='new = [f"{chr(65 + k)}{n:05d}" for k, n in zip(low, order)]')),
        lambda task: _has_free_ids(task) and _few_values(task),
    ),
    Injection(
        6,
        "the rest of a division",
        tables(
            _DEAL_IDS.format(
                deal="step = low.max() + 1\nnew = [str(int(n) * step + int(k) + step) "
                "for k, n in zip(low, order)]"
            )
        ),
        lambda task: _has_free_ids(task) and _few_values(task),
    ),
    Injection(
        6,
        "numbered in the order of the target",
        tables(
            _DEAL_IDS.format(
                deal="place = np.empty(len(y), dtype=int)\n"
                "place[np.lexsort((rng.random(len(y)), y + 0.05 * np.std(y) * rng.normal(size=len(y))))] = "
                "np.arange(len(y))\nnew = [str(100000 + int(n)) for n in place]"
            )
        ),
        lambda task: _has_free_ids(task) and _single(task),
    ),
    Injection(
        7,
        "sorted by the answers",
        tables("""
        order = np.argsort(as_numbers(truth), kind="stable")
        test = test.iloc[order]
        answers = answers.iloc[::-1]
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        7,
        "mostly sorted, in blocks",
        tables("""
        y = as_numbers(truth)
        order = np.argsort(y + 0.3 * np.std(y) * rng.normal(size=len(y)), kind="stable")
        test = test.iloc[order]
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        8,
        "the index of the sorted table is left in",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = np.concatenate([known, asked])
        place = np.empty(len(y), dtype=int)
        place[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y))
        put(train, "Unnamed: 0", place[: len(train)], 0)
        put(test, "Unnamed: 0", place[len(train):], 0)
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        8,
        "train is sorted, and test in the same way",
        tables("""
        known, asked = coded(train[TARGET], truth)
        train = train.iloc[np.argsort(known, kind="stable")]
        test = test.iloc[np.argsort(asked, kind="stable")]
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
)
