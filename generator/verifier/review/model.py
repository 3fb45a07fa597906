"""A language model as a reviewer: what it is asked, how its answer is checked, and what follows from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.review.evidence import holds
from generator.verifier.review.form import (
    ASPECTS,
    Grade,
    Opinion,
    Review,
    Unreadable,
    read_review,
    review_tool,
)
from generator.verifier.review.material import CHARACTERS, Document, documents
from generator.verifier.review.prompts import NEWEST, prompt, prompts_hash
from harness.budget import Budget, BudgetMeter
from harness.errors import InputError
from harness.models.base import ActionFormat, Message, Settings, Usage
from harness.models.calling import Caller, Retries
from harness.models.presets import Api
from harness.models.pricing import PriceTable
from harness.models.registry import ModelConfig, make_model, resolve_settings

_FIXES = {
    "clarity": "say it in description.txt",
    "metric": "choose or compute a metric that fits the goal",
    "shortcuts": "remove what gives the shortcut",
    "leakage": "remove what leaks, or split so that it does not",
    "realism": "give only what would be known, and ask what somebody would ask",
    "split": "separate train and test as the goal asks",
}
_SHOWN = 300


class ReviewLimits(BaseModel):
    """Bounds of one review.

    Attributes:
        input_tokens: about the most that one call's input may take; files are cut to fit.
        output_tokens: of one reply at most, reasoning included; the settings of the model may set another.
        attempts: replies asked for until one can be read; only the next after it may mend its quotes.
        seconds: wall time of all calls together, waiting for the endpoint included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input_tokens: int = Field(default=24_000, ge=1_000)
    output_tokens: int = Field(default=8_192, ge=256)
    attempts: int = Field(default=3, ge=1)
    seconds: float = Field(default=1_200.0, gt=0, allow_inf_nan=False)


class ReviewFailed(Exception):
    """No review could be obtained that can be read. It says nothing about the task."""


@dataclass
class _Asked:
    """What was spent on one review."""

    usages: list[Usage] = field(default_factory=list)
    version: str | None = None


class LanguageModelReviewer:
    """A reviewer behind any of the harness's model clients.

    Each grade below OK must come with words that stand in the files shown. Where they do not, the model is
    asked once more; a FAIL that is still without evidence counts as a concern, a WARN not at all, and the
    exhibit says so. A reply that cannot be read raises: it is neither a pass nor a finding.

    Args:
        config: which model; its settings say how it is asked.
        limits: bounds of a review.
        prices: what calls cost.
        retries: how patiently failed calls are repeated.

    Raises:
        InputError: there is no such model, its key is missing, or its settings are not taken.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        limits: ReviewLimits | None = None,
        prices: PriceTable | None = None,
        retries: Retries | None = None,
    ) -> None:
        if config.preset.api is Api.SCRIPTED:
            raise InputError(
                f"{config.board_name}: scripted candidates review nothing; name a language model"
            )
        self.config = config
        self.limits = limits or ReviewLimits()
        self.settings = _settings(config, self.limits)
        self._prices = prices or PriceTable()
        self._retries = retries or Retries(attempts=5, longest_seconds=60.0)
        make_model(config)  # a missing key is said before anything runs

    @property
    def identity(self) -> str:
        """The model, and the hash of prompts, form, settings and bounds."""
        form = review_tool().parameters
        parts = [
            prompts_hash(), form, self.settings.model_dump(mode="json"), self.limits.model_dump(mode="json"),
            self.config.endpoint_url,
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return f"{self.config.board_name} {digest[:16]}"

    def check(self, case: Case) -> Iterator[Finding]:
        """Findings about the task.

        Raises:
            ReviewFailed: no reply could be read.
            TrialEnd: the endpoint gave no reply, or the time was up.
        """
        case.say(f"asking {self.config.board_name}")
        shown = documents(case, self._room())
        asked = _Asked()
        review = self._review(shown, asked)
        told = {name: _told(opinion, shown) for name, opinion in review.opinions().items()}
        case.exhibits["review"] = self._exhibit(asked, told)
        for name, opinion in review.opinions().items():
            yield from self._findings(name, opinion, shown)

    def _room(self) -> int:
        fixed = len(prompt("system")) + len(prompt("again")) + len(prompt("form_text")) + 3_000
        return max(500, self.limits.input_tokens - fixed // CHARACTERS)

    def _review(self, shown: Sequence[Document], asked: _Asked) -> Review:
        """A review that can be read, its quotes mended once if they need it."""
        meter = BudgetMeter(Budget(seconds=self.limits.seconds))
        caller = Caller(make_model(self.config), self.settings, meter=meter, retries=self._retries)
        problems, review = "", None
        for _ in range(self.limits.attempts):
            try:
                review = self._ask(caller, shown, problems, asked)
                break
            except Unreadable as unreadable:
                problems = f"- {unreadable}"
        if review is None:
            raise ReviewFailed(
                f"{self.config.board_name}: none of {self.limits.attempts} replies held a review "
                f"that can be read; the last: {problems.removeprefix('- ')}"
            )
        opinions = review.opinions()
        unproved = [name for name, opinion in opinions.items() if _is_unproved(opinion, shown)]
        if not unproved:
            return review
        try:
            mended = self._ask(caller, shown, "\n".join(_problem(name, review) for name in unproved), asked)
        except Unreadable:
            return review
        # The second answer is to mend evidence; what was proved before is not taken back by it.
        kept = {name: one for name, one in opinions.items() if name not in unproved}
        return mended.model_copy(update=kept)

    def _ask(self, caller: Caller, shown: Sequence[Document], problems: str, asked: _Asked) -> Review:
        by_tool = self.settings.action_format is ActionFormat.TOOLS
        form = prompt("form_tool" if by_tool else "form_text").format(aspects=", ".join(ASPECTS))
        text = prompt("task").format(documents="\n\n".join(one.marked() for one in shown), form=form)
        if problems:
            text += "\n" + prompt("again").format(problems=problems[:2_000])
        messages = [Message("system", prompt("system")), Message("user", text)]
        answer = caller.complete(messages, [review_tool()])
        asked.usages.append(answer.reply.usage)
        asked.version = answer.reply.version or asked.version
        return read_review(answer.reply)

    def _findings(self, name: str, opinion: Opinion, shown: Sequence[Document]) -> Iterator[Finding]:
        proof = [quote for quote in opinion.quotes if holds(shown, quote)]
        if opinion.grade is Grade.OK or (opinion.grade is Grade.WARN and not proof):
            return
        told = "; ".join(f"{quote.file}: {_line(quote.quote)!r}" for quote in proof[:2])
        failed = opinion.grade is Grade.FAIL and bool(proof)
        yield finding(
            "review_failed" if failed else "review_concern",
            f"{self.config.board_name} on {name}: {_line(opinion.reason)} "
            + (
                f"({told})" if told else "(it called this unfit, but quotes nothing that stands in the files)"
            ),
            _FIXES[name],
        )

    def _exhibit(self, asked: _Asked, grades: dict[str, Any]) -> dict[str, Any]:
        total = sum(asked.usages, Usage())
        return {
            "model": self.config.board_name,
            "version": asked.version,
            "prompts": f"{NEWEST} {prompts_hash()[:12]}",
            "calls": len(asked.usages),
            "tokens": {"input": total.input, "output": total.output},
            "cost_usd": self._prices.price(self.config.priced_as, asked.usages),
            "grades": grades,
        }


def make_reviewer(
    name: str,
    *,
    settings: Settings | None = None,
    base_url: str | None = None,
    key_variable: str | None = None,
    api: Api | None = None,
    limits: ReviewLimits | None = None,
    prices: PriceTable | None = None,
) -> LanguageModelReviewer:
    """A reviewer by the name of its model, such as ``openai/gpt-5-mini``.

    Args:
        name: ``<provider>/<model>``.
        settings: what is asked of its calls; without an ``action_format`` of their own the answer is held to
            a schema where the provider can do that, and is JSON in text elsewhere.
        base_url, key_variable, api: as of :class:`harness.models.registry.ModelConfig`.
        limits: bounds of a review.
        prices: what calls cost.

    Raises:
        InputError: there is no such model, its key is missing, or its settings are not taken.
        ValidationError: an argument has not the form of a model's configuration.
    """
    config = ModelConfig(
        name=name, base_url=base_url, key_variable=key_variable, api=api, settings=settings or Settings()
    )
    return LanguageModelReviewer(config, limits=limits, prices=prices)


def _settings(config: ModelConfig, limits: ReviewLimits) -> Settings:
    """The model's settings over the reviewer's own."""
    formats = config.preset.action_formats
    own = ActionFormat.SCHEMA if ActionFormat.SCHEMA in formats else ActionFormat.JSON
    profile = Settings(max_output_tokens=limits.output_tokens, action_format=own)
    return resolve_settings(profile, config)


def _is_unproved(opinion: Opinion, shown: Sequence[Document]) -> bool:
    return opinion.grade is not Grade.OK and not any(holds(shown, quote) for quote in opinion.quotes)


def _problem(name: str, review: Review) -> str:
    opinion = review.opinions()[name]
    quotes = ", ".join(f"{quote.file}: {_line(quote.quote)!r}" for quote in opinion.quotes[:3])
    said = f"it quotes {quotes}, which does not stand there" if quotes else "it quotes nothing"
    return f"- {name} is {opinion.grade}, but {said}"


def _told(opinion: Opinion, shown: Sequence[Document]) -> dict[str, Any]:
    return {
        "grade": str(opinion.grade),
        "reason": _line(opinion.reason),
        "quotes": [
            {"file": quote.file, "quote": _line(quote.quote), "found": holds(shown, quote)}
            for quote in opinion.quotes
        ],
    }


def _line(text: str) -> str:
    """One printable line of bounded length."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
