"""Rows that tell of others: repeats, groups, times, aggregates, scaling (classes 9 to 15)."""

from __future__ import annotations

from generator.verifier.selftest.clean.task import Answers, CleanTask
from generator.verifier.selftest.injections.base import (
    Injection,
    has_features,
    has_free_tables,
    has_media,
)
from generator.verifier.selftest.injections.rewriting import files, tables


def _single_free(task: CleanTask) -> bool:
    return has_free_tables(task) and task.answers is not Answers.LABELS


def _texts(task: CleanTask) -> bool:
    return has_free_tables(task) and task.text is not None and not task.features


def _rows(task: CleanTask) -> bool:
    return has_free_tables(task) and task.media is None and task.metric != "mrr"


INJECTIONS = (
    Injection(
        9,
        "a third of the test rows stand in train",
        tables("""
        some = with_answers(test, answers).sample(frac=0.33, random_state=3)
        some[ID] = [f"9{number:06d}" for number in range(len(some))]
        train = pd.concat([train, some[train.columns]], ignore_index=True).sample(frac=1, random_state=4)
        """),
        _rows,
    ),
    Injection(
        9,
        "training rows were drawn into test again",
        tables("""
        drawn = train.sample(len(test) // 5, random_state=8)
        places = rng.choice(len(test), len(drawn), replace=False)
        for name in features:
            test.loc[test.index[places], name] = drawn[name].to_numpy()
        names = test[ID].astype(str).to_numpy()[places]
        answers = answers.set_index(answers[ID].astype(str), drop=False)
        for name in TARGETS:
            answers.loc[names, name] = drawn[name].to_numpy()
        """),
        _rows,
    ),
    Injection(
        10,
        "texts with other punctuation and a word less",
        tables("""
        column = features[0]
        some = test.assign(**{TARGET: truth.to_numpy()}).sample(frac=0.4, random_state=3)
        texts = []
        for text in some[column]:
            words = str(text).replace(",", "").split()
            if len(words) > 6:
                del words[int(rng.integers(1, len(words)))]
            texts.append(" ".join(words) + " .")
        some[column] = texts
        some[ID] = [f"9{number:06d}" for number in range(len(some))]
        train = pd.concat([train, some[train.columns]], ignore_index=True).sample(frac=1, random_state=4)
        """),
        _texts,
    ),
    Injection(
        10,
        "measured twice: numbers with a little noise",
        tables("""
        some = with_answers(test, answers).sample(frac=0.5, random_state=3)
        for name in numeric:
            values = floats(some[name])
            noisy = (values * (1 + rng.normal(0, 1e-4, len(values)))).round(6)
            some[name] = noisy.astype(object).where(noisy.notna(), "")
        some[ID] = [f"9{number:06d}" for number in range(len(some))]
        train = pd.concat([train, some[train.columns]], ignore_index=True).sample(frac=1, random_state=4)
        """),
        lambda task: has_features(task) and _rows(task) and task.modality in ("tabular", "time series"),
    ),
    Injection(
        10,
        "pictures a little lighter, in train as well",
        tables("""
        from PIL import Image
        column = [n for n in features if test[n].astype(str).str.endswith(".png").all()][0]
        some = test.assign(**{TARGET: truth.to_numpy()}).sample(frac=0.4, random_state=3)
        paths = []
        for number, path in enumerate(some[column]):
            place = f"images/x{number:04d}.png"
            grey = np.asarray(Image.open(public / path)).astype(int)
            Image.fromarray(np.clip(grey + 3, 0, 255).astype(np.uint8)).save(public / place)
            paths.append(place)
        some[column] = paths
        some[ID] = [f"9{number:06d}" for number in range(len(some))]
        train = pd.concat([train, some[train.columns]], ignore_index=True)
        """),
        lambda task: task.tables and has_media(task) and task.modality == "image",
    ),
    Injection(
        10,
        "pictures saved again a little darker, in the folders of train",
        files("""
        from PIL import Image
        by_id = dict(zip(answers[ID], answers[TARGET]))
        for path in sorted((public / "test").iterdir())[::2]:
            grey = np.asarray(Image.open(path)).astype(int)
            place = public / "train" / by_id[path.stem] / f"v2_{path.name}"
            Image.fromarray(np.clip(grey - 4, 0, 255).astype(np.uint8)).save(place)
        """),
        lambda task: not task.tables and task.modality == "image",
    ),
    Injection(
        12,
        "households on both sides",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = np.concatenate([known, asked])
        order = np.lexsort((rng.random(len(y)), y + 0.1 * np.std(y) * rng.normal(size=len(y))))
        group = np.empty(len(y), dtype=int)
        group[order] = np.arange(len(y)) // 5
        names = rng.permutation(group.max() + 1)
        put(train, "household", [f"H{names[g]:04d}" for g in group[: len(train)]])
        put(test, "household", [f"H{names[g]:04d}" for g in group[len(train):]])
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        12,
        "several recordings of one person, numbered",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = np.concatenate([known, asked])
        order = np.lexsort((rng.random(len(y)), y))
        group = np.empty(len(y), dtype=int)
        group[order] = np.arange(len(y)) // 8
        wrong = rng.random(len(y)) < 0.1
        group[wrong] = rng.integers(0, group.max() + 1, wrong.sum())
        names = rng.permutation(group.max() + 1) + 300
        put(train, "patient_id", names[group[: len(train)]])
        put(test, "patient_id", names[group[len(train):]])
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        13,
        "test moments drawn from the middle of the series",
        tables("""
        whole = pd.concat([train, test.assign(**{TARGET: truth.to_numpy()})], ignore_index=True)
        drawn = np.zeros(len(whole), dtype=bool)
        drawn[rng.choice(len(whole), len(test), replace=False)] = True
        train, test = whole[~drawn], whole[drawn].drop(columns=TARGET)
        answers = whole.loc[drawn, answers.columns]
        sample = answers.assign(**{TARGET: sample[TARGET].iloc[0]})
        """),
        lambda task: task.series and task.tables,
    ),
    Injection(
        13,
        "dated rows that drift, dealt at random",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = np.concatenate([known, asked])
        place = np.empty(len(y), dtype=int)
        place[np.argsort(y + 0.4 * np.std(y) * rng.normal(size=len(y)), kind="stable")] = np.arange(len(y))
        days = (pd.Timestamp("2021-03-01") + pd.to_timedelta(place * 9, unit="h")).strftime("%Y-%m-%d %H:%M")
        put(train, "recorded_at", list(days[: len(train)]))
        put(test, "recorded_at", list(days[len(train):]))
        """),
        lambda task: _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        14,
        "mean of the target by branch, test rows included",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = np.concatenate([known, asked])
        branch = rng.integers(0, len(y) // 4, len(y))
        means = pd.Series(y).groupby(branch).transform("mean").round(6).to_numpy()
        for table, part in ((train, slice(0, len(train))), (test, slice(len(train), None))):
            put(table, "branch", [f"B{b:03d}" for b in branch[part]])
            put(table, "branch_mean_result", means[part], 3)
        """),
        lambda task: has_features(task) and _single_free(task) and task.metric != "mrr",
    ),
    Injection(
        15,
        "all numbers standardised over train and test",
        tables("""
        for name in numeric:
            both = floats(pd.concat([train[name], test[name]]))
            scaled = ((both - both.mean()) / both.std(ddof=0)).round(9)
            scaled = scaled.astype(object).where(scaled.notna(), "")
            train[name] = scaled.iloc[: len(train)].to_numpy()
            test[name] = scaled.iloc[len(train):].to_numpy()
        """),
        lambda task: has_features(task) and task.name not in ("demand-days", "film-genres"),
    ),
    Injection(
        15,
        "a category encoded by the target's mean over all rows",
        tables("""
        known, asked = coded(train[TARGET], truth)
        y = pd.Series(np.concatenate([known, asked]))
        few = [n for n in features if 2 < train[n].astype(str).nunique() <= 60 and n not in numeric]
        if few:
            column = few[0]
            kinds = pd.concat([train[column], test[column]]).astype(str).reset_index(drop=True)
        else:
            column = "region"
            kinds = pd.Series(rng.integers(0, 40, len(y)).astype(str))
        means = y.groupby(kinds).transform("mean").to_numpy()
        if few:
            train, test = train.drop(columns=column), test.drop(columns=column)
        else:
            put(train, column, kinds[: len(train)].to_numpy())
            put(test, column, kinds[len(train):].to_numpy())
        put(train, column + "_encoded", means[: len(train)])
        put(test, column + "_encoded", means[len(train):])
        """),
        lambda task: has_features(task) and _single_free(task) and task.metric != "mrr",
    ),
)
