"""A real language model as a reviewer: SmolLM2-135M behind llama.cpp's server. Only by ``pytest -m llm``.

It is far too small to judge a task. What it shows is that whatever a real model writes ends as a review that
can be read and is proved, or as none, and never as a pass by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from generator.verifier.review.form import ASPECTS
from generator.verifier.review.model import ReviewFailed, ReviewLimits, make_reviewer
from harness.models.base import ActionFormat, Settings
from tests.generator.verifier.described import opened, write
from tests.small_llm import ON_REQUEST, small_llm

pytestmark = ON_REQUEST


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with small_llm(8_192) as address:
        yield address


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
