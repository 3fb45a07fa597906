"""Leases on pretend GPUs: real threads, real processes, and a real kill."""

from __future__ import annotations

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import Cancelled, InputError
from harness.sandboxes.gpus.leases import GpuPool, cuda_environment

ROOT = Path(__file__).parents[3]
NEVER = threading.Event()
Interval = tuple[str, float, float]

#: Four trials at a time in a process of their own; prints who held which device from when to when.
TRIALS = """
import json, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from harness.sandboxes.gpus.leases import GpuPool

pool = GpuPool(sys.argv[2:], int(sys.argv[1]))
held = []

def trial(_):
    with pool.lease(threading.Event()) as gpus:
        begin = time.monotonic()
        time.sleep(0.05)
        held.extend((gpu, begin, time.monotonic()) for gpu in gpus)

with ThreadPoolExecutor(4) as threads:
    list(threads.map(trial, range(4)))
print(json.dumps(held))
"""

#: Holds a device until it is killed.
HOLDER = """
import sys, threading
from harness.sandboxes.gpus.leases import GpuPool

with GpuPool(sys.argv[1:], len(sys.argv) - 1).lease(threading.Event()):
    print("held", flush=True)
    threading.Event().wait()
"""


def pretend(number: int) -> list[str]:
    """Names of devices that no other test uses at the same time."""
    return [f"GPU-{uuid.uuid4()}" for _ in range(number)]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def holder_of(*gpus: str) -> subprocess.Popen[str]:
    process = start(HOLDER, *gpus)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def assert_never_shared(intervals: list[Interval]) -> None:
    by_gpu: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for gpu, begin, end in intervals:
        by_gpu[gpu].append((begin, end))
    for times in by_gpu.values():
        times.sort()
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(times))


def in_threads(pool: GpuPool, trials: int) -> list[Interval]:
    held: list[Interval] = []

    def trial(_: int) -> None:
        with pool.lease(NEVER) as gpus:
            begin = time.monotonic()
            time.sleep(0.05)
            held.extend((gpu, begin, time.monotonic()) for gpu in gpus)

    with ThreadPoolExecutor(trials) as threads:
        list(threads.map(trial, range(trials)))
    return held


def test_8_trials_on_2_gpus_never_share_one() -> None:
    gpus = pretend(2)
    held = in_threads(GpuPool(gpus, 1), 8)
    assert len(held) == 8
    assert {gpu for gpu, _, _ in held} == set(gpus)
    assert_never_shared(held)


@pytest.mark.parametrize("per_trial", [1, 2])
def test_2_jobs_of_4_trials_never_share_a_gpu(per_trial: int) -> None:
    """Also when each trial takes two of three devices, where both jobs could end up waiting for the other."""
    gpus = pretend(per_trial + 1)
    jobs = [start(TRIALS, per_trial, *order) for order in (gpus, gpus[::-1])]
    held = [tuple(interval) for job in jobs for interval in json.loads(job.communicate(timeout=60)[0])]
    assert len(held) == 8 * per_trial
    assert_never_shared(held)


def test_a_trial_takes_all_its_gpus_or_none() -> None:
    gpus = pretend(3)
    assert_never_shared(held := in_threads(GpuPool(gpus, 2), 6))
    assert len(held) == 12
    other = holder_of(*gpus[:2])
    waiting = threading.Event()
    with ThreadPoolExecutor(1) as thread:
        lease = thread.submit(lambda: GpuPool(gpus, 2).lease(waiting).__enter__())
        time.sleep(0.5)
        with GpuPool(gpus[2:], 1).lease(NEVER) as free:  # the one that waits keeps nothing meanwhile
            assert free == (gpus[2],)
        waiting.set()
        with pytest.raises(Cancelled):
            lease.result(timeout=10)
    kill(other)


def test_a_killed_process_frees_its_gpus() -> None:
    (gpu,) = pretend(1)
    process = holder_of(gpu)
    with ThreadPoolExecutor(1) as thread:
        lease = thread.submit(lambda: GpuPool([gpu], 1).lease(NEVER).__enter__())
        time.sleep(0.3)
        assert not lease.done()
        kill(process)
        assert lease.result(timeout=10) == (gpu,)


def test_a_child_of_the_harness_does_not_inherit_a_lease() -> None:
    """As a sandbox that outlives its harness would."""
    (gpu,) = pretend(1)
    with GpuPool([gpu], 1).lease(NEVER):
        child = subprocess.Popen(["sleep", "60"])
    try:
        with GpuPool([gpu], 1).lease(NEVER) as again:
            assert again == (gpu,)
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("fails", [False, True])
def test_a_lease_ends_with_its_block(fails: bool) -> None:
    (gpu,) = pretend(1)
    for _ in range(2):
        try:
            with GpuPool([gpu], 1).lease(NEVER):
                if fails:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            assert fails


def test_those_who_wait_are_told_whose_it_is(caplog: pytest.LogCaptureFixture) -> None:
    gpus = pretend(1)
    process = holder_of(*gpus)
    told: list[str] = []
    stop = threading.Event()

    def wait(pool: GpuPool) -> None:
        with pytest.raises(Cancelled, match="waited for GPUs"), pool.lease(stop):
            pass

    def until(done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10
        while not done() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert done()

    with caplog.at_level(logging.INFO), ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(wait, GpuPool(gpus, 1))
        until(lambda: f"{gpus[0]} is held by process {process.pid}" in caplog.text)
        stop.set()
        waiting.result(timeout=10)
        told = [record.levelname for record in caplog.records]
    kill(process)
    assert told == ["WARNING"], "another job's device is worth a warning, once"
    caplog.clear()
    with caplog.at_level(logging.INFO), GpuPool(gpus, 1).lease(NEVER):
        wait(GpuPool(gpus, 1))
    assert f"held by process {os.getpid()}" in caplog.text
    assert [record.levelname for record in caplog.records] == ["INFO"]


def test_more_than_there_are_is_refused_at_once() -> None:
    with pytest.raises(InputError, match=r"--gpus-per-trial 3: there are 2 to lease \(0, 1\)"):
        GpuPool(["0", "1"], 3)
    with pytest.raises(InputError, match=r"--gpus-per-trial 1: there are 0 to lease \(none\)"):
        GpuPool([], 1)


def test_without_gpus_a_lease_is_empty() -> None:
    pool = GpuPool((), 0)
    with pool.lease(NEVER) as gpus:
        assert gpus == ()
    assert pool.trials == 0


def test_the_number_of_trials_at_once() -> None:
    assert [GpuPool(list("01234567"), n).trials for n in (1, 2, 3, 8)] == [8, 4, 2, 1]


def test_cuda_is_shown_the_leased_devices_alone() -> None:
    assert cuda_environment(["GPU-b", "GPU-a"])["CUDA_VISIBLE_DEVICES"] == "GPU-b,GPU-a"
