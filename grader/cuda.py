"""Picks what kernels run on: a GPU through PyCUDA, or the emulator through its own PyCUDA. Each is imported once it is
picked: a process that launches on a GPU begins sooner without the emulator."""

from __future__ import annotations

import atexit
import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from grader import gpu
from grader.emulator.devices import DEFAULT_ARCH
from grader.emulator.nvrtc.compilation import PINNED
from grader.errors import WarpladderError
from grader.gpu import Gpu

GPU_REMEDY = "run `ladder doctor`, which says what mends it, or use --device emulator"


@dataclass(frozen=True)
class Cuda:
    """A device whose primary context is current in the thread that selected it, until `release`."""

    kind: Literal["gpu", "emulator"]
    name: str  # as the driver names it
    arch: str  # what to compile for, such as "sm_90a"
    cubins: int  # the major version of CUDA that cubins are compiled with: 13, or 12 where the driver knows no other
    driver: ModuleType  # pycuda.driver or the emulator's
    compiler: ModuleType  # pycuda.compiler or the emulator's
    ext: ModuleType  # grader.driver_ext or the emulator's
    _context: Any

    def release(self) -> None:
        """Give the context back; nothing made in it may be used any more. Python's end does it anyway."""
        atexit.unregister(self.release)
        if self.driver.Context.get_current() == self._context:
            self.driver.Context.pop()
        self._context.detach()


def select(device: str = "auto", arch: str | None = None) -> Cuda:
    """The device asked for, ready: initialised, with its primary context current in this thread.

    `device` is "pycuda", "emulator" or "auto", which means a GPU where one can be used. `arch` chooses the
    emulated GPU ("sm_80"); a real one has its own. The emulator starts afresh, with empty memory.
    Raises WarpladderError for a device that is not there or not known.
    """
    if device not in ("auto", "pycuda", "emulator"):
        raise WarpladderError(f"unknown device {device!r}", remedy="choose auto, pycuda or emulator")
    if arch and device == "pycuda":
        raise WarpladderError(f"arch {arch!r} chooses an emulated GPU", remedy="use --device emulator")
    if arch or device == "emulator":
        return _emulator(arch or DEFAULT_ARCH)
    problem = gpu_problem()
    if problem and device == "pycuda":
        raise WarpladderError(f"no GPU can be used: {problem}", remedy=GPU_REMEDY)
    return _emulator(DEFAULT_ARCH) if problem else _gpu()


def renewed(device: Cuda) -> Cuda:
    """An emulated device in place of this one, as it is at first, that runs blocks on the same cores."""
    from grader.emulator.pycuda_api.driver import emulation

    before = emulation.emulation()
    atexit.unregister(device.release)
    found = _emulator(before.arch)
    now = emulation.emulation()
    now.threads, now.shared, now.printf_bytes = before.threads, before.shared, before.printf_bytes
    return found


def gpu_problem() -> str:
    """Why PyCUDA and a GPU cannot be used; empty where they can."""
    try:
        driver = importlib.import_module("pycuda.driver")
    except ImportError as error:
        return f"PyCUDA cannot be imported ({error})"
    try:
        driver.init()
        if not driver.Device.count():
            return "CUDA finds no device"
        return gpu.problem(_first(driver))
    except driver.Error as error:
        return str(error)


def describe(device: str, arch: str | None = None) -> str:
    """What `select` would choose, in words, without a context on it: a GPU's name and driver, or what is emulated."""
    if device == "emulator" or arch or gpu_problem():
        return f"emulator {arch or DEFAULT_ARCH}"
    driver = importlib.import_module("pycuda.driver")
    return f"{driver.Device(0).name()}, driver {driver.get_driver_version()}"


def _emulator(arch: str) -> Cuda:
    from grader.emulator.pycuda_api import compiler, driver, driver_ext
    from grader.emulator.pycuda_api.driver import emulation

    try:
        emulation.reset(arch)
    except ValueError as error:
        raise WarpladderError(str(error)) from None
    return _ready("emulator", arch, PINNED, driver, compiler, driver_ext)


def _gpu() -> Cuda:
    import pycuda.compiler
    import pycuda.driver

    from grader import driver_ext

    found = _first(pycuda.driver)
    return _ready("gpu", found.arch, found.compiled_with, pycuda.driver, pycuda.compiler, driver_ext)


def _first(driver: Any) -> Gpu:
    """The first GPU, as PyCUDA knows it."""
    device, version = driver.Device(0), driver.get_driver_version()
    return Gpu(device.name(), (version // 1000, version % 1000 // 10), device.compute_capability())


def _ready(
    kind: Literal["gpu", "emulator"],
    arch: str,
    cubins: int,
    driver: Any,
    compiler: ModuleType,
    ext: ModuleType,
) -> Cuda:
    driver.init()
    device = driver.Device(0)
    context = device.retain_primary_context()
    context.push()
    chosen = Cuda(kind, device.name(), arch, cubins, driver, compiler, ext, context)
    atexit.register(chosen.release)  # PyCUDA aborts a process that ends with a context current
    return chosen
