"""Naming GPUs. There is none where tests run, so NVIDIA's library is a pretend one under its real names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from harness.errors import InputError
from harness.sandboxes.gpus.discovery import Discovery, Gpu, discover, names_of, resolve

WHOLE = Gpu("0", "GPU-aaaa", "NVIDIA H200", 141 << 30)
PARTS = (
    Gpu("1:0", "MIG-bbbb", "NVIDIA H200 MIG 3g.71gb", 70 << 30),
    Gpu("1:2", "MIG-GPU-cccc/1/0", "NVIDIA H200 MIG 1g.18gb", 17 << 30),
)
HERE = Discovery((WHOLE, *PARTS))
NONE = Discovery((), "NVIDIA's driver does not answer")


@pytest.fixture(autouse=True)
def _no_visible_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver with a whole GPU without MIG, and a GPU divided into two MIG devices with a gap between."""
    by_index = {gpu.index: gpu for gpu in HERE.gpus}

    def handle(index: int) -> Any:
        return by_index.get(str(index), index)

    def mig_mode(handle: Any) -> list[int]:
        if isinstance(handle, Gpu):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return [pynvml.NVML_DEVICE_MIG_ENABLE] * 2

    def part(handle: int, number: int) -> Gpu:
        if f"{handle}:{number}" not in by_index:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return by_index[f"{handle}:{number}"]

    calls: dict[str, Any] = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": handle,
        "nvmlDeviceGetMigMode": mig_mode,
        "nvmlDeviceGetMaxMigDeviceCount": lambda handle: 7,
        "nvmlDeviceGetMigDeviceHandleByIndex": part,
        "nvmlDeviceGetUUID": lambda gpu: gpu.uuid,
        "nvmlDeviceGetName": lambda gpu: gpu.name,
        "nvmlDeviceGetMemoryInfo": lambda gpu: SimpleNamespace(total=gpu.memory_bytes),
    }
    for name, call in calls.items():
        monkeypatch.setattr(pynvml, name, call)


@pytest.mark.usefixtures("driver")
def test_whole_gpus_and_mig_devices_are_found_and_a_divided_gpu_is_not_one() -> None:
    assert discover() == HERE
    assert names_of(["MIG-bbbb", "GPU-zzzz"]) == {"MIG-bbbb": PARTS[0].name, "GPU-zzzz": None}


@pytest.mark.parametrize(
    "code",
    [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED, pynvml.NVML_ERROR_UNKNOWN],
)
def test_without_a_driver_there_are_none_and_a_reason(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise pynvml.NVMLError(code)

    monkeypatch.setattr(pynvml, "nvmlInit", fails)
    found = discover()
    assert found.gpus == ()
    assert "driver does not answer" in str(found)


@pytest.mark.parametrize("name", ["nvmlDeviceGetCount", "nvmlDeviceGetUUID"])
@pytest.mark.usefixtures("driver")
def test_a_driver_that_fails_half_way_gives_none_and_a_reason(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    monkeypatch.setattr(pynvml, name, fails)
    assert str(discover()).startswith("none: NVIDIA's driver does not list its GPUs")


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ((), ()),
        (("all",), ("GPU-aaaa", "MIG-bbbb", "MIG-GPU-cccc/1/0")),
        (("0",), ("GPU-aaaa",)),
        (("1:2", "0"), ("MIG-GPU-cccc/1/0", "GPU-aaaa")),
        (("GPU-aaaa", "MIG-bbbb"), ("GPU-aaaa", "MIG-bbbb")),
    ],
)
def test_every_way_to_name_a_device_ends_at_its_uuid(asked: tuple[str, ...], ids: tuple[str, ...]) -> None:
    assert resolve(asked, HERE) == ids


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("0", "0"), "--gpus: 0 is named twice in 0,0"),
        (("0", "GPU-aaaa"), "--gpus: GPU-aaaa is named twice"),
        (("2",), r"--gpus: 2 is not here; there are 0 \(NVIDIA H200, GPU-aaaa\), 1:0 "),
        (("1:1",), "--gpus: 1:1 is not here"),
        (("1",), "--gpus: 1 is divided by MIG; name its parts; there are .*MIG-bbbb"),
        (("GPU-zzzz",), "--gpus: GPU-zzzz is not here"),
        (("",), "--gpus: '' is no index"),
        (("-1",), "--gpus: '-1' is no index"),
        (("first",), "--gpus: 'first' is no index"),
        (("0 1",), "--gpus: '0 1' is no index"),
        (("../../etc",), "is no index"),
        (("GPU-" + "a" * 99,), "is no index"),
        (("all", "0"), "--gpus all,0: all stands alone"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(asked: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve(asked, HERE)


def test_all_stays_within_what_a_scheduler_gave_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1:2,GPU-aaaa")
    assert resolve(["all"], HERE) == ("MIG-GPU-cccc/1/0", "GPU-aaaa")
    assert resolve(["1:0"], HERE) == ("MIG-bbbb",)
    for odd in ("", "all", "7", "-1", "0,,1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", odd)
        with pytest.raises(InputError, match=r"^CUDA_VISIBLE_DEVICES: "):
            resolve(["all"], HERE)


def test_where_none_can_be_found_names_are_taken_as_given_and_said(caplog: pytest.LogCaptureFixture) -> None:
    assert resolve(["0", "MIG-bbbb"], NONE) == ("0", "MIG-bbbb")
    assert "0,MIG-bbbb taken as given; found none: NVIDIA's driver does not answer" in caplog.text
    with pytest.raises(InputError, match="all: found none: NVIDIA's driver does not answer"):
        resolve(["all"], NONE)
    with pytest.raises(InputError, match="named twice"):
        resolve(["0", "0"], NONE)
