"""What can go wrong between us and a model's endpoint, and the one table that says what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.errors import ContextOverflow, EndpointClosed, ProviderError, TrialEnd


class FaultKind(StrEnum):
    """The kinds of faults. The values are written to trajectories and records."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    """A server error (5xx), 408 or 409: the endpoint's own trouble."""
    CONNECTION = "connection"
    """No connection, or one that broke."""
    TIMEOUT = "timeout"
    GARBLED = "garbled"
    """An answer that is none: broken JSON, no choice, another form than the API's."""
    CONTEXT = "context"
    """The conversation does not fit the model's context window."""
    REQUEST = "request"
    """The request is refused as wrong (400, 422), for example a setting the model does not know."""
    KEY = "key"
    """The key is refused, or may not use this model (401, 403)."""
    QUOTA = "quota"
    """The account has no money or no quota left; waiting a minute does not help."""
    MODEL = "model"
    """There is no such model or no such endpoint (404)."""
    USAGE = "usage"
    """A reply that does not tell its tokens, in a trial with a limit of tokens or money."""


@dataclass(frozen=True)
class FaultPolicy:
    """What follows from a kind of fault.

    Attributes:
        retried: the same call may succeed later.
        slows: the endpoint takes fewer calls at a time from now on.
        closes: no trial can use the endpoint any more, so the job starts none.
        end: how the trial ends when retries are used up or do not apply.
        fix: what a person does about an endpoint that is closed; ``{key_variable}`` stands in it.
    """

    retried: bool
    slows: bool
    closes: bool
    end: type[TrialEnd]
    fix: str = ""


FAULTS: dict[FaultKind, FaultPolicy] = {
    FaultKind.RATE_LIMIT: FaultPolicy(retried=True, slows=True, closes=False, end=ProviderError),
    FaultKind.OVERLOADED: FaultPolicy(retried=True, slows=False, closes=False, end=ProviderError),
    FaultKind.CONNECTION: FaultPolicy(retried=True, slows=False, closes=False, end=ProviderError),
    FaultKind.TIMEOUT: FaultPolicy(retried=True, slows=False, closes=False, end=ProviderError),
    FaultKind.GARBLED: FaultPolicy(retried=True, slows=False, closes=False, end=ProviderError),
    FaultKind.CONTEXT: FaultPolicy(retried=False, slows=False, closes=False, end=ContextOverflow),
    FaultKind.REQUEST: FaultPolicy(retried=False, slows=False, closes=False, end=ProviderError),
    FaultKind.KEY: FaultPolicy(
        retried=False,
        slows=False,
        closes=True,
        end=EndpointClosed,
        fix="check the key in {key_variable}, and that it may use this model",
    ),
    FaultKind.QUOTA: FaultPolicy(
        retried=False,
        slows=False,
        closes=True,
        end=EndpointClosed,
        fix="add credit or quota to the account of {key_variable}",
    ),
    FaultKind.MODEL: FaultPolicy(
        retried=False,
        slows=False,
        closes=True,
        end=EndpointClosed,
        fix="check the model's name and base_url",
    ),
    FaultKind.USAGE: FaultPolicy(
        retried=False,
        slows=False,
        closes=True,
        end=EndpointClosed,
        fix="make the endpoint tell its usage, or limit steps and time instead of tokens and money",
    ),
}


class Fault(Exception):
    """A call that got no reply. The message never holds a key.

    Args:
        kind: what went wrong.
        message: one line, as far as possible in the endpoint's words.
        status: the HTTP status, if there was one.
        retry_after: seconds the endpoint asked us to wait, if it did.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after

    @property
    def policy(self) -> FaultPolicy:
        """What follows from it."""
        return FAULTS[self.kind]
