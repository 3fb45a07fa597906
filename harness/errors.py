"""Every way in which work can fail, and the one table that says what follows from it.

Retry, scoring and aggregation all read :data:`POLICIES`; no other place decides whose fault an error is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a trial ended. The values are written to ``result.json``."""

    SUBMITTED = "submitted"
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    WORKING_TIME_LIMIT = "working_time_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    FORMAT_ERRORS = "format_errors"
    REFUSAL = "refusal"
    CONTEXT_OVERFLOW = "context_overflow"
    SANDBOX_LOST = "sandbox_lost"
    PROVIDER_ERROR = "provider_error"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"


class InputError(Exception):
    """What the user gave cannot be used; the message names the file, the field and the fix."""


class TaskError(InputError):
    """A task package is broken or is not one."""


class SandboxUnavailable(InputError):
    """The sandbox that was asked for cannot run on this machine."""


class TrialEnd(Exception):
    """Ends a trial's loop. Subclasses carry their meaning; :data:`POLICIES` gives the consequences."""


class Submitted(TrialEnd):
    """The agent ended the trial itself."""


class StepLimit(TrialEnd):
    """All steps of the budget are used."""


class TimeLimit(TrialEnd):
    """The wall time of the budget is used."""


class WorkingTimeLimit(TrialEnd):
    """The working time of the budget is used: wall time without waiting for the model's endpoint."""


class TokenLimit(TrialEnd):
    """The tokens of the budget are used."""


class CostLimit(TrialEnd):
    """The money of the budget is used."""


class FormatErrors(TrialEnd):
    """Too many replies in a row that could not be read as an action."""


class Refusal(TrialEnd):
    """The model declined to work on the task, several times in a row."""


class ContextOverflow(TrialEnd):
    """The conversation no longer fits the model's context window."""


class SandboxLost(TrialEnd):
    """The sandbox itself went away; a command that merely failed is not this."""


class ProviderError(TrialEnd):
    """The model's endpoint failed for good, after the retries its client makes."""


class EndpointClosed(ProviderError):
    """The model's endpoint can serve no trial at all: its key, quota or name is refused."""


class Cancelled(TrialEnd):
    """The job was interrupted."""


@dataclass(frozen=True)
class Policy:
    """What follows from one way of ending.

    Attributes:
        status: the word written to the record.
        retry: running the trial again may help, so a repeated command does so.
        score: submissions made before the end are graded and kept.
        candidates_failure: an invalid result counts against the candidate; otherwise the trial is
            infrastructure noise and is left out of ratings.
    """

    status: Status
    retry: bool
    score: bool
    candidates_failure: bool


POLICIES: dict[type[BaseException], Policy] = {
    Submitted: Policy(Status.SUBMITTED, retry=False, score=True, candidates_failure=True),
    StepLimit: Policy(Status.STEP_LIMIT, retry=False, score=True, candidates_failure=True),
    TimeLimit: Policy(Status.TIME_LIMIT, retry=False, score=True, candidates_failure=True),
    WorkingTimeLimit: Policy(Status.WORKING_TIME_LIMIT, retry=False, score=True, candidates_failure=True),
    TokenLimit: Policy(Status.TOKEN_LIMIT, retry=False, score=True, candidates_failure=True),
    CostLimit: Policy(Status.COST_LIMIT, retry=False, score=True, candidates_failure=True),
    FormatErrors: Policy(Status.FORMAT_ERRORS, retry=False, score=True, candidates_failure=True),
    Refusal: Policy(Status.REFUSAL, retry=False, score=True, candidates_failure=True),
    ContextOverflow: Policy(Status.CONTEXT_OVERFLOW, retry=False, score=True, candidates_failure=True),
    SandboxUnavailable: Policy(Status.SANDBOX_LOST, retry=True, score=False, candidates_failure=False),
    SandboxLost: Policy(Status.SANDBOX_LOST, retry=True, score=False, candidates_failure=False),
    ProviderError: Policy(Status.PROVIDER_ERROR, retry=True, score=False, candidates_failure=False),
    Cancelled: Policy(Status.CANCELLED, retry=True, score=False, candidates_failure=False),
}

INTERNAL_ERROR = Policy(Status.INTERNAL_ERROR, retry=True, score=False, candidates_failure=False)


def policy_of(error: BaseException) -> Policy:
    """The policy of an exception: that of its nearest listed class, else ``internal_error``."""
    for kind in type(error).__mro__:
        if kind in POLICIES:
            return POLICIES[kind]
    return INTERNAL_ERROR


def policy_of_status(status: Status) -> Policy:
    """The policy behind a recorded status."""
    by_status = {policy.status: policy for policy in POLICIES.values()}
    return by_status.get(status, INTERNAL_ERROR)
