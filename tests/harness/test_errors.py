"""The one table of endings is complete and unambiguous."""

from __future__ import annotations

import pytest

from harness import errors
from harness.errors import (
    INTERNAL_ERROR,
    POLICIES,
    EndpointClosed,
    ProviderError,
    SandboxLost,
    SandboxUnavailable,
    Status,
    TrialEnd,
    policy_of,
    policy_of_status,
)


def test_every_end_has_a_policy_of_its_own_and_every_status_one_policy() -> None:
    ends = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TrialEnd)]
    # For one trial an endpoint that serves nobody is as any other that failed.
    ends.remove(EndpointClosed)
    assert policy_of(EndpointClosed()) == POLICIES[ProviderError]
    # A sandbox that cannot be had in the middle of a job is as good as lost.
    assert set(POLICIES) == {*ends, SandboxUnavailable} - {TrialEnd}
    assert POLICIES[SandboxUnavailable] == POLICIES[SandboxLost]
    statuses = [POLICIES[kind].status for kind in ends if kind is not TrialEnd] + [INTERNAL_ERROR.status]
    assert sorted(statuses) == sorted(Status)


@pytest.mark.parametrize("status", list(Status))
def test_a_status_leads_back_to_its_policy(status: Status) -> None:
    assert policy_of_status(status).status is status


def test_infrastructure_is_never_scored_and_always_tried_again() -> None:
    for policy in [*POLICIES.values(), INTERNAL_ERROR]:
        assert policy.retry is not policy.candidates_failure
        assert policy.score is policy.candidates_failure


def test_a_subclass_has_the_policy_of_its_parent_and_a_stranger_is_internal() -> None:
    class Quota(errors.ProviderError):
        pass

    assert policy_of(Quota("")).status is Status.PROVIDER_ERROR
    assert policy_of(ZeroDivisionError()) is INTERNAL_ERROR
    assert policy_of(TrialEnd()) is INTERNAL_ERROR
