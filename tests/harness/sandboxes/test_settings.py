"""The settings of sandboxes: every wrong key and value is named, and what does not fit together too."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness.sandboxes.base import GIB, Limits
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.package import describe_validation


def config(**settings: Any) -> SandboxConfig:
    return SandboxConfig.model_validate(settings)


def test_without_settings_limits_are_the_usual_ones() -> None:
    assert config().limits(600.0) == Limits(seconds=600.0)


def test_settings_become_limits() -> None:
    settings = config(memory_gb=0.5, disk_gb=2, shm_gb=0.25, processes=9, cpus=3, files=77)
    assert settings.limits(5.0) == Limits(
        seconds=5.0,
        memory_bytes=GIB // 2,
        disk_bytes=2 * GIB,
        shm_bytes=GIB // 4,
        processes=9,
        cpus=3,
        files=77,
    )


@pytest.mark.parametrize(
    ("gpus", "ids"),
    [
        ("all", ("all",)),
        ("0", ("0",)),
        ("0,MIG-a", ("0", "MIG-a")),
        ([0, 1], ("0", "1")),
        (["GPU-a", 1], ("GPU-a", "1")),
        ((), ()),
    ],
)
def test_gpus_are_named_in_several_forms(gpus: Any, ids: tuple[str, ...]) -> None:
    settings = config(gpus=gpus)
    assert (settings.gpus, settings.gpus_per_trial) == (ids, min(len(ids), 1))


def test_hosts_are_sorted_and_named_once() -> None:
    assert config(allow_hosts=["b.org", "A.org", "b.org"]).allow_hosts == ("a.org", "b.org")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"memroy_gb": 3}, "memroy_gb: unknown key"),
        ({"network": True}, "network: unknown key"),
        ({"kind": 3}, "kind: write a text in quotes"),
        ({"memory_gb": "much"}, "memory_gb: "),
        ({"memory_gb": 0}, "memory_gb: Input should be greater than 0"),
        ({"disk_gb": -1}, "disk_gb: Input should be greater than 0"),
        ({"shm_gb": float("inf")}, "shm_gb: Input should be a finite number"),
        ({"memory_gb": float("nan")}, "memory_gb: "),
        ({"cpus": 0}, "cpus: "),
        ({"cpus": 1.5}, "cpus: write a whole number"),
        ({"processes": 0}, "processes: "),
        ({"files": 0}, "files: "),
        ({"warm": "perhaps"}, "warm: write true or false"),
        ({"trust": 7}, "trust: write true or false"),
        ({"image": "", "kind": "docker"}, "image: "),
        ({"image": "x"}, "image is for docker; say --sandbox docker"),
        ({"image": "x", "kind": "bubblewrap"}, "image is for docker; say --sandbox docker"),
        ({"gpus": 0}, "gpus: write a list"),
        ({"gpus": [True]}, "gpus.0: write a text in quotes"),
        ({"gpus": ["0"], "gpus_per_trial": 0}, "gpus and gpus_per_trial go together"),
        ({"gpus_per_trial": 2}, "gpus and gpus_per_trial go together"),
        ({"gpus": ["0"], "gpus_per_trial": -1}, "gpus_per_trial: "),
        ({"allow_hosts": "example.org"}, "allow_hosts: write a list"),
        (
            {"allow_hosts": ["https://example.org/"]},
            "allow_hosts: 'https://example.org/' does not name hosts",
        ),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        config(**settings)
    assert said in describe_validation(caught.value)
