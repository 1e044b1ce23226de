"""`grader.cuda.select`."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from grader import cuda
from grader.emulator.pycuda_api import driver
from grader.errors import WarpladderError


class FakePyCUDA(ModuleType):
    """A `pycuda.driver` that gets as far as its errors."""

    Error = driver.Error

    def __init__(self, devices: int | Exception) -> None:
        super().__init__("pycuda.driver")
        self.devices = devices

    def init(self) -> None:
        if isinstance(self.devices, Exception):
            raise self.devices

    @property
    def Device(self) -> type:
        return type("Device", (), {"count": staticmethod(lambda: self.devices)})


def install(monkeypatch: pytest.MonkeyPatch, driver: ModuleType | None) -> None:
    monkeypatch.setitem(sys.modules, "pycuda", ModuleType("pycuda") if driver else None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", driver)


def test_the_emulator_is_ready_when_selected() -> None:
    device = cuda.select("emulator")
    assert (device.kind, device.name, device.arch) == ("emulator", "NVIDIA H200 (emulated)", "sm_90a")
    x = np.arange(4, dtype=np.int32)
    module = device.compiler.SourceModule("__global__ void inc(int *x) { x[threadIdx.x]++; }")
    module.get_function("inc")(device.driver.InOut(x), block=(4, 1, 1))
    assert list(x) == [1, 2, 3, 4]
    assert len(device.ext.launch_records()) == 1
    assert device.ext.device_limits()["max_threads_per_block"] == 1024
    device.release()
    with pytest.raises(driver.LogicError, match="invalid device context"):
        device.driver.mem_alloc(4)


def test_the_architecture_chooses_the_emulated_gpu() -> None:
    device = cuda.select(arch="sm_80")
    assert (device.kind, device.name, device.arch) == (
        "emulator",
        "NVIDIA A100-SXM4-80GB (emulated)",
        "sm_80",
    )
    device.release()


def test_the_emulator_starts_afresh() -> None:
    first = cuda.select("emulator")
    first.driver.mem_alloc(1 << 20)
    second = cuda.select("emulator")
    free, total = second.driver.mem_get_info()
    assert free == total
    second.release()
    first.release()


@pytest.mark.parametrize(
    ("pycuda", "problem"),
    [
        (None, "PyCUDA cannot be imported"),
        (FakePyCUDA(0), "CUDA finds no device"),
        (
            FakePyCUDA(driver.RuntimeError("cuInit failed: no CUDA-capable device is detected")),
            "cuInit failed",
        ),
    ],
)
def test_without_a_gpu(pycuda: ModuleType | None, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, pycuda)
    with pytest.raises(WarpladderError, match=f"no GPU can be used: {problem}.*\n.*pip install 'warpladder"):
        cuda.select("pycuda")
    device = cuda.select("auto")
    assert device.kind == "emulator"
    device.release()


def test_calls_that_make_no_sense() -> None:
    with pytest.raises(WarpladderError, match="unknown device 'gpu'"):
        cuda.select("gpu")
    with pytest.raises(WarpladderError, match="no emulated GPU of architecture 'sm_30'"):
        cuda.select("emulator", "sm_30")
    with pytest.raises(WarpladderError, match="use --device emulator"):
        cuda.select("pycuda", "sm_80")
