"""`ladder doctor`: what this machine has, what is missing, and the command that mends it."""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from grader import cuda
from grader.emulator.cache import cache_folder
from grader.emulator.nvrtc import compilation

_REINSTALL = "pip install --upgrade --force-reinstall warpladder"
_GPU_EXTRA = "pip install 'warpladder[gpu]'"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "missing", "broken"]
    found: str  # a version, a name, or what is wrong
    needed_for: str  # what does not work without it
    required: bool  # nothing works without it
    remedy: str | None = None  # what to type, or to do; None where nothing is wrong


@dataclass(frozen=True)
class Diagnosis:
    """All checks, and the device that `--device auto` takes."""

    checks: tuple[Check, ...]
    device: Literal["gpu", "emulator"]

    @property
    def usable(self) -> bool:
        """Whether kernels can be run at all, on a GPU or on the emulator."""
        return all(check.state == "ok" for check in self.checks if check.required)


def examine() -> Diagnosis:
    """Look at everything. Takes a second or two: the emulator compiles and runs a small kernel."""
    gpu = _gpu()
    checks = (
        Check("Python", "ok", platform.python_version(), "everything", required=True),
        _package("numpy", "everything"),
        _package("llvmlite", "the emulator"),
        _package("numba", "the emulator"),
        _compiler(),
        _cache(),
        _emulator(),
        gpu,
        _gpu_package("pycuda", "pycuda.driver", "running kernels on a GPU", gpu),
        _gpu_package("cuda-bindings", "cuda.bindings.driver", "occupancy and tensor maps on a GPU", gpu),
        _gpu_package("cupy-cuda13x", "cupy", "library baselines (cuBLAS, CUB) on a GPU", gpu),
        _gpu_package("nvidia-ml-py", "pynvml", "clocks and throttling beside measured times", gpu),
    )
    return Diagnosis(checks, "emulator" if cuda.gpu_problem() else "gpu")


def _package(distribution: str, needed_for: str) -> Check:
    try:
        importlib.import_module(distribution)
    except Exception as error:
        remedy = f"{sys.executable} -m {_REINSTALL}"
        return Check(distribution, "broken", str(error), needed_for, required=True, remedy=remedy)
    return Check(distribution, "ok", importlib.metadata.version(distribution), needed_for, required=True)


def _compiler() -> Check:
    needed_for = "compiling kernels"
    try:
        compilation.find_toolkit()
    except compilation.NvrtcNotFound as error:
        return Check("NVRTC", "missing", str(error), needed_for, required=True, remedy=_REINSTALL)
    version = importlib.metadata.version("nvidia-cuda-nvrtc")
    return Check("NVRTC", "ok", version, needed_for, required=True)


def _cache() -> Check:
    folder = cache_folder()
    name, needed_for = "cache", "compiling each kernel once instead of every time"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        remedy = "export WARPLADDER_CACHE=<a folder you may write to>"
        return Check(name, "broken", f"{folder}: {error.strerror}", needed_for, required=False, remedy=remedy)
    return Check(name, "ok", str(folder), needed_for, required=False)


_TRIAL = 'extern "C" __global__ void square(int *x) { x[threadIdx.x] *= x[threadIdx.x]; }'


def _emulator() -> Check:
    name, needed_for = "emulator", "running kernels without a GPU"
    try:
        squares = _squares_on_emulator()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        return Check(name, "broken", found, needed_for, required=True, remedy=_REINSTALL)
    if squares != [i * i for i in range(32)]:
        return Check(name, "broken", "wrong results", needed_for, required=True, remedy=_REINSTALL)
    return Check(name, "ok", f"{os.cpu_count()} cores", needed_for, required=True)


def _squares_on_emulator() -> list[int]:
    import numpy as np

    device = cuda.select("emulator")
    try:
        numbers = np.arange(32, dtype=np.int32)
        module = device.compiler.SourceModule(_TRIAL, no_extern_c=True)
        module.get_function("square")(device.driver.InOut(numbers), block=(32, 1, 1))
        return [int(number) for number in numbers]
    finally:
        device.release()


def _gpu() -> Check:
    name, needed_for = "GPU", "measured times"
    try:
        found = _name_of_gpu()
    except OSError:
        remedy = "install NVIDIA's driver, 580 or later, if this machine has a GPU"
        return Check(name, "missing", "no NVIDIA driver", needed_for, required=False, remedy=remedy)
    except LookupError as error:
        remedy = "see what nvidia-smi says"
        return Check(name, "broken", str(error), needed_for, required=False, remedy=remedy)
    return Check(name, "ok", found, needed_for, required=False)


def _name_of_gpu() -> str:
    """The first GPU and the driver's CUDA version, without PyCUDA.

    Raises OSError where there is no driver, LookupError where it finds no GPU.
    """
    libcuda = ctypes.CDLL("libcuda.so.1")
    version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    _ask("cuInit", lambda: libcuda.cuInit(0))
    _ask("cuDriverGetVersion", lambda: libcuda.cuDriverGetVersion(ctypes.byref(version)))
    _ask("cuDeviceGetCount", lambda: libcuda.cuDeviceGetCount(ctypes.byref(count)))
    if not count.value:
        raise LookupError("the driver finds no GPU")
    _ask("cuDeviceGetName", lambda: libcuda.cuDeviceGetName(name, len(name), 0))
    return f"{name.value.decode()}, CUDA {version.value // 1000}.{version.value % 1000 // 10}"


def _ask(routine: str, call: Callable[[], int]) -> None:
    status = call()
    if status:
        raise LookupError(f"{routine} failed with status {status}")


def _gpu_package(distribution: str, module: str, needed_for: str, gpu: Check) -> Check:
    """One package of the extra `gpu`; without a GPU there is nothing to mend about it."""
    remedy = _GPU_EXTRA if gpu.state == "ok" else None
    try:
        importlib.import_module(module)
        version = importlib.metadata.version(distribution)
    except ModuleNotFoundError:
        return Check(distribution, "missing", "not installed", needed_for, required=False, remedy=remedy)
    except Exception as error:  # a library beneath it is missing
        return Check(distribution, "broken", str(error), needed_for, required=False, remedy=remedy)
    return Check(distribution, "ok", version, needed_for, required=False)
