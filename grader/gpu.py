"""The first GPU and its driver, asked without PyCUDA, which may not be there yet or not load."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from dataclasses import dataclass

from grader.emulator.nvrtc.compilation import PINNED, NvrtcNotFound, find_toolkit
from grader.errors import WarpladderError

OLDEST_CUDA = (12, 0)
OLDEST_CAPABILITY = (7, 5)
"""NVRTC 13 compiles for no older GPU, and every kernel's registers are told by it."""

NEW_DRIVER = "install NVIDIA's driver, 580 or later"

_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_SMI_SECONDS = 60.0
_REMEDY = "see what nvidia-smi says"


@dataclass(frozen=True)
class Gpu:
    """A GPU, and the newest CUDA that its driver knows. The capability is None where nvidia-smi alone answers."""

    name: str
    cuda: tuple[int, int]
    capability: tuple[int, int] | None

    @property
    def compiled_with(self) -> int:
        """The major version of CUDA that its cubins and packages are made with: none that its driver does not know."""
        return min(PINNED, self.cuda[0])

    @property
    def arch(self) -> str:
        """What to compile for, such as "sm_90a": from Hopper on, some instructions exist under the architecture's own
        name with an "a" alone."""
        assert self.capability is not None, "nvidia-smi alone has answered"
        major, minor = self.capability
        return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def find() -> Gpu | None:
    """The first GPU; None where no NVIDIA driver answers. Raises WarpladderError where a driver finds no GPU."""
    try:
        libcuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return _from_nvidia_smi()
    version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    major, minor = ctypes.c_int(), ctypes.c_int()
    _ask("cuInit", libcuda.cuInit(0))
    _ask("cuDriverGetVersion", libcuda.cuDriverGetVersion(ctypes.byref(version)))
    _ask("cuDeviceGetCount", libcuda.cuDeviceGetCount(ctypes.byref(count)))
    if not count.value:
        raise WarpladderError("the driver finds no GPU", remedy=_REMEDY)
    _ask("cuDeviceGetName", libcuda.cuDeviceGetName(name, len(name), 0))
    _ask("cuDeviceGetAttribute", libcuda.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, 0))
    _ask("cuDeviceGetAttribute", libcuda.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, 0))
    cuda = (version.value // 1000, version.value % 1000 // 10)
    return Gpu(name.value.decode(), cuda, (major.value, minor.value))


def at_once() -> Gpu | None:
    """The first GPU as NVML knows it, in a tenth of the time that CUDA takes to start; None where CUDA has to be asked
    which it is: GPUs of several kinds, or some of them hidden."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return None
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
        (capability,) = {tuple(pynvml.nvmlDeviceGetCudaComputeCapability(handle)) for handle in handles}
        version = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        return Gpu(
            _text(pynvml.nvmlDeviceGetName(handles[0])), (version // 1000, version % 1000 // 10), capability
        )
    except Exception:  # no package, no library, no permission, no GPU or several kinds
        return None


def _text(name: str | bytes) -> str:
    """pynvml's older versions give bytes."""
    return name.decode() if isinstance(name, bytes) else name


def _ask(routine: str, status: int) -> None:
    if status == _NO_DEVICE:
        raise WarpladderError("the driver finds no GPU", remedy=_REMEDY)
    if status:
        raise WarpladderError(f"{routine} failed with status {status}", remedy=_REMEDY)


def _from_nvidia_smi() -> Gpu | None:
    try:
        listed, told = (
            subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SMI_SECONDS).stdout
            for command in (["nvidia-smi", "-L"], ["nvidia-smi"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    name = re.search(r"^GPU 0: (.+?)(?: \(UUID|$)", listed, re.M)
    cuda = re.search(r"CUDA (?:UMD )?Version\s*: (\d+)\.(\d+)", told)
    if not name or not cuda:
        raise WarpladderError("nvidia-smi names no GPU", remedy=_REMEDY)
    return Gpu(name[1], (int(cuda[1]), int(cuda[2])), None)


def check(gpu: Gpu) -> None:
    """Raises WarpladderError where that GPU or its driver is too old."""
    if gpu.cuda < OLDEST_CUDA:
        raise WarpladderError(
            f"the driver of the {gpu.name} knows CUDA {_dotted(gpu.cuda)}, and 12.0 or later is needed",
            remedy=NEW_DRIVER,
        )
    if gpu.capability is not None and gpu.capability < OLDEST_CAPABILITY:
        raise WarpladderError(
            f"the {gpu.name} has compute capability {_dotted(gpu.capability)}, and 7.5 or later is needed"
        )


def problem(gpu: Gpu) -> str:
    """Why that GPU cannot be used; empty where it can."""
    try:
        check(gpu)
        find_toolkit(gpu.compiled_with)
    except WarpladderError as error:
        return error.message
    except NvrtcNotFound as error:
        return str(error).partition(":")[0]
    return ""


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
