"""What files give away, and which are missing (classes 11, 16 to 21, 73)."""

from __future__ import annotations

from generator.defects.base import Gate
from generator.verifier.selftest.clean.task import Answers, CleanTask
from generator.verifier.selftest.injections.base import Injection, Subject, anything, has_media
from generator.verifier.selftest.injections.rewriting import files, tables, wrap


def _table_media(task: CleanTask) -> bool:
    return has_media(task) and task.tables


def _folder_media(task: CleanTask) -> bool:
    return has_media(task) and not task.tables


def _test_files(subject: Subject, body: str) -> None:
    """Run lines for each test file: ``path`` and its label's number ``k``, of ``kinds`` labels."""
    task = subject.clean
    if task.tables:
        pairs = (
            f"test = load_table(public / {task.test!r})\n"
            "by_id = answers.set_index(answers[ID].astype(str))[TARGET]\n"
            f"pairs = [(public / p, by_id[str(i)]) for i, p in zip(test[ID], test[{task.media_column!r}])]\n"
        )
    else:
        pairs = (
            "by_id = dict(zip(answers[ID], answers[TARGET]))\n"
            f"pairs = [(p, by_id[p.stem]) for p in sorted((public / {task.media!r}).iterdir())]\n"
        )
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    text = pairs + (
        "labels = sorted({str(y) for _, y in pairs})\nkinds = len(labels)\n"
        "for path, label in pairs:\n    k = labels.index(str(label))\n" + lines
    )
    wrap(subject, text, tables=False, save=False)


def _move(pattern: str) -> str:
    """Give each test file of the table a name by a pattern of ``label``, ``stem`` and ``suffix``."""
    return f"""
    by_id = answers.set_index(answers[ID].astype(str))[TARGET]
    column = [n for n in features if (public / str(test[n].iloc[0])).is_file()][0]
    moved = []
    for key, old in zip(test[ID].astype(str), test[column]):
        path = public / old
        label, stem, suffix = by_id[key], path.stem, path.suffix
        new = path.parent / {pattern}
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)
        moved.append(new.relative_to(public).as_posix())
    test[column] = moved
    """


_SECOND_MTIME = """
import os
when = 1_600_000_000 + 86_400 * k + int(rng.integers(0, 3_000))
os.utime(path, (when, when))
"""
_SIZE = """
with path.open("ab") as stream:
    stream.write(bytes(64 * k + int(rng.integers(0, 16))))
"""
_PNG_TEXT = """
from PIL import Image, PngImagePlugin
picture = Image.open(path)
picture.load()
info = PngImagePlugin.PngInfo()
info.add_text("Comment", f"batch {17 + 3 * k}")
picture.save(path, pnginfo=info)
"""
_WAV_NOTE = """
note = f"take {17 + 3 * k:04d}".encode() + bytes(7)
chunk = b"LIST" + (12 + len(note)).to_bytes(4, "little") + b"INFOICMT"
chunk += len(note).to_bytes(4, "little") + note
data = path.read_bytes() + chunk
path.write_bytes(data[:4] + (len(data) - 8).to_bytes(4, "little") + data[8:])
"""

INJECTIONS = (
    Injection(
        11,
        "test files copied into train under new names",
        tables("""
        import shutil
        column = [n for n in features if (public / str(test[n].iloc[0])).is_file()][0]
        some = test.assign(**{TARGET: truth.to_numpy()}).sample(frac=0.3, random_state=3)
        folder = (public / str(train[column].iloc[0])).parent
        paths = []
        for number, old in enumerate(some[column]):
            new = folder / f"extra{number:04d}{(public / old).suffix}"
            shutil.copyfile(public / old, new)
            paths.append(new.relative_to(public).as_posix())
        some[column] = paths
        some[ID] = [f"9{number:06d}" for number in range(len(some))]
        train = pd.concat([train, some[train.columns]], ignore_index=True).sample(frac=1, random_state=4)
        """),
        _table_media,
    ),
    Injection(
        11,
        "test files copied into the folders of train",
        files("""
        import shutil
        for key, label in list(zip(answers[ID], answers[TARGET]))[::4]:
            shutil.copyfile(public / "test" / f"{key}.png", public / "train" / label / f"again_{key}.png")
        """),
        _folder_media,
    ),
    Injection(
        16,
        "a table with other names for its columns",
        files("""
        answers.rename(columns={ID: "key", TARGET: "value"}).sample(frac=1, random_state=2).to_csv(
            public / "notes.csv", index=False)
        """),
        anything,
    ),
    Injection(
        16,
        "inside a zip file",
        files("""
        import zipfile
        with zipfile.ZipFile(public / "extra.zip", "w") as archive:
            archive.writestr("work/solution.csv", answers.to_csv(index=False))
        """),
        anything,
    ),
    Injection(
        16,
        "as JSON, keyed by id",
        files("""
        pairs = dict(zip(answers[ID].astype(str), answers[TARGET].astype(str)))
        (public / "meta").mkdir()
        (public / "meta" / "index.json").write_text(_json.dumps({"version": 2, "items": pairs}))
        """),
        anything,
    ),
    Injection(
        16,
        "as an array, in the order of the answers",
        files("""
        np.savez_compressed(public / "arrays.npz", y=as_numbers(answers[TARGET]))
        """),
        anything,
    ),
    Injection(
        16,
        "a table of hidden kind with semicolons",
        files("""
        answers.to_csv(public / ".backup.txt", sep=";", index=False, header=False)
        """),
        anything,
    ),
    Injection(
        17,
        "one small JSON file for each test item",
        files("""
        (public / "annotations").mkdir()
        for key, label in zip(answers[ID].astype(str), answers[TARGET].astype(str)):
            name = "".join(c if c.isalnum() else "_" for c in key)
            (public / "annotations" / f"{name}.json").write_text(
                _json.dumps({"id": key, "reader": 3, "finding": label}))
        """),
        anything,
    ),
    Injection(
        17,
        "a log of a run that printed them",
        files("""
        lines = ["run started", "loading model"]
        for number, (key, label) in enumerate(zip(answers[ID], answers[TARGET])):
            lines.append(f"[{number:05d}] item {key} done, expected {label}")
        (public / "run.log").write_text("\\n".join(lines) + "\\n")
        """),
        anything,
    ),
    Injection(
        17,
        "a cache with the labels in order",
        files("""
        (public / "cache.json").write_text(_json.dumps(
            {"created": "2024-05-01", "params": {"k": 3}, "y": [str(v) for v in answers[TARGET]]}))
        """),
        anything,
    ),
    Injection(
        17,
        "a MATLAB file beside the data",
        files("""
        from scipy.io import savemat
        savemat(public / "session.mat", {"rate": 20.0, "labels": as_numbers(answers[TARGET])})
        """),
        anything,
    ),
    Injection(18, "in the file's name", tables(_move('f"{stem}_{label}{suffix}"')), _table_media),
    Injection(18, "in the folder's name", tables(_move("str(label) / Path(stem + suffix)")), _table_media),
    Injection(
        18,
        "as a letter at the beginning of the name",
        tables(_move('f"{chr(97 + sorted(set(by_id)).index(label))}-{stem}{suffix}"')),
        _table_media,
    ),
    Injection(
        18,
        "in the name, where ids are names",
        files("""
        names = {key: f"{label}_{key}" for key, label in zip(answers[ID], answers[TARGET])}
        for old, new in names.items():
            (public / "test" / f"{old}.png").rename(public / "test" / f"{new}.png")
        for table, path in ((answers, answers_path), (sample, sample_path)):
            save_table(table.assign(**{ID: table[ID].map(names)}), path)
        """),
        _folder_media,
    ),
    Injection(19, "time of last change", lambda s: _test_files(s, _SECOND_MTIME), has_media),
    Injection(19, "size of the file", lambda s: _test_files(s, _SIZE), has_media),
    Injection(
        19,
        "a comment in the picture",
        lambda s: _test_files(s, _PNG_TEXT),
        lambda task: has_media(task) and task.modality == "image",
    ),
    Injection(
        19,
        "a note in the sound file",
        lambda s: _test_files(s, _WAV_NOTE),
        lambda task: has_media(task) and task.modality == "audio",
    ),
    Injection(
        20,
        "a link to a raw file",
        files("""
        first = sorted(p for p in raw.rglob("*") if p.is_file())[0]
        (public / "original").symlink_to(first)
        """),
        anything,
        last=Gate.PREPARATION,
        unshipped=True,
    ),
    Injection(
        20,
        "a link to the answers",
        files('(public / "latest.csv").symlink_to("../private/test_answer.csv")'),
        anything,
        last=Gate.PREPARATION,
        unshipped=True,
    ),
    Injection(
        21,
        "the raw files copied",
        files("""
        import shutil
        shutil.copytree(raw, public / "source")
        """),
        anything,
    ),
    Injection(
        21,
        "the raw table packed",
        files("""
        import gzip
        (public / "archive").mkdir()
        for path in sorted(p for p in raw.rglob("*") if p.is_file() and p.suffix in (".csv", ".tsv", ".log")):
            (public / "archive" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        """),
        lambda task: task.package is not None and not (task.answers is Answers.LABEL and not task.tables),
    ),
    Injection(
        73,
        "test files missing",
        lambda s: _test_files(s, "if rng.random() < 0.06:\n    path.unlink()"),
        has_media,
    ),
    Injection(
        73,
        "files that no row names",
        tables("""
        test = test[rng.random(len(test)) < 0.85]
        answers = answers[answers[ID].astype(str).isin(set(test[ID].astype(str)))]
        sample = sample[sample[ID].astype(str).isin(set(test[ID].astype(str)))]
        """),
        _table_media,
    ),
)
