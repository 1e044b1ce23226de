"""`ladder doctor`: what this machine has, what is missing, and the command that mends it."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import sys
import tempfile
from dataclasses import dataclass
from typing import Literal

from grader import cuda, gpu, gpu_setup
from grader.emulator.cache import CHOOSE_FOLDER, cache_folder
from grader.emulator.cudart import toolchain
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.sandbox import means

_REINSTALL = f"{sys.executable} -m pip install --upgrade --force-reinstall"


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
    """Look at everything. Takes a second or two: compilers compile, and the emulator runs a small kernel."""
    gpu_check, needs = _gpu()
    version = needs or compilation.PINNED
    again, pycuda = (None, None) if needs is None else (gpu_setup.again(), gpu_setup.remedy())
    checks = (
        Check("Python", "ok", platform.python_version(), "everything", required=True),
        _package("numpy", "everything"),
        _package("llvmlite", "the emulator"),
        _package("numba", "the emulator"),
        _compiler(
            compilation.PINNED,
            f"{sys.executable} -m pip install --force-reinstall {compilation.requirements()}",
        ),
        _cache(),
        _sandbox(),
        _emulator(),
        _nvcc(),
        gpu_check,
        *([] if version == compilation.PINNED else [_compiler(version, gpu_setup.again())]),
        _gpu_package("pycuda", "pycuda.driver", "running kernels on a GPU", pycuda),
        _gpu_package("cuda-bindings", "cuda.bindings.driver", "occupancy and graphs on a GPU", again),
        _gpu_package(f"cupy-cuda{version}x", "cupy", "library baselines (cuBLAS, CUB) on a GPU", again),
        _gpu_package("nvidia-ml-py", "pynvml", "clocks and throttling beside measured times", again),
    )
    return Diagnosis(checks, "emulator" if cuda.gpu_problem() else "gpu")


def _package(distribution: str, needed_for: str) -> Check:
    try:
        importlib.import_module(distribution)
    except Exception as error:
        remedy = f"{_REINSTALL} {distribution}"
        return Check(distribution, "broken", str(error), needed_for, required=True, remedy=remedy)
    return Check(distribution, "ok", importlib.metadata.version(distribution), needed_for, required=True)


_UNOPENED = re.compile(r'open source file "([^"]+)"')
_INCLUDES = """
#include <cuda/std/climits>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
"""


def _compiler(version: int, remedy: str) -> Check:
    """An NVRTC with the headers that kernels include: the pinned one, or the one that a GPU's driver needs."""
    name, distribution, needed_for = (
        f"NVRTC {version}",
        f"nvidia-cuda-nvrtc-cu{version}",
        "kernels on this GPU",
    )
    if version == compilation.PINNED:
        name, distribution, needed_for = "NVRTC", "nvidia-cuda-nvrtc", "compiling kernels"
    required = version == compilation.PINNED
    try:
        if gone := compilation.missing_headers(version):
            found = ", ".join(f"{header} of {wheel}" for header, wheel in gone)
            return Check(name, "broken", f"missing headers: {found}", needed_for, required, remedy)
        # With an include path given, nothing comes from the cache, where results outlive headers.
        path = f"-I{compilation.find_toolkit(version).includes[0]}"
        compilation.build(_INCLUDES, options=[path], cuda=version)
    except compilation.NvrtcNotFound:
        return Check(name, "missing", "not installed", needed_for, required, remedy)
    except compilation.CompileError as error:
        found = error.diagnostics[0].message if error.diagnostics else error.log.strip()
        if header := _UNOPENED.search(found):
            found = f"missing headers: {header[1]} of {compilation.owner_of(header[1], version)}"
        return Check(name, "broken", found, needed_for, required, remedy)
    return Check(name, "ok", importlib.metadata.version(distribution), needed_for, required)


def _cache() -> Check:
    folder = cache_folder()
    name, needed_for = "cache", "compiling each kernel once instead of every time"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        found = f"{folder}: {error.strerror}"
        return Check(name, "broken", found, needed_for, required=False, remedy=CHOOSE_FOLDER)
    return Check(name, "ok", str(folder), needed_for, required=False)


def _sandbox() -> Check:
    """What confines kernels and schedules, which may be a stranger's."""
    has = means.means()
    name, needed_for = "sandbox", "grading what others wrote: keeping it from files, network and processes"
    found = f"{has}. What is graded {has.left}"
    if has.whole:
        return Check(name, "ok", found, needed_for, required=False)
    return Check(name, "missing", found, needed_for, required=False, remedy=means.better())


def _nvcc() -> Check:
    """What compiles whole programs: for the emulator that of the wheels, for a GPU any."""
    name, needed_for = "nvcc", "ladder run: whole CUDA C++ programs"
    try:
        nvcc, *_ = toolchain.native_nvcc()
    except toolchain.CompilerNotFound as error:
        return Check(name, "missing", str(error), needed_for, required=False, remedy=error.remedy)
    compiler = toolchain.host_compiler()
    try:
        toolchain.toolkit()
    except toolchain.CompilerNotFound as error:
        found = f"for a GPU {nvcc}, with {compiler}; for the emulator, {error}"
        return Check(name, "missing", found, needed_for, required=False, remedy=error.remedy)
    version = importlib.metadata.version("nvidia-cuda-nvcc")
    return Check(name, "ok", f"{version}, with {compiler}", needed_for, required=False)


_TRIAL = 'extern "C" __global__ void square(int *x) { x[threadIdx.x] *= x[threadIdx.x]; }'


def _emulator() -> Check:
    name, needed_for, remedy = "emulator", "running kernels without a GPU", f"{_REINSTALL} llvmlite numba"
    try:
        squares = _squares_on_emulator()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        return Check(name, "broken", found, needed_for, required=True, remedy=remedy)
    if squares != [i * i for i in range(32)]:
        return Check(name, "broken", "wrong results", needed_for, required=True, remedy=remedy)
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


def _gpu() -> tuple[Check, int | None]:
    """What there is of a GPU, and the CUDA whose packages it needs; None where it needs none."""
    name, needed_for = "GPU", "measured times"
    try:
        found = gpu.find()
        if found is not None:
            gpu.check(found)
    except WarpladderError as error:
        return Check(name, "broken", error.message, needed_for, False, error.remedy), None
    if found is None:
        remedy = f"{gpu.NEW_DRIVER}, if this machine has a GPU"
        return Check(name, "missing", "no NVIDIA driver", needed_for, False, remedy), None
    known = f"{found.name}, CUDA {found.cuda[0]}.{found.cuda[1]}"
    if found.capability is None:
        wrong = f"nvidia-smi finds the {known}, but libcuda.so.1 cannot be loaded"
        remedy = "export LD_LIBRARY_PATH=<the folder of the driver's libcuda.so.1>"
        return Check(name, "broken", wrong, needed_for, False, remedy), found.compiled_with
    return Check(name, "ok", known, needed_for, False), found.compiled_with


def _gpu_package(distribution: str, module: str, needed_for: str, mended_by: str | None) -> Check:
    """One package of the extras for GPUs. Without a GPU `mended_by` is None: there is nothing to mend about it."""
    try:
        importlib.import_module(module)
        version = importlib.metadata.version(distribution)
    except ModuleNotFoundError:
        return Check(distribution, "missing", "not installed", needed_for, required=False, remedy=mended_by)
    except Exception as error:  # a library beneath it is missing
        remedy = None if "libcuda.so.1" in str(error) else mended_by  # the driver's own: see _gpu
        return Check(distribution, "broken", str(error), needed_for, required=False, remedy=remedy)
    return Check(distribution, "ok", version, needed_for, required=False)
