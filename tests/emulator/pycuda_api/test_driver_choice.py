"""`grader.cuda.select`."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from grader import cuda, gpu
from grader.emulator.nvrtc import compilation
from grader.emulator.pycuda_api import driver
from grader.errors import WarpladderError


class FakePyCUDA(ModuleType):
    """A `pycuda.driver` that gets as far as its errors."""

    Error = driver.Error

    def __init__(
        self, devices: int | Exception, version: int = 13000, capability: tuple[int, int] = (9, 0)
    ) -> None:
        super().__init__("pycuda.driver")
        self.devices = devices
        self.version = version
        self.capability = capability

    def init(self) -> None:
        if isinstance(self.devices, Exception):
            raise self.devices

    def get_driver_version(self) -> int:
        return self.version

    @property
    def Device(self) -> type:
        known = {
            "__init__": lambda device, number: None,
            "count": staticmethod(lambda: self.devices),
            "name": lambda device: "Tesla",
            "compute_capability": lambda device: self.capability,
        }
        return type("Device", (), known)


def install(monkeypatch: pytest.MonkeyPatch, driver: ModuleType | None) -> None:
    monkeypatch.setitem(sys.modules, "pycuda", ModuleType("pycuda") if driver else None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", driver)


def only_the_pinned(version: int) -> None:
    if version != compilation.PINNED:
        raise compilation.NvrtcNotFound(f"NVRTC {version} is not installed: pip install it")


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
        (
            FakePyCUDA(1, version=11040),
            "the driver of the Tesla knows CUDA 11.4, and 12.0 or later is needed",
        ),
        (
            FakePyCUDA(1, capability=(6, 0)),
            "the Tesla has compute capability 6.0, and 7.5 or later is needed",
        ),
        (FakePyCUDA(1, version=12040), "NVRTC 12 is not installed"),
    ],
)
def test_without_a_gpu(pycuda: ModuleType | None, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, pycuda)
    monkeypatch.setattr(gpu, "find_toolkit", only_the_pinned)
    with pytest.raises(WarpladderError, match=f"no GPU can be used: {problem}.*\n.*run `ladder doctor`"):
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


class FakeNvml(ModuleType):
    """A `pynvml` with GPUs of these compute capabilities."""

    def __init__(self, *capabilities: tuple[int, int]) -> None:
        super().__init__("pynvml")
        self.nvmlInit = lambda: None
        self.nvmlDeviceGetCount = lambda: len(capabilities)
        self.nvmlDeviceGetHandleByIndex = lambda number: number
        self.nvmlDeviceGetCudaComputeCapability = lambda handle: capabilities[handle]
        self.nvmlSystemGetCudaDriverVersion_v2 = lambda: 13010
        self.nvmlDeviceGetName = lambda handle: f"GPU {handle}"


@pytest.mark.parametrize(
    ("capabilities", "visible", "found"),
    [
        ([(9, 0), (9, 0)], None, gpu.Gpu("GPU 0", (13, 1), (9, 0))),
        ([(9, 0), (8, 0)], None, None),
        ([(9, 0)], "0", None),
        ([], None, None),
    ],
)
def test_the_first_gpu_is_known_at_once_where_cuda_can_mean_no_other(
    capabilities: list[tuple[int, int]],
    visible: str | None,
    found: gpu.Gpu | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(*capabilities))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpu.at_once() == found
    assert found is None or found.arch == "sm_90a"
